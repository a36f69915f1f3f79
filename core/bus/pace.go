package bus

import (
	"maps"
	"time"

	"bellhop/core"
)

// pace keeps previews, together with what goes at once, to one call in a
// while, and previews among themselves too. The zero value is ready.
type pace struct {
	owed time.Time // what was sent is paid for then, at one call in a while
	next time.Time // no preview before then
}

// spend notes a call that did not wait.
func (p *pace) spend(now time.Time, every time.Duration) {
	p.owed = later(p.owed, now).Add(every)
	p.next = later(p.next, p.owed.Add(-every)) // the first preview may follow at once
}

// preview notes a preview.
func (p *pace) preview(now time.Time, every time.Duration) {
	p.spend(now, every)
	p.next = later(p.next, now.Add(every))
}

// every is the least time between two previews in the worker's chat.
func (w *worker) every() time.Duration {
	if f := w.acc.features.Preview; f != nil {
		return f(w.place)
	}
	return 0
}

// ready is when a preview that is wanted at a time can go: when its chat has
// a pause, and then when its account has a turn for it. Turns are given in the
// order in which they are asked for, so that no chat starves.
func (w *worker) ready(at, now time.Time) time.Time {
	at = later(at, w.pace.next)
	if w.acc.features.Previews == 0 || at.After(now) {
		return at
	}
	if w.turn.IsZero() {
		w.turn = w.acc.spend(now)
	}
	return later(at, w.turn)
}

// maxPaces is when the paces that are paid for are forgotten.
const maxPaces = 1000

// rest keeps the pace of a worker that ends, so that the next one goes on with
// it. The caller holds mu.
func (b *Bus) rest(at core.Place, p pace) {
	now := time.Now()
	if len(b.paces) >= maxPaces {
		maps.DeleteFunc(b.paces, func(_ core.Place, p pace) bool { return !p.owed.After(now) })
	}
	if delete(b.paces, at); p.owed.After(now) {
		b.paces[at] = p
	}
}

// spent notes a call that did not wait for anything.
func (w *worker) spent() {
	now := time.Now()
	w.pace.spend(now, w.every())
	w.acc.spend(now)
}

// spend takes the next turn of the account's and returns when that is.
func (a *account) spend(now time.Time) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	turn := later(a.turn, now)
	a.turn = turn.Add(a.features.Previews)
	return turn
}
