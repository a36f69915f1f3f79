package storetest

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"bellhop/core"
	"bellhop/store"
)

// prune forgets tasks, or transcripts alone, that had ended at some time.
func (h *house) prune(t *rapid.T) {
	books, err := h.store.Audit(h.ctx)
	if err != nil {
		h.Fatal(err)
	}
	times := []time.Time{h.now.Add(time.Hour)}
	for _, r := range books.Runs {
		times = append(times, r.Ended)
	}
	before := rapid.SampledFrom(times).Draw(t, "before")
	if rapid.Bool().Draw(t, "transcripts alone") {
		h.do(func() error {
			_, err := h.store.PruneTranscripts(h.ctx, before, "")
			return err
		}, func() {}, func() {})
		return
	}
	over := h.over(books, before)
	h.do(func() error {
		next, err := h.store.PruneTasks(h.ctx, before, "")
		if next != "" {
			h.Fatalf("there is more, from %s on", next)
		}
		return err
	}, func() { h.ledger.prune(over) }, func() {})
}

// over are the items that had ended before the time, with their runs, if they
// have any: those that are kept, in the order in which they were made.
func (h *house) over(books store.Books, before time.Time) map[*item]bool {
	h.Helper()
	ended := map[core.ID]bool{"": true}
	for _, r := range books.Runs {
		ended[r.ID] = r.State.Terminal() && r.Ended.Before(before)
	}
	out := map[*item]bool{}
	for _, th := range h.threads {
		items := th.itemsThat(func(*item) bool { return true })
		for _, got := range books.Items {
			if got.Thread != th.id || got.Kind != core.MessageItem {
				continue
			}
			if len(items) == 0 || items[0].bot != got.Bot {
				h.Fatalf("%s for %s is there, and was not made, or was pruned", got.ID, got.Bot)
			}
			out[items[0]] = got.State.Terminal() && got.Ended.Before(before) && ended[got.Run]
			items = items[1:]
		}
		if len(items) > 0 {
			h.Fatalf("an item for %s is missing in %s", items[0].bot, th.id)
		}
	}
	return out
}

// prune forgets the items that are over: a run with all of its items, when those
// that it has woken are over, and of a bot's items for a message the older ones
// first.
func (l *ledger) prune(over map[*item]bool) {
	for again := true; again; {
		again = false
		for _, it := range l.itemsThat(func(it *item) bool { return over[it] }) {
			with := []*item{it}
			if it.run != nil {
				with = it.run.items
			}
			if !slices.ContainsFunc(with, func(x *item) bool { return !over[x] || x.follows(with) }) && !it.run.leads(over) {
				for _, x := range with {
					again = again || !x.pruned
					x.pruned = true
				}
				if it.run != nil {
					it.run.pruned = true
				}
			}
		}
	}
}

// follows reports whether an older item of its bot for the message is kept, beside
// those that go together.
func (it *item) follows(together []*item) bool {
	return slices.ContainsFunc(it.line.items, func(o *item) bool {
		return o.bot == it.bot && o.n < it.n && !o.pruned && !slices.Contains(together, o)
	})
}

// leads reports whether what the run has said is worked on, or will be.
func (r *run) leads(over map[*item]bool) bool {
	if r == nil || r.said == nil {
		return false
	}
	return slices.ContainsFunc(r.said.items, func(it *item) bool { return it.bot != ci && !it.pruned && !over[it] }) ||
		slices.ContainsFunc(r.said.th.held[r.bot], func(h *handOff) bool { return h.line == r.said })
}

// samePruned compares what is kept.
func (h *house) samePruned(books store.Books) {
	h.Helper()
	h.over(books, time.Time{})
	for _, th := range h.threads {
		kept := len(th.runs)
		for _, r := range th.runs {
			if r.pruned {
				kept--
			}
		}
		for _, got := range books.Runs {
			if got.Thread == th.id {
				kept--
			}
		}
		if kept != 0 {
			h.Fatalf("%d runs are missing in %s", kept, th.id)
		}
	}
}
