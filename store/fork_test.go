package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/store"
)

// fork is /fork, at the message with the platform id that is replied to; empty:
// none is.
func (w *world) fork(re string) core.Accepted {
	w.Helper()
	e := w.command("fork")
	e.In.ReplyTo = re
	return w.accept(e)
}

// talk has a person and a bot say so many things each.
func (w *world) talk(n int) {
	for i := range n {
		w.deliver(w.settle(w.pick(w.say(fmt.Sprint("what ", i))...), end(fmt.Sprint("that ", i))).Rows...)
	}
}

// current is the thread at the place.
func (w *world) current() core.Thread {
	w.Helper()
	threads, err := w.store.Threads(w.Context())
	w.must(err)
	i := slices.IndexFunc(threads, func(th core.Thread) bool { return th.Archived.IsZero() && th.Place == w.place })
	return threads[i]
}

// wantHistory checks what was said in a thread, to whoever pages back through
// it.
func (w *world) wantHistory(thread core.ID, want ...string) {
	w.Helper()
	var got []string
	var before core.ID
	for more := true; more; {
		var page []core.Message
		var err error
		page, more, err = w.store.Before(w.Context(), thread, before, 3)
		w.must(err)
		var said []string
		for _, m := range page {
			said = append(said, m.Text())
		}
		got = append(said, got...)
		if more {
			before = page[0].ID
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("the history of %s (-want +got):\n%s", thread, diff)
	}
}

// A fork is one commit and as many rows however much was said; what it shares
// is read in its place, also by who has only ever known the disk.
func TestFork(t *testing.T) {
	w := onDisk(t)
	t.Cleanup(w.check)
	rows := func(n int) int {
		w.talk(n)
		before := w.rows()
		var told []core.Row
		w.commits(1, "/fork", func() { told = w.fork("").Rows })
		w.deliver(told...)
		return w.rows() - before
	}
	few := rows(2)
	if many := rows(60); many > few {
		t.Errorf("a fork of more writes %d rows more than one of little, %d", many-few, few)
	}
	items := w.say("and now?")
	w.restart()
	th := w.current()
	if th.Shared != 124 || th.Said() != 1 || items[0].Thread != th.ID {
		t.Errorf("the fork is %+v", th)
	}
	_, scene, err := w.store.Pick(t.Context(), items, 80, 80)
	w.must(err)
	if n := len(scene.Messages); n != 125 || scene.Messages[n-2].Text() != "that 59" || scene.Messages[0].N != 1 || scene.Messages[n-1].N != 125 {
		t.Errorf("a run in the fork reads %d messages, from number %d", n, scene.Messages[0].N)
	}
	_, scene, err = w.store.Pick(t.Context(), items, 20, 80)
	w.must(err)
	if n := len(scene.Messages); n != 41 || scene.Messages[0].N != 85 {
		t.Errorf("a run with a small window reads %d messages, from number %d", n, scene.Messages[0].N)
	}
}

// rows is how many there are in all.
func (w *world) rows() int {
	w.Helper()
	n := 0
	w.must(w.engine.View(func(tx store.Tx) error {
		kvs, err := tx.Scan(nil, []byte{0xff}, 0)
		n = len(kvs)
		return err
	}))
	return n
}

// A window goes along if what it begins with is shared.
func TestForkWindow(t *testing.T) {
	for at, goes := range map[string]bool{"e1": false, "e2": true} {
		w := newWorld(t)
		w.talk(1)
		cut := w.say("what 1")
		w.settle(w.pick(cut...), end("that 1"))
		run := w.pick(w.say("what 2")...)
		run.Cut = cut[0].Message
		w.settle(run, end("that 2"))
		w.fork(at)
		if th := w.current(); (th.Cuts[chief] == run.Cut) != goes || !slices.Equal(th.Bots, []string{chief}) {
			t.Errorf("forked at %s, the windows are %v, the bots %v", at, th.Cuts, th.Bots)
		}
	}
}

// Forks of forks read what was said on their way alone.
func TestForkOfFork(t *testing.T) {
	w := newWorld(t)
	w.say("one")
	w.say("two")
	w.fork("e1")
	w.say("three")
	w.say("four")
	second := w.current().ID
	w.fork("e4")
	w.say("five")
	third := w.current().ID
	w.fork("e5") // of the second
	fourth := w.current().ID
	w.fork("e1") // of what all share
	w.say("six")
	fifth := w.current().ID
	w.fork("e7") // of the third
	w.wantHistory("t1", "one", "two")
	w.wantHistory(second, "one", "three", "four")
	w.wantHistory(third, "one", "three", "five")
	w.wantHistory(fourth, "one", "three", "four")
	w.wantHistory(fifth, "one", "six")
	w.wantHistory(w.current().ID, "one", "three", "five")
}

// There is an end to forks of forks.
func TestForksWithoutEnd(t *testing.T) {
	w := newWorld(t)
	for i := range 100 {
		w.say(fmt.Sprint(i))
		if rows := w.fork("").Rows; strings.Contains(rows[0].Text, "fork it again") != (i >= 64) {
			t.Fatalf("fork %d: %s", i+1, rows[0].Text)
		}
	}
}

// What becomes of a message that is shared becomes of it in both; what comes
// too late for that is for who reads on.
func TestForkOfWhatChanges(t *testing.T) {
	w := newWorld(t)
	w.talk(1)
	waits := w.say("what waits")
	gone := w.say("what goes")
	w.fork("e3")
	fork := w.current().ID
	w.accept(w.edit("e2", "what waited"), w.event(core.InDelete, "e3", ""))
	w.wantState(core.Withdrawn, gone...)
	w.wantHistory(fork, "what 0", "that 0", "what waited", core.Deleted)
	run := w.pick(waits...)
	w.settle(run, end("done"))
	w.wantState(core.Done, waits...)

	got := w.accept(w.edit("e1", "what else"))
	if got.Fates[0] != core.FateEdited || len(got.Items) != 1 || got.Items[0].Thread != fork {
		t.Errorf("a correction of what is shared: %+v", got)
	}
	w.wantHistory(fork, "what 0", "that 0", "what waited", core.Deleted, "what else")
	w.accept(w.command("new"))
	if got := w.accept(w.edit("e2", "what is over")); got.Fates[0] != core.FateIgnored {
		t.Errorf("a correction where nobody knows of it: %+v", got)
	}
}

// What is lost of a fork is made from what is left.
func TestForkDamaged(t *testing.T) {
	w := unchecked(t)
	w.talk(2)
	w.fork("e1")
	items := w.say("on")
	want := w.current()
	if n := flip(t, w.engine, "t/"); n != 2 {
		t.Fatalf("%d threads", n)
	}
	run := w.pick(items...)
	if _, err := w.store.Settle(t.Context(), run, nil, end("so")); err != nil {
		t.Fatal(err)
	}
	got := w.current()
	if got.Fork != want.Fork || got.Shared != want.Shared || got.Messages != want.Messages+1 {
		t.Errorf("the fork is %+v, was %+v", got, want)
	}
	w.wantHistory(got.ID, "what 0", "on", "so")
	w.say("and on")
	w.check()
	flip(t, w.engine, "tf/")
	w.say("without a past")
	if msgs, _, err := w.store.Before(t.Context(), got.ID, "", 10); err != nil || len(msgs) != 4 {
		t.Errorf("without its lineage, the fork has %d messages: %v", len(msgs), err)
	}
}
