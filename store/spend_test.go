package store_test

import (
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// What models were used is counted once, however a run ends, by thread and by
// day: of all, of each bot, of each person.
func TestSpend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		used := core.Usage{Calls: 1, Input: 1000, Output: 20}
		turn := func(s core.Settlement) core.ID {
			run := w.pick(w.say("go")...)
			s.Usage = used
			w.deliver(w.settle(run, s).Rows...)
			if _, err := w.store.Settle(t.Context(), run, nil, s); err == nil {
				t.Error("it settles twice")
			}
			return run.Thread
		}
		want := func(day time.Time, who string, calls int) {
			t.Helper()
			if got, err := w.store.SpentOn(t.Context(), day, who); err != nil || got.Calls != calls || got.Input != 1000*calls {
				t.Errorf("of %q that day: %+v, %v, want %d calls", who, got, err, calls)
			}
		}
		first := time.Now()
		thread := turn(end("done"))
		turn(failure())
		w.must(w.store.Spend(t.Context(), thread, "", "", used))
		want(first, "", 3)
		want(first, chief, 2)
		want(first, string(ann.ID), 2)
		want(first, scout, 0)
		time.Sleep(24 * time.Hour)
		turn(end("done"))
		want(first, "", 3)
		want(time.Now(), "", 1)
		threads, err := w.store.Threads(t.Context())
		w.must(err)
		if got := threads[0].Spent; got.Calls != 4 || got.Input+got.Output != 4080 {
			t.Errorf("of the thread: %+v", got)
		}
		w.wantErr(w.store.Spend(t.Context(), "t999", "", "", used), core.ErrNotFound)
	})
}
