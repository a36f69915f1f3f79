package bus

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/core/run"
	"bellhop/store"
	"bellhop/store/memkv"
)

// world is what outlives a process: the ledger, the platform, and what the
// ledger has promised to show.
type world struct {
	engine   *memkv.Engine
	chat     chat
	promises []promise
	deeds    int // of the tool that must be allowed
}

// promise is a row that a transaction has stored.
type promise struct {
	key, text string
	post      core.ID
	seq       uint64
	place     core.Place
}

func (w *world) clone() *world {
	return &world{w.engine.Clone(), w.chat.clone(), slices.Clone(w.promises), w.deeds}
}

func (w *world) promise(rows []core.Row) {
	for _, r := range rows {
		key := fmt.Sprintf("%s/%d", r.Post, r.Chunk)
		i := slices.IndexFunc(w.promises, func(p promise) bool { return p.key == key })
		switch {
		case i < 0:
			w.promises = append(w.promises, promise{key, r.Text, r.Post, r.Seq, r.Place})
		case r.Again: // what it shows is another text now
			w.promises[i].text = r.Text
		}
	}
}

// fault is what goes wrong at a step.
type fault string

const (
	faultBefore  fault = "crash before"
	faultAfter   fault = "crash after" // the effect
	faultLost    fault = "lost"        // done, and the answer is lost
	faultTimeout fault = "timeout"     // not done, and no answer
	faultRefused fault = "refused"     // not done, for now
	faultNever   fault = "never"       // not done, for good
)

// op is what an actor is about to do.
type op struct {
	kind   opKind
	name   string
	detail string
}

type opKind int

const (
	turn   opKind = iota // look whether there is something to do
	commit               // a transaction of the ledger
	call                 // a request to the platform
	model                // the model answers
	wait                 // for the open's receipt
	past                 // an effect is done and the actor has not yet gone on
)

// fails reports whether the process can die there.
func (k opKind) fails() bool { return k == commit || k == call || k == model }

// actor is one of the process's goroutines as a coroutine: it stops before
// each thing it does, so that the schedule decides what happens next.
type actor struct {
	name  string
	next  func() (op, bool)
	stop  func()
	yield func(op) bool
	op    op
	over  bool
}

// process is one life of the appliance: the real ledger, run loop and bus with
// its workers, stepped one at a time.
type process struct {
	strategy
	scenario *scenario
	world    *world
	dead     bool
	ctx      context.Context
	cancel   context.CancelCauseFunc

	store   *store.Store
	bus     *Bus
	acc     *account
	runner  *run.Runner
	mail    []core.Item
	running core.ID
	parked  core.ID // the run that waits for a person
	stopRun context.CancelCauseFunc

	actors                         []*actor
	boot, run, people, talk, owner *actor
	current                        *actor
	fault                          fault
	noting                         *step // gets what a crash after it would leave
	settled                        bool  // the workers' idle time has nothing more to do
	pauses                         int
	wrong                          []string // found on the way

	version  int // of the world
	snapshot *world
	taken    int // version of snapshot
}

func newProcess(ctx context.Context, s strategy, sc *scenario, w *world) *process {
	p := &process{strategy: s, scenario: sc, world: w, taken: -1}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	p.boot = p.start("start", p.booting)
	p.talk = p.start("worker", func() { p.working(talkPlace) })
	p.owner = p.start("owner's worker", func() { p.working(ownerPlace) })
	p.run = p.start("run", p.runs)
	p.people = p.start("people", p.accepting)
	return p
}

// start makes an actor, which has not begun yet.
func (p *process) start(name string, body func()) *actor {
	a := &actor{name: name}
	a.next, a.stop = iter.Pull(func(yield func(op) bool) {
		a.yield = yield
		body()
	})
	p.actors = append(p.actors, a)
	return a
}

// end kills the process: whatever its actors still do has no effect.
func (p *process) end() {
	p.dead = true
	p.cancel(core.ErrStopping)
	if p.bus != nil {
		p.bus.hangUp(core.ErrStopping)
	}
	for _, a := range p.actors {
		a.stop()
	}
}

// pause lets the schedule decide, and returns what goes wrong.
func (p *process) pause(o op) fault {
	p.pauses++
	if p.dead || !p.current.yield(o) {
		return ""
	}
	return p.fault
}

// effect notes that the world has changed.
func (p *process) effect() {
	p.version++
	p.settled = false
	if p.noting != nil {
		p.noting.after = p.snap()
	}
	if p.scenario.switches > 0 {
		p.pause(op{kind: past})
	}
}

// snap is a copy of the world as it is.
func (p *process) snap() *world {
	if p.taken != p.version {
		p.snapshot, p.taken = p.world.clone(), p.version
	}
	return p.snapshot
}

// booting takes over what the process before has left.
func (p *process) booting() {
	log := slog.New(slog.DiscardHandler)
	p.store, _ = store.Open(p.ctx, p.world.engine, store.Options{})
	bot := core.Bot{Handle: "chief", Model: "m", History: core.Budget{Tokens: 10_000, Messages: 80}, Steps: 9, RunTime: time.Hour}
	p.bus = New(p.ctx, Options{Store: books{p.store, p}, Adapters: []core.Adapter{connection{p}}, Access: core.Access{Owners: []string{"chat:ann"}, Approvers: core.Approvers{Requester: true}},
		Agent: bot.Handle, Bots: []core.Bot{bot}, Commands: p.scenario.commands, Owner: ownerPlace, Log: log})
	p.bus.mail = post{p}
	p.acc = p.bus.accounts[talkPlace.Adapter]
	for _, at := range []core.Place{talkPlace, ownerPlace} {
		p.bus.places[at] = p.worker(at)
	}
	p.runner = run.New(run.Options{Store: books{p.store, p}, Outbox: outbox{p.bus, p}, Bots: []core.Bot{bot}, Tools: toolbox{p}, Rules: rules,
		Repair: func(args string) (string, bool) { return args, true }, Canonical: func(args string) string { return args }, Cap: func(text string, _ int) string { return text },
		Provider: func(string) (core.Provider, string, error) { return script{p}, "m", nil },
		Wake:     p.queue, MaxHops: 5, Zone: time.UTC, Log: log})
	back, err := books{p.store, p}.Recover(p.ctx, p.bus.Up)
	if err != nil {
		p.wrong = append(p.wrong, "recover: "+err.Error())
		return
	}
	p.world.promise(back.Rows)
	p.bus.Load(back)
	p.queue(back.Items)
	for _, parked := range back.Parked {
		p.parked = parked.Run
	}
}

func (p *process) worker(at core.Place) *worker {
	return &worker{b: p.bus, acc: p.acc, place: at, wake: make(chan struct{}, 1), posts: map[core.ID]*live{}}
}

// working is worker.loop without the waits: what is due ever is due now.
func (p *process) working(at core.Place) {
	for {
		p.pause(op{kind: turn})
		if p.dead {
			return
		}
		w := p.bus.places[at]
		pauses := p.pauses
		switch {
		case !w.take():
			p.bus.places[at] = p.worker(at)
		case len(w.queue) > 0:
			w.work(p.bus.outbox)
		default:
			w.idle(p.bus.outbox, time.Now().Add(time.Minute))
			p.settled = p.pauses == pauses
		}
	}
}

// busy reports whether the place has rows or opens to show.
func (p *process) busy(at core.Place) bool {
	w := p.bus.places[at]
	return len(w.in) > 0 || len(w.queue) > 0
}

// accepting hands the platform's events over.
func (p *process) accepting() {
	c := &p.world.chat
	c.pending = append(slices.Clone(c.last), c.pending...) // the acknowledgement may have been lost
	for {
		p.pause(op{kind: turn})
		if p.dead {
			return
		}
		if len(c.pending) == 0 {
			c.act()
			p.version++
			continue
		}
		batch := c.pending[:1]
		if err := p.bus.accept(p.ctx, p.acc, batch); err == nil && !p.dead {
			c.last, c.pending = batch, c.pending[1:]
			p.version++
		}
	}
}

// runs is the mailbox and its runs, one at a time.
func (p *process) runs() {
	bot := p.bus.o.Bots[0]
	for {
		p.pause(op{kind: turn})
		if p.dead {
			return
		}
		from := p.ready()
		if from < 0 {
			continue
		}
		items := p.mail[from:]
		if items[0].Kind == core.ResumeItem {
			items = items[:1]
		}
		for i, it := range items {
			if it.Thread != items[0].Thread || it.Kind != items[0].Kind {
				items = items[:i]
				break
			}
		}
		items = slices.Clone(items)
		p.mail = slices.Delete(slices.Clone(p.mail), from, from+len(items))
		p.parked = ""
		p.running = items[0].ID.As(core.KindRun)
		if items[0].Kind == core.ResumeItem {
			p.running = items[0].Run
		}
		var ctx context.Context
		ctx, p.stopRun = context.WithCancelCause(p.ctx)
		_, err := p.runner.Run(ctx, bot, items)
		p.stopRun(nil)
		p.running = ""
		switch {
		case p.dead, err == nil:
		case errors.Is(err, core.ErrRunOver), errors.Is(err, core.ErrWaiting):
			if p.mail, p.parked, err = p.store.Waiting(p.ctx, bot.Handle, items[0].Thread); err != nil {
				p.wrong = append(p.wrong, err.Error())
			}
		default:
			p.wrong = append(p.wrong, "run ended without an outcome: "+err.Error())
		}
	}
}

// queue puts items into the mailbox: resumes first, then by age.
func (p *process) queue(items []core.Item) {
	for _, it := range items {
		if !slices.ContainsFunc(p.mail, func(m core.Item) bool { return m.ID == it.ID }) {
			p.mail = append(p.mail, it)
		}
	}
}

// post implements Mail.
type post struct{ *process }

func (p post) Hold(time.Duration) {}

func (p post) Apply(a core.Accepted) {
	p.mail = slices.DeleteFunc(p.mail, func(it core.Item) bool { return slices.Contains(a.Ended, it.ID) })
	if p.running != "" && slices.Contains(a.Stopped, p.running) {
		p.stopRun(core.ErrRunOver)
	}
	if slices.Contains(a.Stopped, p.parked) {
		p.parked = ""
	}
	p.queue(a.Items)
}

// outbox is the bus as runs see it, with a wait that the schedule ends.
type outbox struct {
	*Bus
	p *process
}

func (o outbox) Receipt(_ context.Context, r core.Run) *core.Receipt {
	reply := make(chan *core.Receipt, 1)
	o.tell(r.Reply.Place, receiptJob{r.Post, reply})
	o.p.pause(op{kind: wait})
	select {
	case got := <-reply:
		return got
	default:
		return nil
	}
}

// script is the model: it answers in one or two pieces, at once or in two
// parts with a preview between them.
type script struct{ p *process }

func (s script) Stream(ctx context.Context, call core.Call) iter.Seq2[core.Chunk, error] {
	return func(yield func(core.Chunk, error) bool) {
		if n := len(call.Messages); s.p.scenario.asks != "" && call.Messages[n-1].Role != core.ToolRole {
			s.p.pause(op{model, "model", "asks"})
			if ctx.Err() != nil {
				yield(core.Chunk{}, context.Cause(ctx))
				return
			}
			_ = yield(core.Chunk{Call: &core.CallDelta{ID: "c1", Name: "deed", Args: "{}"}}, nil) && yield(core.Chunk{Finish: core.FinishTools}, nil)
			return
		}
		parts := []string{s.p.scenario.answer}
		if s.p.scenario.slow {
			parts = []string{s.p.scenario.answer[:2], s.p.scenario.answer[2:]}
		}
		for _, text := range parts {
			s.p.pause(op{model, "model", text})
			if ctx.Err() != nil {
				yield(core.Chunk{}, context.Cause(ctx))
				return
			}
			if !yield(core.Chunk{Text: text}, nil) {
				return
			}
		}
		yield(core.Chunk{Finish: core.FinishStop}, nil)
	}
}

// books is the ledger whose transactions the schedule can fail.
type books struct {
	*store.Store
	p *process
}

// tx makes one transaction.
func (b books) tx(name string, f func() error) error {
	fault := b.p.pause(op{kind: commit, name: name})
	switch {
	case b.p.dead:
		return store.ErrClosed
	case fault == faultRefused:
		return store.ErrNoSpace
	}
	if err := f(); err != nil {
		return err
	}
	b.p.effect()
	if b.p.dead {
		return store.ErrClosed
	}
	return nil
}

func (b books) Recover(ctx context.Context, up func(string) bool) (back core.Backlog, err error) {
	work := func() error { back, err = b.Store.Recover(ctx, up); return err }
	if !slices.ContainsFunc(b.p.world.engine.Snapshot(), func(kv store.KV) bool { return strings.HasPrefix(string(kv.Key), "ro/") }) {
		return back, work() // it reads only
	}
	err = b.tx("recover", work)
	return back, err
}

func (b books) Accept(ctx context.Context, batch core.Batch) (out core.Accepted, err error) {
	err = b.tx("accept", func() error {
		out, err = b.Store.Accept(ctx, batch)
		b.p.world.promise(out.Rows)
		return err
	})
	return out, err
}

func (b books) Begin(ctx context.Context, run core.Run) error {
	return b.tx("begin", func() error { return b.Store.Begin(ctx, run) })
}

func (b books) Opened(ctx context.Context, run core.Run, r core.Receipt) error {
	return b.tx("opened", func() error { return b.Store.Opened(ctx, run, r) })
}

func (b books) Settle(ctx context.Context, run core.Run, open *core.Receipt, end core.Settlement) (out core.Settled, err error) {
	err = b.tx("settle", func() error {
		out, err = b.Store.Settle(ctx, run, open, end)
		b.p.world.promise(out.Rows)
		return err
	})
	return out, err
}

func (b books) RowOpened(ctx context.Context, row core.Row, r core.Receipt) error {
	return b.tx("row opened", func() error { return b.Store.RowOpened(ctx, row, r) })
}

func (b books) Delivered(ctx context.Context, row core.Row, r core.Receipt) (again *core.Row, err error) {
	err = b.tx("delivered", func() (err error) {
		if again, err = b.Store.Delivered(ctx, row, r); again != nil {
			b.p.world.promise([]core.Row{*again})
		}
		return err
	})
	return again, err
}

func (b books) Bury(ctx context.Context, row core.Row, why string, owner core.Place, tell []core.Piece) (out []core.Row, err error) {
	err = b.tx("bury", func() error {
		out, err = b.Store.Bury(ctx, row, why, owner, tell)
		b.p.world.promise(out)
		return err
	})
	return out, err
}
