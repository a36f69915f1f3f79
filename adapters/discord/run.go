package discord

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"bellhop/core"
)

const (
	firstPause = 500 * time.Millisecond
	lastPause  = 30 * time.Second

	// troubleAfter is how long there may be no session before that is worth
	// telling.
	troubleAfter = time.Minute
)

// Run receives events until ctx ends, and then returns nil, or until Discord
// says that it never will again.
func (a *Adapter) Run(ctx context.Context, sink core.Sink) error {
	ctx, cancel := context.WithCancelCause(ctx)
	frames := make(chan frame, maxWaiting)
	ready := make(chan identity, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		f := feed{Adapter: a, in: frames, sink: sink}
		f.run(ctx)
	})
	wg.Go(func() {
		select {
		case me := <-ready:
			a.publish(ctx, me)
		case <-ctx.Done():
		}
	})
	g := gateway{Adapter: a, feed: frames, ready: ready, dialer: dialer(a.api.http)}
	cancel(g.run(ctx))
	wg.Wait()
	a.api.http.CloseIdleConnections()
	if cause := context.Cause(ctx); errors.Is(cause, core.ErrFatal) {
		return cause
	}
	return nil
}

// retry calls until it works, or is refused in a way that no other try will
// change, or ctx ends. It waits as told, else longer from time to time.
func retry(ctx context.Context, call func() error) error {
	var pause backoff
	for {
		err := call()
		e, ok := errors.AsType[*apiError](err)
		switch {
		case !ok:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case e.answered && e.status != http.StatusTooManyRequests:
			return err
		}
		if err := sleep(ctx, max(e.retryAfter, jitter(pause.next()))); err != nil {
			return err
		}
	}
}

// backoff doubles from pause to pause. The zero value is ready.
type backoff time.Duration

func (b *backoff) next() time.Duration {
	*b = backoff(min(max(2*time.Duration(*b), firstPause), lastPause))
	return time.Duration(*b)
}

// jitter is between half of d and d, so that two programs do not meet again.
func jitter(d time.Duration) time.Duration { return d - rand.N(d/2) }

// sleep waits for d. It returns ctx's error if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
