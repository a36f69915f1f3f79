package bus

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// watched runs the test with a bus that looks at what people have been asked.
func watched(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	bubble(t, edits, func(t *testing.T, r *rig) {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.watch(ctx)
		}()
		defer func() {
			stop()
			<-done
		}()
		test(t, r)
	})
}

// looks has the ledger say what has lapsed when it is looked at, one after the
// other; then nothing is open.
func (r *rig) looks(each ...func() (core.Accepted, time.Time, error)) {
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	r.ledger.lapse = each
}

// nextIn is a look at which nothing is due but in so long.
func nextIn(d time.Duration) func() (core.Accepted, time.Time, error) {
	return func() (core.Accepted, time.Time, error) { return core.Accepted{}, time.Now().Add(d), nil }
}

// looked compares when the ledger was looked at since the bus began.
func (r *rig) looked(want string) {
	r.t.Helper()
	synctest.Wait()
	if got := r.ledger.read(); got != want {
		r.t.Errorf("%s: the ledger did %q, want %q", time.Since(r.began), got, want)
	}
}

// With nothing open nobody looks, however long it takes.
func TestNothingToLapse(t *testing.T) {
	watched(t, func(t *testing.T, r *rig) {
		r.Await(time.Time{})
		r.after(30 * 24 * time.Hour)
		r.looked("")
		r.Parked(core.Parked{Run: "r1"})
		r.after(30 * 24 * time.Hour)
		r.looked("")
	})
}

// The ledger is looked at when the first ask is due, not before, and then when it
// says. What it has found is shown, and whoever goes on is woken.
func TestLapse(t *testing.T) {
	watched(t, func(t *testing.T, r *rig) {
		reminder, end := aRow(here, 1, "still waits"), aRow(here, 2, "nobody answered")
		r.looks(
			func() (core.Accepted, time.Time, error) {
				return core.Accepted{Rows: []core.Row{reminder}}, r.began.Add(10 * time.Minute), nil
			},
			func() (core.Accepted, time.Time, error) {
				return core.Accepted{Rows: []core.Row{end}, Items: []core.Item{{ID: "i7"}}}, time.Time{}, nil
			})
		r.Parked(core.Parked{Run: "r1", Rows: []core.Row{aRow(here, 3, "may I?")}, Next: r.began.Add(5 * time.Minute)})
		r.after(5*time.Minute - time.Second)
		r.wants("here final may I?")
		r.looked("delivered p3 1")
		r.after(time.Second)
		r.wants("here final still waits")
		r.looked("lapse, apply , delivered p1 2")
		r.after(5*time.Minute - time.Second)
		r.looked("")
		r.after(time.Second)
		r.wants("here final nobody answered")
		r.looked("lapse, apply i7, delivered p2 3")
		r.after(24 * time.Hour)
		r.looked("")
	})
}

// What is due first counts, in whatever order it is told; what is overdue is
// looked at now.
func TestAwait(t *testing.T) {
	watched(t, func(t *testing.T, r *rig) {
		at := func(d time.Duration) time.Time { return r.began.Add(d) }
		for _, d := range []time.Duration{time.Hour, 3 * time.Hour, 30 * time.Minute, 2 * time.Hour} {
			r.Await(at(d))
		}
		r.looks(nextIn(90*time.Minute), nextIn(time.Hour))
		r.after(30*time.Minute - time.Second)
		r.looked("")
		r.after(time.Second)
		r.looked("lapse, apply ")
		r.Await(at(5 * time.Hour)) // later than what the ledger has said
		r.after(90*time.Minute - time.Second)
		r.looked("")
		r.after(time.Second)
		r.looked("lapse, apply ")
		r.Await(at(-time.Hour))
		r.looked("lapse, apply ") // and now nothing is open, so it says
		r.after(24 * time.Hour)
		r.looked("")
	})
}

// What comes to be due while the ledger is looked at is not forgotten.
func TestAwaitMeanwhile(t *testing.T) {
	watched(t, func(t *testing.T, r *rig) {
		r.looks(func() (core.Accepted, time.Time, error) {
			time.Sleep(time.Minute)
			return core.Accepted{}, time.Now().Add(time.Hour), nil
		})
		r.Await(time.Now())
		r.after(30 * time.Second)
		r.looked("lapse")
		r.Await(time.Now().Add(40 * time.Second))
		r.after(30 * time.Second)
		r.looked("apply ")
		r.after(10*time.Second - time.Millisecond)
		r.looked("")
		r.after(time.Millisecond)
		r.looked("lapse, apply ")
	})
}

// A ledger that cannot say what has lapsed is asked again every ten seconds, and
// the owner is told once.
func TestLapseRefused(t *testing.T) {
	watched(t, func(t *testing.T, r *rig) {
		refuses := func() (core.Accepted, time.Time, error) {
			return core.Accepted{}, time.Time{}, errors.New("disk is full")
		}
		r.looks(refuses, refuses, refuses, nextIn(time.Hour))
		r.Await(time.Now())
		for i := range 3 {
			r.looked("lapse")
			if sent := r.chat.read(); (len(sent) == 1) != (i == 0) {
				t.Errorf("after %d failures the owner is told %q", i+1, sent)
			}
			r.after(lapseRetry - time.Millisecond)
			r.looked("")
			r.after(time.Millisecond)
		}
		r.looked("lapse, apply ")
		r.after(time.Hour)
		r.looked("lapse, apply ")
	})
}

// The end of the program is no trouble, and nothing is looked at after it.
func TestLapseAtTheEnd(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		ctx, stop := context.WithCancel(t.Context())
		r.looks(func() (core.Accepted, time.Time, error) {
			stop()
			return core.Accepted{}, time.Time{}, fmt.Errorf("commit: %w", context.Canceled)
		})
		r.Await(time.Now())
		r.watch(ctx)
		r.after(time.Hour)
		r.looked("lapse")
		r.wants()
	})
}

// The words of a run after a question stand in another post. What an earlier
// process may have begun to show of the run is found with that one, too.
func TestParkedElder(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		r.elder["p1"] = true
		r.Parked(core.Parked{Run: "r1", Post: "p2", Rows: []core.Row{aRow(here, 1, "may I?")}})
		r.Parked(core.Parked{Run: "r3", Post: "p4", Rows: []core.Row{aRow(there, 3, "may I?")}})
		if !r.elder["p2"] || r.elder["p4"] {
			t.Errorf("elder are %v", r.elder)
		}
		synctest.Wait()
	})
}
