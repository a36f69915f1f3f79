package adaptertest_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"bellhop/adapters/adaptertest"
	"bellhop/core"
	"bellhop/core/bus"
	"bellhop/core/coretest"
	"bellhop/core/llm/script"
	"bellhop/store/memkv"
)

// visit is one actor who comes in one way.
type visit struct {
	*stage
	who    adaptertest.Account
	name   string                         // of the actor
	hidden bool                           // they do not show who they are
	all    map[string]adaptertest.Account // the other actors
	spy    *spy
	engine *memkv.Engine
	want   rune
	member bool   // they are let in
	sends  bool   // they send a file
	before *sight // when they began to act; nil: they have not
}

// secretText is what they say. Of who may not, nobody keeps it.
const secretText = "xyzzy"

// enter is one cell of the table; lacks says why it is none.
func enter(t *testing.T, name string, harness func([]core.Command) adaptertest.Harness, access func(string, map[string]adaptertest.Account) core.Access,
	actor string, do func(*visit) error, want rune,
) (lacks error) {
	t.Helper()
	v := &visit{stage: &stage{t: t, name: name, script: &coretest.Archive{}, people: map[string]adaptertest.Account{}},
		name: actor, all: map[string]adaptertest.Account{}, spy: &spy{}, engine: memkv.New(memkv.Options{})}
	log := slog.New(slog.NewTextHandler(&v.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	more := []core.Command{bus.PairCommand(bus.NewCode, func(string, string) string { return "" }), bus.LinkCommand(bus.NewCode)}
	var nobody error
	var allowed core.Access
	v.house = newHouseWith(t, v.engine, log, name, func(commands []core.Command, cursors core.Cursors) core.Adapter {
		v.p = harness(commands).New(t)
		nobody = v.gather()
		v.spy.Adapter = v.p.Adapter(t, cursors)
		return v.spy
	}, more, func(o *bus.Options) {
		allowed = access(name, v.all)
		allowed.Approvers = core.NewApprovers([]string{"admin"})
		o.Access = allowed
	})
	defer v.stage.end()
	v.pass(5 * time.Second)
	if nobody != nil {
		return nobody
	}
	v.want, v.member = want, actor != "guest" && actor != "program" && allowed.Role(core.Person{ID: core.PersonID(name + ":" + v.who.ID)}) >= core.Member
	if err := do(v); errors.Is(err, adaptertest.ErrUnsupported) || errors.Is(err, errNobody) {
		return err
	} else if err != nil {
		t.Fatalf("%s: %v", actor, err)
	}
	v.pass(time.Minute)
	v.judge(want, *v.before, v.look())
	if n, err := v.p.Unacked(); err != nil || n > 0 {
		t.Errorf("%s: %d events are not acknowledged, %v", actor, n, err)
	}
	return nil
}

// acts begins what is judged; all before was the stage.
func (v *visit) acts() {
	v.t.Helper()
	v.pass(time.Minute)
	now := v.look()
	v.before = &now
	if v.want == answered {
		v.model.Queue("chief", script.Say("Here you are."))
	}
}

// gather makes the actors.
func (v *visit) gather() error {
	for _, name := range append([]string{"host", "mate"}, actors[:4]...) {
		v.all[name] = v.p.Person(strings.ToUpper(name[:1]) + name[1:])
	}
	switch v.name {
	case "guest":
		guests, err := v.p.Guest("Gus")
		if errors.Is(err, adaptertest.ErrUnsupported) { // who hides is a guest as well
			v.hidden, guests, err = true, []adaptertest.Account{v.p.Person("Gus")}, nil
		}
		if err != nil {
			return err
		}
		v.all["guest"] = guests[0]
	case "program":
		program, err := v.p.Program("other_bot")
		if err != nil {
			return err
		}
		v.all["program"] = program
	}
	v.who = v.all[v.name]
	return nil
}

// sight is what there is at one moment.
type sight struct {
	asked    int      // calls of the model
	shown    []string // what we have shown, in whole
	whispers int
	feedback int
	calls    map[string]int // of the platform
	own      int            // our messages that everybody sees
	threads  int
	messages int
	items    int
}

func (v *visit) look() sight {
	v.t.Helper()
	b, err := v.store.Audit(v.t.Context())
	if err != nil {
		v.t.Fatal(err)
	}
	s := sight{asked: len(v.model.Calls("chief")), threads: len(b.Threads), messages: len(b.Messages), items: len(b.Items)}
	s.shown, s.calls = v.spy.seen()
	for _, p := range b.Posts {
		s.feedback += len(p.Feedback)
	}
	for _, r := range v.rooms {
		for _, m := range v.p.Shown(r.Room) {
			if m.Own {
				s.own++
			}
		}
		s.whispers += len(v.p.Whispers(r.Room, v.who))
	}
	return s
}

// judge compares what has happened with the verdict.
func (v *visit) judge(want rune, before, after sight) {
	v.t.Helper()
	fresh := after.shown[len(before.shown):]
	said := strings.Join(fresh, "\n")
	var got rune
	switch {
	case after.asked > before.asked && strings.Contains(said, "Here you are."):
		got = answered
	case strings.Contains(said, "I do not know you"), strings.Contains(said, "That code does not work"):
		got = refused
	case strings.Contains(said, "Only an"):
		got = beneath
	case said != "":
		got = command
	case after.whispers > before.whispers:
		got = noted
	case after.feedback > before.feedback:
		got = kept
	default:
		got = nothing
	}
	if got != want || after.asked > before.asked && want != answered || len(fresh) > 1 && !strings.ContainsRune("AC", want) {
		v.t.Errorf("%s: the verdict is %c, want %c; said is %q", v.name, got, want, said)
	}
	if v.sends && want == answered && after.calls["fetch"] == before.calls["fetch"] {
		v.t.Errorf("what %s sent was not fetched", v.name)
	}
	if strings.ContainsRune("ACBK", want) {
		return
	}
	if want != refused && after.own > before.own {
		v.t.Errorf("%s is shown %d messages, want %d", v.name, after.own, before.own)
	}
	for _, call := range []string{"fetch", "typing", "react", "before", "read"} {
		if after.calls[call] > before.calls[call] {
			v.t.Errorf("%s costs a call of %s", v.name, call)
		}
	}
	if after.threads > before.threads || after.messages > before.messages || after.items > before.items {
		v.t.Errorf("of %s is kept %+v, after %+v", v.name, after, before)
	}
	for _, kv := range v.engine.Snapshot() {
		if bytes.Contains(kv.Value, []byte(secretText)) {
			v.t.Errorf("what %s wrote is kept: %q", v.name, kv.Value)
		}
	}
}
