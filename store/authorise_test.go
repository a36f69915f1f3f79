package store_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"bellhop/core"
	"bellhop/store"
)

// actors are the kinds of people, as the configuration below knows them.
var actors = []struct {
	name string
	who  core.Person // without the adapter
	role core.Role   // what they may do in the end
}{
	{"owner", core.Person{ID: "owner"}, core.Owner},
	{"admin", core.Person{ID: "admin"}, core.Admin},
	{"member", core.Person{ID: "member"}, core.Member},
	{"let in in chat", core.Person{ID: "paired"}, core.Member},
	{"guest who was let in in chat", core.Person{ID: "paired", Guest: true}, core.Member},
	{"stranger", core.Person{ID: "stranger", Name: "owner"}, core.Stranger},
	{"expelled", core.Person{ID: "expelled"}, core.Stranger},
	{"guest", core.Person{ID: "visitor", Guest: true}, core.Stranger},
	{"program that is named", core.Person{ID: "tool", Bot: true}, core.Member},
	{"another program", core.Person{ID: "program", Bot: true}, core.Stranger},
	{"nobody", core.Person{Name: "owner", Guest: true}, core.Stranger},
}

// entryPoints are the ways in, with the role that each needs. Of the world they
// know the message own of who acts, the failure with a button, and the bot's
// answer.
var entryPoints = []struct {
	name string
	need core.Role
	open bool // who may not is let in all the same: nobody asks
	deed func(w *world, s stage) core.Entry
	done core.Fate // where it is allowed
}{
	{name: "direct message", need: core.Member, done: core.FateStored,
		deed: func(w *world, _ stage) core.Entry { return w.message("hello") }},
	{name: "mention", need: core.Member, done: core.FateStored,
		deed: func(w *world, _ stage) core.Entry { return among(w.message("hello")) }},
	{name: "message where all is for us", need: core.Member, done: core.FateStored,
		deed: func(w *world, _ stage) core.Entry {
			e := among(w.message("hello"))
			e.In.Mentioned, e.Mode = false, core.ReplyAlways
			return e
		}},
	{name: "typed command", need: core.Member, done: core.FateCommand,
		deed: func(w *world, _ stage) core.Entry { return w.command("stop") }},
	{name: "typed command among others", need: core.Member, done: core.FateCommand,
		deed: func(w *world, _ stage) core.Entry { return among(w.command("stop")) }},
	{name: "command of the platform", need: core.Member, done: core.FateCommand,
		deed: func(w *world, _ stage) core.Entry {
			e := among(w.command("stop"))
			e.In.Mentioned = false
			return e
		}},
	{name: "command for admins", need: core.Admin, done: core.FateCommand,
		deed: func(w *world, _ stage) core.Entry { return atLeast(core.Admin, w.command("stop")) }},
	{name: "command for owners", need: core.Owner, done: core.FateCommand,
		deed: func(w *world, _ stage) core.Entry { return atLeast(core.Owner, w.command("stop")) }},
	{name: "edit of their own message", need: core.Member, done: core.FateEdited,
		deed: func(w *world, s stage) core.Entry { return w.edit(s.own, "hello, corrected") }},
	{name: "edit of another's message", need: core.Owner + 1, done: core.FateEdited,
		deed: func(w *world, s stage) core.Entry { return w.edit(s.other, "hello, forged") }},
	{name: "deletion", open: true, done: core.FateWithdrawn,
		deed: func(w *world, s stage) core.Entry { return w.event(core.InDelete, s.other, "") }},
	{name: "reaction", need: core.Member, done: core.FateFeedback,
		deed: func(w *world, s stage) core.Entry {
			e := w.event(core.InReaction, s.shown, "")
			e.In.Emoji = "👍"
			return e
		}},
	{name: "reaction that stops", need: core.Member, done: core.FateCommand,
		deed: func(w *world, s stage) core.Entry { return s.mark(w) }},
	{name: "reaction that is for owners", need: core.Owner, done: core.FateCommand,
		deed: func(w *world, s stage) core.Entry { return atLeast(core.Owner, s.mark(w)) }},
	{name: "button", need: core.Member, done: core.FateCommand,
		deed: func(w *world, s stage) core.Entry { return w.press(s.shown, s.value) }},
	{name: "button for admins", need: core.Admin, done: core.FateCommand,
		deed: func(w *world, s stage) core.Entry { return atLeast(core.Admin, w.press(s.shown, s.value)) }},
	{name: "being let into a channel", need: core.Member, done: core.FateGreeted,
		deed: func(w *world, _ stage) core.Entry {
			e := w.event(core.InAdded, "", "")
			e.Hello = "Hi."
			return e
		}},
}

// stage is what there is to act on.
type stage struct {
	own, other   string // messages that wait
	shown, value string // a failure and its button
}

func (s stage) mark(w *world) core.Entry {
	e := w.event(core.InReaction, s.other, "")
	e.In.Emoji, e.Command = "🛑", w.command("stop").Command
	return e
}

func among(e core.Entry) core.Entry {
	e.In.Direct, e.In.Mentioned = false, true
	return e
}

func atLeast(r core.Role, e core.Entry) core.Entry {
	command := *e.Command
	command.Role, e.Command = r, &command
	return e
}

// TestEveryWayIn holds every entry point against every kind of actor, on three
// platforms: who may not changes nothing and wakes nobody, and is answered, if
// at all, with a refusal. Where no list names anybody, nobody is let in.
func TestEveryWayIn(t *testing.T) {
	for _, adapter := range []string{"slack", "telegram", "discord"} {
		id := func(name core.PersonID) core.PersonID { return core.PersonID(adapter+":") + name }
		access := core.Access{Owners: []string{adapter + ":owner"}, Admins: []string{adapter + ":admin"}, Members: []string{adapter + ":member", adapter + ":tool"}}
		patterns := core.Access{Owners: access.Owners, Admins: access.Admins, Members: []string{"other:*", adapter + "x:*"}}
		for _, p := range entryPoints {
			for _, who := range actors {
				for lists, access := range map[string]core.Access{"named": access, "patterns of others": patterns, "empty": {}} {
					t.Run(fmt.Sprint(adapter, "/", p.name, "/", who.name, "/", lists), func(t *testing.T) {
						w := newWorld(t)
						w.place.Adapter = adapter
						w.grant(id("paired"), id("owner"))
						w.grant(id("expelled"), id("owner"))
						w.expel(id("expelled"))
						person := who.who
						if person.ID != "" {
							person.ID = id(person.ID)
						}
						role := who.role
						if lists != "named" && who.name != "let in in chat" && who.name != "guest who was let in in chat" {
							role = access.Role(person)
						}
						s := w.stage(person)
						e := p.deed(w, s)
						if person.Bot && e.In.Kind != core.InMessage && e.In.Kind != core.InEdit {
							role = core.Stranger // programs write, if anything
						}
						e.In.From, e.Role = person, access.Role(person)
						before := w.memory().Snapshot()
						a := w.accept(e)
						allowed := p.open || role >= p.need
						if a.Fates[0] == core.FateBeneath && (p.done != core.FateCommand || allowed || role < core.Member) || a.Fates[0] != core.FateBeneath && allowed != (a.Fates[0] == p.done) {
							t.Errorf("the fate is %s", a.Fates[0])
						}
						if allowed && p.done == core.FateCommand && len(a.Items)+len(a.Ended) == 0 {
							t.Errorf("it does nothing: %+v", a)
						}
						if !allowed && len(a.Items)+len(a.Ended)+len(a.Stopped) > 0 {
							t.Errorf("it does something: %+v", a)
						}
						if role < core.Member && !p.open && len(a.Rows) > 0 {
							t.Errorf("they are answered: %+v", a.Rows)
						}
						if role < core.Member && !p.open {
							logs := func(kv store.KV) bool { return bytes.HasPrefix(kv.Key, []byte("l")) }
							after := slices.DeleteFunc(w.memory().Snapshot(), logs)
							if added := len(after) - len(slices.DeleteFunc(before, logs)); added != 2 {
								t.Errorf("%d rows are stored, want the event's key alone, and its day", added)
							}
							log, _, err := w.store.Activities(t.Context(), store.Wanted{Limit: 1000})
							w.must(err)
							want := core.Activity{Event: core.CommandRefused, Actor: core.Actor{Kind: core.HumanActor, ID: string(person.ID)}, Place: e.In.Place}
							if e.In.Kind == core.InMessage {
								want.Event = core.MessageRefused
							} else if e.Command != nil {
								want.Detail = e.Command.Name
							}
							if person.ID == "" {
								want.Actor.Kind = core.SystemActor
							}
							if diff := cmp.Diff(want, log[len(log)-1], cmpopts.IgnoreFields(core.Activity{}, "ID", "Time")); diff != "" {
								t.Errorf("the log says of it (-want +got):\n%s", diff)
							}
						}
					})
				}
			}
		}
	}
}

// stage sets the scene: a message of the person (who could speak then) and one
// of somebody else wait, and a failure with a button is shown.
func (w *world) stage(person core.Person) (s stage) {
	w.Helper()
	s.shown, s.value, _ = card(w, "fail")
	own := w.message("own")
	own.In.From = person
	other := w.message("other")
	w.accept(own, other)
	s.own, s.other = own.In.MessageID, other.In.MessageID
	return s
}

// desk runs what a command would do.
func (w *world) desk(by core.PersonID, do func(core.Desk) error) {
	w.Helper()
	e := w.message("/do")
	e.In.From.ID, e.Role = by, core.Owner
	e.Command = &core.Command{Name: "do", Role: core.Owner, Run: func(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
		return core.CommandReply{Text: "Done."}, do(inv.Desk)
	}}
	w.deliver(w.accept(e).Rows...)
}

// grant lets somebody in.
func (w *world) grant(who, by core.PersonID) {
	w.Helper()
	code := hashOf(string(who))
	w.desk(by, func(d core.Desk) error { _, err := d.Invite(code, by); return err })
	e := w.message("/start")
	e.In.From, e.Role, e.Code = core.Person{ID: who}, core.Stranger, code
	if a := w.accept(e); a.Fates[0] != core.FateCommand {
		w.Fatalf("%s is not let in: %+v", who, a)
	} else {
		w.deliver(a.Rows...)
	}
}

func (w *world) expel(who core.PersonID) {
	w.Helper()
	w.desk("any:owner", func(d core.Desk) error {
		if was, err := d.Expel(who, "Ann"); err != nil || !was.Known {
			return fmt.Errorf("%s was not let in: %w", who, err)
		}
		return nil
	})
}
