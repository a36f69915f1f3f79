// Package webhook drains the mailboxes of external actors: what is said in a
// thread of which one is a participant is posted to its webhook, in order,
// signed, and tried again when that fails.
//
// It imports core alone. Goroutines: one per actor, and one for the errands of
// those that have no webhook any more; Run starts them and returns when all have
// ended.
package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"bellhop/core"
)

// Store is the part of the ledger that the webhooks use. See package store.
type Store interface {
	Errand(ctx context.Context, it core.Item) (core.Errand, error)
	Attempted(ctx context.Context, item core.ID, a core.Attempt) (core.Attempted, error)
}

// Failure is why an errand did not go well.
type Failure struct {
	Why   string // for people, as it follows a colon; holds no address
	Final bool   // it never will
	Err   error  // for the log; nil: Why says it all
}

func (f *Failure) Error() string {
	if f.Err != nil {
		return f.Err.Error()
	}
	return f.Why
}

func (f *Failure) Unwrap() error { return f.Err }

// pauses are those before an errand is tried again; after the last it has
// failed. Source: the webhooks of the systems that this one replaces.
var pauses = [...]time.Duration{5 * time.Second, 30 * time.Second, 120 * time.Second}

// Options of a System.
type Options struct {
	Store  Store
	Actors []string // handles of those that have a webhook
	// Post runs an errand. It returns nil when the actor has it; a *Failure, or
	// an error that may pass. It ends with ctx.
	Post func(ctx context.Context, e core.Errand) error
	// Deliver shows what a failure has said. It does not wait.
	Deliver func([]core.Row)
	// Split cuts a text for a place, and Command is how a command is written there.
	// Both are pure.
	Split   func(p core.Place, markdown string) []core.Piece
	Command func(p core.Place, name string) string
	Log     *slog.Logger
}

// System is the mailboxes of all external actors.
type System struct {
	o     Options
	boxes map[string]*box // "": of those that have no webhook
}

// New makes a System. Nothing runs yet.
func New(o Options) *System {
	s := &System{o: o, boxes: map[string]*box{}}
	for _, handle := range append([]string{""}, o.Actors...) {
		s.boxes[handle] = &box{o: &s.o, handle: handle, wake: make(chan struct{}, 1), threads: map[core.ID][]core.Item{}}
	}
	return s
}

// Wake puts items, oldest first, into their mailboxes. It does not wait.
func (s *System) Wake(items []core.Item) {
	for _, it := range items {
		b := s.boxes[it.Bot]
		if b == nil {
			b = s.boxes[""]
		}
		b.add(it)
	}
}

// Run drains the mailboxes until pick ends; then it lets what is under way come
// to its end until work ends, and returns. What is left stays in the ledger.
func (s *System) Run(pick, work context.Context) {
	var wg sync.WaitGroup
	for _, b := range s.boxes {
		wg.Go(func() { b.loop(pick, work) })
	}
	wg.Wait()
}

// box is one actor's mailbox. Its loop's goroutine owns threads.
type box struct {
	o      *Options
	handle string
	wake   chan struct{} // of capacity 1: fresh has grown

	mu    sync.Mutex // guards fresh
	fresh []core.Item

	threads map[core.ID][]core.Item // what waits, oldest first
}

func (b *box) add(it core.Item) {
	b.mu.Lock()
	b.fresh = append(b.fresh, it)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *box) loop(pick, work context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for pick.Err() == nil && work.Err() == nil {
		b.mu.Lock()
		fresh := b.fresh
		b.fresh = nil
		b.mu.Unlock()
		for _, it := range fresh {
			b.insert(it)
		}
		due := time.Hour
		if it, ok := b.first(); ok {
			if due = time.Until(it.Next); due <= 0 {
				b.run(pick, work, it)
				continue
			}
		}
		timer.Reset(due)
		select {
		case <-b.wake:
		case <-timer.C:
		case <-pick.Done():
		case <-work.Done():
		}
	}
}

// first is, of the oldest items of the threads, the one that is due first, and
// of several the oldest.
func (b *box) first() (first core.Item, ok bool) {
	now := time.Now()
	due := func(it core.Item) time.Time {
		if it.Next.Before(now) {
			return now
		}
		return it.Next
	}
	for _, items := range b.threads {
		it := items[0]
		if !ok || cmp.Or(due(it).Compare(due(first)), cmp.Compare(it.ID.Seq(), first.ID.Seq())) < 0 {
			first, ok = it, true
		}
	}
	return first, ok
}

// run tries the item, which is the oldest of its thread, once.
func (b *box) run(pick, work context.Context, it core.Item) {
	log := b.o.Log.With("actor", it.Bot, "item", it.ID, "thread", it.Thread)
	e, err := b.o.Store.Errand(work, it)
	switch {
	case errors.Is(err, core.ErrRunOver):
		b.pop(it.Thread)
		return
	case err == nil && e.Item.ID != it.ID: // who was to wake us for an older one is late
		b.insert(e.Item)
		return
	case errors.Is(err, core.ErrNotFound): // damaged: its row was put aside, and the owner told
		err = &Failure{Why: "what I wanted to tell it is lost", Final: true, Err: err}
	case err != nil:
		log.Error("webhook item cannot be read", "err", err)
		b.threads[it.Thread][0].Next = time.Now().Add(storePause)
		return
	case b.handle == "":
		err = &Failure{Why: "it has no webhook any more", Final: true}
	default:
		err = b.o.Post(work, e)
	}
	if err != nil && work.Err() != nil {
		return // a stop has cut it: it waits for the next start
	}
	b.store(pick, work, it, b.attempt(log, it, err))
}

// attempt is how the try of the item went.
func (b *box) attempt(log *slog.Logger, it core.Item, err error) core.Attempt {
	if err == nil {
		return core.Attempt{}
	}
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		f = &Failure{Why: "the connection failed", Err: err}
	}
	a := core.Attempt{Failed: f.Why, Notice: func(at core.Place) []core.Piece {
		return b.o.Split(at, fmt.Sprintf("I could not reach @%s: %s. %s tries again.", it.Bot, f.Why, b.o.Command(at, "retry")))
	}}
	if !f.Final && it.Tries < len(pauses) {
		a.Again = pauses[it.Tries]
	}
	log.Warn("webhook failed", "try", it.Tries+1, "again", a.Again, "err", f)
	return a
}

// store makes the attempt durable, however often that takes, so that the item
// is not tried once more for nothing.
func (b *box) store(pick, work context.Context, it core.Item, a core.Attempt) {
	for {
		done, err := b.o.Store.Attempted(context.WithoutCancel(work), it.ID, a)
		switch {
		case err == nil:
			b.o.Deliver(done.Rows)
			if done.Item.State.Terminal() {
				b.pop(it.Thread)
			} else {
				b.threads[it.Thread][0] = done.Item
			}
			return
		case errors.Is(err, core.ErrNotFound):
			b.pop(it.Thread)
			return
		}
		b.o.Log.Error("webhook attempt cannot be stored", "item", it.ID, "err", err)
		if !sleep(pick, storePause) {
			return
		}
	}
}

// storePause is how long to wait for a ledger that cannot be read or written.
const storePause = time.Second

// insert keeps id order; an item that is there already stays once.
func (b *box) insert(it core.Item) {
	items := b.threads[it.Thread]
	i, found := slices.BinarySearchFunc(items, it, func(x, y core.Item) int { return cmp.Compare(x.ID.Seq(), y.ID.Seq()) })
	if !found {
		b.threads[it.Thread] = slices.Insert(items, i, it)
	}
}

// pop takes the thread's oldest item away.
func (b *box) pop(thread core.ID) {
	if b.threads[thread] = b.threads[thread][1:]; len(b.threads[thread]) == 0 {
		delete(b.threads, thread)
	}
}

// sleep reports whether the time has passed before ctx has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
