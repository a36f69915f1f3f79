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

// Money is counted beside tokens, at the prices of then, and what a store of a
// release without prices has counted is at an unknown price.
func TestSpendMoney(t *testing.T) {
	w := newWorld(t)
	used := core.Usage{Calls: 1, Input: 1000, Output: 20}
	settle := func(u core.Usage) core.ID {
		run := w.pick(w.say("go")...)
		s := end("done")
		s.Usage = u
		w.deliver(w.settle(run, s).Rows...)
		return run.Thread
	}
	settle(used) // as such a release would
	settle(used.At("a/b", &core.Price{Input: 10, Output: 100}))
	thread := settle(used.At("c/d", nil))
	w.must(w.store.Spend(t.Context(), thread, chief, ann.ID, used.At("a/b", &core.Price{Input: 20, Output: 100})))
	want := core.Usage{Calls: 4, Input: 4000, Output: 80, Priced: 2040, Cost: 12_000 + 22_000, Unpriced: "c/d"}
	for _, who := range []string{"", chief, string(ann.ID)} {
		if got, err := w.store.SpentOn(t.Context(), time.Now(), who); err != nil || got != want {
			t.Errorf("of %q today: %+v, %v, want %+v", who, got, err, want)
		}
	}
	if got := w.current().Spent; got != want {
		t.Errorf("of the thread: %+v, want %+v", got, want)
	}
}
