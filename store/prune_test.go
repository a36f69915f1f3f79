package store_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/store"
	"bellhop/store/memkv"
)

const month = 30 * 24 * time.Hour

// prune forgets what was done before the time, in as many transactions as it
// takes.
func (w *world) prune(before time.Time) {
	w.Helper()
	for _, prune := range []func(time.Time, core.ID) (core.ID, error){
		func(t time.Time, from core.ID) (core.ID, error) {
			return w.store.PruneTranscripts(w.Context(), t, from)
		},
		func(t time.Time, from core.ID) (core.ID, error) { return w.store.PruneTasks(w.Context(), t, from) },
	} {
		for from, more := core.ID(""), true; more; more = from != "" {
			var err error
			from, err = prune(before, from)
			w.must(err)
		}
	}
}

func (w *world) audit() store.Books {
	w.Helper()
	books, err := w.store.Audit(w.Context())
	w.must(err)
	return books
}

// counts are how many items, runs, steps and asks there are.
func (w *world) counts() [4]int {
	w.Helper()
	b := w.audit()
	steps := 0
	for _, of := range b.Steps {
		steps += len(of)
	}
	return [4]int{len(b.Items), len(b.Runs), steps, len(b.Asks)}
}

func (w *world) wantCounts(what string, items, runs, steps, asks int) {
	w.Helper()
	if got, want := w.counts(), [4]int{items, runs, steps, asks}; got != want {
		w.Errorf("%s: %v items, runs, steps and asks, want %v", what, got, want)
	}
}

// What has ended is forgotten when it is old, and nothing that anybody still
// needs: what was said stays, and reads as before; what is open stays, with what
// it depends on.
func TestPruneTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		turn := w.message("one")
		first := w.accept(turn).Items
		run := w.pick(first...)
		w.must(w.store.Step(t.Context(), run, core.Step{Run: run.ID, N: 1, Parts: []core.Part{core.Text("Hm.")}}))
		w.deliver(w.settle(run, end("done")).Rows...)
		failed := w.pick(w.say("two")...)
		w.deliver(w.settle(failed, failure()).Rows...)
		gone := w.message("never mind")
		w.accept(gone)
		w.accept(w.event(core.InDelete, gone.In.MessageID, ""))
		parked, ask := w.park(w.say("ask me")...)
		w.accept(w.command("stop"))
		if got := w.run(parked.ID); got.State != core.Cancelled {
			t.Fatalf("%+v", got)
		}
		w.wantCounts("at first", 4, 3, 2, 1)
		scene := func() []core.Message {
			run := w.pick(w.say("what now?")...)
			_, sc, err := w.store.Pick(t.Context(), []core.Item{w.item(run.Items[0])}, 80, 80)
			w.must(err)
			w.accept(w.command("stop"))
			return sc.Messages
		}
		before := scene()
		w.wantCounts("with one more", 5, 4, 2, 1)
		time.Sleep(month)
		open := w.say("three")
		w.must(w.store.Begin(t.Context(), w.pick(open...)))
		w.prune(time.Now().Add(-month - time.Hour))
		w.wantCounts("young enough", 6, 5, 2, 1)
		for range 2 {
			w.prune(time.Now().Add(-time.Hour))
			w.wantCounts("old", 1, 1, 0, 0)
			w.check()
		}
		w.accept(w.command("stop"))
		if diff := cmp.Diff(before, scene()[:len(before)]); diff != "" {
			t.Errorf("what a bot reads has changed (-before +now):\n%s", diff)
		}

		// What is known of the old turn is what the log says, and what was shown.
		for _, id := range []core.ID{first[0].ID, run.ID, run.Triggers[0], run.Post} {
			l := w.trace(id)
			if len(l.Items)+len(l.Runs) > 0 || !slices.ContainsFunc(l.Log, func(a core.Activity) bool { return a.Event == core.RunDone && a.Run == run.ID }) {
				t.Errorf("of %s: %d items, %d runs, and the log %v", id, len(l.Items), len(l.Runs), l.Log)
			}
		}
		said := w.audit().Messages[1]
		if l := w.trace(said.ID); said.Run != run.ID || len(l.Posts) != 1 || l.Posts[0].ID != run.Post {
			t.Errorf("of what it said: %+v", l.Posts)
		}
		if _, err := w.store.Trace(t.Context(), ask); err == nil {
			t.Error("what was asked is there")
		}

		// It is known still that it was read, and that it came.
		if a := w.accept(w.edit(turn.In.MessageID, "one, please")); a.Fates[0] != core.FateEdited || len(a.Items) != 1 || w.trace(a.Items[0].ID).Message.Corrects != run.Triggers[0] {
			t.Errorf("an edit of what was read is %+v", a)
		}
		if a := w.accept(turn); a.Fates[0] != core.FateDuplicate {
			t.Errorf("the event again is %s", a.Fates[0])
		}
	})
}

// Transcripts go by themselves; the runs that have ended stay without, and those
// in progress keep theirs, however old.
func TestPruneTranscripts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		turn := func(ends bool) core.ID {
			run := w.pick(w.say("go")...)
			for n := range 3 {
				w.must(w.store.Step(t.Context(), run, core.Step{Run: run.ID, N: n + 1}))
			}
			if ends {
				w.settle(run, end("done"))
			}
			w.place.Channel += "x"
			return run.ID
		}
		prune := func(want core.ID) {
			t.Helper()
			if next, err := w.store.PruneTranscripts(t.Context(), time.Now().Add(-time.Hour), ""); err != nil || next != want {
				t.Errorf("it goes on at %q, %v", next, err)
			}
		}
		first, open := turn(true), turn(false)
		prune("")
		w.wantCounts("young", 2, 2, 6, 0)
		time.Sleep(month)
		young := turn(true)
		prune("")
		w.wantCounts("of three", 3, 3, 6, 0)
		if steps := w.audit().Steps; len(steps[open]) != 3 || len(steps[young]) != 3 {
			t.Errorf("what is left is %v", steps)
		}
		if run := w.trace(first).Runs[0]; run.Steps != 0 || run.State != core.Done {
			t.Errorf("without its steps the run is %+v", run)
		}
	})
}

// A run stays while somebody works on what it has said, or is to: they work for
// whom it did.
func TestPruneKeepsOrigins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		origin := w.pick(w.say("go")...)
		woken := w.settle(origin, end("@scout look")).Items
		holder := w.pick(w.say("go on")...)
		w.must(w.store.Begin(t.Context(), holder))
		w.say("and on")
		w.settle(holder, end("@scribe look")) // is held: the sender has mail
		time.Sleep(month)
		w.prune(time.Now())
		w.wantCounts("while what they have said waits", 4, 2, 0, 0)
		run := w.pick(woken...)
		if run.For.ID != ann.ID || run.Reply.To != origin.Reply.To {
			t.Errorf("it works for %+v, and replies to %q", run.For, run.Reply.To)
		}
		w.settle(run, end("seen"))
		w.prune(time.Now().Add(-time.Hour))
		w.wantCounts("when that was done just now", 4, 3, 0, 0)
		time.Sleep(time.Hour)
		w.prune(time.Now())
		w.wantCounts("an hour later", 2, 1, 0, 0)
		books := w.audit()
		if books.Runs[0].ID != holder.ID || books.Items[0].ID != holder.Items[0] || books.Items[1].State != core.Queued {
			t.Errorf("%+v and %+v stay", books.Runs, books.Items)
		}
	})
}

// Of what was tried again, the first try goes first: while it stays, the later
// ones say that it is no more what failed last.
func TestPruneKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		end := end("@scout look")
		end.State, end.Kind, end.Error = core.Failed, core.ErrorPost, "broken"
		run := w.pick(w.say("go")...)
		handed := w.settle(run, end).Items
		again := w.accept(w.command("retry")).Items
		if len(handed) != 1 || len(again) != 1 {
			t.Fatalf("handed on as %v, tried again as %v", handed, again)
		}
		w.settle(w.pick(again...), core.Settlement{State: core.Done, Kind: core.AnswerPost, Text: "ok", Answer: "ok", Bots: bots, Split: split})
		time.Sleep(month)
		w.prune(time.Now())
		w.wantCounts("while the first is needed", 3, 2, 0, 0)
		if items := w.accept(w.command("retry")).Items; len(items) > 0 {
			t.Errorf("%+v is tried again", items)
		}
		w.accept(w.command("stop"))
		time.Sleep(time.Hour)
		w.prune(time.Now())
		w.wantCounts("then", 0, 0, 0, 0)
	})
}

// Pruning goes in transactions of bounded size, and a crash between or in them
// does no harm.
func TestPruneBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const turns = 700
		for range turns {
			run := w.pick(w.say("go")...)
			w.must(w.store.Step(t.Context(), run, core.Step{Run: run.ID, N: 1}))
			w.must(w.store.Step(t.Context(), run, core.Step{Run: run.ID, N: 2}))
			w.settle(run, end("done"))
		}
		time.Sleep(month)
		var from core.ID
		for n := 1; ; n++ {
			w.memory().SetFault(func(uint64, memkv.When) error { return errFault })
			_, err := w.store.PruneTasks(t.Context(), time.Now(), from)
			w.wantErr(err, errFault)
			w.memory().SetFault(nil)
			before := w.counts()
			next, err := w.store.PruneTasks(t.Context(), time.Now(), from)
			w.must(err)
			gone := before[0] - w.counts()[0]
			if rows := 5 * gone; rows > 1000+5 || gone == 0 { // an item, its owner's index, a run and two steps each
				t.Errorf("%d rows go at once", rows)
			}
			if w.check(); next == "" {
				if n != 4 {
					t.Errorf("it takes %d transactions", n)
				}
				break
			}
			if from = next; n%2 == 0 {
				from = "" // as after a crash
				w.restart()
			}
		}
		w.wantCounts("then", 0, 0, 0, 0)
	})
}

// What a bot never had is not what it has read, however long ago it was taken from
// it: who edits their message changes it.
func TestPruneTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.say("one")
		if got := w.accept(w.edit("e1", "@scout look")).Items; len(got) != 1 {
			t.Fatalf("woken: %+v", got)
		}
		time.Sleep(month)
		w.prune(time.Now().Add(-time.Hour))
		w.check()
		if got := w.accept(w.edit("e1", "@scout look here")); len(got.Items) != 0 || got.Fates[0] != core.FateEdited {
			t.Errorf("%+v", got)
		}
	})
}
