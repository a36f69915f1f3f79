package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"bellhop/core"
)

const (
	// maxTries is when a row becomes a dead letter: with the backoff below,
	// after about two hours of failing. Waits that the platform asked for do
	// not count.
	maxTries = 30
	backoff0 = time.Second
	backoffN = 5 * time.Minute
	// leastWait is for a platform that says to wait and not how long.
	leastWait = time.Second
)

// work tries the first job of the queue once.
func (w *worker) work(ctx context.Context) {
	j := &w.queue[0]
	if j.say != nil {
		w.say(ctx, j.say)
		w.pop()
		return
	}
	var err error
	if j.open != nil {
		err = w.open(ctx, j)
	} else {
		err = w.row(ctx, j)
	}
	if err == nil {
		w.pop()
		return
	}
	if ctx.Err() != nil {
		return
	}
	var moved *core.Moved
	if errors.As(err, &moved) && moved.To != w.b.current(w.place).Channel {
		w.moved(ctx, moved)
		return
	}
	if w.heed(err) {
		return
	}
	j.tries++
	w.b.log.Warn("not delivered yet", "place", w.place, "try", j.tries, "err", err)
	refused := errors.Is(err, core.ErrRefused)
	switch {
	case j.open != nil:
		// The open is a courtesy: the final sends itself if it must. One that may
		// be shown stays unknown and is resolved by the final.
		if refused || j.tries >= 3 {
			w.giveUpOpen(j)
			return
		}
	case errors.Is(err, core.ErrGone) && j.tries == 1:
		return // it is shown anew, at once
	case j.tries >= maxTries || refused && w.apologise(ctx, j.row):
		w.bury(ctx, *j.row, err)
		return
	}
	w.until = time.Now().Add(backoff(j.tries))
}

// say shows pieces that the ledger knows nothing of, as well as it can.
func (w *worker) say(ctx context.Context, s *sayJob) {
	for i, piece := range s.pieces {
		r, err := w.call(ctx, core.Outbound{Key: fmt.Sprintf("trouble/%d/%d", time.Now().UnixNano(), i), Kind: core.OutFinal,
			Place: w.b.current(s.place), Text: piece.Text, Last: i == len(s.pieces)-1})
		if err != nil {
			w.b.log.Error("the owner could not be told", "text", piece.Text, "err", err)
			w.heed(err)
			return
		}
		w.said = append(w.said, r.ID)
	}
}

func backoff(try int) time.Duration {
	d := backoffN
	if try < 10 {
		d = min(backoff0<<(try-1), backoffN)
	}
	return d/2 + rand.N(d/2+1)
}

// heed obeys a platform's Retry-After and an adapter's end, and reports
// whether err was one of these.
func (w *worker) heed(err error) bool {
	var wait *core.RetryAfter
	switch {
	case errors.As(err, &wait):
		until := time.Now().Add(max(wait.After, leastWait))
		w.until = until
		if wait.Global {
			w.acc.mu.Lock()
			w.acc.until = until
			w.acc.mu.Unlock()
		}
	case errors.Is(err, core.ErrFatal):
		w.b.log.Error("adapter is finished", "adapter", w.acc.Name(), "err", err)
		w.acc.mu.Lock()
		w.acc.dead = err
		w.acc.mu.Unlock()
	default:
		return false
	}
	return true
}

func (w *worker) pop() {
	w.queue = w.queue[1:]
	w.done()
}

// open sends a run's status line, once.
func (w *worker) open(ctx context.Context, j *job) error {
	p := w.posts[j.open.run.Post]
	if p == nil || !p.opening {
		return nil
	}
	f := &w.acc.features
	if f.Once != core.OnceEdit && w.settling(p.run.Post) {
		p.run.Resumed = p.run.Resumed || j.unsure
		p.answer(nil) // the final is here: it needs no status line before it
		return nil
	}
	o := core.Outbound{Key: string(p.run.Post) + "/0", Kind: core.OutOpen, Place: w.b.current(p.run.Reply.Place), ReplyTo: p.run.Reply.To,
		Speaker: p.speaker, Text: j.open.status, After: p.run.Reply.After, Near: p.run.Reply.Answers, Known: w.known(ctx)}
	w.storeOpens(ctx)
	r, err := w.send(ctx, o, &j.unsure)
	if err != nil {
		return err
	}
	p.open, p.storeAt = &r, time.Now().Add(storeOpenAfter)
	p.answer(p.open)
	return nil
}

func (w *worker) giveUpOpen(j *job) {
	if p := w.posts[j.open.run.Post]; p != nil {
		p.run.Resumed = p.run.Resumed || j.unsure
		p.answer(nil)
	}
	w.pop()
}

// send sends a new piece, resolving first whether an earlier try has.
func (w *worker) send(ctx context.Context, o core.Outbound, unsure *bool) (core.Receipt, error) {
	f := &w.acc.features
	if *unsure && f.Resolve != nil && f.Once != core.OnceKey {
		r, err := w.acc.resolve(ctx, o)
		if !errors.Is(err, core.ErrNotSent) {
			return r, err
		}
		*unsure = false
	}
	r, err := w.call(ctx, o)
	if err != nil && !certain(err) {
		*unsure = true
	}
	return r, err
}

// call makes one that need not wait for its turn.
func (w *worker) call(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	w.spent()
	return w.acc.Send(ctx, o)
}

// certain reports whether the error says that nothing was shown.
func certain(err error) bool {
	var wait *core.RetryAfter
	var moved *core.Moved
	return errors.Is(err, core.ErrNotSent) || errors.Is(err, core.ErrRefused) || errors.Is(err, core.ErrFatal) ||
		errors.Is(err, core.ErrGone) || errors.As(err, &wait) || errors.As(err, &moved)
}

// known tells a probe which platform ids are other messages of the place:
// those in the ledger, and the status lines that are not in it yet.
func (w *worker) known(ctx context.Context) func(string) bool {
	return func(id string) bool {
		if slices.Contains(w.said, id) {
			return true
		}
		for _, p := range w.posts {
			if p.open != nil && p.open.ID == id {
				return true
			}
		}
		return w.b.o.Store.Known(ctx, w.place, id)
	}
}

// storeOpens makes the receipts durable that wait for a Settle to take them
// along, before anything else is sent there: after a crash, the search for that
// must not take them for it.
func (w *worker) storeOpens(ctx context.Context) {
	for _, id := range slices.Sorted(maps.Keys(w.posts)) {
		if p := w.posts[id]; p.open != nil && !p.stored && time.Until(p.storeAt) <= storeOpenAfter {
			w.storeOpen(ctx, p)
		}
	}
}

// storeOpen makes the open's receipt durable on its own.
func (w *worker) storeOpen(ctx context.Context, p *live) {
	err := w.b.o.Store.Opened(ctx, p.run, *p.open)
	switch {
	case err == nil:
		p.stored = true
	case errors.Is(err, core.ErrRunOver), errors.Is(err, core.ErrStale):
		p.storeAt = time.Now().Add(time.Hour) // the run's own end will see to it
	default:
		w.b.troubled(ctx, err)
		p.storeAt = time.Now().Add(time.Second)
	}
}

// update shows the latest preview in an open post.
func (w *worker) update(ctx context.Context, p *live, now time.Time) {
	f := &w.acc.features
	look := w.b.look(p.run.Post, now)
	text, status, thinking := fit(f.Split, look.Text, look.Status, thought(f, look.Thinking))
	if text == p.text && status == p.status || text == "" && status == "" {
		return
	}
	w.pace.preview(now, w.every())
	w.turn = time.Time{}
	_, err := w.acc.Send(ctx, core.Outbound{Key: string(p.run.Post) + "/0", Kind: core.OutUpdate, Place: w.b.current(p.run.Reply.Place),
		Edit: p.open.ID, Speaker: p.speaker, Text: text, Status: status, Thinking: thinking})
	if err != nil {
		w.b.log.Debug("preview failed", "post", p.run.Post, "err", err)
		if !w.heed(err) {
			w.pace.next = time.Now().Add(5 * time.Second)
		}
		return
	}
	p.text, p.status = text, status
	w.b.shows(p.run.Post, look.Text)
}

// row shows one chunk of an outcome and stores its receipt.
func (w *worker) row(ctx context.Context, j *job) error {
	row := j.row
	p := w.posts[row.Post]
	if p != nil && row.Chunk == 0 && row.Edit == "" && j.opened == nil {
		j.opened = p.open
		j.unsure = j.unsure || p.open == nil && p.run.Resumed // its open may be shown
	}
	r, err := core.Receipt{ID: row.Edit}, error(nil)
	if !row.Again || w.acc.features.Edits { // else it stays as it is
		r, err = w.final(ctx, j)
	}
	if row.File != nil && errors.Is(err, core.ErrRefused) { // the place may take the words
		withoutFile(row, err)
		r, err = w.final(ctx, j)
	}
	if len(row.Buttons) > 0 && errors.Is(err, core.ErrRefused) { // likewise
		withoutButtons(row, w.acc.features.Split)
		r, err = w.final(ctx, j)
	}
	if row.Again && (errors.Is(err, core.ErrGone) || errors.Is(err, core.ErrRefused) || err != nil && j.tries == maxTries-1) {
		r, err = core.Receipt{ID: row.Edit}, nil // it stays as it is
	}
	if errors.Is(err, core.ErrGone) && row.Edit != "" { // somebody deleted the open
		row.Edit = ""
		if p != nil {
			p.open, p.opening = nil, false
		}
	}
	if err != nil {
		return err
	}
	if row.Last { // before the receipt, after which nobody knows of a mark any more
		w.answered(ctx, row)
	}
	if row.Fork { // before the receipt: a process that dies between the two does it again
		rows, err := w.b.o.Store.Fork(ctx, *row, r)
		if err != nil {
			row.Edit = r.ID
			return w.unstored(ctx, err)
		}
		w.b.Deliver(rows)
	}
	again, err := w.b.o.Store.Delivered(ctx, *row, r)
	if again != nil { // somebody was quick to press, or to decide: once more, as it is now
		*row = *again
		if _, err = w.final(ctx, j); err != nil {
			return err
		}
		_, err = w.b.o.Store.Delivered(ctx, *row, r)
	}
	if err != nil {
		row.Edit = r.ID // shown already: the next try edits it, which changes nothing
		return w.unstored(ctx, err)
	}
	w.settleAfter(row, r)
	if row.Last {
		w.forget(row.Post)
	}
	return nil
}

// settleAfter lets the later chunks of the post know where the one before is:
// a lost send lies after it.
func (w *worker) settleAfter(row *core.Row, r core.Receipt) {
	for i := range w.queue {
		if next := w.queue[i].row; next != nil && next.Post == row.Post && next.Chunk > row.Chunk {
			next.After = r.ID
		}
	}
}

// final shows a row's text. Where a send is not idempotent, the text is only
// ever sent as an edit: a piece is opened first and its receipt stored. So it
// is, too, where an earlier try may have shown something, for that may be the
// status line instead of the text.
func (w *worker) final(ctx context.Context, j *job) (core.Receipt, error) {
	row := j.row
	f := &w.acc.features
	o := core.Outbound{Key: fmt.Sprintf("%s/%d", row.Post, row.Chunk), Kind: core.OutFinal, Place: w.b.current(row.Place),
		ReplyTo: row.ReplyTo, Speaker: row.Speaker, Text: row.Text, File: row.File, Thinking: row.Thinking, Answers: row.Answers, Last: row.Last,
		Buttons: row.Buttons, After: row.After, Known: w.known(ctx)}
	if row.Chunk == 0 {
		o.Near = row.Answers
	}
	if row.Fork {
		o.Begin = cmp.Or(row.Begin, forkName)
	}
	if f.Once == core.OnceNone && j.unsure {
		o.Text = "_(This may have been shown before a restart.)_\n\n" + o.Text
	}
	if row.Edit == "" && j.opened == nil {
		switch {
		case f.Once == core.OnceEdit && j.unsure: // the probe writes the text itself
			r, err := w.acc.resolve(ctx, o)
			if !errors.Is(err, core.ErrNotSent) {
				return r, err
			}
			j.unsure = false
		case f.Once == core.OnceNone, f.Once != core.OnceEdit && !(j.unsure && f.Edits):
			return w.send(ctx, o, &j.unsure)
		}
		open := o
		open.Kind, open.Text, open.Thinking, open.File, open.Buttons = core.OutOpen, openText, "", nil, nil
		w.storeOpens(ctx)
		r, err := w.send(ctx, open, &j.unsure)
		if err != nil {
			return r, err
		}
		j.opened = &r
	}
	if j.opened != nil {
		if err := w.b.o.Store.RowOpened(ctx, *row, *j.opened); err != nil {
			return core.Receipt{}, w.unstored(ctx, err)
		}
		row.Edit, j.opened = j.opened.ID, nil
	}
	o.Edit = row.Edit
	return w.call(ctx, o)
}

// forkName is the name of a fork's thread that has none.
const forkName = "Fork"

// openText is the status line of a piece whose text follows at once.
const openText = "…"

// unstored is a ledger that cannot take a receipt now; the row waits for it.
func (w *worker) unstored(ctx context.Context, err error) error {
	w.b.troubled(ctx, err)
	return &core.RetryAfter{After: time.Second, Err: err}
}

// moved follows a channel to its new id.
func (w *worker) moved(ctx context.Context, m *core.Moved) {
	move := core.Moving{Adapter: w.place.Adapter, Old: w.place.Channel, New: m.To}
	if err := w.b.o.Store.Moved(ctx, move); err != nil {
		w.b.troubled(ctx, err)
		w.until = time.Now().Add(time.Second)
		return
	}
	w.b.alias(move)
}

// bury makes a dead letter of a post that cannot be delivered, and tells the
// owner.
func (w *worker) bury(ctx context.Context, row core.Row, why error) {
	w.b.log.Error("dead letter", "post", row.Post, "place", w.place, "err", why)
	owner := w.b.owner()
	var tell []core.Piece
	if owner != row.Place {
		tell = w.b.Split(owner, fmt.Sprintf("⚠ I could not deliver %s to %s and gave up: %v. `bellhop trace %s` shows it.", row.Post, row.Place, why, row.Post))
	}
	rows, err := w.b.o.Store.Bury(ctx, row, why.Error(), owner, tell)
	if err != nil {
		w.b.troubled(ctx, err)
		w.until = time.Now().Add(time.Second)
		return
	}
	w.queue = slices.DeleteFunc(w.queue, func(j job) bool {
		dead := j.row != nil && j.row.Post == row.Post
		if dead {
			w.done()
		}
		return dead
	})
	w.forget(row.Post)
	w.answered(ctx, &row)
	w.b.Deliver(rows)
}

// apologise puts an end to the status line of a row that is refused for good,
// and reports whether nothing is left to be done for it. It comes before the
// row is given up, so that a crash between the two does it again.
func (w *worker) apologise(ctx context.Context, row *core.Row) bool {
	if row.Edit == "" {
		return true
	}
	_, err := w.call(ctx, core.Outbound{Key: fmt.Sprintf("%s/%d", row.Post, row.Chunk), Kind: core.OutFinal, Place: w.b.current(row.Place),
		Edit: row.Edit, Speaker: row.Speaker, Text: "⚠ What I wrote here cannot be shown.", Last: true})
	return err == nil || errors.Is(err, core.ErrRefused) || errors.Is(err, core.ErrGone)
}
