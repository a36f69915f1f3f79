// Package bus joins the chat platforms to the ledger. Inwards it takes the
// adapters' events: it authorises, recognises commands, resolves threads, and
// accepts each batch in one transaction before the platform is acknowledged.
// Outwards it owns the outbox: one ordered worker per place shows each run's
// post (open, updates, final) and every other outcome, paces, retries, and
// stores the receipts.
//
// It imports core alone. Goroutines: one per adapter, and one each that looks at
// what is asked and how adapters are, started and awaited by Run; one per place
// while something is to be shown there, awaited by Close.
package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"bellhop/core"
)

// Store is the part of the ledger that the bus uses. See package store.
type Store interface {
	Accept(ctx context.Context, b core.Batch) (core.Accepted, error)
	AnswerAs(ctx context.Context, in core.ExternalAnswer) (core.Said, error)
	Say(ctx context.Context, say core.Saying) (core.Said, error)
	Opened(ctx context.Context, run core.Run, r core.Receipt) error
	RowOpened(ctx context.Context, row core.Row, r core.Receipt) error
	Delivered(ctx context.Context, row core.Row, r core.Receipt) (again *core.Row, err error)
	Fork(ctx context.Context, row core.Row, r core.Receipt) ([]core.Row, error)
	Bury(ctx context.Context, row core.Row, why string, owner core.Place, tell []core.Piece) ([]core.Row, error)
	Notify(ctx context.Context, p core.Place, pieces []core.Piece) ([]core.Row, error)
	Moved(ctx context.Context, m core.Moving) error
	Note(ctx context.Context, all ...core.Activity) error
	Known(ctx context.Context, p core.Place, id string) bool
	Prune(ctx context.Context, before time.Time) (more bool, err error)
	Lapse(ctx context.Context, split func(core.Place, string) []core.Piece) (core.Accepted, time.Time, error)
}

// Mail is told what an Accept did. It must not wait.
type Mail interface {
	Apply(core.Accepted)
	Hold(d time.Duration)
}

// Options of a Bus.
type Options struct {
	Store     Store
	Adapters  []core.Adapter
	Aside     []string // names of adapters that do not keep Run alive by themselves
	Access    core.Access
	Agent     string     // handle of the default agent
	Bots      []core.Bot // the whole team
	Externals []string   // handles of the external actors that can be told something
	MaxHops   int        // most hand-offs until a person speaks
	Bindings  []core.Binding
	Commands  []core.Command
	Sort      bool          // a model chooses who answers what names nobody
	PerMinute int           // most messages of a person in a minute; 0: any number
	Pairing   bool          // strangers are offered a code, with which an owner can let them in
	Code      func() string // makes such codes; nil: NewCode
	// Owner is where the owner is told of trouble; zero: where the first owner
	// has claimed to be that, or else only the log is told.
	Owner core.Place
	Log   *slog.Logger
}

// Bus is the way in and out. Create it with New, hand it to the mailboxes,
// then Load and Run it.
type Bus struct {
	o        Options
	log      *slog.Logger
	accounts map[string]*account
	handles  []string
	// delegates are those of handles whom only bots wake.
	delegates []string
	mail      Mail
	quota     quota
	tries     tries

	// outbox lives until Close: it outlasts the context of Run, so that answers
	// still go out while the process drains.
	outbox  context.Context
	hangUp  context.CancelCauseFunc
	workers sync.WaitGroup

	mu      sync.Mutex // guards the fields below; never held across I/O
	places  map[core.Place]*worker
	paces   map[core.Place]pace // of workers that have ended
	drafts  map[core.ID]*draft  // previews of open posts
	settled [1024]core.ID       // ring of the posts that are not to be opened any more
	next    int
	busy    int           // rows and opens that are not done
	idle    chan struct{} // closed when busy is 0
	aliases map[channel]string
	told    map[string]time.Time // refusals and troubles spoken, for pacing
	claim   []byte               // hash of the code of the first owner; nil: none works
	first   core.Place           // where the first owner has claimed to be that
	elder   map[core.ID]bool     // posts that an earlier process may have begun
	pruned  time.Time
	lapse   time.Time              // when an ask is to be looked at; zero: none is open
	lapses  chan struct{}          // of capacity 1: lapse is earlier than it was
	failed  chan struct{}          // of capacity 1: an adapter has failed
	intake  map[chan struct{}]bool // of batches that are being accepted: closed when they are
}

type channel struct{ adapter, id string }

// account is one adapter and what the bus knows of it.
type account struct {
	core.Adapter
	features core.Features

	mu    sync.Mutex
	until time.Time // no call before then (a global 429)
	turn  time.Time // the next preview's, of all places
	dead  error
	seen  core.Event // how it was when it was last looked at
	since time.Time  // it has been so
}

func (a *account) state() (until time.Time, dead error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.until, a.dead
}

// Send is the adapter's, with a time that the ledger can keep.
func (a *account) Send(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	r, err := a.Adapter.Send(ctx, o)
	r.Time = timeOf(r.Time)
	return r, err
}

// resolve is the adapter's Resolve likewise.
func (a *account) resolve(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	r, err := a.features.Resolve(ctx, o)
	r.Time = timeOf(r.Time)
	return r, err
}

// timeOf is a platform's time; if it tells none, or none that can be written
// down, it is ours.
func timeOf(t time.Time) time.Time {
	if t.IsZero() || t.UTC().Year() < 1 || t.UTC().Year() > 9999 {
		return time.Now().UTC().Truncate(time.Millisecond)
	}
	return t
}

// New makes a Bus. Nothing runs yet.
func New(ctx context.Context, o Options) *Bus {
	b := &Bus{o: o, log: o.Log, accounts: map[string]*account{}, places: map[core.Place]*worker{}, paces: map[core.Place]pace{}, drafts: map[core.ID]*draft{},
		aliases: map[channel]string{}, told: map[string]time.Time{}, elder: map[core.ID]bool{}, idle: make(chan struct{}), lapses: make(chan struct{}, 1), failed: make(chan struct{}, 1), intake: map[chan struct{}]bool{},
		quota: quota{most: o.PerMinute, windows: map[core.PersonID]window{}}}
	close(b.idle)
	if b.o.Code == nil {
		b.o.Code = NewCode
	}
	b.outbox, b.hangUp = context.WithCancelCause(context.WithoutCancel(ctx))
	for _, a := range o.Adapters {
		b.accounts[a.Name()] = &account{Adapter: a, features: a.Features()}
	}
	for _, bot := range o.Bots {
		b.handles = append(b.handles, bot.Handle)
		if bot.Delegate {
			b.delegates = append(b.delegates, bot.Handle)
		}
	}
	return b
}

// Up reports whether the adapter takes part in this process and has not
// failed for good.
func (b *Bus) Up(adapter string) bool {
	a := b.accounts[adapter]
	if a == nil {
		return false
	}
	_, dead := a.state()
	return dead == nil
}

// Features are the named adapter's; zero if there is none.
func (b *Bus) Features(adapter string) core.Features {
	if a := b.accounts[adapter]; a != nil {
		return a.features
	}
	return core.Features{}
}

// Handles lists the bots that can act.
func (b *Bus) Handles() []string { return b.handles }

// Load takes over what an earlier process has left: undelivered rows and
// channel aliases. Call it once, before Run.
func (b *Bus) Load(back core.Backlog) {
	b.mu.Lock()
	for _, m := range back.Moved {
		b.aliases[channel{m.Adapter, m.Old}] = m.New
	}
	for _, it := range back.Items {
		if it.Kind == core.ResumeItem {
			b.elder[it.Post] = true
		} else {
			b.elder[it.ID.As(core.KindPost)] = true
		}
	}
	for _, row := range back.Rows {
		b.elder[row.Post] = true
	}
	for _, p := range back.Parked { // what has waited behind it is marked, and may join it
		b.elder[p.Post] = true
	}
	b.mu.Unlock()
	b.Await(back.Next)
	b.Deliver(back.Rows)
}

// inherited reports whether an earlier process may have begun the post.
func (b *Bus) inherited(post core.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.elder[post]
}

// Run receives from all adapters until ctx ends, or until every adapter has
// failed for good; then it returns their errors. Adapters fail one by one: the
// others go on. A second call of Run is not possible.
func (b *Bus) Run(ctx context.Context, mail Mail) error {
	b.mail = mail
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, len(b.o.Adapters))
	var wg, counted sync.WaitGroup
	counted.Add(len(b.o.Adapters) - len(b.o.Aside))
	b.examine(ctx)
	wg.Go(func() { b.watch(ctx) })
	wg.Go(func() { b.attend(ctx) })
	for i, a := range b.o.Adapters {
		acc := b.accounts[a.Name()]
		wg.Go(func() {
			if !slices.Contains(b.o.Aside, acc.Name()) {
				defer counted.Done()
			}
			err := b.receive(ctx, acc)
			if ctx.Err() != nil {
				return
			}
			errs[i] = fmt.Errorf("adapter %s: %w", acc.Name(), err)
			b.log.Error("adapter has failed and stays down", "adapter", acc.Name(), "err", err)
			b.Trouble(ctx, "adapter "+acc.Name(), fmt.Sprintf("The adapter %s is down: %v", acc.Name(), err))
			select {
			case b.failed <- struct{}{}:
			default:
			}
		})
	}
	counted.Wait()
	stop()
	wg.Wait()
	return errors.Join(errs...)
}

// receive runs one adapter. Its end without a reason is a fault too: nobody
// would be listening.
func (b *Bus) receive(ctx context.Context, acc *account) error {
	err := acc.Run(ctx, func(ctx context.Context, batch []core.Inbound) error {
		return b.accept(ctx, acc, batch)
	})
	if err == nil {
		err = errors.New("stopped by itself")
	}
	if ctx.Err() == nil {
		acc.mu.Lock()
		acc.dead = err
		acc.mu.Unlock()
	}
	return err
}

// Drain waits until everything queued for the platforms is shown and stored,
// or ctx ends. What is left stays in the ledger.
func (b *Bus) Drain(ctx context.Context) {
	b.mu.Lock()
	idle := b.idle
	b.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// Close ends the outbox and waits for its workers.
func (b *Bus) Close() {
	b.mu.Lock() // so that no worker begins between the two
	b.hangUp(core.ErrStopping)
	b.mu.Unlock()
	b.workers.Wait()
}
