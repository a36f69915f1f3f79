// Package title gives conversations their titles: once, when there is enough in
// one to say what it is about, beside all other work.
//
// It imports core alone. Run works in its caller's goroutine and starts none.
package title

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"bellhop/core"
)

// Store is the part of the ledger that is used here.
type Store interface {
	Untitled(ctx context.Context) ([]core.ID, error)
	Naming(ctx context.Context, thread core.ID) (core.Naming, bool, error)
	Title(ctx context.Context, thread core.ID, title string, cost core.Usage) (bool, error)
	Spend(ctx context.Context, thread core.ID, bot string, person core.PersonID, u core.Usage) error
	Entitled(ctx context.Context, thread core.ID) error
}

// Options of a Namer.
type Options struct {
	Store Store
	Model string // "provider/model"; empty: that of the run that made the title due
	// Provider finds the endpoint of a "provider/model", and the model's name
	// there.
	Provider func(model string) (core.Provider, string, error)
	// Show is Features.Title of a place's adapter; nil where there is none.
	Show func(p core.Place) func(ctx context.Context, title string) error
	Log  *slog.Logger
}

// Namer names the threads that it is told of. Its zero value is not ready.
type Namer struct {
	o    Options
	wake chan struct{} // of capacity 1: due has grown

	mu  sync.Mutex // guards due
	due []core.ID
}

// New makes a Namer. Nothing runs yet.
func New(o Options) *Namer { return &Namer{o: o, wake: make(chan struct{}, 1)} }

// Due tells of a thread that is to be given a title. It does not wait.
func (n *Namer) Due(thread core.ID) {
	n.mu.Lock()
	n.due = append(n.due, thread)
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

const (
	// callTime is how long a model may take, and a platform.
	callTime = 10 * time.Second
	// maxOutput is the most tokens of a title.
	maxOutput = 256
	// maxShown is how often a title is shown before it stays where it is.
	maxShown = 5
	// retryAfter is how long a platform is left alone when it does not say.
	retryAfter = 2 * time.Second
)

// Run names threads until ctx ends, first those that an earlier process has
// left. One whose naming is cut is named at the next start.
func (n *Namer) Run(ctx context.Context) {
	left, err := n.o.Store.Untitled(ctx)
	if err != nil {
		n.o.Log.Warn("conversations stay without titles", "err", err)
	}
	n.mu.Lock()
	n.due = append(left, n.due...)
	n.mu.Unlock()
	for ctx.Err() == nil {
		n.mu.Lock()
		due := n.due
		n.due = nil
		n.mu.Unlock()
		for _, thread := range due {
			if err := n.name(ctx, thread); err != nil && ctx.Err() == nil {
				n.o.Log.Warn("a conversation stays without a title", "thread", thread, "err", err)
			}
		}
		if len(due) > 0 {
			continue
		}
		select {
		case <-n.wake:
		case <-ctx.Done():
		}
	}
}

// name gives one thread its title, and shows it. The errors are the ledger's.
func (n *Namer) name(ctx context.Context, thread core.ID) error {
	now, ok, err := n.o.Store.Naming(ctx, thread)
	if err != nil || !ok {
		return err
	}
	if now.Title == "" {
		title, cost, err := n.ask(ctx, now)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		given := false
		if err != nil || title == "" {
			n.o.Log.Debug("no title came", "thread", thread, "err", err)
		} else if given, err = n.o.Store.Title(ctx, thread, title, cost); err != nil {
			return err
		}
		if !given {
			if err := n.o.Store.Spend(ctx, thread, now.Run.Bot, now.Run.For.ID, cost); err != nil {
				return err
			}
		}
	}
	if err := n.show(ctx, thread); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return n.o.Store.Entitled(ctx, thread)
}

// show has the platform show the title, unless by then a person has named the
// place or it has gone on to another conversation. It is a courtesy: what does
// not go quickly is left. The same title again does no harm.
func (n *Namer) show(ctx context.Context, thread core.ID) error {
	for try := 1; ; try++ {
		now, ok, err := n.o.Store.Naming(ctx, thread)
		if err != nil || !ok || now.Title == "" || !now.Thread.Unnamed || !now.Thread.Archived.IsZero() {
			return err
		}
		set := n.o.Show(now.Thread.Place)
		if set == nil {
			return nil
		}
		call, cancel := context.WithTimeout(ctx, callTime)
		err = set(call, now.Title)
		cancel()
		wait := retryAfter
		if limited, ok := errors.AsType[*core.RetryAfter](err); ok {
			wait = max(wait, limited.After)
		}
		final := err == nil || errors.Is(err, core.ErrRefused) || errors.Is(err, core.ErrGone) || errors.Is(err, core.ErrFatal)
		if final || try == maxShown || wait > time.Minute || ctx.Err() != nil {
			if err != nil {
				n.o.Log.Debug("a title is not shown", "thread", thread, "err", err)
			}
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// ask has a model say what the conversation is about.
func (n *Namer) ask(ctx context.Context, now core.Naming) (string, core.Usage, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	model := n.o.Model
	if model == "" {
		model = now.Run.Model
	}
	provider, name, err := n.o.Provider(model)
	if err != nil {
		return "", core.Usage{}, err
	}
	call := core.Call{Model: name, System: system, Messages: []core.ChatMessage{{Role: core.UserRole, Content: talk(now.Messages)}},
		Params: map[string]any{"temperature": 0, "max_tokens": maxOutput}}
	text, cost, err := reply(ctx, provider, call)
	if fault, ok := errors.AsType[*core.ModelError](err); ok && fault.Fault == core.FaultRequest {
		delete(call.Params, "temperature") // not every model takes one
		text, cost, err = reply(ctx, provider, call)
	}
	return Clean(text), cost, err
}

// reply is all that a model says to a call.
func reply(ctx context.Context, provider core.Provider, call core.Call) (string, core.Usage, error) {
	var text strings.Builder
	cost := core.Usage{Calls: 1}
	for chunk, err := range provider.Stream(ctx, call) {
		if err != nil {
			return "", cost, err
		}
		if chunk.Reset {
			text.Reset()
		}
		text.WriteString(chunk.Text)
		if chunk.Usage != nil {
			cost = *chunk.Usage
			cost.Calls = 1
		}
	}
	return text.String(), cost, nil
}
