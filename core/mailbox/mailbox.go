// Package mailbox is the actor system: every bot has a mailbox and one loop
// that drains it. The loop takes a slot, picks the oldest item that can run
// and everything else that waits in its thread, and starts a run.
//
// It imports core alone. Goroutines: one loop per bot and one per run; Run
// starts them and returns when all have ended.
package mailbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"bellhop/core"
)

// Runner executes one run, from preparation to its settled outcome.
type Runner interface {
	// Run reads the items' messages, works, and settles. It returns nil when the
	// run is settled; core.ErrRunOver when nothing was left to do, because the
	// ledger had ended the items or the run; core.ErrStopping, with the ID of a
	// stored run that the next start resumes (or ""), when ctx ended with that
	// cause; core.ErrWaiting when the run waits for a person.
	Run(ctx context.Context, bot core.Bot, items []core.Item) (core.ID, error)
	// Wait tells the person whose message waits for a free slot, unless its run
	// has begun meanwhile.
	Wait(ctx context.Context, bot core.Bot, items []core.Item)
}

// Store is the part of the ledger that the mailboxes use.
type Store interface {
	Waiting(ctx context.Context, bot string, thread core.ID) (items []core.Item, run core.ID, err error)
	StopClean(ctx context.Context, runs []core.ID) error
}

// Options of a System.
type Options struct {
	Store   Store
	Runner  Runner
	Bots    []core.Bot
	MaxRuns int // most runs at once, of all bots
	// External takes the items of external actors, whose mailboxes are not here.
	// It does not wait.
	External func([]core.Item)
	Log      *slog.Logger
	// Caught waits until what the ledger has taken in of people by now is on its
	// way to them and to the mailboxes; nil: nobody needs it.
	Caught func(ctx context.Context)
}

// System is all mailboxes.
type System struct {
	o     Options
	slots chan struct{} // one token per run in progress
	boxes map[string]*box

	mu      sync.Mutex // guards the fields below
	runs    map[core.ID]context.CancelCauseFunc
	stopped []core.ID // stored runs that the stop has cut
	held    time.Time // no run begins before
	since   time.Time // when that began
}

// slotWait is how long an item waits for a slot before its person is told.
// Source: invariant 2.
const slotWait = 3 * time.Second

// New makes a System. Nothing runs yet.
func New(o Options) *System {
	s := &System{o: o, slots: make(chan struct{}, o.MaxRuns), boxes: map[string]*box{}, runs: map[core.ID]context.CancelCauseFunc{}}
	for _, bot := range o.Bots {
		s.boxes[bot.Handle] = &box{s: s, bot: bot, wake: make(chan struct{}, 1), waits: map[core.ID]bool{}, threads: map[core.ID]*mail{}}
	}
	return s
}

// Load takes over what an earlier process has left: items that wait, and threads
// that wait for a person.
func (s *System) Load(back core.Backlog) {
	for _, p := range back.Parked {
		if b := s.boxes[p.Bot]; b != nil {
			b.tell(func() { b.park(p.Thread, p.Run) })
		}
	}
	s.add(back.Items)
}

// Apply takes in what an Accept did: items that ended leave their queues, runs
// that a person stopped are cancelled, new items wake their bots. It does not
// wait.
func (s *System) Apply(a core.Accepted) {
	if len(a.Ended) > 0 {
		for _, b := range s.boxes {
			b.tell(func() { b.drop(a.Ended) })
		}
	}
	s.mu.Lock()
	for _, id := range a.Stopped {
		if cancel := s.runs[id]; cancel != nil {
			cancel(core.ErrRunOver)
		}
	}
	s.mu.Unlock()
	if len(a.Stopped) > 0 {
		for _, b := range s.boxes {
			b.tell(func() { b.unpark(a.Stopped) })
		}
	}
	s.add(a.Items)
}

// Hold lets no run begin for so long, but those that are in progress go on: a
// crowd of messages is coming in, and who has written them is told sooner that
// they are read when nothing else is done meanwhile. However often it is called,
// runs begin again after maxHold at most. It does not wait.
func (s *System) Hold(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !now.Before(s.held) {
		s.since = now
	}
	s.held = now.Add(d)
	if most := s.since.Add(maxHold); s.held.After(most) {
		s.held = most
	}
}

// maxHold is less than people wait before they are told that they do.
const maxHold = 2 * time.Second

// until is when a run may begin.
func (s *System) until() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// Wake puts newly queued items into their mailboxes. It does not wait.
func (s *System) Wake(items []core.Item) { s.add(items) }

func (s *System) add(items []core.Item) {
	byBot := map[string][]core.Item{}
	var external []core.Item
	for _, it := range items {
		if it.External() {
			external = append(external, it)
			continue
		}
		byBot[it.Bot] = append(byBot[it.Bot], it)
	}
	if len(external) > 0 {
		s.o.External(external)
	}
	for bot, items := range byBot {
		b := s.boxes[bot]
		if b == nil {
			s.o.Log.Warn("messages wait for a bot that is not configured", "bot", bot, "messages", len(items))
			continue
		}
		b.tell(func() {
			for _, it := range items {
				b.add(it)
			}
		})
	}
}

// Run drains the mailboxes until pick ends; then it lets runs in progress
// finish until work ends, and returns when all have. A run that work's end has
// cut stays in the ledger and is marked, so that the next start resumes it
// without counting a crash.
func (s *System) Run(pick, work context.Context) error {
	var wg sync.WaitGroup
	for _, b := range s.boxes {
		wg.Go(func() { b.loop(pick, work) })
	}
	wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o.Store.StopClean(context.WithoutCancel(work), s.stopped)
}

// Waits reports whether something waits for the bot in the thread behind the
// run that is in progress there. It does not wait itself.
func (s *System) Waits(bot string, thread core.ID) bool {
	b := s.boxes[bot]
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waits[thread]
}

// Joined takes items out of a bot's mailbox that its run has taken in. It does
// not wait.
func (s *System) Joined(bot string, items []core.ID) {
	b := s.boxes[bot]
	b.tell(func() { b.drop(items) })
}

// box is one bot's mailbox. Its loop's goroutine owns threads and all fields
// below it.
type box struct {
	s    *System
	bot  core.Bot
	wake chan struct{} // of capacity 1: calls has grown

	mu    sync.Mutex // guards the two fields below
	calls []func()
	waits map[core.ID]bool // threads in which something waits behind a run

	threads map[core.ID]*mail
	ready   []*mail // threads that can be picked, by their oldest item
	running int
	due     time.Time // when to look next for whom to tell that they wait; zero: nobody waits
	telling bool      // somebody is told
}

// mail is what waits for the bot in one thread.
type mail struct {
	thread core.ID
	items  []core.Item // resumes first, then oldest first
	busy   bool        // a run is in progress
	parked core.ID     // the run that waits for a person, and all but its resume with it; empty: none
	since  time.Time   // when it became ready; zero: it is not
	told   core.ID     // the item whose person was told that it waits for a slot
	held   bool        // while they are told: the run that begins must know of it
}

// waits reports whether nothing of the mail can be picked.
func (m *mail) waits() bool {
	return m.busy || m.held || len(m.items) == 0 || m.parked != "" && m.items[0].Kind != core.ResumeItem
}

// knows reports whether its person knows that it waits for a slot.
func (m *mail) knows() bool {
	return slices.ContainsFunc(m.items, func(it core.Item) bool { return it.ID == m.told })
}

// order is where the mail stands among the ready ones: resumes come first,
// then the oldest item decides, so that a busy thread cannot starve a quiet
// one.
func (m *mail) order() uint64 {
	if m.items[0].Kind == core.ResumeItem {
		return 0
	}
	return m.items[0].ID.Seq()
}

// tell has the loop call f.
func (b *box) tell(f func()) {
	b.mu.Lock()
	b.calls = append(b.calls, f)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *box) loop(pick, work context.Context) {
	var runs sync.WaitGroup
	defer runs.Wait()
	workers := b.bot.Workers
	if workers <= 0 {
		workers = b.s.o.MaxRuns
	}
	patience := time.NewTimer(time.Hour)
	defer patience.Stop()
	for {
		b.mu.Lock()
		calls := b.calls
		b.calls = nil
		b.mu.Unlock()
		for _, f := range calls {
			f()
		}
		var slots chan<- struct{}
		if len(b.ready) > 0 {
			next := b.due
			if b.telling {
				next = time.Time{}
			}
			if held := b.s.until(); time.Now().Before(held) {
				next = held
			} else if b.running < workers {
				slots = b.s.slots
			}
			if !next.IsZero() {
				patience.Reset(time.Until(next))
			}
		}
		select {
		case slots <- struct{}{}:
			b.start(work, &runs)
		case <-b.wake:
		case <-patience.C:
			b.patience(work, &runs)
		case <-pick.Done():
			return
		}
	}
}

// start begins a run for the first of the ready threads. The caller has taken
// a slot.
func (b *box) start(work context.Context, runs *sync.WaitGroup) {
	m := b.ready[0]
	b.ready = b.ready[1:]
	items := m.items
	if items[0].Kind == core.ResumeItem {
		items = items[:1]
	}
	m.items = slices.Clone(m.items[len(items):])
	m.busy, m.parked, m.since = true, "", time.Time{}
	b.running++
	b.note(m)
	head := max(0, slices.IndexFunc(items, func(it core.Item) bool { return it.Waits || it.ID == m.told }))
	id := items[head].ID.As(core.KindRun)
	if items[0].Kind == core.ResumeItem {
		id = items[0].Run
	}
	runs.Go(func() {
		err := b.run(work, id, items)
		<-b.s.slots
		b.tell(func() { b.finished(work, m, id, err) })
	})
}

// run executes one run and sees to it that nothing it does ends the process.
func (b *box) run(work context.Context, id core.ID, items []core.Item) (err error) {
	ctx, cancel := context.WithCancelCause(work)
	defer cancel(nil)
	b.s.mu.Lock()
	b.s.runs[id] = cancel
	b.s.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			b.s.o.Log.Error("run panicked", "run", id, "bot", b.bot.Handle, "panic", p, "stack", string(debug.Stack()))
		}
		b.s.mu.Lock()
		delete(b.s.runs, id)
		b.s.mu.Unlock()
	}()
	cut, err := b.s.o.Runner.Run(ctx, b.bot, items)
	if errors.Is(err, core.ErrRunOver) && b.s.o.Caught != nil {
		b.s.o.Caught(work) // the word of who has ended it comes before what is next
	}
	if errors.Is(err, core.ErrStopping) && cut != "" {
		b.s.mu.Lock()
		b.s.stopped = append(b.s.stopped, cut)
		b.s.mu.Unlock()
	}
	return err
}

// finished takes a thread back after a run. When the ledger had ended the run
// or its items meanwhile, or the run waits, the ledger says what waits now; if it
// cannot, a run that waits keeps the thread. Mail whose run could not even settle
// stays in the ledger until the next start.
func (b *box) finished(work context.Context, m *mail, id core.ID, err error) {
	b.running--
	m.busy = false
	b.note(m)
	switch {
	case err == nil, errors.Is(err, core.ErrStopping):
	case errors.Is(err, core.ErrRunOver), errors.Is(err, core.ErrWaiting):
		if errors.Is(err, core.ErrWaiting) {
			m.parked = id
		}
		items, parked, err := b.s.o.Store.Waiting(context.WithoutCancel(work), b.bot.Handle, m.thread)
		if err != nil {
			b.s.o.Log.Error("mailbox cannot be read", "bot", b.bot.Handle, "thread", m.thread, "err", err)
			break
		}
		m.items, m.parked = nil, parked
		for _, it := range items {
			m.insert(it)
		}
	default:
		b.s.o.Log.Error("run ended without an outcome", "bot", b.bot.Handle, "thread", m.thread, "err", err)
	}
	b.requeue(m)
}

// requeue makes the thread ready, in its place, if it has mail and no run.
func (b *box) requeue(m *mail) {
	b.ready = slices.DeleteFunc(b.ready, func(r *mail) bool { return r == m })
	if m.waits() && !m.held {
		m.since = time.Time{}
	}
	if len(m.items) == 0 && !m.busy && m.parked == "" {
		delete(b.threads, m.thread)
		return
	}
	b.threads[m.thread] = m
	if !m.waits() {
		b.await(m)
		i, _ := slices.BinarySearchFunc(b.ready, m.order(), func(r *mail, o uint64) int {
			switch {
			case r.order() < o:
				return -1
			case r.order() > o:
				return 1
			}
			return 0
		})
		b.ready = slices.Insert(b.ready, i, m)
	}
}

func (b *box) add(it core.Item) {
	m := b.threads[it.Thread]
	if m == nil {
		m = &mail{thread: it.Thread}
		b.threads[it.Thread] = m
	}
	first := len(m.items) == 0
	m.insert(it)
	b.note(m)
	if first || m.items[0].ID == it.ID {
		b.requeue(m)
	}
}

// note lets the thread's run know whether something waits behind it.
func (b *box) note(m *mail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.busy && len(m.items) > 0 {
		b.waits[m.thread] = true
	} else {
		delete(b.waits, m.thread)
	}
}

// insert keeps resumes first, then id order; an item that is there already
// stays once.
func (m *mail) insert(it core.Item) {
	i, found := slices.BinarySearchFunc(m.items, it, func(a, b core.Item) int {
		if (a.Kind == core.ResumeItem) != (b.Kind == core.ResumeItem) {
			if a.Kind == core.ResumeItem {
				return -1
			}
			return 1
		}
		switch x, y := a.ID.Seq(), b.ID.Seq(); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	if !found {
		m.items = slices.Insert(m.items, i, it)
	}
}

// park has the thread wait for a person.
func (b *box) park(thread, run core.ID) {
	m := b.threads[thread]
	if m == nil {
		m = &mail{thread: thread}
	}
	m.parked = run
	b.requeue(m)
}

// unpark lets threads go on whose waiting runs have ended.
func (b *box) unpark(runs []core.ID) {
	for _, m := range b.threads {
		if slices.Contains(runs, m.parked) {
			m.parked = ""
			b.requeue(m)
		}
	}
}

// drop takes items that have ended out of the queues.
func (b *box) drop(ids []core.ID) {
	for _, m := range b.threads {
		n := len(m.items)
		m.items = slices.DeleteFunc(m.items, func(it core.Item) bool { return slices.Contains(ids, it.ID) })
		if len(m.items) != n {
			b.note(m)
			b.requeue(m)
		}
	}
}

// await notes since when a ready thread waits for a slot.
func (b *box) await(m *mail) {
	if m.since.IsZero() {
		m.since = time.Now()
	}
	if at := m.since.Add(slotWait); !m.knows() && (b.due.IsZero() || at.Before(b.due)) {
		b.due = at
	}
}

// patience tells whoever has waited for a slot longest, and too long, that they do.
func (b *box) patience(work context.Context, runs *sync.WaitGroup) {
	if b.telling {
		return
	}
	b.due = time.Time{}
	var first *mail
	for _, m := range b.ready {
		if m.knows() || m.items[0].Kind == core.ResumeItem { // people see what it has done before
			continue
		}
		if first == nil || m.since.Before(first.since) {
			first = m
		}
	}
	if first == nil {
		return
	}
	if b.due = first.since.Add(slotWait); time.Now().Before(b.due) {
		return
	}
	items := slices.Clone(first.items)
	first.told, first.held, b.telling = items[0].ID, true, true
	b.requeue(first)
	runs.Go(func() {
		b.s.o.Runner.Wait(work, b.bot, items)
		b.tell(func() {
			first.held, b.telling = false, false
			b.requeue(first)
			b.patience(work, runs)
		})
	})
}
