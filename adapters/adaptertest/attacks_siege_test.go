package adaptertest_test

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"bellhop/adapters/adaptertest"
	"bellhop/core"
	"bellhop/core/bus"
	"bellhop/core/coretest"
	"bellhop/core/llm/script"
	"bellhop/store"
	"bellhop/store/memkv"
)

// siege is an open approval on a platform, and the people around it: Ann has
// asked for something, Bob is a member as she is, Olga is the owner, and Mallory
// is nobody.
type siege struct {
	*stage
	ann, bob, olga, mallory, robot adaptertest.Account

	root    adaptertest.Room // where Ann has asked
	room    adaptertest.Room // where the card stands
	request string           // her message
	card    string           // the message with the buttons
	ask     core.Ask
	values  []core.Button

	by     adaptertest.Account // who tries
	in     adaptertest.Room    // where
	spoken bool                // the bot may have answered them
	beside int                 // calls of the model that the attack needs

	direct map[string]adaptertest.Room // by person
}

// besiege holds one attack; lacks says why the platform has none such.
func besiege(t *testing.T, name string, harness func([]core.Command) adaptertest.Harness, a attack) (lacks error) {
	t.Helper()
	s := newSiege(t, name, harness, a.approvers)
	defer s.stage.end()
	if err := s.lay(); err != nil {
		t.Fatal(err)
	}
	words, asked := s.words(), len(s.model.Calls("chief"))
	if err := a.do(s); errors.Is(err, adaptertest.ErrUnsupported) {
		return err
	} else if err != nil {
		t.Fatal(err)
	}
	s.pass(20 * time.Second)

	state := cmp.Or(a.leaves, core.AskOpen)
	if got := s.state(); got != state || s.deployed.Load() != a.made {
		t.Errorf("it is %s, and the call was made %d times, want %s and %d", got, s.deployed.Load(), state, a.made)
	}
	want, ok := a.told[name]
	if !ok {
		want = a.told[anybody]
	}
	fresh := slices.DeleteFunc(s.words(), func(text string) bool { return slices.Contains(words, text) })
	told := slices.ContainsFunc(fresh, func(text string) bool { return want != "" && strings.Contains(text, want) })
	if silent := len(fresh) == 0 || s.spoken || s.beside > 0; told != (want != "") || want == "" && !silent {
		t.Errorf("they are told %q, want %q", fresh, want)
	}
	if state != core.AskOpen {
		return nil
	}
	if n := len(s.model.Calls("chief")) - asked - s.beside; n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
	s.rescue(a)
	return nil
}

// rescue has who may allow the call.
func (s *siege) rescue(a attack) {
	s.t.Helper()
	who := s.ann
	if a.rescue != nil {
		who = a.rescue(s)
	}
	if who.ID == "" {
		return
	}
	before := s.deployed.Load()
	if err := s.press(who, "Allow once"); err != nil {
		s.t.Fatalf("afterwards: %v", err)
	}
	s.pass(20 * time.Second)
	if got := s.state(); got != core.AskAllowed || s.deployed.Load() != before+1 {
		s.t.Errorf("allowed afterwards, it is %s, and the call was made %d times", got, s.deployed.Load()-before)
	}
}

func (s *siege) member() adaptertest.Account { return s.bob }
func (s *siege) owner() adaptertest.Account  { return s.olga }
func (s *siege) nobody() adaptertest.Account { return adaptertest.Account{} }

func newSiege(t *testing.T, name string, harness func([]core.Command) adaptertest.Harness, approvers []string) *siege {
	s := &siege{stage: &stage{t: t, name: name, script: &coretest.Archive{}, people: map[string]adaptertest.Account{}}, direct: map[string]adaptertest.Room{}}
	log := slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	more := []core.Command{bus.PairCommand(bus.NewCode, func(string, string) string { return "" })}
	s.house = newHouseWith(t, memkv.New(memkv.Options{}), log, name, func(commands []core.Command, cursors core.Cursors) core.Adapter {
		s.p = harness(commands).New(t)
		s.ann, s.bob, s.olga, s.mallory = s.p.Person("Ann"), s.p.Person("Bob"), s.p.Person("Olga"), s.p.Person("Mallory")
		s.robot, _ = s.p.Program("other_bot") // or there are none
		return s.p.Adapter(t, cursors)
	}, more, func(o *bus.Options) {
		id := func(a adaptertest.Account) string { return name + ":" + a.ID }
		o.Access = core.Access{Owners: []string{id(s.olga)}, Members: []string{id(s.bob)}, Approvers: core.NewApprovers([]string{"requester"})}
		if slices.Contains(approvers, "member") {
			o.Access.Members = append(o.Access.Members, id(s.robot))
		}
		if approvers != nil {
			list := slices.Clone(approvers)
			for i := range list {
				list[i] = strings.ReplaceAll(list[i], "MALLORY", id(s.mallory))
			}
			o.Access.Approvers = core.NewApprovers(list)
		}
	})
	s.pass(5 * time.Second)
	return s
}

// admit lets somebody in with an invitation.
func (s *siege) admit(who adaptertest.Account) error {
	if _, err := s.p.Say(s.dm(s.olga), adaptertest.Saying{From: s.olga, Command: "pair", Text: "new"}); err != nil {
		return err
	}
	s.pass(10 * time.Second)
	codes := regexp.MustCompile(`start ([0-9A-Z]{4}-[0-9A-Z]{4})`).FindAllStringSubmatch(strings.Join(s.shown(s.dm(s.olga)), "\n"), -1)
	if codes == nil {
		return errors.New("there is no invitation")
	}
	_, err := s.p.Say(s.dm(who), adaptertest.Saying{From: who, Command: "start", Text: codes[len(codes)-1][1]})
	s.pass(10 * time.Second)
	return err
}

// lay lets Ann in, and has her ask for what must be allowed.
func (s *siege) lay() error {
	err := s.admit(s.ann)
	if err != nil {
		return err
	}
	if s.root, err = s.p.Room(adaptertest.Channel, s.ann); err != nil {
		if s.root, err = s.p.Room(adaptertest.Group, s.ann); err != nil {
			return err
		}
	}
	s.room = s.root
	for _, who := range []adaptertest.Account{s.bob, s.olga, s.mallory} { // they are there, too
		if _, err := s.p.Say(s.root, adaptertest.Saying{From: who, Text: "Hi."}); err != nil {
			return err
		}
	}
	if s.request, err = s.want(s.root, s.ann, "shop"); err != nil {
		return err
	}
	if thread, err := s.p.Thread(s.root, s.request); err == nil {
		s.room = thread
	}
	s.in = s.room
	if s.card = s.cardIn(s.room); s.card == "" {
		return errors.New("there is no card")
	}
	books := s.books()
	s.ask = books.Asks[len(books.Asks)-1]
	s.values = s.buttons(s.ask.Post)
	return nil
}

// want has somebody ask for something that the bot may not do by itself. The
// bot's words are a command.
func (s *siege) want(r adaptertest.Room, who adaptertest.Account, what string) (string, error) {
	call, err := script.Parse(`text "/allow" tool deploy {"what":"` + what + `","to":"production"}`)
	if err != nil {
		return "", err
	}
	s.model.Queue("chief", call)
	id, err := s.p.Say(r, adaptertest.Saying{From: who, Mention: s.us(), Text: "Deploy the " + what + "."})
	s.pass(10 * time.Second)
	return id, err
}

// another has somebody else ask for something, and is their card.
func (s *siege) another(who adaptertest.Account) (adaptertest.Room, string) {
	s.t.Helper()
	r := s.dm(who)
	s.beside++
	if _, err := s.want(r, who, "cellar"); err != nil {
		s.t.Fatal(err)
	}
	return r, s.cardIn(r)
}

// elsewhere is an answer of ours to somebody.
func (s *siege) elsewhere(who adaptertest.Account) (adaptertest.Room, string) {
	s.t.Helper()
	r := s.dm(who)
	s.beside++
	s.model.Queue("chief", script.Say("Hello."))
	if _, err := s.p.Say(r, adaptertest.Saying{From: who, Text: "hello"}); err != nil {
		s.t.Fatal(err)
	}
	s.pass(10 * time.Second)
	for _, m := range slices.Backward(s.p.Shown(r)) {
		if m.Own {
			return r, m.ID
		}
	}
	s.t.Fatal("nothing is shown")
	return "", ""
}

// dm is the direct conversation with somebody.
func (s *siege) dm(who adaptertest.Account) adaptertest.Room {
	s.t.Helper()
	r, ok := s.direct[who.ID]
	if !ok {
		var err error
		if r, err = s.p.Room(adaptertest.Direct, who); err != nil {
			s.t.Fatal(err)
		}
		s.direct[who.ID] = r
	}
	return r
}

// words is all that we have said, to everybody and to each alone.
func (s *siege) words() []string {
	rooms := []adaptertest.Room{s.root}
	if s.room != s.root {
		rooms = append(rooms, s.room)
	}
	rooms = slices.AppendSeq(rooms, maps.Values(s.direct))
	var out []string
	for _, r := range rooms {
		out = append(out, s.shown(r)...)
		for _, who := range []adaptertest.Account{s.ann, s.bob, s.olga, s.mallory, s.by} {
			if who.ID != "" {
				out = append(out, s.p.Whispers(r, who)...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// shown are our messages in a room.
func (s *siege) shown(r adaptertest.Room) (texts []string) {
	for _, m := range s.p.Shown(r) {
		if m.Own {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

func (s *siege) books() store.Books {
	s.t.Helper()
	b, err := s.store.Audit(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// state is what has become of what Ann has asked for.
func (s *siege) state() core.AskState {
	for _, a := range s.books().Asks {
		if a.ID == s.ask.ID {
			return a.State
		}
	}
	return ""
}

// buttons are those that a post has.
func (s *siege) buttons(post core.ID) []core.Button {
	for _, p := range s.books().Posts {
		if p.ID == post {
			return p.Buttons
		}
	}
	return nil
}

func (s *siege) us() []adaptertest.Account { return []adaptertest.Account{s.p.Me()} }

func (s *siege) say(w adaptertest.Saying) error {
	s.by = w.From
	_, err := s.p.Say(s.in, w)
	return err
}

// reply replies to the card, where one can.
func (s *siege) reply(who adaptertest.Account, text string) error {
	return s.say(adaptertest.Saying{From: who, Mention: s.us(), ReplyTo: s.card, Text: text})
}

func (s *siege) command(who adaptertest.Account, r adaptertest.Room, name, text string) error {
	s.in = r
	return s.say(adaptertest.Saying{From: who, Command: name, Text: text})
}

func (s *siege) press(who adaptertest.Account, label string) error {
	s.by = who
	return s.p.Press(s.room, who, s.card, label)
}

func (s *siege) forge(who adaptertest.Account, r adaptertest.Room, message, value string) error {
	s.by, s.in = who, r
	return s.p.Forge(r, who, message, value)
}

func (s *siege) expel(who adaptertest.Account) error {
	_, err := s.p.Say(s.dm(s.olga), adaptertest.Saying{From: s.olga, Command: "pair", Text: "remove " + s.name + ":" + who.ID})
	s.pass(10 * time.Second)
	return err
}

func (s *siege) program() error {
	if s.robot.ID == "" {
		return adaptertest.Unsupported("there are no other programs")
	}
	return errors.Join(s.reply(s.robot, "yes"), s.reply(s.robot, "!allow "+string(s.ask.ID)))
}

// guess presses what is almost the button's value, and what is not at all.
func (s *siege) guess() error {
	value := s.value("allow once")
	head, nonce := value[:strings.LastIndex(value, " ")+1], value[strings.LastIndex(value, " ")+1:]
	var random [16]byte
	rand.Read(random[:])
	for _, v := range []string{
		head + base64.RawURLEncoding.EncodeToString(random[:]), head, strings.TrimSpace(head), "allow", "allow " + string(s.ask.ID),
		head + nonce[:len(nonce)-1], head + nonce + "A", head + strings.ToLower(nonce), head + strings.ToUpper(nonce), head + " " + nonce,
		strings.ToUpper(head) + nonce, "ALLOW once " + nonce, "/" + value,
		"allow task" + nonce, "allow  once " + nonce, nonce, "deny " + nonce[1:], "allow once\u00a0" + nonce, head + "null", head + "AAAAAAAAAAAAAAAAAAAAAA",
	} {
		if v == value {
			continue
		}
		if err := s.forge(s.ann, s.room, s.card, v); err != nil {
			return err
		}
		s.pass(time.Second)
	}
	return nil
}

// cardIn is the message with buttons in a room.
func (s *siege) cardIn(r adaptertest.Room) string {
	for _, m := range slices.Backward(s.p.Shown(r)) {
		if m.Own && len(m.Buttons) > 0 {
			return m.ID
		}
	}
	return ""
}

// value is that of a button of the card, and latest of the one that was made last.
func (s *siege) value(head string) string { return valueOf(s.values, head) }

func (s *siege) latest(head string) string {
	books := s.books()
	return valueOf(s.buttons(books.Asks[len(books.Asks)-1].Post), head)
}

func valueOf(buttons []core.Button, head string) string {
	for _, b := range buttons {
		if strings.HasPrefix(b.Value, head) {
			return b.Value
		}
	}
	return "?"
}
