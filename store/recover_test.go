package store_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// Each crash is counted until the run must fail; an orderly stop is not.
func TestRecoverCounts(t *testing.T) {
	w := newWorld(t)
	item := w.say("one")[0]
	run := w.pick(item)
	w.must(w.store.Begin(t.Context(), run))
	w.must(w.store.Step(t.Context(), run, core.Step{Run: run.ID, N: 1}))
	later := w.say("two")
	crashes := 0
	for _, clean := range []bool{false, true, false, true, false} {
		if clean {
			w.must(w.store.StopClean(t.Context(), []core.ID{run.ID, "rzz"}))
		} else {
			crashes++
		}
		b := w.restart()
		if len(b.Items) != 2 || b.Items[0].Kind != core.ResumeItem || b.Items[1].ID != later[0].ID || !b.Items[0].Left || !b.Items[1].Left {
			t.Fatalf("%+v", b.Items)
		}
		again, scene, err := w.store.Pick(t.Context(), b.Items[:1], 80, 80)
		w.must(err)
		if again.ID != run.ID || again.Post != run.Post || !again.Resumed || again.Resumes != crashes || again.StoppedClean {
			t.Errorf("after %d crashes: %+v", crashes, again)
		}
		if len(scene.Steps) != 1 || len(scene.Messages) != 1 {
			t.Errorf("it reads %d steps and %d messages", len(scene.Steps), len(scene.Messages))
		}
		if crashes == 2 { // and now it got as far as being resumed
			w.must(w.store.Begin(t.Context(), again))
		}
		run = again
	}
	if run.Resumes <= core.MaxResumes {
		t.Errorf("%d crashes are not too many", run.Resumes)
	}
	w.settle(run, failure())
	w.wantState(core.Failed, item)
	if b := w.restart(); len(b.Items) != 1 || b.Items[0].ID != later[0].ID {
		t.Errorf("%+v", b.Items)
	}
}

// A start that finds no run in progress writes nothing.
func TestRecoverWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.settle(w.pick(w.say("one")...), end("a|b"))
	picked := w.say("two")
	w.pick(picked...)
	w.commits(0, "Recover", func() {
		b, err := w.store.Recover(t.Context(), func(string) bool { return true })
		w.must(err)
		if len(b.Items) != 1 || len(b.Rows) != 2 || !b.Rows[0].Unsure || b.Rows[0].Text != "a" || b.Rows[1].Text != "b" {
			t.Errorf("%+v", b)
		}
		if run := w.pick(b.Items...); !run.Resumed || run.ID != picked[0].ID.As(core.KindRun) {
			t.Errorf("%+v", run)
		}
	})
}

// The work of adapters that are not there waits for them, and is not counted.
func TestRecoverOfOtherAdapters(t *testing.T) {
	w := newWorld(t)
	w.place.Adapter = "gone"
	run := w.pick(w.say("one")...)
	w.must(w.store.Begin(t.Context(), run))
	w.say("two")
	w.place.Channel = "other"
	w.settle(w.pick(w.say("three")...), end("3"))
	w.commits(0, "Recover", func() {
		b, err := w.store.Recover(t.Context(), func(adapter string) bool { return adapter == "chat" })
		w.must(err)
		if len(b.Items)+len(b.Rows) != 0 {
			t.Errorf("%+v", b)
		}
	})
	if b := w.restart(); len(b.Items) != 2 || len(b.Rows) != 1 {
		t.Errorf("%+v", b)
	}
}

// Keys of events are forgotten by the day, a bounded number at a time.
func TestPrune(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		first := w.message("one")
		w.accept(first)
		for i := range 1001 {
			e := w.event(core.InIgnored, "", "")
			e.In.Key = fmt.Sprint("x", i)
			w.accept(e)
		}
		yesterday := time.Now()
		<-time.After(24 * time.Hour)
		kept := w.message("two")
		w.accept(kept)
		prune := func(before time.Time, want bool) {
			t.Helper()
			if more, err := w.store.Prune(t.Context(), before); err != nil || more != want {
				t.Errorf("more: %v, %v", more, err)
			}
			w.check()
		}
		w.commits(0, "pruning nothing", func() { prune(yesterday, false) })
		prune(time.Now(), true)
		prune(time.Now(), false)
		if a := w.accept(first, kept); a.Fates[0] == core.FateDuplicate || a.Fates[1] != core.FateDuplicate {
			t.Errorf("%v", a.Fates)
		}
	})
}
