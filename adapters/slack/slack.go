// Package slack is the adapter for a Slack app in one workspace.
//
// Events come by Socket Mode, over sockets of its own: the next one is open
// before Slack closes the one before, an envelope is acknowledged only when
// the sink has it, and one that did not exist when this was built is
// acknowledged all the same. Inbound JSON is decoded by structs that ask for
// no more than they need; the library gives the types of what is sent.
//
// Run starts one goroutine that connects, one that asks who we are, and two for
// each socket; all have ended when Run returns. Send and the functions of Features work in the caller's goroutine.
//
// It may import core, adapters/markup, github.com/slack-go/slack and
// github.com/gorilla/websocket.
package slack

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"bellhop/adapters/markup"
	"bellhop/core"
)

const (
	defaultAPI     = "https://slack.com/api/"
	defaultCommand = "/bellhop"

	// maxPieces is about as much as people read in a thread.
	maxPieces = 3

	// maxText is the longest piece in characters. A markdown block takes
	// 12,000, and a message about 13,000 once Slack has translated it.
	maxText = 11_000

	// previewEvery is the least time between two previews. Slack counts by
	// method and workspace, not by channel: it takes about 50 edits a minute, and
	// about 100 pieces of streams.
	previewEvery = 1200 * time.Millisecond

	// callTimeout bounds every call.
	callTimeout = 30 * time.Second
)

// Options configure an Adapter.
type Options struct {
	Name         string         // durable identity
	BotToken     string         // xoxb-…, of the installed app
	AppToken     string         // xapp-…, with the scope connections:write
	APIURL       string         // empty: https://slack.com/api/
	HTTP         *http.Client   // nil: one of its own
	Commands     []core.Command // known by their bare name in "@bellhop new"
	SlashCommand string         // the app's one command; empty: /bellhop
	Log          *slog.Logger   // nil: discard

	// Cursors are those of the ledger, read after every gap. Nil: there are none,
	// and nothing is caught up with.
	Cursors core.Cursors

	// Dial connects the sockets. Nil: as the network and the environment's
	// proxy want it.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Adapter is one Slack app. It implements core.Adapter.
//
// Slack keeps events for a few minutes. What was said while no socket was open
// for longer is read back from the places whose cursors the ledger has.
type Adapter struct {
	name     string
	api      *client
	asking   *client // with connections of its own: while Slack waits for us, nothing we ask queues behind answers
	commands []core.Command
	slash    string
	dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	cursors  core.Cursors
	log      *slog.Logger

	people  *people
	rooms   *rooms
	streams streams
	latches latches

	mu     sync.Mutex
	health core.Health           // guarded by mu
	me     identity              // zero until auth.test has answered; guarded by mu
	marks  *recent[spot, string] // the emoji that we set; guarded by mu
	shared *recent[string, bool] // keys of outbounds whose file is shown; guarded by mu
}

var _ core.Adapter = (*Adapter)(nil)

// New makes an adapter. It calls nobody before Run or Send.
func New(o Options) *Adapter {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	log = log.With("adapter", o.Name)
	api, asking := newClient(o), newClient(o)
	return &Adapter{
		name:     o.Name,
		api:      api,
		asking:   asking,
		commands: o.Commands,
		slash:    cmp.Or(o.SlashCommand, defaultCommand),
		dial:     o.Dial,
		cursors:  o.Cursors,
		log:      log,
		people:   newPeople(asking),
		rooms:    newRooms(),
		streams:  streams{open: map[spot]*stream{}},
		marks:    newRecent[spot, string](512),
		shared:   newRecent[string, bool](128),
	}
}

// Name is the configured name.
func (a *Adapter) Name() string { return a.name }

// Features says what Slack can do. A message carries its key as metadata and
// is found by it: hence OnceReadback.
func (a *Adapter) Features() core.Features {
	return core.Features{
		Once:      core.OnceReadback,
		MaxText:   maxText,
		MaxPieces: maxPieces,
		Threads:   true,
		Reply:     core.ReplyThread,
		Mark:      "!", // Slack takes what begins with a slash for its own
		Edits:     true,
		Buttons:   true,
		Previews:  previewEvery,
		Split:     split,
		Resolve:   a.resolve,
		Typing:    a.typing,
		React:     a.react,
		Before:    a.before,
		Read:      a.read,
		Fetch:     a.fetch,
		Health:    a.state,
		Title:     a.title,
		Branch:    a.branches,
	}
}

// split cuts Markdown into messages.
func split(markdown string) []string { return markup.Pieces(markdown, markup.Slack()) }

// identity is who we are, and where.
type identity struct {
	user       string // of the bot, U…
	bot        string // B…
	name       string // as people invite it
	team       string
	enterprise string // the organisation that the team belongs to, if any
}

// wrote reports whether a message is ours.
func (i identity) wrote(m *message) bool {
	return m.Bot != "" && m.Bot == i.bot || m.User != "" && m.User == i.user
}

// whoami is our identity as far as it is known.
func (a *Adapter) whoami() identity {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.me
}

// self is our identity; it asks Slack if Run has not been told yet. What was
// left undelivered is taken up as soon as that is called.
func (a *Adapter) self(ctx context.Context) (identity, error) {
	if me := a.whoami(); me.user != "" {
		return me, nil
	}
	return a.ask(ctx)
}

// state is the adapter's health.
func (a *Adapter) state() core.Health {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.health
}

// greeted notes a sign of life that a deaf socket gives too.
func (a *Adapter) greeted() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.health.LastInbound = time.Now()
}

// alive notes a sign of life; it ends any trouble.
func (a *Adapter) alive() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.health = core.Health{LastInbound: time.Now()}
}

// trouble states what keeps the adapter from working, in one line.
func (a *Adapter) trouble(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.health.Trouble = strings.Join(strings.Fields(text), " ")
}
