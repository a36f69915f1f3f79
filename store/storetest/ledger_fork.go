package storetest

import (
	"slices"

	"bellhop/core"
)

// history is all that was said in a thread, what it shares among it.
func (th *thread) history() []*line { return slices.Concat(th.shared, th.lines) }

// named are the messages that people can name.
func (l *ledger) named() []*line {
	var out []*line
	for _, th := range l.threads {
		for _, ln := range th.lines {
			if len(ln.items) > 0 && ln.items[0].told.ID != "" {
				out = append(out, ln)
			}
		}
	}
	return out
}

// fork gives the channel of its current thread another, which shares what was
// said up to a message of one of the channel's threads; empty: of this one, to
// its end. What goes on in the one that is left goes on.
func (l *ledger) fork(current *thread, id core.ID) {
	shared, bots := current.history(), current.bots
	if id != "" {
		i := slices.IndexFunc(l.named(), func(ln *line) bool { return ln.items[0].told.Message == id })
		ln := l.named()[i]
		if ln.th.channel != current.channel {
			return
		}
		source := l.source(current, ln)
		shared, bots = source.history(), source.bots
		shared = shared[:slices.Index(shared, ln)+1]
	}
	if len(shared) == 0 {
		return
	}
	l.archive(current)
	th := l.begin(current.channel)
	th.shared, th.bots = slices.Clone(shared), slices.Clone(bots)
}

// source is the thread in whose history people find a message: the current one,
// or else the one that they have left last; of several that they left at once,
// the newest.
func (l *ledger) source(current *thread, ln *line) *thread {
	if slices.Contains(current.history(), ln) {
		return current
	}
	var last *thread
	for _, th := range l.threads {
		if slices.Contains(l.left[th.channel], th) && slices.Contains(th.history(), ln) && (last == nil || !th.ended.Before(last.ended)) {
			last = th
		}
	}
	return last
}

// sameHistories compares what each thread's bots can read.
func (h *house) sameHistories() {
	h.Helper()
	for _, th := range h.threads {
		if th.shared == nil {
			continue // its own messages were compared
		}
		msgs, more, err := h.store.Before(h.ctx, th.id, "", 10_000)
		if err != nil || more {
			h.Fatalf("the history of %s: %v, %v", th.id, more, err)
		}
		var want, got []string
		for _, ln := range th.history() {
			want = append(want, ln.text)
		}
		for i, m := range msgs {
			if m.N != i+1 {
				h.Fatalf("%+v is the %d. of %s", m, i+1, th.id)
			}
			got = append(got, m.Text())
		}
		h.same("history of "+string(th.id), want, got)
	}
}
