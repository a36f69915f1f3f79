package bus

import (
	"cmp"
	"context"
	"slices"
	"time"

	"bellhop/core"
)

// worker shows everything at one place, in order; at one channel with all its
// topics, where lost sends are found by the channel's ids. Its goroutine exists while
// there is something to show and owns all fields but in, which the bus's mutex
// guards.
type worker struct {
	b     *Bus
	acc   *account
	place core.Place
	wake  chan struct{} // of capacity 1: in has grown
	in    []any

	queue   []job
	posts   map[core.ID]*live
	expects []expectation
	until   time.Time // no call before then: the platform's word, or backoff
	pace    pace
	turn    time.Time // of a preview, in the account's order; zero: none is asked for
	said    []string  // platform ids of what was said past the ledger
}

// job is an open or a row, with its tries so far.
type job struct {
	open   *openJob
	row    *core.Row
	say    *sayJob
	tries  int
	unsure bool          // an earlier try may have been shown
	opened *core.Receipt // of the piece that the row's text will replace, not stored yet
}

// live is a run's post from its open to its last receipt.
type live struct {
	run     core.Run
	speaker core.Speaker
	open    *core.Receipt
	stored  bool      // the open's receipt is durable
	storeAt time.Time // when it is stored on its own, if no Settle does it before
	opening bool      // the open is still to be tried
	typed   time.Time // when typing was shown last
	text    string    // that is shown
	status  string    // that is shown
	since   time.Time
	ask     []chan<- *core.Receipt
}

// expectation is a person's message that has no answer yet.
type expectation struct {
	id      string
	due     time.Time
	reacted bool
	unsure  bool // an earlier process may have marked it
	over    bool // nobody is to answer it any more
}

const (
	// presence is how long a message may stay without an answer before the
	// person sees that somebody is at work. Source: architecture, Pacing.
	presence = 1500 * time.Millisecond
	// typingEvery renews the typing sign before the platforms' 5 s (Telegram)
	// run out.
	typingEvery = 4 * time.Second
	// storeOpenAfter lets a quick answer store the open's receipt along with
	// itself.
	storeOpenAfter = 100 * time.Millisecond
	// ackEmoji marks a message that has been read.
	ackEmoji = "👀"
)

func (w *worker) loop(ctx context.Context) {
	for {
		if !w.take() {
			return
		}
		now := time.Now()
		until, dead := w.acc.state()
		if dead != nil || ctx.Err() != nil {
			w.drop()
			continue
		}
		if w.until.After(until) {
			until = w.until
		}
		if until.After(now) {
			w.sleep(ctx, until)
			continue
		}
		if len(w.queue) > 0 {
			w.work(ctx)
			continue
		}
		if next := w.idle(ctx, now); next.After(now) {
			w.sleep(ctx, next)
		}
	}
}

// take reads the jobs that have come in. It reports false, and the worker is
// over, when there is nothing left to do or to wait for.
func (w *worker) take() bool {
	for {
		w.b.mu.Lock()
		in := w.in
		w.in = nil
		if len(in) == 0 {
			over := len(w.queue)+len(w.posts)+len(w.expects) == 0
			if over {
				delete(w.b.places, w.place)
				w.b.rest(w.place, w.pace)
			}
			w.b.mu.Unlock()
			return !over
		}
		w.b.mu.Unlock()
		for _, j := range in {
			w.add(j)
		}
	}
}

func (w *worker) add(in any) {
	switch in := in.(type) {
	case openJob:
		if p := w.posts[in.run.Post]; p != nil { // the run begins again
			if in.run.Waits { // no more
				w.done()
				return
			}
			in.run.Resumed = in.run.Resumed || p.run.Resumed
			p.stored = p.stored && !p.run.Waits // else its receipt is, and the run is not
			p.run, p.storeAt = in.run, time.Now().Add(storeOpenAfter)
			w.done()
			return
		}
		p := &live{run: in.run, speaker: in.speaker, open: in.run.Open, stored: in.run.Open != nil, opening: in.run.Open == nil, since: time.Now(), status: in.status}
		w.posts[in.run.Post] = p
		if !p.opening {
			w.done()
			return
		}
		w.queue = append(w.queue, job{open: &in, unsure: in.run.Resumed})
	case rowJob:
		w.insert(job{row: &in.row, unsure: in.row.Unsure || w.orphan(&in.row)})
	case sayJob: // before all else: a row may wait for what this tells of
		w.queue = slices.Insert(w.queue, 0, job{say: &in})
	case receiptJob:
		p := w.posts[in.post]
		switch {
		case p == nil || p.stored:
			in.reply <- nil
		case p.opening:
			p.ask = append(p.ask, in.reply)
		default:
			in.reply <- p.open
		}
	case kickJob:
		w.until = time.Time{}
	case expectJob:
		if i := w.expected(in.id); i >= 0 {
			w.expects[i].over = false
			break
		}
		w.expects = append(w.expects, expectation{id: in.id, due: in.arrived.Add(presence), unsure: in.edited})
	case takenJob:
		i := w.expected(in.id)
		switch {
		case i >= 0 && in.gone:
			w.expects = slices.Delete(w.expects, i, i+1)
		case i >= 0:
			w.expects[i].over = true
		case !in.gone:
			w.expects = append(w.expects, expectation{id: in.id, unsure: true, over: true})
		}
	}
}

// expected is where the expectation of a message is; negative: there is none.
func (w *worker) expected(id string) int {
	return slices.IndexFunc(w.expects, func(e expectation) bool { return e.id == id })
}

// orphan reports whether the row ends a post that this process has not opened,
// and an earlier one may have: its status line is to be found then.
func (w *worker) orphan(row *core.Row) bool {
	return row.Chunk == 0 && row.Edit == "" && w.posts[row.Post] == nil && w.acc.features.Once != core.OnceNone && w.b.inherited(row.Post)
}

// insert queues a row in the order in which outcomes were decided: who decided
// the later one may be quicker to hand it over.
func (w *worker) insert(j job) {
	i := slices.IndexFunc(w.queue, func(q job) bool {
		return q.row != nil && cmp.Or(cmp.Compare(q.row.Seq, j.row.Seq), cmp.Compare(q.row.Chunk, j.row.Chunk)) > 0
	})
	if i < 0 {
		i = len(w.queue)
	}
	w.queue = slices.Insert(w.queue, i, j)
}

// settling reports whether the post's final waits in the queue.
func (w *worker) settling(post core.ID) bool {
	return slices.ContainsFunc(w.queue, func(j job) bool { return j.row != nil && j.row.Post == post })
}

// forget ends a post.
func (w *worker) forget(post core.ID) {
	if p := w.posts[post]; p != nil {
		p.answer(nil)
		delete(w.posts, post)
	}
	w.queue = slices.DeleteFunc(w.queue, func(j job) bool {
		gone := j.open != nil && j.open.run.Post == post
		if gone {
			w.done()
		}
		return gone
	})
	w.b.mu.Lock()
	delete(w.b.drafts, post)
	w.b.mu.Unlock()
}

// answer tells those who wait for the open's receipt.
func (p *live) answer(r *core.Receipt) {
	p.opening = false
	for _, c := range p.ask {
		c <- r
	}
	p.ask = nil
}

// drop lets everything go: the adapter is finished, or the process ends. Rows
// stay in the ledger for the next start.
func (w *worker) drop() {
	for id := range w.posts {
		w.forget(id)
	}
	for range w.queue {
		w.done()
	}
	w.queue, w.expects = nil, nil
}

// done counts a job as over.
func (w *worker) done() {
	w.b.mu.Lock()
	w.b.ended(rowJob{})
	w.b.mu.Unlock()
}

// sleep waits for new jobs, the time, or the end.
func (w *worker) sleep(ctx context.Context, until time.Time) {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-w.wake:
	case <-t.C:
	case <-ctx.Done():
	}
}

// idle does one thing that may wait for opens and finals (store an open's
// receipt, a preview, a sign of presence) if it is due, and returns when the
// next will be; a time that is not after now means: look again.
func (w *worker) idle(ctx context.Context, now time.Time) time.Time {
	next := now.Add(time.Hour)
	due := func(t time.Time) bool {
		if t.After(now) {
			if t.Before(next) {
				next = t
			}
			return false
		}
		return true
	}
	for _, p := range w.posts {
		if p.open != nil && !p.stored && due(p.storeAt) {
			w.storeOpen(ctx, p)
			return now
		}
		if p.stored && w.acc.features.Edits {
			if at := w.b.due(p.run.Post); !at.IsZero() && due(w.ready(at, now)) {
				w.update(ctx, p, now)
				return now
			}
		}
		if w.acc.features.Typing != nil && due(later(p.since.Add(presence), p.typed.Add(typingEvery))) {
			p.typed = now
			w.brief(ctx, func(ctx context.Context) error { return w.acc.features.Typing(ctx, w.b.current(p.run.Reply.Place)) })
			return now
		}
	}
	for i := range w.expects {
		e := &w.expects[i]
		if e.over {
			id, marked := e.id, e.reacted || e.unsure
			if w.expects = slices.Delete(w.expects, i, i+1); marked {
				w.react(ctx, id, "")
			}
			return now
		}
		if !e.reacted && due(e.due) {
			e.reacted = true
			w.react(ctx, e.id, ackEmoji)
			return now
		}
	}
	return next
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// answered ends the expectations of the messages that have their outcome in
// the row, and takes their marks away; an earlier process may have left some.
func (w *worker) answered(ctx context.Context, row *core.Row) {
	var marked []string
	if w.acc.features.React != nil && w.b.inherited(row.Post) {
		marked = slices.Clone(row.Answers)
	}
	w.expects = slices.DeleteFunc(w.expects, func(e expectation) bool {
		if !slices.Contains(row.Answers, e.id) {
			return false
		}
		if (e.reacted || e.unsure) && !slices.Contains(marked, e.id) {
			marked = append(marked, e.id)
		}
		return true
	})
	for _, id := range marked {
		w.react(ctx, id, "")
	}
}

func (w *worker) react(ctx context.Context, id, emoji string) {
	w.brief(ctx, func(ctx context.Context) error { return w.acc.features.React(ctx, w.b.current(w.place), id, emoji) })
}

// brief makes a call whose failure matters to nobody and must not hold up an
// answer.
func (w *worker) brief(ctx context.Context, f func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if err := f(ctx); err != nil {
		w.b.log.Debug("sign of presence failed", "place", w.place, "err", err)
		w.heed(err)
	}
}
