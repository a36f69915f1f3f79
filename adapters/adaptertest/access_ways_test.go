package adaptertest_test

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"bellhop/adapters/adaptertest"
	"bellhop/core/llm/script"
)

// at finds or makes a room of one of the kinds with a person in it.
func (v *visit) at(with adaptertest.Account, kinds ...adaptertest.RoomKind) (adaptertest.Room, error) {
	err := adaptertest.Unsupported("none of these rooms")
	for _, kind := range kinds {
		var r adaptertest.Room
		if r, err = v.p.Room(kind, with); err == nil {
			v.rooms = append(v.rooms, &room{Room: r, name: string(kind), threads: map[string]*room{}})
			return r, nil
		}
	}
	return "", err
}

// say has the actor say something in a new room of one of the kinds.
func (v *visit) say(s adaptertest.Saying, kinds ...adaptertest.RoomKind) error {
	if v.name == "program" && kinds[0] == adaptertest.Direct {
		return adaptertest.Unsupported("programs have no direct conversations with us")
	}
	r, err := v.at(v.who, kinds...)
	if err != nil {
		return err
	}
	if s.From, s.Hidden = v.who, v.hidden; s.Hidden && kinds[0] == adaptertest.Direct {
		return adaptertest.Unsupported("nobody hides in a direct conversation")
	}
	if s.Hidden && s.Command != "" && v.stage.name == "discord" {
		return adaptertest.Unsupported("who hides has no commands")
	}
	v.acts()
	_, err = v.p.Say(r, s)
	return err
}

// among are the rooms of several people.
var among = []adaptertest.RoomKind{adaptertest.Channel, adaptertest.Group}

func (v *visit) us() []adaptertest.Account { return []adaptertest.Account{v.p.Me()} }

func (v *visit) direct() error {
	return v.say(adaptertest.Saying{Text: secretText}, adaptertest.Direct)
}

func (v *visit) mention() error {
	return v.say(adaptertest.Saying{Text: secretText, Mention: v.us()}, among...)
}

func (v *visit) topic() error {
	return v.say(adaptertest.Saying{Text: secretText, Mention: v.us()}, adaptertest.Topic)
}

func (v *visit) aside() error {
	return v.say(adaptertest.Saying{Text: secretText}, among...)
}

func (v *visit) file() error {
	v.sends = true
	return v.say(adaptertest.Saying{File: &adaptertest.SentFile{Name: secretText + ".png", MIME: "image/png", Content: picture()}}, adaptertest.Direct)
}

func (v *visit) voice() error {
	v.sends = true
	return v.say(adaptertest.Saying{File: &adaptertest.SentFile{Name: secretText + ".ogg", MIME: "audio/ogg", Content: []byte("OggS")}}, adaptertest.Direct)
}

func (v *visit) typed() error {
	return v.say(adaptertest.Saying{Command: "status"}, adaptertest.Direct)
}

func (v *visit) typedAmong() error {
	return v.say(adaptertest.Saying{Command: "status"}, adaptertest.Group, adaptertest.Channel)
}

func (v *visit) owners() error {
	return v.say(adaptertest.Saying{Command: "pair"}, adaptertest.Direct)
}

func (v *visit) ownersAmong() error {
	return v.say(adaptertest.Saying{Command: "pair"}, adaptertest.Group, adaptertest.Channel)
}

// ownersAgain is the second time that somebody tries.
func (v *visit) ownersAgain() error {
	if err := v.ownersAmong(); err != nil {
		return err
	}
	r := v.rooms[len(v.rooms)-1].Room
	v.acts()
	_, err := v.p.Say(r, adaptertest.Saying{From: v.who, Hidden: v.hidden, Command: "pair"})
	return err
}

func (v *visit) order(command string) error {
	r, err := v.at(v.who, among...)
	if err != nil {
		return err
	}
	if v.hidden || v.name == "program" {
		return adaptertest.Unsupported("only people have the platform's commands")
	}
	v.acts()
	err = v.p.Order(r, v.who, command, "")
	if err == nil && v.want == noted { // nor is the next one left without an answer
		v.pass(time.Minute)
		err = v.p.Order(r, v.who, command, "")
	}
	return err
}

func (v *visit) ordered() error       { return v.order("status") }
func (v *visit) ownersOrdered() error { return v.order("pair") }

func (v *visit) startWrong() error {
	return v.say(adaptertest.Saying{Command: "start", Text: "1111-1111"}, adaptertest.Direct)
}

// codeOf has somebody get a code with a command, and reads it.
func (v *visit) codeOf(by, command, text string) (string, error) {
	r, err := v.at(v.all[by], adaptertest.Direct)
	if err != nil {
		return "", err
	}
	if _, err := v.p.Say(r, adaptertest.Saying{From: v.all[by], Command: command, Text: text}); err != nil {
		return "", err
	}
	v.pass(time.Minute)
	shown, _ := v.spy.seen()
	code := regexp.MustCompile(`(?:start|link) ([0-9A-Z]{4}-[0-9A-Z]{4})`).FindStringSubmatch(strings.Join(shown, "\n"))
	if code == nil {
		return "1111-1111", nil // where nobody is let in, there are none
	}
	return code[1], nil
}

func (v *visit) startInvited() error {
	code, err := v.codeOf("host", "pair", "new")
	if err != nil {
		return err
	}
	return v.say(adaptertest.Saying{Command: "start", Text: code}, adaptertest.Direct)
}

func (v *visit) link() error {
	code, err := v.codeOf("mate", "link", "")
	if err != nil {
		return err
	}
	return v.say(adaptertest.Saying{Command: "link", Text: code}, adaptertest.Direct)
}

func (v *visit) linkAmong() error {
	code, err := v.codeOf("mate", "link", "")
	if err != nil {
		return err
	}
	return v.say(adaptertest.Saying{Command: "link", Text: code}, adaptertest.Group, adaptertest.Channel)
}

// scene has the host ask in a room of several people, and returns our answer and
// where it stands.
func (v *visit) scene(reply script.Reply) (adaptertest.Room, string, error) {
	r, err := v.at(v.all["host"], among...)
	if err != nil {
		return "", "", err
	}
	if _, err := v.p.Say(r, adaptertest.Saying{From: v.who, Hidden: v.hidden, Text: "I am here, too."}); err != nil {
		return "", "", err
	}
	v.model.Queue("chief", reply)
	id, err := v.p.Say(r, adaptertest.Saying{From: v.all["host"], Mention: v.us(), Text: "hello"})
	if err != nil {
		return "", "", err
	}
	v.pass(time.Minute)
	if v.model.Pending("chief") > 0 {
		return "", "", errNobody
	}
	if thread, err := v.p.Thread(r, id); err == nil {
		r = thread
		v.rooms = append(v.rooms, &room{Room: r, name: "thread", threads: map[string]*room{}})
	}
	for _, m := range v.p.Shown(r) {
		if m.Own {
			return r, m.ID, nil
		}
	}
	return "", "", errors.New("nothing is shown")
}

// errNobody: where nobody is let in, there is no scene to act on.
var errNobody = errors.New("nobody is let in")

func (v *visit) reply() error {
	r, id, err := v.scene(script.Say("Hello."))
	if err != nil {
		return err
	}
	v.acts()
	_, err = v.p.Say(r, adaptertest.Saying{From: v.who, Hidden: v.hidden, ReplyTo: id, Text: secretText})
	return err
}

func (v *visit) shortcut() error {
	p, ok := v.p.(*adaptertest.SlackPlatform)
	if !ok || v.name == "program" {
		return adaptertest.Unsupported("shortcuts")
	}
	r, id, err := v.scene(script.Say("Hello."))
	if err != nil {
		return err
	}
	v.acts()
	p.Shortcut(r, v.who, id, "stop_thread")
	return nil
}

// failed is a scene with a button.
func (v *visit) failed() (adaptertest.Room, string, error) {
	fail, err := script.Parse("error auth")
	if err != nil {
		return "", "", err
	}
	r, id, err := v.scene(fail)
	if err == nil && v.hidden {
		err = adaptertest.Unsupported("nobody hides who presses or marks")
	}
	return r, id, err
}

func (v *visit) press() error {
	r, id, err := v.failed()
	if err != nil {
		return err
	}
	v.acts()
	return v.p.Press(r, v.who, id, "Retry")
}

// asked is a scene in which the bot asks the host for something, and waits.
func (v *visit) asked(reply string) (adaptertest.Room, string, error) {
	asks, err := script.Parse(reply)
	if err != nil {
		return "", "", err
	}
	return v.scene(asks)
}

// A question, and a call that may not be made without leave.
const (
	question = `tool ask_human {"question":"Which one?","choices":["red","blue"]}`
	call     = `tool deploy {"what":"it","to":"there"}`
)

// presses has the actor press a button below what the bot asks.
func (v *visit) presses(reply, label string) error {
	r, id, err := v.asked(reply)
	if err == nil && v.hidden {
		err = adaptertest.Unsupported("nobody hides who presses")
	}
	if err != nil {
		return err
	}
	v.acts()
	return v.p.Press(r, v.who, id, label)
}

func (v *visit) choose() error { return v.presses(question, "blue") }
func (v *visit) allow() error  { return v.presses(call, "Allow once") }

// replies has the actor reply to what the bot asks.
func (v *visit) replies(reply, text string) error {
	r, id, err := v.asked(reply)
	if err == nil && v.stage.name == "slack" {
		err = adaptertest.Unsupported("a reply is one more message of its thread")
	}
	if err != nil {
		return err
	}
	v.acts()
	_, err = v.p.Say(r, adaptertest.Saying{From: v.who, Hidden: v.hidden, ReplyTo: id, Text: text})
	return err
}

func (v *visit) answer() error       { return v.replies(question, secretText) }
func (v *visit) allowByReply() error { return v.replies(call, "yes") }

// decides has the actor give a command about what the bot asks.
func (v *visit) decides(reply, command, text string) error {
	r, _, err := v.asked(reply)
	if err == nil && v.hidden && v.stage.name == "discord" {
		err = adaptertest.Unsupported("who hides has no commands")
	}
	if err != nil {
		return err
	}
	v.acts()
	_, err = v.p.Say(r, adaptertest.Saying{From: v.who, Hidden: v.hidden, Command: command, Text: text})
	return err
}

func (v *visit) answerByCommand() error { return v.decides(question, "answer", "blue") }
func (v *visit) allowByCommand() error  { return v.decides(call, "allow", "") }

func (v *visit) retry() error { return v.mark("🔁") }
func (v *visit) react() error { return v.mark("👍") }

func (v *visit) mark(emoji string) error {
	r, id, err := v.failed()
	if err != nil {
		return err
	}
	v.acts()
	return v.p.Mark(r, v.who, id, emoji, false)
}

// own has the actor say something directly, of which more will come.
func (v *visit) own() (adaptertest.Room, string, error) {
	if v.hidden || v.name == "program" {
		return "", "", adaptertest.Unsupported("only people talk to us directly")
	}
	r, err := v.at(v.who, adaptertest.Direct)
	if err != nil {
		return "", "", err
	}
	if v.member {
		v.model.Queue("chief", script.Say("Hello."))
	}
	id, err := v.p.Say(r, adaptertest.Saying{From: v.who, Text: "hello"})
	v.pass(time.Minute)
	return r, id, err
}

func (v *visit) edit() error {
	r, id, err := v.own()
	if err != nil {
		return err
	}
	v.acts()
	return v.p.Edit(r, id, secretText)
}

func (v *visit) delete() error {
	r, id, err := v.own()
	if err != nil {
		return err
	}
	v.acts()
	_, err = v.p.Delete(r, id)
	return err
}

func (v *visit) invite() error {
	if v.hidden {
		return adaptertest.Unsupported("nobody hides who lets us in")
	}
	v.acts()
	for _, kind := range among {
		r, err := v.p.Invite(kind, v.who)
		if err == nil {
			v.rooms = append(v.rooms, &room{Room: r, name: string(kind), threads: map[string]*room{}})
			return nil
		} else if !errors.Is(err, adaptertest.ErrUnsupported) {
			return err
		}
	}
	return adaptertest.Unsupported("nobody tells who lets us in")
}
