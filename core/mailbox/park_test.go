package mailbox

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// resumeOf is an item that has a parked run go on.
func resumeOf(n uint64, bot, thread, run string) core.Item {
	it := item(n, bot, thread)
	it.Kind, it.Message, it.Run = core.ResumeItem, "", core.ID(run)
	return it
}

// parks has the run in the thread end since it waits for a person, while so much
// mail waits behind it.
func (d *desk) parks(thread, run string, waiting ...core.Item) {
	d.mu.Lock()
	d.waiting, d.parked = waiting, core.ID(run)
	d.mu.Unlock()
	d.end(thread, core.ErrWaiting)
}

// withWorkers tries f with one worker and with as many as there is room for.
func withWorkers(t *testing.T, f func(t *testing.T, bot core.Bot)) {
	for _, n := range []int{1, 0} {
		t.Run(fmt.Sprint("workers ", n), func(t *testing.T) { f(t, core.Bot{Handle: "ann", Workers: n}) })
	}
}

// While a run waits for a person, its thread's mail waits with it, but it holds
// neither the slot nor the worker: other threads go on. Its resume comes before
// all mail, and alone; what waited follows.
func TestParkedThreadWaits(t *testing.T) {
	withWorkers(t, func(t *testing.T, bot core.Bot) {
		d := newDesk()
		talk(t, d, Options{Bots: []core.Bot{bot}, MaxRuns: 1}, func(t *testing.T, s *System) {
			s.Wake([]core.Item{item(1, "ann", "asks")})
			want(t, d.take(), "ann/asks:i1")
			s.Wake([]core.Item{item(2, "ann", "asks"), item(3, "ann", "other")})
			want(t, d.take())
			d.parks("asks", "r1", item(2, "ann", "asks"))
			want(t, d.take(), "ann/other:i3") // the slot is free
			if s.Waits("ann", "asks") {
				t.Error("something waits behind a run that does not work")
			}
			d.end("other", nil)
			s.Wake([]core.Item{item(4, "ann", "asks"), item(5, "ann", "other")})
			want(t, d.take(), "ann/other:i5")

			s.Wake([]core.Item{resumeOf(8, "ann", "asks", "r1"), item(6, "ann", "third")})
			want(t, d.take())
			d.end("other", nil)
			want(t, d.take(), "ann/asks:i8") // before what is older
			d.end("asks", nil)
			want(t, d.take(), "ann/asks:i2+i4")
			d.end("asks", nil)
			want(t, d.take(), "ann/third:i6")
			d.end("third", nil)
		})
	})
}

// Nobody is told of a wait for a slot that is none.
func TestParkedMailIsNotTheSlots(t *testing.T) {
	d := newDesk()
	talk(t, d, Options{Bots: []core.Bot{{Handle: "ann"}}, MaxRuns: 1}, func(t *testing.T, s *System) {
		s.Wake([]core.Item{item(1, "ann", "asks")})
		d.take()
		d.parks("asks", "r1")
		synctest.Wait()
		s.Wake([]core.Item{item(2, "ann", "asks")})
		time.Sleep(10 * slotWait)
		synctest.Wait()
		want(t, d.heard())
		want(t, d.take())
	})
}

// A run may ask, go on, and ask again.
func TestParkedTwice(t *testing.T) {
	withWorkers(t, func(t *testing.T, bot core.Bot) {
		d := newDesk()
		talk(t, d, Options{Bots: []core.Bot{bot}, MaxRuns: 1}, func(t *testing.T, s *System) {
			s.Wake([]core.Item{item(1, "ann", "asks")})
			d.take()
			for n := range uint64(3) {
				d.parks("asks", "r1", item(2, "ann", "asks"))
				synctest.Wait()
				if n == 0 {
					s.Wake([]core.Item{item(2, "ann", "asks")})
				}
				want(t, d.take())
				s.Wake([]core.Item{resumeOf(10+n, "ann", "asks", "r1")})
				want(t, d.take(), fmt.Sprintf("ann/asks:i%s", strings.TrimPrefix(string(core.NewID(core.KindItem, 10+n)), "i")))
			}
			d.end("asks", nil)
			want(t, d.take(), "ann/asks:i2")
		})
	})
}

// A stop ends the wait: what has come since goes on, what was stopped does not.
func TestUnparkedByStop(t *testing.T) {
	withWorkers(t, func(t *testing.T, bot core.Bot) {
		d := newDesk()
		talk(t, d, Options{Bots: []core.Bot{bot}, MaxRuns: 2}, func(t *testing.T, s *System) {
			for i, thread := range []string{"asks", "also"} {
				s.Wake([]core.Item{item(uint64(i+1), "ann", thread)})
				d.take()
				d.parks(thread, fmt.Sprint("r", i+1))
				synctest.Wait()
			}
			s.Wake([]core.Item{item(3, "ann", "asks"), item(4, "ann", "also")})
			want(t, d.take())
			s.Apply(core.Accepted{Stopped: []core.ID{"r9"}})
			want(t, d.take()) // another's
			s.Apply(core.Accepted{Stopped: []core.ID{"r1"}, Ended: []core.ID{"i3"}, Items: []core.Item{item(5, "ann", "asks")}})
			want(t, d.take(), "ann/asks:i5")
			d.end("asks", nil)
			want(t, d.take())
			s.Apply(core.Accepted{Stopped: []core.ID{"r2"}})
			want(t, d.take(), "ann/also:i4")
		})
	})
}

// Whoever is first, a stop or a run that parks, the thread goes on afterwards: the
// ledger says what waits.
func TestStopWhileItParks(t *testing.T) {
	for _, first := range []string{"the stop", "the end of the run", "the answer"} {
		t.Run(first, func(t *testing.T) {
			d := newDesk()
			talk(t, d, Options{Bots: []core.Bot{{Handle: "ann"}}, MaxRuns: 1}, func(t *testing.T, s *System) {
				s.Wake([]core.Item{item(1, "ann", "asks")})
				d.take()
				s.Wake([]core.Item{item(2, "ann", "asks")})
				switch first {
				case "the stop": // is stored before the run has come back, and told of before or after
					d.mu.Lock()
					d.waiting, d.parked = []core.Item{item(3, "ann", "asks")}, ""
					d.mu.Unlock()
					s.Apply(core.Accepted{Stopped: []core.ID{"r1"}, Ended: []core.ID{"i2"}, Items: []core.Item{item(3, "ann", "asks")}})
				case "the end of the run":
					d.parks("asks", "r1", item(2, "ann", "asks"))
					synctest.Wait()
					s.Apply(core.Accepted{Stopped: []core.ID{"r1"}, Ended: []core.ID{"i2"}, Items: []core.Item{item(3, "ann", "asks")}})
				case "the answer": // comes before the run has come back
					s.Apply(core.Accepted{Items: []core.Item{resumeOf(4, "ann", "asks", "r1")}})
					want(t, d.take())
					d.parks("asks", "", resumeOf(4, "ann", "asks", "r1"), item(2, "ann", "asks"))
					want(t, d.take(), "ann/asks:i4")
					d.end("asks", nil)
					want(t, d.take(), "ann/asks:i2")
					return
				}
				want(t, d.take(), "ann/asks:i3")
			})
		})
	}
}

// After a restart a thread waits as before, and goes on as before, in whatever
// order the next process learns of it.
func TestParkedBeforeTheRestart(t *testing.T) {
	withWorkers(t, func(t *testing.T, bot core.Bot) {
		d := newDesk()
		talk(t, d, Options{Bots: []core.Bot{bot}, MaxRuns: 1}, func(t *testing.T, s *System) {
			s.Load(core.Backlog{
				Parked: []core.Parked{{Run: "r1", Bot: "ann", Thread: "asks"}, {Run: "r2", Bot: "ann", Thread: "silent"}, {Run: "r3", Bot: "gone", Thread: "asks"}, {Run: "r4", Bot: "ann", Thread: "answered"}},
				Items:  []core.Item{item(5, "ann", "asks"), item(6, "ann", "other"), resumeOf(9, "ann", "answered", "r4"), item(4, "ann", "answered")},
			})
			want(t, d.take(), "ann/answered:i9")
			d.end("answered", nil)
			want(t, d.take(), "ann/answered:i4")
			d.end("answered", nil)
			want(t, d.take(), "ann/other:i6")
			d.end("other", nil)
			want(t, d.take())
			s.Wake([]core.Item{resumeOf(10, "ann", "asks", "r1")})
			want(t, d.take(), "ann/asks:i"+strings.TrimPrefix(string(core.NewID(core.KindItem, 10)), "i"))
			d.end("asks", nil)
			want(t, d.take(), "ann/asks:i5")
			d.end("asks", nil)
			s.Apply(core.Accepted{Stopped: []core.ID{"r2"}, Items: []core.Item{item(11, "ann", "silent")}})
			want(t, d.take(), "ann/silent:i"+strings.TrimPrefix(string(core.NewID(core.KindItem, 11)), "i"))
		})
	})
}

// A ledger that cannot say what waits does not let another run into a thread in
// which one waits for a person.
func TestParkedWithABrokenLedger(t *testing.T) {
	d := newDesk()
	talk(t, d, Options{Bots: []core.Bot{{Handle: "ann"}}, MaxRuns: 2}, func(t *testing.T, s *System) {
		s.Wake([]core.Item{item(1, "ann", "asks")})
		d.take()
		s.Wake([]core.Item{item(2, "ann", "asks")})
		d.broken = errors.New("the disk is on fire")
		d.parks("asks", "r1")
		want(t, d.take())
		s.Wake([]core.Item{item(3, "ann", "asks")})
		want(t, d.take())
		s.Wake([]core.Item{resumeOf(4, "ann", "asks", "r1")})
		want(t, d.take(), "ann/asks:i4")
		d.end("asks", nil)
		want(t, d.take(), "ann/asks:i2+i3")
	})
}

// An orderly stop waits for no person.
func TestOrderlyStopWhileParked(t *testing.T) {
	d := newDesk()
	talk(t, d, Options{Bots: []core.Bot{{Handle: "ann"}}, MaxRuns: 2}, func(t *testing.T, s *System) {
		s.Wake([]core.Item{item(1, "ann", "asks")})
		d.take()
		d.parks("asks", "r1")
		synctest.Wait()
	})
	if len(d.clean) > 0 {
		t.Errorf("marked as cut: %q", d.clean)
	}
}
