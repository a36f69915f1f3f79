package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// desk is a ledger of errands and whoever they are for.
type desk struct {
	mu     sync.Mutex // guards the fields below
	began  time.Time
	items  map[core.ID]core.Item
	log    []string
	faults []error // of the next calls of the ledger; nil: none
}

func (d *desk) note(format string, args ...any) {
	d.log = append(d.log, fmt.Sprintf("%s: ", time.Since(d.began))+fmt.Sprintf(format, args...))
}

func (d *desk) fault() error {
	if len(d.faults) == 0 {
		return nil
	}
	err := d.faults[0]
	d.faults = d.faults[1:]
	return err
}

func (d *desk) Errand(_ context.Context, it core.Item) (core.Errand, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.fault(); err != nil {
		return core.Errand{}, err
	}
	for _, old := range d.items { // one that nobody has told of yet
		if old.Thread == it.Thread && old.Bot == it.Bot && !old.State.Terminal() && old.ID.Seq() < it.ID.Seq() {
			return core.Errand{Item: old}, nil
		}
	}
	if it = d.items[it.ID]; it.State.Terminal() {
		return core.Errand{}, core.ErrRunOver
	}
	return core.Errand{Item: it}, nil
}

func (d *desk) Attempted(_ context.Context, id core.ID, a core.Attempt) (core.Attempted, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.fault(); err != nil {
		return core.Attempted{}, err
	}
	it := d.items[id]
	it.Tries++
	switch {
	case a.Failed == "":
		it.State = core.Done
	case a.Again > 0:
		it.State, it.Next = core.Doing, time.Now().Add(a.Again)
	default:
		it.State = core.Failed
		d.note("%s", a.Notice(core.Place{})[0].Text)
	}
	d.items[id] = it
	return core.Attempted{Item: it}, nil
}

// in holds the test in a bubble with a system whose actor ci does as post says.
func in(t *testing.T, post func(ctx context.Context, e core.Errand) error, test func(d *desk, s *System, wake func(...core.Item), stopWork context.CancelCauseFunc)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{began: time.Now(), items: map[core.ID]core.Item{}}
		s := New(Options{Store: d, Actors: []string{"ci"}, Deliver: func([]core.Row) {}, Log: slog.New(slog.DiscardHandler),
			Post: func(ctx context.Context, e core.Errand) error {
				err := post(ctx, e)
				d.mu.Lock()
				defer d.mu.Unlock()
				d.note("%s: %v", e.Item.ID, err)
				return err
			},
			Split:   func(_ core.Place, text string) []core.Piece { return []core.Piece{{Text: text}} },
			Command: func(_ core.Place, name string) string { return "!" + name }})
		pick, stopPick := context.WithCancel(t.Context())
		work, stopWork := context.WithCancelCause(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { s.Run(pick, work) })
		test(d, s, func(items ...core.Item) {
			d.mu.Lock()
			for _, it := range items {
				d.items[it.ID] = it
			}
			d.mu.Unlock()
			s.Wake(items)
			synctest.Wait()
		}, stopWork)
		stopPick()
		wg.Wait()
		stopWork(nil)
	})
}

func item(n uint64, thread core.ID, bot string) core.Item {
	return core.Item{ID: core.NewID(core.KindItem, n), Kind: core.MessageItem, Bot: bot, Actor: core.ExternalActor, Thread: thread, State: core.Queued}
}

func (d *desk) wants(t *testing.T, want ...string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if diff := cmp.Diff(want, d.log); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	d.log = nil
}

func TestOrder(t *testing.T) {
	away := true
	in(t, func(context.Context, core.Errand) error {
		if away {
			return &Failure{Why: "it is away"}
		}
		return nil
	}, func(d *desk, s *System, wake func(...core.Item), _ context.CancelCauseFunc) {
		wake(item(2, "t1", "ci"), item(3, "t1", "ci"))
		time.Sleep(4 * time.Second)
		away = false
		wake(item(4, "t2", "ci")) // another conversation does not wait
		time.Sleep(2 * time.Second)
		d.wants(t, "0s: i2: it is away", "4s: i4: <nil>", "5s: i2: <nil>", "5s: i3: <nil>")
		// One whose wake-up is late comes first all the same, and once.
		d.mu.Lock()
		late := item(5, "t1", "ci")
		d.items[late.ID] = late
		d.mu.Unlock()
		wake(item(6, "t1", "ci"))
		s.Wake([]core.Item{late})
		synctest.Wait()
		d.wants(t, "6s: i5: <nil>", "6s: i6: <nil>")
	})
}

func TestGivesUp(t *testing.T) {
	in(t, func(context.Context, core.Errand) error { return errors.New("broken pipe") },
		func(d *desk, s *System, wake func(...core.Item), _ context.CancelCauseFunc) {
			wake(item(2, "t1", "ci"))
			time.Sleep(time.Hour)
			d.wants(t, "0s: i2: broken pipe", "5s: i2: broken pipe", "35s: i2: broken pipe", "2m35s: i2: broken pipe",
				"2m35s: I could not reach @ci: the connection failed. !retry tries again.")
			// One that has been tried before goes on where it was.
			old := item(3, "t1", "ci")
			old.State, old.Tries, old.Next = core.Doing, 3, time.Now().Add(time.Minute)
			wake(old)
			d.wants(t)
			time.Sleep(2 * time.Minute)
			d.wants(t, "1h1m0s: i3: broken pipe", "1h1m0s: I could not reach @ci: the connection failed. !retry tries again.")
		})
}

// Whoever has no webhook any more fails at once.
func TestNobody(t *testing.T) {
	in(t, func(context.Context, core.Errand) error { return nil },
		func(d *desk, s *System, wake func(...core.Item), _ context.CancelCauseFunc) {
			wake(item(2, "t1", "gone"))
			d.wants(t, "0s: I could not reach @gone: it has no webhook any more. !retry tries again.")
		})
}

// A ledger that fails for a while costs time, and no second post.
func TestLedgerFails(t *testing.T) {
	in(t, func(context.Context, core.Errand) error { return nil },
		func(d *desk, s *System, wake func(...core.Item), _ context.CancelCauseFunc) {
			full := errors.New("the disk is full")
			d.faults = []error{full, nil, full, full, nil}
			wake(item(2, "t1", "ci"), item(3, "t1", "ci"))
			time.Sleep(10 * time.Second)
			d.wants(t, "1s: i2: <nil>", "3s: i3: <nil>")
			d.faults = []error{core.ErrNotFound}
			wake(item(4, "t1", "ci"))
			d.wants(t, "10s: I could not reach @ci: what I wanted to tell it is lost. !retry tries again.")
		})
}

// A stop lets a post come to its end, and one that is cut leaves no trace.
func TestStop(t *testing.T) {
	in(t, func(ctx context.Context, _ core.Errand) error {
		<-ctx.Done()
		return ctx.Err()
	}, func(d *desk, s *System, wake func(...core.Item), stopWork context.CancelCauseFunc) {
		wake(item(2, "t1", "ci"))
		d.wants(t)
		stopWork(core.ErrStopping)
		synctest.Wait()
		d.mu.Lock()
		defer d.mu.Unlock()
		if it := d.items["i2"]; it.Tries != 0 || it.State != core.Queued {
			t.Errorf("%+v", it)
		}
	})
}
