package store_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// A person can stop work in every state, and sees one outcome of it.
func TestCancel(t *testing.T) {
	type state struct {
		items []core.Item
		run   core.Run // picked or begun; zero: none
	}
	for _, c := range []struct {
		name   string
		reach  func(w *world) state
		shown  string
		finals []string // of stopped runs
		reply  string
	}{
		{name: "nothing", reach: func(w *world) state {
			w.settle(w.pick(w.say("one")...), end("done"))
			return state{}
		}, reply: "There is nothing to stop here."},
		{name: "queued", reach: func(w *world) state {
			return state{items: append(w.say("one"), w.say("two")...)}
		}, finals: []string{"(stopped by Ann)"}, reply: "Stopped, and dropped 2 messages that waited. /retry takes it up again."},
		{name: "picked", reach: func(w *world) state {
			items := w.say("one")
			return state{items, w.pick(items...)}
		}, finals: []string{"(stopped by Ann)"}, reply: "Stopped, and dropped 1 message that waited. /retry takes it up again."},
		{name: "running", reach: func(w *world) state {
			items := w.say("one")
			run := w.pick(items...)
			w.must(w.store.Opened(w.Context(), run, core.Receipt{ID: "open"}))
			return state{items, run}
		}, shown: "So far", finals: []string{"So far\n\n(stopped by Ann)"}, reply: "Stopped. /retry takes it up again."},
		{name: "running with mail", reach: func(w *world) state {
			items := w.say("one")
			run := w.pick(items...)
			w.must(w.store.Begin(w.Context(), run))
			return state{append(items, w.say("two")...), run}
		}, finals: []string{"(stopped by Ann)"}, reply: "Stopped, and dropped 1 message that waited. /retry takes it up again."},
		{name: "to be resumed", reach: func(w *world) state {
			items := w.say("one")
			w.must(w.store.Begin(w.Context(), w.pick(items...)))
			b := w.restart()
			return state{items, w.pick(b.Items...)}
		}, finals: []string{"(stopped by Ann)"}, reply: "Stopped. /retry takes it up again."},
		{name: "resumed", reach: func(w *world) state {
			items := w.say("one")
			w.must(w.store.Begin(w.Context(), w.pick(items...)))
			run := w.pick(w.restart().Items...)
			w.must(w.store.Begin(w.Context(), run))
			return state{items, run}
		}, finals: []string{"(stopped by Ann)"}, reply: "Stopped. /retry takes it up again."},
		{name: "several bots", reach: func(w *world) state {
			items := w.say("@chief @scout one")
			run := w.pick(items[0])
			w.must(w.store.Begin(w.Context(), run))
			return state{items, run}
		}, finals: []string{"(stopped by Ann)", "(stopped by Ann)"}, reply: "Stopped, and dropped 1 message that waited. /retry takes it up again."},
		{name: "a held hand-off", reach: func(w *world) state {
			run := w.pick(w.say("one")...)
			items := w.say("two")
			w.settle(run, end("@scout go"))
			return state{items: items}
		}, finals: []string{"(stopped by Ann)"}, reply: "Stopped, and dropped 1 message that waited. /retry takes it up again."},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			s := c.reach(w)
			w.shown = c.shown
			var a core.Accepted
			w.commits(1, "/stop", func() { a = w.accept(w.command("stop")) })
			if diff := cmp.Diff(append(c.finals, c.reply), texts(a.Rows)); diff != "" {
				t.Error(diff)
			}
			w.wantState(core.Cancelled, s.items...)
			if len(a.Stopped) != len(c.finals) {
				t.Errorf("stopped %v", a.Stopped)
			}
			if s.run.ID != "" {
				for what, err := range map[string]error{
					"Begin":  w.store.Begin(t.Context(), s.run),
					"Opened": w.store.Opened(t.Context(), s.run, core.Receipt{ID: "late"}),
					"Step":   w.store.Step(t.Context(), s.run, core.Step{Run: s.run.ID, N: 1}),
				} {
					if err == nil {
						t.Errorf("%s of a stopped run", what)
					}
				}
				_, err := w.store.Settle(t.Context(), s.run, nil, end("late"))
				w.wantErr(err, core.ErrRunOver)
			}
			if again := w.accept(w.command("stop")); again.Rows[0].Text != "There is nothing to stop here." {
				t.Errorf("/stop again: %q", texts(again.Rows))
			}
			if b := w.restart(); len(b.Items) != 0 {
				t.Errorf("left: %+v", b.Items)
			}
			w.check()
			byBot := map[string][]core.Item{}
			for _, it := range w.accept(w.command("retry")).Items {
				byBot[it.Bot] = append(byBot[it.Bot], it)
			}
			for _, items := range byBot {
				w.settle(w.pick(items...), end("after all"))
			}
		})
	}
}

// What was settled first cannot be stopped.
func TestCancelAfterSettle(t *testing.T) {
	w := newWorld(t)
	items := w.say("one")
	done := w.settle(w.pick(items...), end("done"))
	if a := w.accept(w.command("stop")); len(a.Stopped) != 0 || len(a.Rows) != 1 {
		t.Errorf("%+v", a)
	}
	w.wantState(core.Done, items...)
	w.deliver(done.Rows...)
}

// A stopped run's words stay in the thread, for the next run to read.
func TestStoppedWordsStay(t *testing.T) {
	w := newWorld(t)
	items := w.say("one")
	w.must(w.store.Begin(t.Context(), w.pick(items...)))
	w.shown = "So far"
	w.accept(w.command("stop"))
	want := []said{{Text: "one"}, {Text: "So far\n\n(stopped by Ann)"}}
	if diff := cmp.Diff(want, w.said(items[0].Thread)); diff != "" {
		t.Error(diff)
	}
}

func TestRetry(t *testing.T) {
	w := newWorld(t)
	retry := func() []core.Item {
		t.Helper()
		return w.accept(w.command("retry")).Items
	}
	if items := retry(); items != nil {
		t.Errorf("nothing failed, and %+v", items)
	}
	w.settle(w.pick(w.say("zero")...), end("0"))
	if items := retry(); items != nil {
		t.Errorf("nothing failed, and %+v", items)
	}
	// All messages of the failed run, again and again, each after the last.
	both := append(w.say("one"), w.say("two")...)
	w.settle(w.pick(both...), failure())
	for range 3 {
		items := retry()
		if len(items) != 2 || items[0].Parent != both[0].ID || items[1].Parent != both[1].ID || items[0].Message != both[0].Message {
			t.Fatalf("%+v", items)
		}
		if more := retry(); more != nil {
			t.Errorf("it is being retried already, and %+v", more)
		}
		w.settle(w.pick(items...), failure())
		both = items
	}
	w.settle(w.pick(retry()...), end("at last"))
	if items := retry(); items != nil {
		t.Errorf("it has worked, and %+v", items)
	}
	w.wantState(core.Failed, both...)

	// Of two bots, the one that failed, whichever it is.
	for failed := range 2 {
		pair := w.say("@chief @scout three")
		w.settle(w.pick(pair[failed]), failure())
		w.settle(w.pick(pair[1-failed]), end("3"))
		items := retry()
		if len(items) != 1 || items[0].Bot != pair[failed].Bot {
			t.Errorf("%+v", items)
		}
		w.settle(w.pick(items...), end("3"))
	}
}

func TestLoad(t *testing.T) {
	w := newWorld(t)
	var load core.Load
	ask := w.command("stop")
	ask.Command.Run = func(_ context.Context, inv core.Invocation) (reply core.CommandReply, err error) {
		load, err = inv.Desk.Load(inv.Thread.ID)
		return core.CommandReply{Text: "ok"}, err
	}
	w.must(w.store.Begin(t.Context(), w.pick(w.say("one")...)))
	w.say("two")
	w.place.Channel = "other"
	w.must(w.store.Begin(t.Context(), w.pick(w.say("three")...)))
	w.say("four")
	w.say("five")
	w.place.Channel = "dm"
	w.restart() // resume items are not messages that wait
	w.accept(ask)
	if len(load.Works) != 1 || load.Works[0].Run.Bot != chief || load.Works[0].Ask.ID != "" {
		t.Errorf("in the thread works %+v", load.Works)
	}
	load.Works = nil
	if diff := cmp.Diff(core.Load{Running: 2, Queued: 1, Waiting: 3}, load); diff != "" {
		t.Errorf("the load: -want +got:\n%s", diff)
	}
}

// A command that fails for the person's sake has its say; any other error
// leaves nothing behind.
func TestCommandError(t *testing.T) {
	w := newWorld(t)
	w.say("one")
	e := w.command("new")
	e.Command.Run = func(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
		return core.CommandReply{}, &core.UserError{Text: "Not now."}
	}
	if a := w.accept(e); a.Rows[0].Text != "Not now." {
		t.Errorf("%q", texts(a.Rows))
	}
	e = w.command("new")
	e.Command.Run = func(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
		if err := inv.Desk.Archive(inv.Thread.ID); err != nil {
			return core.CommandReply{}, err
		}
		return core.CommandReply{}, errFault
	}
	_, err := w.store.Accept(t.Context(), w.batch(e))
	w.wantErr(err, errFault)
	threads, err := w.store.Threads(t.Context())
	if err != nil || len(threads) != 1 || !threads[0].Archived.IsZero() {
		t.Errorf("%+v, %v", threads, err)
	}
}

// Of very much that waits, only the beginning is counted, and that is told.
func TestLoadIsBounded(t *testing.T) {
	w := newWorld(t)
	for i := range 201 {
		w.say("hello")
		if i != 198 && i != 199 {
			continue
		}
		var load core.Load
		ask := w.command("stop")
		ask.Command.Run = func(_ context.Context, inv core.Invocation) (reply core.CommandReply, err error) {
			load, err = inv.Desk.Load(inv.Thread.ID)
			return core.CommandReply{Text: "ok"}, err
		}
		w.accept(ask)
		if diff := cmp.Diff(core.Load{Queued: i + 1, Waiting: i + 1, More: i == 199}, load); diff != "" {
			t.Errorf("after %d messages: -want +got:\n%s", i+1, diff)
		}
	}
}
