package bus

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// The activity log is told when an adapter is up, deaf and down, once each time;
// so is who asks, since when. A ledger that cannot write holds nothing up.
func TestHealth(t *testing.T) {
	var state atomic.Pointer[core.Health]
	f := edits
	f.Health = func() core.Health { return *state.Load() }
	state.Store(&core.Health{})
	bubble(t, f, func(t *testing.T, r *rig) {
		ended := make(chan error, 1)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { ended <- r.Run(ctx, r.ledger) }()
		synctest.Wait()
		want := func(log, words string) {
			t.Helper()
			r.after(0)
			if got := r.ledger.read(); got != log {
				t.Errorf("%s: the log is told %q, want %q", time.Since(r.began), got, log)
			}
			if got := r.Health()[0].words(); got != words {
				t.Errorf("%s: it is %q, want %q", time.Since(r.began), got, words)
			}
		}
		want("", "connecting")
		r.after(59 * time.Second)
		want("", "connecting for 59 seconds")
		state.Store(&core.Health{LastInbound: time.Now()})
		want("", "up, last heard just now") // nobody has looked yet
		r.after(lookEvery)
		want("adapter.up chat, adapter.up other", "up for 4 seconds, last heard 5 seconds ago")
		r.after(time.Minute)
		want("", "up for 1 minute, last heard 1 minute ago")
		state.Store(&core.Health{LastInbound: time.Now(), Trouble: "The platform does not answer."})
		r.after(lookEvery)
		want("adapter.deaf chat The platform does not answer., adapter.deaf other The platform does not answer.", "in trouble for 4 seconds: The platform does not answer.")
		r.after(3 * time.Hour)
		want("", "in trouble for 3 hours: The platform does not answer.")
		state.Store(&core.Health{LastInbound: time.Now()})
		r.after(lookEvery)
		want("adapter.up chat, adapter.up other", "up for 4 seconds, last heard 5 seconds ago")
		r.ledger.fills(true)
		state.Store(&core.Health{Trouble: "No network."})
		r.after(49 * time.Hour)
		r.ledger.fills(false)
		want("", "in trouble for 2 days: No network.")
		r.chat.broken <- errors.New("the token is revoked")
		r.after(lookEvery)
		want("notify ⚠ The adapter chat is down: the token is revoked, adapter.down chat the token is revoked", "down for 5 seconds: the token is revoked")
		r.after(time.Hour)
		want("", "down for 1 hour: the token is revoked")

		// With the last adapter everything ends, and that is told, too.
		r.other.broken <- errors.New("gone")
		if err := <-ended; err == nil {
			t.Error("it ends without an error")
		}
		want("notify ⚠ The adapter other is down: gone, adapter.down other gone", "down for 1 hour: the token is revoked")
	})
}

// An orderly stop is no failure of an adapter. Of one that gives no account of
// itself it is known that it was begun.
func TestHealthStop(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx, r.ledger) }()
		r.after(time.Minute)
		if got := r.Health()[1].words(); got != "up for 1 minute" {
			t.Errorf("it is %q", got)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := r.ledger.read(); got != "adapter.up chat, adapter.up other" {
			t.Errorf("the log is told %q", got)
		}
	})
}
