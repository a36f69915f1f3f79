package bus

import (
	"context"
	"slices"
	"time"

	"bellhop/core"
)

// The outbox as the run loop and the ledger's other users see it. None of
// these methods waits for a platform, except Receipt.

// Open begins the run's post: a short status line, to be replaced. It is
// ignored when the post's final has been queued already.
func (b *Bus) Open(run core.Run, speaker core.Speaker, status string) {
	b.mu.Lock()
	late := slices.Contains(b.settled[:], run.Post)
	if !late && b.drafts[run.Post] == nil {
		b.drafts[run.Post] = &draft{}
	}
	b.mu.Unlock()
	if late {
		return
	}
	b.tell(run.Reply.Place, openJob{run: run, speaker: speaker, status: status})
}

// Wait begins the post of a run that has no slot yet, and says so; unless the run
// has begun.
func (b *Bus) Wait(run core.Run, speaker core.Speaker) {
	run.Waits = true
	d := &draft{}
	d.update(core.Preview{Status: "waiting for a free slot"}, time.Now())
	b.mu.Lock()
	begun := slices.Contains(b.settled[:], run.Post) || b.drafts[run.Post] != nil
	if !begun {
		b.drafts[run.Post] = d
	}
	b.mu.Unlock()
	if !begun {
		b.tell(run.Reply.Place, openJob{run: run, speaker: speaker, status: "Waiting for a free slot…"})
	}
}

// Update shows a preview in the run's post; the latest wins. It costs next to
// nothing, so that it can be called for every piece of a reply.
func (b *Bus) Update(run core.Run, p core.Preview) {
	b.mu.Lock()
	d := b.drafts[run.Post]
	sooner := d != nil && d.update(p, time.Now())
	b.mu.Unlock()
	if sooner {
		b.tell(run.Reply.Place, updateJob{})
	}
}

// due is when the post's draft is to be shown next; zero: when it changes.
func (b *Bus) due(post core.ID) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.drafts[post]; d != nil {
		return d.next
	}
	return time.Time{}
}

// look is what the post is to show now.
func (b *Bus) look(post core.ID, now time.Time) core.Preview {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.drafts[post]; d != nil {
		return d.look(now)
	}
	return core.Preview{}
}

// shows notes the text that the post shows.
func (b *Bus) shows(post core.ID, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.drafts[post]; d != nil {
		d.shown = text
	}
}

// Receipt waits, at most briefly, until the sending of the run's open has
// ended one way or the other, and returns its receipt if it is not stored yet,
// for Settle to store: that saves a commit and the wait for it.
func (b *Bus) Receipt(ctx context.Context, run core.Run) *core.Receipt {
	reply := make(chan *core.Receipt, 1)
	b.tell(run.Reply.Place, receiptJob{run.Post, reply})
	t := time.NewTimer(receiptWait)
	defer t.Stop()
	select {
	case r := <-reply:
		return r
	case <-t.C:
	case <-ctx.Done():
	}
	return nil
}

// receiptWait bounds what a settled answer waits for the open's receipt: a few
// usual round trips to a platform.
const receiptWait = 300 * time.Millisecond

// Deliver queues rows that a transaction has stored, in their order.
func (b *Bus) Deliver(rows []core.Row) {
	for _, row := range rows {
		b.mu.Lock()
		b.settle(row.Post)
		b.mu.Unlock()
		b.tell(row.Place, rowJob{row})
	}
}

// settle notes that the post is not to be opened any more. The caller holds mu.
func (b *Bus) settle(post core.ID) {
	if !slices.Contains(b.settled[:], post) {
		b.settled[b.next] = post
		b.next = (b.next + 1) % len(b.settled)
	}
}

// seal is settle for a post that has no outcome yet. It reports whether one is
// needed, because the post may be shown.
func (b *Bus) seal(post core.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle(post)
	return b.drafts[post] != nil || b.elder[post]
}

// Kick lets a place try again at once: somebody has come to see it.
func (b *Bus) Kick(p core.Place) { b.tell(p, kickJob{}) }

// Shown is the text that an open post shows now, without its status, for
// "(stopped by …)".
func (b *Bus) Shown(post core.ID) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.drafts[post]; d != nil {
		return d.shown
	}
	return ""
}

// expect shows that a message has been read, if no answer comes soon.
func (b *Bus) expect(acc *account, in core.Inbound, arrived time.Time) {
	if acc.features.React != nil && in.MessageID != "" {
		b.tell(b.canonical(in.Place), expectJob{in.MessageID, arrived, in.Kind == core.InEdit})
	}
}

// Jobs of a place's worker.
type (
	openJob struct {
		run     core.Run
		speaker core.Speaker
		status  string
	}
	updateJob  struct{} // a draft is due sooner
	receiptJob struct {
		post  core.ID
		reply chan<- *core.Receipt
	}
	rowJob struct{ row core.Row }
	sayJob struct { // past the ledger, which may be the trouble
		place  core.Place
		pieces []core.Piece
	}
	kickJob   struct{}
	expectJob struct {
		id      string
		arrived time.Time
		edited  bool // an earlier process may have marked it
	}
	takenJob struct {
		id   string
		gone bool // and the message with it
	}
)

// tell hands a job to the place's worker, starting it if it has nothing to do.
func (b *Bus) tell(p core.Place, job any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch job.(type) {
	case openJob, rowJob, sayJob:
		b.begun()
	}
	acc := b.accounts[p.Adapter]
	if acc != nil && acc.features.Once == core.OnceEdit {
		// A lost send is looked for by the ids of its channel, which all its topics
		// share: one search must not meet what another worker is about to send.
		p.Topic = ""
	}
	w := b.places[p]
	if w == nil {
		if acc == nil || b.outbox.Err() != nil {
			b.ended(job)
			return
		}
		w = &worker{b: b, acc: acc, place: p, wake: make(chan struct{}, 1), posts: map[core.ID]*live{}, pace: b.paces[p]}
		b.places[p] = w
		b.workers.Go(func() { w.loop(b.outbox) })
	}
	w.in = append(w.in, job)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// begun and ended count the jobs that Drain waits for. The caller holds mu.
func (b *Bus) begun() {
	if b.busy == 0 {
		b.idle = make(chan struct{})
	}
	b.busy++
}

func (b *Bus) ended(job any) {
	switch job.(type) {
	case openJob, rowJob, sayJob:
		if b.busy--; b.busy == 0 {
			close(b.idle)
		}
	}
}
