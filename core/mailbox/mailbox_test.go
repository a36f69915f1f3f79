package mailbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// desk is a Runner and a Store under the test's control: every run waits until
// the test lets it end.
type desk struct {
	mu      sync.Mutex
	started []string      // "bot/thread:item+item", in order
	told    []string      // whose wait was told
	telling chan struct{} // that takes until this is closed; nil: no time
	open    map[string]chan error
	running map[string]int // by bot
	most    map[string]int
	waiting []core.Item
	parked  core.ID
	broken  error // the ledger is
	clean   []core.ID
}

func newDesk() *desk {
	return &desk{open: map[string]chan error{}, running: map[string]int{}, most: map[string]int{}}
}

func label(items []core.Item) string {
	var ids []string
	for _, it := range items {
		ids = append(ids, string(it.ID))
	}
	return fmt.Sprintf("%s/%s:%s", items[0].Bot, items[0].Thread, strings.Join(ids, "+"))
}

func (d *desk) Run(ctx context.Context, bot core.Bot, items []core.Item) (core.ID, error) {
	end := make(chan error, 1)
	d.mu.Lock()
	d.started = append(d.started, label(items))
	d.open[string(items[0].Thread)] = end
	d.running[bot.Handle]++
	d.running[""]++
	d.most[bot.Handle] = max(d.most[bot.Handle], d.running[bot.Handle])
	d.most[""] = max(d.most[""], d.running[""])
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.running[bot.Handle]--
		d.running[""]--
		d.mu.Unlock()
	}()
	select {
	case err := <-end:
		if err != nil && err.Error() == "panic" {
			panic("in a run")
		}
		return "", err
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), core.ErrStopping) {
			return items[0].ID.As(core.KindRun), core.ErrStopping
		}
		return "", context.Cause(ctx)
	}
}

func (d *desk) Wait(_ context.Context, _ core.Bot, items []core.Item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = append(d.told, label(items))
	if c := d.telling; c != nil {
		d.mu.Unlock()
		<-c
		d.mu.Lock()
	}
}

func (d *desk) Waiting(_ context.Context, bot string, thread core.ID) ([]core.Item, core.ID, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken != nil {
		return nil, "", d.broken
	}
	return slices.DeleteFunc(slices.Clone(d.waiting), func(it core.Item) bool { return it.Bot != bot || it.Thread != thread }), d.parked, nil
}

func (d *desk) StopClean(_ context.Context, runs []core.ID) error {
	d.clean = runs
	return nil
}

// heard is whose wait was told.
func (d *desk) heard() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.told)
}

// take returns what has started since the last call, sorted.
func (d *desk) take() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.started
	d.started = nil
	slices.Sort(s) // runs that start at once start in any order
	return s
}

// end lets the run in the thread end.
func (d *desk) end(thread string, err error) {
	d.mu.Lock()
	c := d.open[thread]
	d.mu.Unlock()
	c <- err
}

func item(n uint64, bot, thread string) core.Item {
	id := core.NewID(core.KindItem, n)
	return core.Item{ID: id, Kind: core.MessageItem, Bot: bot, Thread: core.ID(thread), Message: id.As(core.KindMessage), State: core.Queued}
}

// talk runs a System in a bubble and stops it in order afterwards.
func talk(t *testing.T, d *desk, o Options, f func(t *testing.T, s *System)) {
	synctest.Test(t, func(t *testing.T) {
		o.Store, o.Runner, o.Log = d, d, slog.New(slog.DiscardHandler)
		s := New(o)
		pick, stopPicking := context.WithCancel(t.Context())
		work, stopWork := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(pick, work) }()
		defer func() {
			stopPicking()
			synctest.Wait()
			stopWork(core.ErrStopping)
			if err := <-done; err != nil {
				t.Error(err)
			}
		}()
		f(t, s)
	})
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("started %q, want %q", got, want)
	}
}

func TestCoalescesAndTakesTheOldestThread(t *testing.T) {
	d := newDesk()
	o := Options{Bots: []core.Bot{{Handle: "ann", Workers: 1}}, MaxRuns: 4}
	talk(t, d, o, func(t *testing.T, s *System) {
		s.Wake([]core.Item{item(1, "ann", "busy")})
		want(t, d.take(), "ann/busy:i1")
		// While it runs, the busy thread gets most of the mail and the quiet one a
		// message in between.
		s.Wake([]core.Item{item(2, "ann", "busy"), item(3, "ann", "quiet"), item(4, "ann", "busy"), item(5, "ann", "busy")})
		want(t, d.take())
		d.end("busy", nil)
		want(t, d.take(), "ann/busy:i2+i4+i5")
		s.Wake([]core.Item{item(6, "ann", "busy")})
		d.end("busy", nil)
		want(t, d.take(), "ann/quiet:i3")
		d.end("quiet", nil)
		want(t, d.take(), "ann/busy:i6")
		d.end("busy", nil)
		want(t, d.take())
	})
}

func TestNeverTwoRunsOfABotInAThread(t *testing.T) {
	d := newDesk()
	o := Options{Bots: []core.Bot{{Handle: "ann"}, {Handle: "bob"}}, MaxRuns: 8}
	talk(t, d, o, func(t *testing.T, s *System) {
		s.Wake([]core.Item{item(1, "ann", "t1"), item(2, "ann", "t2")})
		want(t, d.take(), "ann/t1:i1", "ann/t2:i2")
		s.Wake([]core.Item{item(3, "ann", "t1")})
		want(t, d.take())
		s.Wake([]core.Item{item(4, "bob", "t3")})
		want(t, d.take(), "bob/t3:i4")
		d.end("t1", nil)
		want(t, d.take(), "ann/t1:i3")
	})
}

func TestSlots(t *testing.T) {
	d := newDesk()
	o := Options{Bots: []core.Bot{{Handle: "ann"}, {Handle: "bob"}}, MaxRuns: 2}
	talk(t, d, o, func(t *testing.T, s *System) {
		s.Wake([]core.Item{item(1, "ann", "t1"), item(2, "ann", "t2")})
		d.take()
		s.Wake([]core.Item{item(3, "bob", "t3"), item(4, "bob", "t4")})
		want(t, d.take())
		// A message that waits joins what is picked later, since a waiting worker
		// owns no run.
		s.Wake([]core.Item{item(5, "bob", "t3")})
		time.Sleep(slotWait)
		synctest.Wait()
		want(t, d.heard(), "bob/t3:i3+i5", "bob/t4:i4")
		s.Wake([]core.Item{item(6, "bob", "t5")})
		time.Sleep(slotWait - 1)
		synctest.Wait()
		want(t, d.heard(), "bob/t3:i3+i5", "bob/t4:i4")
		time.Sleep(10 * slotWait)
		synctest.Wait()
		want(t, d.heard(), "bob/t3:i3+i5", "bob/t4:i4", "bob/t5:i6")
		d.end("t2", nil)
		want(t, d.take(), "bob/t3:i3+i5")
		d.end("t3", nil)
		want(t, d.take(), "bob/t4:i4")
		d.end("t1", nil)
		want(t, d.take(), "bob/t5:i6")
		if d.most[""] != 2 {
			t.Errorf("%d runs at once, want 2", d.most[""])
		}
	})
}

// A run begins when its person has been told that it waits, not meanwhile: it must
// know of that. Who else has waited is told next.
func TestSlotWhileTelling(t *testing.T) {
	d := newDesk()
	o := Options{Bots: []core.Bot{{Handle: "ann"}}, MaxRuns: 1}
	talk(t, d, o, func(t *testing.T, s *System) {
		d.telling = make(chan struct{})
		s.Wake([]core.Item{item(1, "ann", "t1")})
		want(t, d.take(), "ann/t1:i1")
		s.Wake([]core.Item{item(2, "ann", "t2"), item(3, "ann", "t3"), item(4, "ann", "t4")})
		time.Sleep(slotWait)
		synctest.Wait()
		want(t, d.heard(), "ann/t2:i2")
		d.end("t1", nil)
		want(t, d.take(), "ann/t3:i3")
		s.Wake([]core.Item{item(5, "ann", "t2"), item(1, "ann", "t2")})
		close(d.telling)
		want(t, d.take())
		want(t, d.heard(), "ann/t2:i2", "ann/t4:i4")
		d.end("t3", nil)
		want(t, d.take(), "ann/t2:i1+i2+i5")
		s.Apply(core.Accepted{Stopped: []core.ID{"r2"}}) // it has the number of the one that people were told of
		want(t, d.take(), "ann/t4:i4")
	})
}

func TestResumesComeFirstAndAlone(t *testing.T) {
	d := newDesk()
	o := Options{Bots: []core.Bot{{Handle: "ann", Workers: 1}}, MaxRuns: 4}
	talk(t, d, o, func(t *testing.T, s *System) {
		resume := item(9, "ann", "t2")
		resume.Kind, resume.Message, resume.Run = core.ResumeItem, "", "r3"
		s.Load(core.Backlog{Items: []core.Item{item(4, "ann", "t2"), item(5, "ann", "t1"), resume}})
		started := d.take()
		for len(started) < 3 {
			thread, _, _ := strings.Cut(strings.TrimPrefix(started[len(started)-1], "ann/"), ":")
			d.end(thread, nil)
			started = append(started, d.take()...)
		}
		resumed, after := slices.Index(started, "ann/t2:i9"), slices.Index(started, "ann/t2:i4")
		if resumed < 0 || after < resumed {
			t.Errorf("order %q: a resume comes before its thread's mail, and alone", started)
		}
	})
}

func TestStopAndDrop(t *testing.T) {
	d := newDesk()
	o := Options{Bots: []core.Bot{{Handle: "ann", Workers: 1}}, MaxRuns: 4}
	talk(t, d, o, func(t *testing.T, s *System) {
		s.Wake([]core.Item{item(1, "ann", "t1"), item(2, "ann", "t2"), item(3, "ann", "t3")})
		want(t, d.take(), "ann/t1:i1")
		s.Apply(core.Accepted{Ended: []core.ID{"i2"}, Stopped: []core.ID{"r1"}, Items: []core.Item{item(4, "ann", "t2")}})
		want(t, d.take(), "ann/t3:i3")
		d.end("t3", nil)
		want(t, d.take(), "ann/t2:i4")
	})
}

func TestARunThatIsOverAsksTheLedger(t *testing.T) {
	d := newDesk()
	o := Options{Bots: []core.Bot{{Handle: "ann"}}, MaxRuns: 4}
	talk(t, d, o, func(t *testing.T, s *System) {
		s.Wake([]core.Item{item(1, "ann", "t1"), item(2, "ann", "t1")})
		want(t, d.take(), "ann/t1:i1+i2")
		d.waiting = []core.Item{item(2, "ann", "t1")}
		d.end("t1", core.ErrRunOver)
		want(t, d.take(), "ann/t1:i2")
		// Any other end without an outcome must not be tried again at once.
		d.end("t1", errors.New("broken"))
		want(t, d.take())
		s.Wake([]core.Item{item(3, "ann", "t1")})
		want(t, d.take(), "ann/t1:i3")
		d.end("t1", errors.New("panic"))
		want(t, d.take())
		s.Wake([]core.Item{item(4, "ann", "t1")})
		want(t, d.take(), "ann/t1:i4")
	})
}

func TestOrderlyStop(t *testing.T) {
	d := newDesk()
	o := Options{Bots: []core.Bot{{Handle: "ann"}}, MaxRuns: 4}
	talk(t, d, o, func(t *testing.T, s *System) {
		s.Wake([]core.Item{item(1, "ann", "t1"), item(2, "ann", "t2")})
		d.take()
		d.end("t2", nil)
	})
	if !slices.Equal(d.clean, []core.ID{"r1"}) {
		t.Errorf("marked as stopped clean: %q, want r1 alone", d.clean)
	}
}

// A run learns that something waits behind it, and what it takes in is not run
// again.
func TestJoined(t *testing.T) {
	d := newDesk()
	talk(t, d, Options{Bots: []core.Bot{{Handle: "ann"}}, MaxRuns: 4}, func(t *testing.T, s *System) {
		waits := func(thread core.ID, is bool) {
			t.Helper()
			synctest.Wait()
			if s.Waits("ann", thread) != is {
				t.Fatalf("something waits in %s: %v", thread, !is)
			}
		}
		s.Wake([]core.Item{item(1, "ann", "x"), item(2, "ann", "y")})
		want(t, d.take(), "ann/x:i1", "ann/y:i2")
		waits("x", false)
		s.Wake([]core.Item{item(3, "ann", "x"), item(4, "ann", "x")})
		waits("x", true)
		waits("y", false)
		s.Joined("ann", []core.ID{"i3"})
		waits("x", true)
		s.Joined("ann", []core.ID{"i4"})
		waits("x", false)
		s.Wake([]core.Item{item(5, "ann", "x")})
		s.Apply(core.Accepted{Ended: []core.ID{"i5"}})
		waits("x", false)
		d.end("x", nil)
		want(t, d.take())
		s.Wake([]core.Item{item(6, "ann", "x")})
		want(t, d.take(), "ann/x:i6")
		waits("x", false)
		s.Wake([]core.Item{item(7, "ann", "x")})
		waits("x", true)
		d.end("x", nil)
		want(t, d.take(), "ann/x:i7")
		waits("x", false)
		d.end("x", nil)
		d.end("y", nil)
	})
}
