package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// said is what a test can see of a message.
type said struct {
	Text     string
	Version  int
	Corrects core.ID
}

func (w *world) said(thread core.ID) []said {
	w.Helper()
	msgs, more, err := w.store.Before(w.Context(), thread, "", 100)
	if err != nil || more {
		w.Fatal(more, err)
	}
	var out []said
	for _, m := range msgs {
		out = append(out, said{m.Text(), m.Version, m.Corrects})
	}
	return out
}

func TestFates(t *testing.T) {
	group := func(e core.Entry) core.Entry {
		e.In.Direct, e.In.Place.Channel = false, "group"
		return e
	}
	for _, c := range []struct {
		name   string
		before func(w *world)
		entry  func(w *world) core.Entry
		want   core.Fate
		bots   []string // woken
		says   []string
	}{
		{name: "direct", entry: func(w *world) core.Entry { return w.message("hello") }, want: core.FateStored, bots: []string{chief}},
		{name: "mentions bots", entry: func(w *world) core.Entry { return w.message("@scout and @chief: hello") }, want: core.FateStored, bots: []string{scout, chief}},
		{name: "blank", entry: func(w *world) core.Entry { return w.message(" \n") }, want: core.FateIgnored},
		{name: "blank with a file", entry: func(w *world) core.Entry {
			e := w.message("")
			e.In.Files = []core.File{{Name: "a.txt"}}
			return e
		}, want: core.FateStored, bots: []string{chief}},
		{name: "a quote alone", entry: func(w *world) core.Entry {
			e := w.message("")
			e.In.Quotes = []core.Quote{{Text: "quoted"}}
			return e
		}, want: core.FateStored, bots: []string{chief}},
		{name: "overheard", entry: func(w *world) core.Entry { return group(w.message("hello")) }, want: core.FateIgnored},
		{name: "mentioned in a group", entry: func(w *world) core.Entry {
			e := group(w.message("hello"))
			e.In.Mentioned = true
			return e
		}, want: core.FateStored, bots: []string{chief}},
		{name: "always", entry: func(w *world) core.Entry {
			e := group(w.message("hello"))
			e.Mode = core.ReplyAlways
			return e
		}, want: core.FateStored, bots: []string{chief}},
		{name: "no thread yet", entry: func(w *world) core.Entry {
			e := group(w.message("hello"))
			e.Mode = core.ReplyThread
			return e
		}, want: core.FateIgnored},
		{name: "in a thread", before: func(w *world) {
			e := group(w.message("hello"))
			e.In.Mentioned = true
			w.accept(e)
		}, entry: func(w *world) core.Entry {
			e := group(w.message("again"))
			e.Mode = core.ReplyThread
			return e
		}, want: core.FateStored, bots: []string{chief}},
		{name: "to others only", entry: func(w *world) core.Entry {
			e := w.message("bob, look")
			e.In.Others, e.In.Direct, e.Mode = true, false, core.ReplyAlways
			return e
		}, want: core.FateKept},
		{name: "to another bot of the platform", entry: func(w *world) core.Entry {
			e := w.message("/start@other")
			e.In.Foreign = true
			return e
		}, want: core.FateIgnored},
		{name: "again", before: func(w *world) {
			w.accept(w.message("hello"))
			w.events--
		}, entry: func(w *world) core.Entry { return w.message("hello") }, want: core.FateDuplicate},
		{name: "stranger", entry: func(w *world) core.Entry {
			e := w.message("hello")
			e.Role = core.Stranger
			return e
		}, want: core.FateRefused},
		{name: "stranger who is told", entry: func(w *world) core.Entry {
			e := w.message("hello")
			e.Role, e.Refusal = core.Stranger, "I do not know you."
			return e
		}, want: core.FateRefused, says: []string{"I do not know you."}},
		{name: "command", entry: func(w *world) core.Entry { return w.command("stop") }, want: core.FateCommand, says: []string{"There is nothing to stop here."}},
		{name: "command of a higher role", entry: func(w *world) core.Entry {
			e := w.command("stop")
			e.Command.Role = core.Owner
			return e
		}, want: core.FateBeneath, says: []string{"Only an owner may use /stop."}},
		{name: "command of a higher role among others", entry: func(w *world) core.Entry {
			e := w.command("stop")
			e.Command.Role, e.In.Direct = core.Owner, false
			return e
		}, want: core.FateBeneath, says: []string{"Only an owner may use /stop."}},
		{name: "command of a higher role, again", entry: func(w *world) core.Entry {
			e := w.command("stop")
			e.Command.Role, e.In.Direct, e.Hushed = core.Owner, false, true
			return e
		}, want: core.FateBeneath},
		{name: "edit of nothing", entry: func(w *world) core.Entry { return w.edit("e9", "hello") }, want: core.FateIgnored},
		{name: "edit", before: func(w *world) { w.say("hello") }, entry: func(w *world) core.Entry { return w.edit("e1", "bye") }, want: core.FateEdited},
		{name: "edit by another", before: func(w *world) { w.say("hello") }, entry: func(w *world) core.Entry {
			e := w.edit("e1", "bye")
			e.In.From.ID = "chat:bob"
			return e
		}, want: core.FateIgnored},
		{name: "edit by a stranger", before: func(w *world) { w.say("hello") }, entry: func(w *world) core.Entry {
			e := w.edit("e1", "bye")
			e.Role = core.Stranger
			return e
		}, want: core.FateRefused},
		{name: "edit to the same", before: func(w *world) { w.say("hello") }, entry: func(w *world) core.Entry { return w.edit("e1", " hello ") }, want: core.FateUnchanged},
		{name: "edit to nothing", before: func(w *world) { w.say("hello") }, entry: func(w *world) core.Entry { return w.edit("e1", "") }, want: core.FateUnchanged},
		{name: "edit of our answer", before: func(w *world) {
			w.deliver(w.settle(w.pick(w.say("hello")...), end("hi")).Rows...)
		}, entry: func(w *world) core.Entry { return w.edit("out5.0", "ha") }, want: core.FateIgnored},
		{name: "edit in an archived thread", before: func(w *world) {
			w.settle(w.pick(w.say("hello")...), end("hi"))
			w.accept(w.command("new"))
		}, entry: func(w *world) core.Entry { return w.edit("e1", "bye") }, want: core.FateIgnored},
		{name: "correction", before: func(w *world) { w.settle(w.pick(w.say("hello")...), end("hi")) },
			entry: func(w *world) core.Entry { return w.edit("e1", "@scout hello") }, want: core.FateEdited, bots: []string{scout}},
		{name: "delete of nothing", entry: func(w *world) core.Entry { return w.event(core.InDelete, "e9", "") }, want: core.FateIgnored},
		{name: "delete", before: func(w *world) { w.say("hello") }, entry: func(w *world) core.Entry { return w.event(core.InDelete, "e1", "") }, want: core.FateWithdrawn},
		{name: "delete of what was answered", before: func(w *world) { w.settle(w.pick(w.say("hello")...), end("hi")) },
			entry: func(w *world) core.Entry { return w.event(core.InDelete, "e1", "") }, want: core.FateIgnored},
		{name: "unreadable", entry: func(w *world) core.Entry {
			e := w.event(core.InUnreadable, "", "")
			e.In.Raw = []byte(`{"what":?}`)
			return e
		}, want: core.FateUnreadable},
		{name: "of no interest", entry: func(w *world) core.Entry { return w.event(core.InIgnored, "", "") }, want: core.FateIgnored},
		{name: "moved", entry: func(w *world) core.Entry {
			e := w.event(core.InMoved, "", "")
			e.In.To = "dm2"
			return e
		}, want: core.FateMoved},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if c.before != nil {
				c.before(w)
			}
			e := c.entry(w)
			var a core.Accepted
			w.commits(map[bool]uint64{true: 1}[c.want != core.FateDuplicate], "Accept", func() { a = w.accept(e) })
			var woken []string
			for _, it := range a.Items {
				woken = append(woken, it.Bot)
			}
			if a.Fates[0] != c.want || cmp.Diff(c.bots, woken) != "" || cmp.Diff(c.says, texts(a.Rows)) != "" {
				t.Errorf("%s, wakes %v, says %q; want %s, %v, %q", a.Fates[0], woken, texts(a.Rows), c.want, c.bots, c.says)
			}
			if again := w.accept(e); again.Fates[0] != core.FateDuplicate || len(again.Items)+len(again.Rows) != 0 {
				t.Errorf("again: %+v", again)
			}
		})
	}
}

// Events of one batch see what those before them did.
func TestBatch(t *testing.T) {
	w := newWorld(t)
	one := w.message("one")
	var a core.Accepted
	w.commits(1, "a batch", func() {
		a = w.accept(one, one, w.edit("e1", "uno"), w.command("stop"), w.message("two"), w.command("new"), w.message("three"))
	})
	want := []core.Fate{core.FateStored, core.FateDuplicate, core.FateEdited, core.FateCommand, core.FateStored, core.FateCommand, core.FateStored}
	if diff := cmp.Diff(want, a.Fates); diff != "" {
		t.Error(diff)
	}
	threads, err := w.store.Threads(t.Context())
	w.must(err)
	if len(threads) != 2 || threads[0].Archived.IsZero() || !threads[1].Archived.IsZero() || threads[0].Messages != 2 {
		t.Errorf("%+v", threads)
	}
	w.wantState(core.Cancelled, a.Items[0], a.Items[1])
	w.wantState(core.Queued, a.Items[2])
}

// A batch that fails leaves nothing of any of its events.
func TestBatchFails(t *testing.T) {
	w := newWorld(t)
	broken := w.command("stop")
	broken.Command.Run = nil
	if _, err := w.store.Accept(t.Context(), w.batch(w.message("one"), broken)); err == nil {
		t.Error("a broken command was accepted")
	}
	w.events = 0
	w.say("one")
}

func TestCorrections(t *testing.T) {
	w := newWorld(t)
	first := w.say("one")[0]
	w.accept(w.edit("e1", "uno")) // not joined: replaces it
	run := w.pick(first)
	w.must(w.store.Begin(t.Context(), run))
	c1 := w.accept(w.edit("e1", "un")).Items[0] // joined: a correction
	w.accept(w.edit("e1", "eins"))              // replaces the correction
	if a := w.accept(w.edit("e1", "eins")); a.Fates[0] != core.FateUnchanged {
		t.Error(a.Fates)
	}
	w.settle(run, end("1"))
	w.settle(w.pick(c1), end(""))
	c2 := w.accept(w.edit("e1", "ett")).Items[0]
	want := []said{{"uno", 1, ""}, {"eins", 1, first.Message}, {"1", 0, ""}, {"ett", 0, c1.Message}}
	if diff := cmp.Diff(want, w.said(first.Thread)); diff != "" {
		t.Error(diff)
	}
	if a := w.accept(w.event(core.InDelete, "e1", "")); a.Ended[0] != c2.ID {
		t.Errorf("%+v", a)
	}
}

func TestWithdraw(t *testing.T) {
	w := newWorld(t)
	gone := func(id string) core.Entry { return w.event(core.InDelete, id, "") }

	// Picked and not stored: the run finds nothing to do.
	one := w.say("one")
	run := w.pick(one...)
	if a := w.accept(gone("e1")); cmp.Diff([]core.ID{one[0].ID}, a.Ended) != "" {
		t.Errorf("%+v", a)
	}
	w.wantErr(w.store.Begin(t.Context(), run), core.ErrRunOver)
	w.wantState(core.Withdrawn, one...)
	if it := w.item(one[0].ID); it.Outcome != "" {
		t.Errorf("a withdrawn item has the outcome %s", it.Outcome)
	}

	// One of two: the other is answered.
	both := append(w.say("two"), w.say("three")...)
	run = w.pick(both...)
	w.accept(gone("e3"))
	w.settle(run, end("done"))
	w.wantState(core.Withdrawn, both[0])
	w.wantState(core.Done, both[1])

	// Two bots, one of which is at it: the other is spared.
	pair := w.say("@chief @scout four")
	w.must(w.store.Begin(t.Context(), w.pick(pair[0])))
	w.accept(gone("e6"))
	w.wantState(core.Doing, pair[0])
	w.wantState(core.Withdrawn, pair[1])
}

// A place keeps its thread when its channel's id changes, and changes again.
func TestMovedTwice(t *testing.T) {
	w := newWorld(t)
	thread := w.say("one")[0].Thread
	for _, to := range []string{"dm2", "dm3", "dm"} {
		moved := w.event(core.InMoved, "", "")
		moved.In.To = to
		if a := w.accept(moved); a.Moved[0] != (core.Moving{Adapter: "chat", Old: "dm", New: to}) {
			t.Errorf("%+v", a.Moved)
		}
		w.place.Channel = to
		if it := w.say("at " + to)[0]; it.Thread != thread {
			t.Errorf("at %s the thread is %s, was %s", to, it.Thread, thread)
		}
	}
	w.must(w.store.Moved(t.Context(), core.Moving{Adapter: "chat", Old: "dm3", New: "dm4"}))
	for _, old := range []string{"dm", "dm2", "dm3", "dm4"} { // late ones, too
		w.place.Channel = old
		if it := w.say("late")[0]; it.Thread != thread {
			t.Errorf("at %s the thread is %s, was %s", old, it.Thread, thread)
		}
	}
	w.accept(w.edit("e2", "zwei"))
	if got := w.said(thread); len(got) != 8 {
		t.Errorf("%+v", got)
	}
	if b := w.restart(); len(b.Moved) != 1 || b.Moved[0].New != "dm4" {
		t.Errorf("after a restart %+v", b.Moved)
	}
}

// No event is too odd to be accepted.
func TestOddEvents(t *testing.T) {
	w := newWorld(t)
	long := string(make([]byte, 5000))
	for _, odd := range []string{"", "\x00", "\x01\x00", "\xff\xfe", "日本", long, long[:600]} {
		w.place = core.Place{Adapter: "chat" + odd, Channel: odd, Topic: odd}
		e := w.message("hello " + odd)
		e.In.Key, e.In.MessageID = "k"+odd, "m"+odd
		items := w.accept(e).Items
		if len(items) != 1 {
			t.Fatalf("%.9q: %+v", odd, items)
		}
		run := w.pick(items...)
		w.settle(run, end("hi"))
		b := w.restart()
		w.deliver(b.Rows...)
		if b = w.restart(); len(b.Rows) != 0 {
			t.Errorf("%.9q: the row is still there", odd)
		}
		e.In.Kind, e.In.Key, e.In.Text = core.InEdit, "edit"+odd, "bye"
		if fate := w.accept(e).Fates[0]; fate != core.FateEdited {
			t.Errorf("%.9q: an edit is %s", odd, fate)
		}
		w.accept(w.command("new"))
		if got := w.say("fresh")[0].Thread; got == run.Thread {
			t.Errorf("%.9q: /new changes nothing", odd)
		}
	}
}
