package bus

import (
	"context"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

// lookEvery is how often the adapters are looked at: people who ask why nobody
// answered do not care for seconds.
const lookEvery = 5 * time.Second

// AdapterHealth is one adapter's state.
type AdapterHealth struct {
	Name  string
	State core.Event // AdapterUp, AdapterDeaf, AdapterDown; empty: it connects
	Since time.Time  // it has been so; zero: that is not known yet
	Dead  error
	core.Health
}

// Health lists the adapters' states by name. It does not wait.
func (b *Bus) Health() []AdapterHealth {
	var out []AdapterHealth
	for _, acc := range b.accounts {
		out = append(out, acc.health())
	}
	slices.SortFunc(out, func(x, y AdapterHealth) int { return strings.Compare(x.Name, y.Name) })
	return out
}

func (a *account) health() AdapterHealth {
	h := AdapterHealth{Name: a.Name()}
	if a.features.Health != nil {
		h.Health = a.features.Health()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch h.Dead = a.dead; {
	case h.Dead != nil:
		h.State = core.AdapterDown
	case h.Trouble != "":
		h.State = core.AdapterDeaf
	case !h.LastInbound.IsZero() || a.features.Health == nil:
		h.State = core.AdapterUp
	}
	if h.State == a.seen {
		h.Since = a.since
	}
	return h
}

// attend looks at the adapters from time to time, and whenever one has failed,
// until ctx ends.
func (b *Bus) attend(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
			b.examine(ctx)
		case <-b.failed:
			b.examine(context.WithoutCancel(ctx))
		case <-ctx.Done():
		}
	}
	select {
	case <-b.failed: // the last one: everything ends with it
		b.examine(context.WithoutCancel(ctx))
	default:
	}
}

// examine notes in the activity log what has changed with the adapters since it was
// last called.
func (b *Bus) examine(ctx context.Context) {
	var news []core.Activity
	for _, h := range b.Health() {
		acc := b.accounts[h.Name]
		acc.mu.Lock()
		if acc.since.IsZero() || acc.seen != h.State {
			acc.seen, acc.since = h.State, time.Now()
			a := core.Activity{Event: h.State, Place: core.Place{Adapter: h.Name}, Detail: h.Trouble}
			if h.Dead != nil {
				a.Detail = h.Dead.Error()
			}
			if a.Event != "" {
				news = append(news, a)
			}
		}
		acc.mu.Unlock()
	}
	if len(news) == 0 {
		return
	}
	if err := b.o.Store.Note(ctx, news...); err != nil {
		b.log.Warn("how adapters are is not in the activity log", "err", err)
	}
}
