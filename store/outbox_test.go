package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// A row that gets an open of its own keeps it over a restart.
func TestRowOpened(t *testing.T) {
	w := newWorld(t)
	rows := w.settle(w.pick(w.say("one")...), end("a|b")).Rows
	w.deliver(rows[0])
	w.must(w.store.RowOpened(t.Context(), rows[1], core.Receipt{ID: "second"}))
	b := w.restart()
	if len(b.Rows) != 1 || b.Rows[0].Edit != "second" || !w.store.Known(t.Context(), w.place, "second") {
		t.Errorf("%+v", b.Rows)
	}
	w.deliver(b.Rows...)
	w.commits(0, "the open of a row that is gone", func() { w.must(w.store.RowOpened(t.Context(), rows[1], core.Receipt{ID: "third"})) })
}

// A post whose delivery is given up is over, whatever of it was shown.
func TestBury(t *testing.T) {
	for _, tell := range [][]string{nil, {"I could", "not."}} {
		w := newWorld(t)
		run := w.pick(w.say("one")...)
		rows := w.settle(run, end("a|b|c")).Rows
		w.deliver(rows[0])
		owner := core.Place{Adapter: "chat", Channel: "owner"}
		out, err := w.store.Bury(t.Context(), rows[1], "refused", owner, piecesOf(tell...))
		w.must(err)
		if diff := cmp.Diff(tell, texts(out)); diff != "" {
			t.Error(diff)
		}
		w.check()
		w.commits(0, "a receipt that comes too late", func() { w.deliver(rows[1:]...) })
		if post := w.trace(run.Post).Posts[0]; post.Dead != "refused" || len(post.Shown) != 1 {
			t.Errorf("%+v", post)
		}
		if b := w.restart(); len(b.Rows) != len(tell) {
			t.Errorf("%+v", b.Rows)
		}
	}
}

// Outcomes of a place are in the order in which they were decided.
func TestOrder(t *testing.T) {
	w := newWorld(t)
	one, two := w.say("@chief one"), w.say("@scout two")
	run := w.pick(one...)
	w.settle(w.pick(two...), end("2"))
	notice, err := w.store.Notify(t.Context(), w.place, piecesOf("by the way"))
	w.must(err)
	w.accept(w.command("retry"))
	w.settle(run, end("1|one"))
	want := []string{"2", "by the way", "There is nothing to retry here: nothing has failed or was stopped lately.", "1", "one"}
	b := w.restart()
	if diff := cmp.Diff(want, texts(b.Rows)); diff != "" {
		t.Error(diff)
	}
	if !notice[0].Last || notice[0].Kind != core.NoticePost {
		t.Errorf("%+v", notice)
	}
}
