package bus

import (
	"context"
	"slices"
	"time"

	"bellhop/core"
)

// lapseRetry is when a ledger that could not say what has lapsed is asked again.
const lapseRetry = 10 * time.Second

// Await has the ledger looked at when an ask may lapse; zero: there is none. It
// does not wait.
func (b *Bus) Await(at time.Time) {
	if at.IsZero() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lapse.IsZero() || at.Before(b.lapse) {
		b.lapse = at
		select {
		case b.lapses <- struct{}{}:
		default:
		}
	}
}

// Parked shows what a run has asked, and has the ledger looked at when that may
// lapse. What an earlier process may have begun for the run, its next post ends.
// It does not wait.
func (b *Bus) Parked(p core.Parked) {
	b.mu.Lock()
	if slices.ContainsFunc(p.Rows, func(r core.Row) bool { return b.elder[r.Post] }) {
		b.elder[p.Post] = true
	}
	b.mu.Unlock()
	b.Deliver(p.Rows)
	b.Await(p.Next)
}

// watch looks at what people have been asked whenever something of it is due:
// it reminds them, and lets expire what nobody has answered.
func (b *Bus) watch(ctx context.Context) {
	for {
		b.mu.Lock()
		at := b.lapse
		b.mu.Unlock()
		var due <-chan time.Time
		timer := time.NewTimer(time.Until(at))
		if !at.IsZero() {
			due = timer.C
		}
		select {
		case <-ctx.Done():
		case <-b.lapses:
		case <-due:
			b.lapsed(ctx)
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// lapsed does what is due, and finds out when to look next.
func (b *Bus) lapsed(ctx context.Context) {
	b.mu.Lock()
	b.lapse = time.Time{}
	b.mu.Unlock()
	done, next, err := b.o.Store.Lapse(ctx, b.Split)
	if err != nil {
		b.troubled(ctx, err)
		b.Await(time.Now().Add(lapseRetry))
		return
	}
	b.Await(next)
	b.Deliver(done.Rows)
	b.mail.Apply(done)
}
