package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

func TestPlainTurn(t *testing.T) {
	w := newWorld(t)
	var items []core.Item
	w.commits(1, "Accept", func() { items = w.say("hello") })
	var run core.Run
	w.commits(0, "Pick", func() { run = w.pick(items...) })
	if run.ID != items[0].ID.As(core.KindRun) || run.Post != items[0].ID.As(core.KindPost) {
		t.Errorf("run %s with post %s of the item %s", run.ID, run.Post, items[0].ID)
	}
	open := core.Receipt{ID: "open"}
	w.commits(1, "Opened", func() { w.must(w.store.Opened(t.Context(), run, open)) })
	w.wantState(core.Doing, items...)
	var done core.Settled
	w.commits(1, "Settle", func() { done = w.settle(run, end("one|two")) })
	if diff := cmp.Diff([]string{"one", "two"}, texts(done.Rows)); diff != "" {
		t.Error(diff)
	}
	if first, second := done.Rows[0], done.Rows[1]; first.Edit != "open" || second.Edit != "" || first.Last || !second.Last {
		t.Errorf("rows %+v", done.Rows)
	}
	w.commits(2, "two receipts", func() { w.deliver(done.Rows...) })
	w.commits(0, "a receipt again", func() { w.deliver(done.Rows[1]) })
	w.wantState(core.Done, items...)
	l := w.trace(items[0].ID)
	if len(l.Posts) != 1 || l.Posts[0].Ended.IsZero() || len(l.Posts[0].Shown) != 2 || len(l.Rows) != 0 {
		t.Errorf("%+v", l)
	}
	if w.item(items[0].ID).Outcome != run.Post {
		t.Errorf("outcome %q", w.item(items[0].ID).Outcome)
	}
}

// The open's receipt comes along with a quick answer.
func TestQuickTurn(t *testing.T) {
	w := newWorld(t)
	run := w.pick(w.say("hello")...)
	w.commits(1, "Settle with the open's receipt", func() {
		done, err := w.store.Settle(t.Context(), run, &core.Receipt{ID: "open"}, end("hi"))
		w.must(err)
		if done.Rows[0].Edit != "open" {
			t.Errorf("%+v", done.Rows)
		}
	})
	if !w.store.Known(t.Context(), w.place, "open") || w.store.Known(t.Context(), w.place, "other") {
		t.Error("the open's platform id is not known, or another one is")
	}
}

// A message that waits for a slot has a post that says so, which the run that gets
// the slot takes over. Until then no run has it.
func TestOpenedBeforeItsSlot(t *testing.T) {
	w := newWorld(t)
	first := w.say("one")
	waiting := w.waits(first...)
	w.wantState(core.Queued, first...)
	w.restart()
	w.accept(w.edit("e1", "uno"))
	items := append(first, w.say("two")...)
	run := w.pick(items...)
	if run.ID != waiting.ID || len(run.Items) != 2 || run.Open == nil || run.Resumed || run.Versions[0] != 1 {
		t.Errorf("%+v", run)
	}
	w.must(w.store.Step(t.Context(), run, core.Step{Run: run.ID, N: 1}))
	w.must(w.store.Opened(t.Context(), waiting, core.Receipt{ID: "open"})) // too late to matter
	b := w.restart()
	again := w.pick(b.Items...)
	if diff := cmp.Diff(run.Triggers, again.Triggers); diff != "" || again.Upto != run.Upto || again.Open == nil {
		t.Errorf("resumed with upto %s, want %s, and triggers (-want +got):\n%s", again.Upto, run.Upto, diff)
	}
	w.settle(again, end("both"))
	w.wantState(core.Done, items...)
	w.wantErr(w.store.Opened(t.Context(), waiting, core.Receipt{ID: "open"}), core.ErrRunOver)
}

// What waits for a slot and is taken back says so in its post. What waited with it
// begins another run.
func TestWithdrawnBeforeItsSlot(t *testing.T) {
	w := newWorld(t)
	first, second := w.say("one"), w.say("two")
	waiting := w.waits(append(first, second...)...)
	out := w.accept(w.event(core.InDelete, "e1", ""))
	if len(out.Rows) != 1 || out.Rows[0].Post != waiting.Post || out.Rows[0].Edit != "open" || len(out.Stopped) != 1 || out.Stopped[0] != waiting.ID {
		t.Errorf("%+v", out)
	}
	w.wantErr(w.store.Opened(t.Context(), waiting, core.Receipt{ID: "open"}), core.ErrRunOver)
	w.wantErr(w.store.Begin(t.Context(), waiting), core.ErrRunOver)
	run := w.pick(second...)
	if run.ID == waiting.ID || run.Open != nil {
		t.Errorf("%+v", run)
	}
	w.settle(run, end("2"))
	w.wantState(core.Done, second...)
	w.wantState(core.Withdrawn, first...)
}

// waits has people told that what the items would begin waits for a slot.
func (w *world) waits(items ...core.Item) core.Run {
	w.Helper()
	run := w.pick(items...)
	w.must(w.store.Await(w.Context(), run))
	run.Waits = true
	w.must(w.store.Opened(w.Context(), run, core.Receipt{ID: "open"}))
	return run
}

// What is queued between the mailbox's word and the pick joins once.
func TestLatecomers(t *testing.T) {
	w := newWorld(t)
	old := w.say("one")
	w.settle(w.pick(old...), failure())
	fresh := w.say("two")
	retried := w.accept(w.command("retry")).Items
	late := w.say("three")
	run := w.pick(append(fresh, retried...)...)
	want := []core.ID{fresh[0].ID, retried[0].ID, late[0].ID}
	if diff := cmp.Diff(want, run.Items); diff != "" {
		t.Error(diff)
	}
}

func TestEditWhilePicked(t *testing.T) {
	w := newWorld(t)
	a := w.accept(w.message("one"))
	run := w.pick(a.Items...)
	if fate := w.accept(w.edit("e1", "uno")).Fates[0]; fate != core.FateEdited {
		t.Errorf("fate %s", fate)
	}
	_, err := w.store.Settle(t.Context(), run, nil, end("1"))
	w.wantErr(err, core.ErrStale)
	w.wantErr(w.store.Begin(t.Context(), run), core.ErrStale)
	run = w.pick(a.Items...)
	w.settle(run, end("1"))
}

func TestHandOff(t *testing.T) {
	w := newWorld(t)
	done := w.settle(w.pick(w.say("hello")...), end("@scout go"))
	if len(done.Items) != 1 || done.Items[0].Bot != scout {
		t.Fatalf("%+v", done.Items)
	}
	run := w.pick(done.Items...)
	if run.Hop != 1 {
		t.Errorf("hop %d", run.Hop)
	}
	done = w.settle(run, end("@chief done")) // hop 2
	done = w.settle(w.pick(done.Items...), end("@scout again"))
	if len(done.Items) != 0 || len(done.Rows) != 2 || done.Rows[1].Kind != core.NoticePost {
		t.Errorf("at the limit: %+v", done)
	}
	// The limit is told once until a person speaks.
	retried := w.pick(w.say("go on")...)
	if l := w.trace(retried.Triggers[0]); l.Thread.HopTold {
		t.Error("a person has spoken, and the limit still counts as told")
	}
}

// Hand-offs of a bot that has mail wait until it has none, each of them.
func TestHeldHandOffs(t *testing.T) {
	w := newWorld(t)
	first := w.pick(w.say("one")...)
	two := w.say("two")
	done := w.settle(first, end("@scout one"))
	if len(done.Items) != 0 || len(done.Rows) != 2 || done.Rows[1].Kind != core.NoticePost {
		t.Fatalf("held: %+v", done)
	}
	second := w.pick(two...)
	three := w.say("three")
	w.settle(second, end("@scribe two"))
	third := w.pick(three...)
	four := w.say("four")
	w.settle(third, end("@scout three")) // instead of the first
	w.check()
	done = w.settle(w.pick(four...), end("nothing"))
	var got []string
	for _, it := range done.Items {
		msg := w.trace(it.ID).Message
		got = append(got, it.Bot+" gets "+msg.Text())
	}
	if diff := cmp.Diff([]string{"scribe gets @scribe two", "scout gets @scout three"}, got); diff != "" {
		t.Error(diff)
	}
}

// A hand-off is released too when the mail it waits for is withdrawn.
func TestHeldUntilWithdrawn(t *testing.T) {
	w := newWorld(t)
	first := w.pick(w.say("one")...)
	w.say("two")
	w.settle(first, end("@scout one"))
	a := w.accept(w.event(core.InDelete, "e2", ""))
	if a.Fates[0] != core.FateWithdrawn || len(a.Items) != 1 || a.Items[0].Bot != scout {
		t.Errorf("%+v", a)
	}
}
