package coretest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"bellhop/core"
	"bellhop/core/bus"
	"bellhop/core/llm"
	"bellhop/core/mailbox"
	"bellhop/core/report"
	"bellhop/core/run"
	"bellhop/core/setting"
	naming "bellhop/core/title"
	"bellhop/core/webhook"
	"bellhop/store"
	"bellhop/tools"
	"bellhop/tools/ask"
	"bellhop/tools/channel"
	"bellhop/tools/history"
)

// softStop and drainStop are those of cmd/bellhop.
const (
	softStop  = 20 * time.Second
	drainStop = 10 * time.Second
)

var errKilled = errors.New("killed")

// life is the appliance from a start to its end: what one process is.
type life struct {
	w      *world
	engine engine
	store  *store.Store
	bus    *bus.Bus
	mail   *mailbox.System
	names  *naming.Namer
	hooks  *webhook.System
	died   chan struct{} // closed when the process is killed
	ended  chan struct{} // closed when all its goroutines have ended

	stopIntake context.CancelFunc
	stopPick   context.CancelFunc
	stopWork   context.CancelCauseFunc
	intake     context.Context
	pick       context.Context
	work       context.Context

	mu       sync.Mutex // guards the fields below
	dead     bool
	inFlight int        // calls of models and tools
	attempts []*attempt // in progress
}

// begin starts the appliance, as cmd/bellhop does.
func begin(w *world) (*life, error) {
	l := &life{w: w, engine: w.engine, store: w.store, died: make(chan struct{}), ended: make(chan struct{})}
	ctx := w.t.Context()
	ledger := &ledger{Store: l.store, life: l, log: &w.journal}
	commands := append(bus.Commands(func() []bus.AdapterHealth { return l.bus.Health() }), mailbox.Commands()...)
	commands = append(commands, report.Commands(time.UTC)...)
	commands = append(commands, bus.PairCommand(w.code, func(string, string) string { return "" }))
	commands = append(commands, setting.Commands(w.settings())...)
	commands = append(append(commands, bus.LinkCommand(w.code)), bus.MeCommands(time.UTC)...)
	slices.SortFunc(commands, func(x, y core.Command) int { return strings.Compare(x.Name, y.Name) })
	var adapters []core.Adapter
	for _, p := range w.platforms {
		adapters = append(adapters, &adapter{p, l})
	}
	l.bus = bus.New(ctx, bus.Options{Store: ledger, Adapters: adapters, Access: w.scene.access, Agent: w.scene.agent, Bots: w.scene.bots,
		Bindings: w.scene.bindings, Commands: commands, Sort: w.scene.sorting != nil, PerMinute: w.scene.perMinute, Pairing: w.scene.pairing, Code: w.code, Owner: w.owner, Externals: core.Listeners(w.scene.externals), MaxHops: w.scene.maxHops, Log: w.log})
	set, err := tools.NewSet(append(l.trialTools(), where(), ask.New(), history.New(l.store, time.UTC), history.NewRecall(l.store, time.UTC), channel.New(func(name string) channel.Read { return l.bus.Features(name).Read }, l.store, time.UTC))...)
	if err != nil {
		return nil, err
	}
	l.hooks = webhook.New(webhook.Options{Store: ledger, Actors: core.Listeners(w.scene.externals), Post: l.post, Deliver: l.bus.Deliver, Split: l.bus.Split, Log: w.log,
		Command: func(p core.Place, name string) string { return l.bus.Features(p.Adapter).Command(name) }})
	model := &model{life: l}
	runner := run.New(run.Options{Store: ledger, Outbox: l.bus, Bots: w.scene.bots, Externals: w.scene.externals, Tools: set, Repair: tools.Repair, Canonical: tools.Canonical, Cap: tools.Cap,
		Provider: func(name string) (core.Provider, string, error) {
			return llm.Priced(model, name, w.scene.prices[name]), strings.TrimPrefix(name, "script/"), nil
		},
		Workspace: func(th core.Thread, bot string) (string, error) { return w.folders().Of(th, bot), nil },
		Wake:      func(items []core.Item) { l.mail.Wake(items) },
		Waits:     func(bot string, thread core.ID) bool { return l.mail.Waits(bot, thread) },
		Joined:    func(bot string, items []core.ID) { l.mail.Joined(bot, items) }, Rules: l.holds, Due: w.due(func(thread core.ID) { l.names.Due(thread) }), Sorting: w.scene.sorting, MaxHops: w.scene.maxHops, Zone: time.UTC, Log: w.log})
	l.names = naming.New(naming.Options{Store: l.store, Model: "script/title", Show: l.bus.Title, Log: w.log,
		Provider: func(name string) (core.Provider, string, error) {
			return llm.Priced(model, name, w.scene.prices[name]), strings.TrimPrefix(name, "script/"), nil
		}})
	l.mail = mailbox.New(mailbox.Options{Store: ledger, Runner: runs{runner, l}, Caught: l.bus.Caught, Bots: w.scene.bots, MaxRuns: w.scene.maxRuns, External: l.hooks.Wake, Log: w.log})

	l.intake, l.stopIntake = context.WithCancel(ctx)
	l.pick, l.stopPick = context.WithCancel(context.WithoutCancel(ctx))
	l.work, l.stopWork = context.WithCancelCause(context.WithoutCancel(ctx))
	backlog, err := l.store.Recover(ctx, l.bus.Up)
	w.journal.learn(backlog.Rows) // who decided them may have died before it was told
	if err != nil {
		return nil, fmt.Errorf("recover: %w", err)
	}
	l.bus.Load(backlog)
	if w.scene.unowned {
		l.bus.Claim()
	}
	l.mail.Load(backlog)
	go l.run()
	return l, nil
}

// run works until it is stopped or killed.
func (l *life) run() {
	defer close(l.ended)
	var wg sync.WaitGroup
	defer wg.Wait()
	done := make(chan struct{})
	defer close(done)
	wg.Go(func() {
		select {
		case <-l.died:
			l.bus.Close()
		case <-done:
		}
	})
	wg.Go(func() { l.names.Run(l.pick) })
	worked := make(chan struct{})
	wg.Go(func() {
		defer close(worked)
		if err := l.mail.Run(l.pick, l.work); err != nil {
			l.w.log.Error("mailboxes", "err", err)
		}
	})
	wg.Go(func() { l.hooks.Run(l.pick, l.work) })
	if err := l.bus.Run(l.intake, l.mail); err != nil {
		l.w.log.Error("bus", "err", err)
	}
	l.stopPick()
	soft := time.NewTimer(softStop)
	defer soft.Stop()
	select {
	case <-worked:
	case <-soft.C:
		l.stopWork(core.ErrStopping)
	}
	<-worked
	if !l.over() {
		drain, cancel := context.WithTimeout(context.WithoutCancel(l.work), drainStop)
		defer cancel()
		l.bus.Drain(drain)
	}
	l.bus.Close()
	if err := l.store.Close(); err != nil {
		l.w.log.Error("store", "err", err)
	}
}

// stop is the orderly end. It waits.
func (l *life) stop() {
	l.stopIntake()
	<-l.ended
}

// kill is kill -9: from now on nothing of this life can store or show anything.
// Its goroutines end soon.
func (l *life) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return
	}
	l.dead = true
	l.engine.Crash()
	close(l.died)
	l.stopIntake()
	l.stopPick()
	l.stopWork(errKilled)
}

func (l *life) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// reach passes a moment and reports whether the life is over.
func (l *life) reach(when, what string) bool {
	if l.over() {
		return true
	}
	kill, wait := l.w.moments.spring(when, what)
	if wait != nil {
		select {
		case <-wait:
		case <-l.died:
		}
	}
	if kill {
		l.kill()
	}
	return l.over()
}

// calling counts a call in flight; the caller calls the result when it ends.
func (l *life) calling() func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.inFlight--
	}
}

func (l *life) calls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inFlight
}

// attempt is one execution of a run by a mailbox.
type attempt struct {
	bot    string
	thread core.ID
	items  []core.ID
}

// attemptKey finds the attempt in a call's context.
type attemptKey struct{}

// runs is the runner as the mailboxes see it; it watches invariant 2.
type runs struct {
	*run.Runner
	life *life
}

// Run implements mailbox.Runner.
func (r runs) Run(ctx context.Context, bot core.Bot, items []core.Item) (core.ID, error) {
	a := &attempt{bot: bot.Handle, thread: items[0].Thread}
	for _, it := range items {
		a.items = append(a.items, it.ID)
		if it.Thread != a.thread {
			r.life.w.problem("a run of %s joins %s of another thread than %s", bot.Handle, it.ID, a.thread)
		}
	}
	l := r.life
	l.mu.Lock()
	own := 1
	for _, o := range l.attempts {
		if o.bot != a.bot {
			continue
		}
		own++
		if o.thread == a.thread {
			l.w.problem("two runs of %s in %s at once", a.bot, a.thread)
		}
	}
	l.attempts = append(l.attempts, a)
	if n := len(l.attempts); n > l.w.scene.maxRuns || bot.Workers > 0 && own > bot.Workers {
		l.w.problem("%d runs at once, %d of them of %s", n, own, a.bot)
	}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.attempts = slices.DeleteFunc(l.attempts, func(o *attempt) bool { return o == a })
	}()
	return r.Runner.Run(context.WithValue(ctx, attemptKey{}, a), bot, items)
}

// syncBuffer is a log that any goroutine may write.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder // guarded by mu
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
