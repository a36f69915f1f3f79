package run_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"bellhop/core"
)

// mention is a mention in a channel whose messages can be read back.
func (r *rig) mention(text string, refs ...string) []core.Item {
	r.Helper()
	in := r.inbound(text, refs...)
	in.Place, in.Direct, in.Mentioned = core.Place{Adapter: "chat", Channel: "ops", Topic: in.MessageID}, false, true
	return r.accept(core.Entry{In: in, Role: core.Member, Agent: "chief", Reads: true, Context: 10})
}

// One commit keeps what was said before and the files.
func TestRecallAndFetch(t *testing.T) {
	r := newRig(t, "say a cat")
	r.before = func(_ context.Context, n core.Need) (core.Before, error) {
		want := core.Need{Place: core.Place{Adapter: "chat", Channel: "ops", Topic: "1"}, MessageID: "1", Context: 10}
		if n != want {
			t.Errorf("asked for %+v", n)
		}
		return core.Before{Quotes: []core.Quote{{ID: "0", Author: "Bob", Text: "look"}, {ID: "1", Author: "Ann", Text: "what is it?"}}}, nil
	}
	items := r.mention("what is it?", "cat")
	before := r.engine.Commits()
	r.mustRun(items)
	if n := r.engine.Commits() - before; n != 2 {
		t.Errorf("%d commits", n)
	}
	r.wantAsked(0, "⟦said here before this⟧\n    > Bob: look\n\n    [Ann]: what is it?\n    [image: safe-cat.jpg")
}

// An adapter that is wrong costs what it would have told.
func TestRecallPanics(t *testing.T) {
	r := newRig(t, "say hm")
	r.before = func(context.Context, core.Need) (core.Before, error) { panic("broken") }
	r.mustRun(r.mention("and?"))
	r.wantAsked(0, "⟦what was said here before this could not be read: the platform did not tell⟧\n\n    [Ann]: and?")
}

// What is kept of long messages is bounded, and none is cut within a character.
func TestRecallIsBounded(t *testing.T) {
	r := newRig(t, "say hm")
	r.before = func(context.Context, core.Need) (core.Before, error) {
		var said core.Before
		for range 100 {
			said.Quotes = append(said.Quotes, core.Quote{ID: "0", Author: "Bob", Text: "." + strings.Repeat("ж", 10_000), Time: time.Unix(0, 0)})
		}
		return said, nil
	}
	items := r.mention("and?")
	r.mustRun(items)
	l, err := r.store.Trace(t.Context(), items[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	e := l.Message.Earlier
	if n := len(e.Quotes); n != 15 || e.Older != 85 || e.Quotes[0].Text != "."+strings.Repeat("ж", 2047)+"…" {
		t.Errorf("%d kept, %d left out, the first %d bytes", n, e.Older, len(e.Quotes[0].Text))
	}
	r.wantAsked(0, "⟦said here before this; 92 older messages are left out⟧")
}

// A run that is cut while it asks stores nothing.
func TestRecallAndStop(t *testing.T) {
	r := newRig(t)
	ctx, stop := context.WithCancelCause(t.Context())
	r.before = func(context.Context, core.Need) (core.Before, error) {
		stop(core.ErrStopping)
		return core.Before{}, nil
	}
	items := r.mention("and?")
	before := r.engine.Commits()
	if _, err := r.runner.Run(ctx, r.bot, items); err == nil || r.engine.Commits() != before {
		t.Errorf("error %v, %d commits", err, r.engine.Commits()-before)
	}
}
