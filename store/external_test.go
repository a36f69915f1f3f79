package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/store/memkv"
)

// tell has night speak to ci, and a first try fail.
func (w *world) tell() core.Item {
	w.Helper()
	w.settle(w.pick(w.say("first")...), end("done"))
	said, err := w.store.Say(w.Context(), core.Saying{From: "night", Place: w.place, Text: "@ci look", Bots: bots, Externals: []string{"ci"}, MaxHops: 20, Split: split})
	w.must(err)
	if len(said.Items) != 1 || !said.Items[0].External() || said.Items[0].Bot != "ci" {
		w.Fatalf("%+v", said)
	}
	w.deliver(said.Rows...)
	got, err := w.store.Attempted(w.Context(), said.Items[0].ID, core.Attempt{Failed: "it is away", Again: time.Minute})
	w.must(err)
	if got.Item.State != core.Doing || got.Item.Tries != 1 || time.Until(got.Item.Next) > time.Minute || time.Until(got.Item.Next) < 50*time.Second {
		w.Fatalf("%+v", got)
	}
	return got.Item
}

// Whatever row is damaged, an errand is found again by the next start with what
// is known of it, and can be ended.
func TestDamagedErrand(t *testing.T) {
	for _, family := range []string{"q/", "i/", "t/", "m/", "op/"} {
		t.Run(family[:len(family)-1], func(t *testing.T) {
			w := unchecked(t)
			it := w.tell()
			if flip(t, w.engine, family) == 0 {
				t.Fatal("nothing to damage")
			}
			b := w.restart()
			if len(b.Items) != 1 || b.Items[0].ID != it.ID || b.Items[0].Tries != 1 || !b.Items[0].Next.Equal(it.Next) {
				t.Fatalf("%+v waits, want %+v", b.Items, it)
			}
			e, err := w.store.Errand(t.Context(), b.Items[0])
			w.must(err)
			want := "@ci look"
			if family == "m/" {
				want = "damaged"
			}
			if !strings.Contains(e.Message.Text(), want) || e.Thread.ID != it.Thread {
				t.Errorf("%+v", e)
			}
			if family == "t/" && (len(e.Thread.Externals) != 1 || len(e.Thread.Bots) != 1) {
				t.Errorf("participants are %q and %q", e.Thread.Bots, e.Thread.Externals)
			}
			got, err := w.store.Attempted(t.Context(), it.ID, core.Attempt{Failed: "it is gone", Notice: func(p core.Place) []core.Piece { return split(p, "lost") }})
			w.must(err)
			if got.Item.State != core.Failed || len(got.Rows) != 1 || got.Item.Outcome != got.Rows[0].Post {
				t.Errorf("%+v", got)
			}
			if _, err := w.store.Errand(t.Context(), it); !errors.Is(err, core.ErrRunOver) {
				t.Errorf("an errand that has ended: %v", err)
			}
		})
	}
}

// A lost post of an external's message is looked for after what was shown
// before it, and so is that of the run that it begins.
func TestRelayedAfter(t *testing.T) {
	w := newWorld(t)
	w.deliver(w.settle(w.pick(w.say("first")...), end("done")).Rows...)
	said, err := w.store.Say(t.Context(), core.Saying{From: "night", Place: w.place, Text: "look", Bots: bots, MaxHops: 20, Split: split})
	w.must(err)
	if len(said.Rows) != 1 || said.Rows[0].After == "" || said.Rows[0].Kind != core.RelayPost || said.Rows[0].Text != "night: look" {
		t.Fatalf("%+v", said)
	}
	run := w.pick(said.Items...)
	if run.Reply.After != said.Rows[0].After {
		t.Errorf("the run looks after %q, want %q", run.Reply.After, said.Rows[0].After)
	}
	w.deliver(said.Rows...)
	if later := w.pick(said.Items...); later.Reply.After == run.Reply.After || later.Reply.After == "" {
		t.Errorf("once it is shown, the run looks after %q", later.Reply.After)
	}
}

// Of an errand's last try that took itself for failed there is something to
// show if it was stored, and nothing if it was not, though the errand has ended
// otherwise since.
func TestAttemptedFaultThenDropped(t *testing.T) {
	for _, when := range []memkv.When{memkv.Before, memkv.After} {
		t.Run(when.String(), func(t *testing.T) {
			w := newWorld(t)
			it := w.tell()
			last := core.Attempt{Failed: "it is gone", Notice: func(p core.Place) []core.Piece { return split(p, "lost") }}
			w.fault(when)
			_, err := w.store.Attempted(t.Context(), it.ID, last)
			w.wantErr(err, errFault)
			e := w.command("cancel")
			e.Args = string(it.ID)
			w.deliver(w.accept(e).Rows...)
			got, err := w.store.Attempted(t.Context(), it.ID, last)
			w.must(err)
			state, rows := core.Cancelled, []string(nil)
			if when == memkv.After {
				state, rows = core.Failed, []string{"lost"}
			}
			if got.Item.State != state || !slices.Equal(texts(got.Rows), rows) {
				t.Errorf("the errand is %s, and to show is %q", got.Item.State, texts(got.Rows))
			}
			w.deliver(got.Rows...)
		})
	}
}

// An external actor's answer that took itself for failed is theirs if it was
// stored; else somebody may answer first, and the actor is told.
func TestAnswerAsFault(t *testing.T) {
	for _, when := range []memkv.When{memkv.Before, memkv.After} {
		t.Run(when.String(), func(t *testing.T) {
			w := newWorld(t)
			it := w.tell()
			_, ask := w.park(w.say("which?")...)
			in := core.ExternalAnswer{From: it.Bot, Ask: ask, Text: "1", Externals: []string{it.Bot}, Split: split}
			w.fault(when)
			_, err := w.store.AnswerAs(t.Context(), in)
			w.wantErr(err, errFault)
			person := w.command("answer")
			person.Args = "blue"
			a := w.accept(person)
			w.deliver(a.Rows...)
			said, err := w.store.AnswerAs(t.Context(), in)
			w.deliver(said.Rows...)
			wrong, refused := errors.AsType[*core.UserError](err)
			switch when {
			case memkv.Before:
				if !refused || !strings.Contains(wrong.Text, "is answered") || len(a.Items) != 1 || len(said.Rows)+len(said.Items) > 0 {
					t.Errorf("%v; the person wakes %+v, the actor %+v", err, a.Items, said)
				}
			case memkv.After:
				if err != nil || len(a.Items) > 0 || len(said.Items) != 1 || said.Items[0].Kind != core.ResumeItem {
					t.Errorf("%v; the person wakes %+v, the actor %+v", err, a.Items, said)
				}
			}
		})
	}
}
