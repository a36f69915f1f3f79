package store_test

import (
	"testing"

	"bellhop/core"
)

// A title is due once, from the settlement after which there is enough to name,
// at no commit of its own; and the run pays for it that made it due.
func TestTitle(t *testing.T) {
	w := newWorld(t)
	titled := func(text string) core.Settled {
		s := end(text)
		s.Titles = true
		var got core.Settled
		run := w.pick(w.say("what")...)
		w.commits(1, "an answer", func() { got = w.settle(run, s) })
		return got
	}
	if titled("that").Due {
		t.Error("a title is due after two messages")
	}
	if !titled("and that").Due || titled("and so on").Due {
		t.Error("a title is not due once")
	}
	th := w.current().ID
	w.restart()
	due, err := w.store.Untitled(t.Context())
	w.must(err)
	if len(due) != 1 || due[0] != th {
		t.Fatalf("due are %v", due)
	}
	now, ok, err := w.store.Naming(t.Context(), th)
	w.must(err)
	if !ok || len(now.Messages) != 6 || now.Messages[0].Text() != "what" || now.Title != "" {
		t.Errorf("to be named is %+v", now)
	}
	before, spent := w.trace(now.Run.ID).Runs[0].Usage, w.current().Spent
	for range 2 { // the second takes itself for the first
		if given, err := w.store.Title(t.Context(), th, "This and that", core.Usage{Calls: 1, Input: 100, Output: 5}); err != nil || !given {
			t.Errorf("it is not given: %v", err)
		}
	}
	if after := w.trace(now.Run.ID).Runs[0].Usage; after != before.Add(core.Usage{Calls: 1, Input: 100, Output: 5}) {
		t.Errorf("the run has cost %+v, before the title %+v", after, before)
	}
	if after := w.current().Spent; after.Calls != spent.Calls+1 || after.Tokens() != spent.Tokens()+105 {
		t.Errorf("the thread has cost %+v, before the title %+v", after, spent)
	}
	if now, _, err = w.store.Naming(t.Context(), th); err != nil || now.Title != "This and that" || now.Thread.Title != now.Title {
		t.Errorf("%+v, %v", now, err)
	}
	w.must(w.store.Entitled(t.Context(), th))
	w.must(w.store.Entitled(t.Context(), th))
	if _, ok, err := w.store.Naming(t.Context(), th); ok || err != nil {
		t.Errorf("it is still to be named: %v", err)
	}
	given, err := w.store.Title(t.Context(), th, "Too late", core.Usage{})
	if got := w.current(); err != nil || given || got.Title != "This and that" {
		t.Errorf("the title is %q, given: %v, %v", got.Title, given, err)
	}
}

// What a person has called a place stays, whenever they did.
func TestTitleOfAPerson(t *testing.T) {
	w := newWorld(t)
	name := func(text string) core.Accepted { return w.accept(w.event(core.InNamed, "", text)) }
	if got := name("Nothing here"); got.Fates[0] != core.FateIgnored {
		t.Errorf("a name of nothing is %v", got.Fates)
	}
	e := w.message("what")
	e.In.Unnamed = true
	run := w.pick(w.accept(e).Items...)
	w.say("and more")
	s := end("that")
	s.Titles = true
	if !w.settle(run, s).Due || !w.current().Unnamed {
		t.Error("no title is due")
	}
	if got := name("Mine\nalone"); got.Fates[0] != core.FateNamed {
		t.Errorf("a name is %v", got.Fates)
	}
	given, err := w.store.Title(t.Context(), w.current().ID, "Another", core.Usage{})
	w.must(err)
	if th := w.current(); given || th.Title != "Mine alone" || th.Unnamed || !th.Titled {
		t.Errorf("it is called %+v", th)
	}
	if due, err := w.store.Untitled(t.Context()); err != nil || len(due) > 0 {
		t.Errorf("still due: %v, %v", due, err)
	}
}
