package store_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/store"
)

// chatter puts n messages into the thread, all edited often, before anything
// reads them.
func (w *world) chatter(n, edits int) core.ID {
	var thread core.ID
	for range n {
		items := w.say("?")
		id := fmt.Sprintf("e%d", w.events)
		for range edits {
			w.accept(w.edit(id, fmt.Sprintf("%d of %s", w.events, id)))
		}
		thread = items[0].Thread
	}
	return thread
}

// Many versions of a message hide neither others nor that there are older ones.
func TestBefore(t *testing.T) {
	for _, edits := range []int{0, 1, 5, 50} {
		w := newWorld(t)
		thread := w.chatter(7, edits)
		var got []int
		var before core.ID
		for more := true; more; {
			var page []core.Message
			var err error
			page, more, err = w.store.Before(t.Context(), thread, before, 3)
			w.must(err)
			if len(page) == 0 || len(page) < 3 && more {
				t.Fatalf("a page of %d, more: %v", len(page), more)
			}
			var ns []int
			for _, m := range page {
				if m.Version != edits {
					t.Errorf("message %d in its version %d of %d", m.N, m.Version, edits)
				}
				ns = append(ns, m.N)
			}
			got = append(ns, got...)
			before = page[0].ID
		}
		if diff := cmp.Diff([]int{1, 2, 3, 4, 5, 6, 7}, got); diff != "" {
			t.Errorf("%d edits each: %s", edits, diff)
		}
		if page, more, err := w.store.Before(t.Context(), "t9", "", 3); len(page) > 0 || more || err != nil {
			t.Errorf("of no thread: %v, %v, %v", page, more, err)
		}
	}
}

func TestWindow(t *testing.T) {
	for _, edits := range []int{0, 30} {
		w := newWorld(t)
		thread := w.chatter(12, edits)
		items, _, err := w.store.Waiting(t.Context(), chief, thread)
		w.must(err)
		run, scene, err := w.store.Pick(t.Context(), items, 4, 80)
		w.must(err)
		var got []int
		for _, m := range scene.Messages {
			got = append(got, m.N)
		}
		if diff := cmp.Diff([]int{4, 5, 6, 7, 8, 9, 10, 11, 12}, got); diff != "" {
			t.Errorf("%d edits each: %s", edits, diff)
		}
		if len(run.Triggers) != 12 {
			t.Errorf("it answers %d", len(run.Triggers))
		}
		// The bot's window stays where the run has put it.
		run.Cut, run.Upto = scene.Messages[3].ID, scene.Messages[8].ID
		w.settle(run, end("done"))
		_, scene, err = w.store.Pick(t.Context(), w.say("next"), 4, 80)
		w.must(err)
		if scene.Messages[0].ID != run.Cut || len(scene.Messages) != 8 {
			t.Errorf("the window begins with %s, want %s, and has %d", scene.Messages[0].ID, run.Cut, len(scene.Messages))
		}
		w.settle(w.pick(w.say("last")...), end("bye"))
	}
}

func TestTrace(t *testing.T) {
	w := newWorld(t)
	item := w.say("one")[0]
	run := w.pick(item)
	w.must(w.store.Step(t.Context(), run, core.Step{Run: run.ID, N: 1}))
	done := w.settle(run, end("@scout go"))
	stop := w.accept(w.command("stop"))
	answer := done.Items[0].Message

	ids := func(l core.Life) string {
		var items, runs, posts, rows []any
		for _, it := range l.Items {
			items = append(items, it.ID)
		}
		for _, r := range l.Runs {
			runs = append(runs, r.ID, len(l.Steps[r.ID]))
		}
		for _, p := range l.Posts {
			posts = append(posts, p.ID)
		}
		for _, r := range l.Rows {
			rows = append(rows, r.Post)
		}
		return fmt.Sprint(l.Message.ID, l.Thread.ID, items, runs, posts, rows)
	}
	whole := fmt.Sprint(item.Message, item.Thread, []any{item.ID}, []any{run.ID, 1}, []any{run.Post}, []any{run.Post})
	second := done.Items[0].ID
	for id, want := range map[core.ID]string{
		item.Message: whole,
		item.ID:      whole,
		run.ID:       whole,
		run.Post:     whole,
		answer: fmt.Sprint(answer, item.Thread, []any{second}, []any{run.ID, 1, second.As('r'), 0},
			[]any{second.As('p'), run.Post}, []any{second.As('p'), run.Post}),
		stop.Rows[1].Post: fmt.Sprint("", item.Thread, []any{}, []any{}, []any{stop.Rows[1].Post}, []any{stop.Rows[1].Post}),
	} {
		if got := ids(w.trace(id)); got != want {
			t.Errorf("trace %s: %s, want %s", id, got, want)
		}
	}
	for _, id := range []core.ID{"", "m1", "izz", "rzz", "pzz", "t1", "x1"} {
		_, err := w.store.Trace(t.Context(), id)
		w.wantErr(err, core.ErrNotFound)
	}
}

// After the store is closed every call says so.
func TestClosed(t *testing.T) {
	w := unchecked(t)
	w.must(w.store.Close())
	w.must(w.store.Close())
	_, err := w.store.Accept(t.Context(), w.batch(w.message("one")))
	w.wantErr(err, store.ErrClosed)
	_, err = w.store.Threads(t.Context())
	w.wantErr(err, store.ErrClosed)
	if !w.store.Known(t.Context(), w.place, "x") {
		t.Error("what cannot be read must count as known")
	}
}

// Of more messages than may join, the oldest do; the run reads nothing of the
// others, but its bot's own words, whenever they were stored. The stored run
// reads the same again.
func TestPickMost(t *testing.T) {
	w := newWorld(t)
	first := w.say("one")
	run, scene, err := w.store.Pick(t.Context(), first, 80, 80)
	w.must(err)
	run.Upto = scene.Upto
	var items []core.Item
	for _, text := range []string{"two", "three", "four"} {
		items = append(items, w.say(text)...)
	}
	w.settle(run, end("first"))

	texts := func(sc core.Scene) (out []string) {
		for _, m := range sc.Messages {
			out = append(out, m.Text())
		}
		return out
	}
	for most, want := range map[int][]string{
		1: {"one", "two", "first"},
		2: {"one", "two", "three", "first"},
		3: {"one", "two", "three", "four", "first"},
		9: {"one", "two", "three", "four", "first"},
	} {
		for given := 1; given <= 3; given++ {
			run, scene, err := w.store.Pick(t.Context(), items[:given], 80, most)
			w.must(err)
			if diff := cmp.Diff(want, texts(scene)); diff != "" {
				t.Errorf("%d of %d: %s", most, given, diff)
			}
			if n := min(most, 3); len(run.Items) != n || len(run.Triggers) != n || most < 3 && scene.Upto != items[n-1].Message {
				t.Errorf("%d of %d: items %v, triggers %v, up to %s", most, given, run.Items, run.Triggers, scene.Upto)
			}
		}
	}

	run, scene, err = w.store.Pick(t.Context(), items, 80, 2)
	w.must(err)
	run.Upto = scene.Upto
	w.must(w.store.Begin(t.Context(), run))
	back, err := w.store.Recover(t.Context(), func(string) bool { return true })
	w.must(err)
	again, scene, err := w.store.Pick(t.Context(), back.Items[:1], 80, 80)
	w.must(err)
	if diff := cmp.Diff([]string{"one", "two", "three", "first"}, texts(scene)); diff != "" || again.ID != run.ID || scene.Upto != run.Upto || len(again.Triggers) != 2 {
		t.Errorf("resumed as %+v: %s", again, diff)
	}
	w.settle(again, end("second"))
	last := w.pick(items[2])
	if len(last.Items) != 1 || last.Items[0] != items[2].ID {
		t.Errorf("the last run has %v", last.Items)
	}
}
