// Package console lets one person at a terminal talk to the appliance. It has
// two halves, joined by a line protocol over any net.Conn: the Adapter, in the
// process that holds the store, and Chat, the terminal. They may be two
// processes joined by the control socket, or one joined by a net.Pipe.
//
// Whoever can reach the connection holds the store already, so the console has
// one user and asks for no proof. A session is a direct conversation with a
// name; any number of clients may be attached to it, and all of them see the
// same.
//
// It imports the standard library, bellhop/core and golang.org/x/term. The
// Adapter starts no goroutines: Run, Serve and Send work in their callers'.
// Chat starts three, and says which of them it can wait for.
package console

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"bellhop/core"
)

// maxText is the size, in bytes, of the longest message that a person may
// send. What the bots say has no limit here; a terminal scrolls.
const maxText = 1 << 20

// absence is how long a message that nobody is there to see is put off. It is
// long because Options.Attached says when somebody comes.
const absence = time.Hour

// Options configures an Adapter.
type Options struct {
	Name string // the adapter's configured name
	User string // the person's shown name; their id is Name:User
	Log  *slog.Logger

	// Attached, if not nil, is called by Serve when a client has opened a
	// session there: what was put off because nobody was attached can be sent
	// now. It must not block, and it may come just before the Send that found
	// nobody returns.
	Attached func(core.Place)
}

// Adapter is the appliance's half of the console. Its methods may be called by
// several goroutines at once.
type Adapter struct {
	name     string
	person   core.Person
	log      *slog.Logger
	attached func(core.Place)
	offers   chan offer // from Serve to Run

	mu      sync.Mutex
	clients map[string][]*client // by session
	over    chan struct{}        // closed and replaced when Run returns
}

// New makes an Adapter. It does nothing until Run and Serve are called.
func New(o Options) *Adapter {
	a := &Adapter{
		name:     o.Name,
		person:   core.Person{ID: core.PersonID(o.Name + ":" + o.User), Name: o.User},
		log:      o.Log,
		attached: o.Attached,
		offers:   make(chan offer),
		clients:  make(map[string][]*client),
		over:     make(chan struct{}),
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.attached == nil {
		a.attached = func(core.Place) {}
	}
	return a
}

// Name implements core.Adapter.
func (a *Adapter) Name() string { return a.name }

// Features implements core.Adapter. Nothing can be found out about a lost
// send, but none is lost while the process lives: a line either reaches the
// client's end of the connection whole, or the connection is closed.
func (a *Adapter) Features() core.Features {
	return core.Features{
		Local:   true,
		Once:    core.OnceNone,
		MaxText: maxText,
		Reply:   core.ReplyAlways,
		Edits:   true,
		Split:   split,
		Health:  health,
	}
}

func split(markdown string) []string {
	if strings.TrimSpace(markdown) == "" {
		return nil
	}
	return []string{markdown}
}

// health is always good: there is no platform between the person and us whose
// silence could mean trouble.
func health() core.Health { return core.Health{LastInbound: time.Now()} }

// offer is one message on its way from Serve to the sink.
type offer struct {
	message core.Inbound
	result  chan<- error // has room for it
}

// Run implements core.Adapter: it hands to sink what the clients say, until
// ctx ends, and returns nil then. It may be called again afterwards, for the
// clients that come afterwards.
func (a *Adapter) Run(ctx context.Context, sink core.Sink) error {
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		close(a.over)
		a.over = make(chan struct{})
	}()
	for ctx.Err() == nil {
		select {
		case o := <-a.offers:
			o.result <- sink(ctx, []core.Inbound{o.message})
		case <-ctx.Done():
		}
	}
	return nil
}

// Send implements core.Adapter. It writes to every client of the session, and
// succeeds when one of them has it. Without a client, a preview is dropped
// with success; all else is refused for the time being, so that it stays with
// the caller until somebody attaches. A piece that was edited is shown anew to
// a client that has never seen it.
func (a *Adapter) Send(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	now := time.Now()
	post := cmp.Or(o.Edit, newID(now))
	f := serverFrame{Show: &show{
		Post:   post,
		Kind:   o.Kind,
		Text:   o.Text,
		Status: o.Status,

		Thinking: o.Thinking,
		Speaker:  o.Speaker.Name,
		Answers:  o.Answers,
		Last:     o.Last,
	}}
	shown := o.Kind == core.OutUpdate
	for _, c := range a.session(o.Place.Channel) {
		if c.write(ctx, f) == nil {
			shown = true
		}
	}
	switch {
	case shown:
		return core.Receipt{ID: post, Time: now}, nil
	case ctx.Err() != nil:
		return core.Receipt{}, fmt.Errorf("%w: %w", core.ErrNotSent, ctx.Err())
	}
	return core.Receipt{}, &core.RetryAfter{
		After: absence,
		Err:   fmt.Errorf("no terminal is attached to session %q: %w", o.Place.Channel, core.ErrNotSent),
	}
}

// session is the clients that are attached to a session now.
func (a *Adapter) session(name string) []*client {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.clients[name])
}

func (a *Adapter) attach(c *client) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clients[c.session] = append(a.clients[c.session], c)
}

func (a *Adapter) detach(c *client) {
	a.mu.Lock()
	defer a.mu.Unlock()
	rest := slices.DeleteFunc(a.clients[c.session], func(other *client) bool { return other == c })
	if len(rest) == 0 {
		delete(a.clients, c.session)
	} else {
		a.clients[c.session] = rest
	}
}
