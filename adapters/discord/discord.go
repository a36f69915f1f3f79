// Package discord is the adapter for a Discord bot account.
//
// It has a gateway loop of its own over gorilla/websocket. The one of
// discordgo v0.29 holds its session's lock while it waits for Hello and for
// the first packet, and so hangs for ever when these do not come; it ignores
// resume_gateway_url, moves the sequence on before handlers have finished,
// tries again after close codes that say never, and takes five missed
// heartbeats to see a dead socket, which it then closes in the way that ends
// the session. To work around all of that takes more code than the loop, and
// none of it would run in a test's bubble. Calls are plain JSON, because the
// library's sends know no nonce and wait out limits without a context. What
// discordgo has is used: the names of intents, permissions, error codes and
// kinds, and the structures that are sent. Events are decoded with small types
// of our own, since one component of a kind that did not exist when the
// library was built makes it lose the whole message.
//
// Run starts two goroutines besides its own, which reads the gateway: one
// decodes events in order and hands them to the sink, the other publishes the
// commands. Each connection has one more, which sends heartbeats, and the
// interactions of a batch are acknowledged side by side. All have ended when
// Run returns. Everything else works in the caller's goroutine.
//
// What was missed while the gateway was away is replayed by a resume. After a
// new session, that of a restart as well, it is read back by REST from the
// cursors that the ledger has: from servers where their GUILD_CREATE tells of
// newer messages, and from the direct conversations that are known, since
// Discord lists none. What somebody says in their first one while nobody
// listens is not found again before they say something else.
//
// It may import core, adapters/markup, github.com/bwmarrin/discordgo and
// github.com/gorilla/websocket.
package discord

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"bellhop/adapters/markup"
	"bellhop/core"
)

const (
	defaultAPI = "https://discord.com/api/v10"

	// maxPieces is about as much as people read in a thread.
	maxPieces = 5

	// maxText is the longest message in code points.
	maxText = 2000

	// previewEvery is the least time between two previews. Discord takes about
	// five edits in five seconds from one bot in a channel, and 50 calls a
	// second in all, of which half are left for what cannot wait.
	previewEvery = 1200 * time.Millisecond
	allPreviews  = 40 * time.Millisecond

	// callTimeout bounds every call without a file, uploadTimeout one with it.
	callTimeout   = 30 * time.Second
	uploadTimeout = 3 * time.Minute
)

// Options configure an Adapter.
type Options struct {
	Name     string         // durable identity
	Token    string         // of the bot, from the developer portal
	APIURL   string         // empty: https://discord.com/api/v10; the gateway's address comes from it
	HTTP     *http.Client   // nil: one of its own; if its Transport is an *http.Transport, the gateway is dialled with that one's dialer, proxy and TLS
	Commands []core.Command // published as application commands
	Log      *slog.Logger   // nil: discard

	// Cursors are those of the ledger, read when a session begins. Nil: there are
	// none, and nothing is caught up with.
	Cursors core.Cursors
}

// Adapter is one bot account. It implements core.Adapter.
type Adapter struct {
	name     string
	api      *client
	commands []core.Command
	cursors  core.Cursors
	log      *slog.Logger

	known   directory // channels, threads and roles
	replies replies   // interactions that wait for their answer

	asked      bounded[string, string]   // messages that may get a thread, with the name that it would have
	unthreaded bounded[string, struct{}] // messages that could not have a thread
	closed     bounded[string, struct{}] // forums that have refused a post of ours
	told       bounded[string, struct{}] // channels in which that has been explained
	marks      bounded[string, string]   // by message: the emoji we put there

	mu     sync.Mutex
	health core.Health // guarded by mu
	me     identity    // guarded by mu; zero until Discord has told
}

// identity is who we are.
type identity struct {
	user string // id
	app  string // id of the application, in most cases the same
}

var _ core.Adapter = (*Adapter)(nil)

// New makes an adapter. It calls nobody before Run or Send.
func New(o Options) *Adapter {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Adapter{
		name:     o.Name,
		api:      newClient(o),
		commands: o.Commands,
		cursors:  o.Cursors,
		log:      log.With("adapter", o.Name),
	}
}

// Name is the configured name.
func (a *Adapter) Name() string { return a.name }

// Features says what Discord can do. A send carries a nonce that Discord
// keeps unique for some minutes; after these Send looks for the message itself
// before it sends, hence OnceKey. Replies is false because answers stand in
// threads; where there can be none, Send refers to the trigger by itself.
func (a *Adapter) Features() core.Features {
	return core.Features{
		Once:      core.OnceKey,
		MaxText:   maxText,
		MaxPieces: maxPieces,
		Threads:   true,
		Reply:     core.ReplyThread,
		Edits:     true,
		Buttons:   true,
		Preview:   func(core.Place) time.Duration { return previewEvery },
		Previews:  allPreviews,
		Split:     split,
		Resolve:   a.resolve,
		Typing:    a.typing,
		React:     a.react,
		Before:    a.before,
		Read:      a.read,
		Fetch:     a.fetch,
		Health:    a.state,
		Title:     a.rename,
		Branch:    a.branches,
	}
}

// split cuts Markdown into messages.
func split(markdown string) []string { return markup.Pieces(markdown, markup.Discord()) }

// typing shows "typing" for about ten seconds.
func (a *Adapter) typing(ctx context.Context, p core.Place) error {
	channel := p.Channel
	if a.known.isThread(p.Topic) {
		channel = p.Topic
	}
	return a.outcome(a.api.call(ctx, http.MethodPost, "channels/"+url.PathEscape(channel)+"/typing", nil, nil))
}

// react marks a message in place of the mark that this process has put there,
// or only takes that away.
func (a *Adapter) react(ctx context.Context, p core.Place, id, emoji string) error {
	message := messagePath(a.home(p, id), id) + "/reactions/"
	old, _ := a.marks.get(id)
	if emoji == old {
		return nil
	}
	if emoji != "" {
		if err := a.api.call(ctx, http.MethodPut, message+url.PathEscape(emoji)+"/@me", nil, nil); err != nil {
			return a.outcome(err)
		}
		a.marks.put(id, emoji)
	}
	if old == "" {
		return nil
	}
	err := a.api.call(ctx, http.MethodDelete, message+url.PathEscape(old)+"/@me", nil, nil)
	if err == nil && emoji == "" {
		a.marks.put(id, "")
	}
	return a.outcome(err)
}

// home is the channel or thread that message id of a place stands in. The
// message that opened a thread stays outside of it, except in a forum, where
// it is the first one inside.
func (a *Adapter) home(p core.Place, id string) string {
	switch {
	case p.Topic == "", a.unthreaded.has(p.Topic):
		return p.Channel
	case id == p.Topic && !a.known.isForum(p.Channel):
		return p.Channel
	}
	return p.Topic
}

// messagePath is the path of a message, or of all messages of a channel if id
// is empty.
func messagePath(channel, id string) string {
	path := "channels/" + url.PathEscape(channel) + "/messages"
	if id != "" {
		path += "/" + url.PathEscape(id)
	}
	return path
}

// self is who we are; it asks Discord if the gateway has not told yet.
func (a *Adapter) self(ctx context.Context) (identity, error) {
	a.mu.Lock()
	me := a.me
	a.mu.Unlock()
	if me.user != "" {
		return me, nil
	}
	var u user
	if err := a.api.call(ctx, http.MethodGet, "users/@me", nil, &u); err != nil {
		return identity{}, err
	}
	return identity{user: u.ID, app: u.ID}, nil
}

// state is the adapter's health.
func (a *Adapter) state() core.Health {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.health
}

// alive notes a sign of life from the gateway; well ends any trouble.
func (a *Adapter) alive(well bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.health.LastInbound = time.Now()
	if well {
		a.health.Trouble = ""
	}
}

// trouble states what keeps the adapter from working, in one line.
func (a *Adapter) trouble(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.health.Trouble = strings.Join(strings.Fields(text), " ")
}

// fatal is what a refusal for ever comes to; advice says what to do.
func (a *Adapter) fatal(why, advice string) error {
	return fmt.Errorf("adapter %q: Discord says %q, %s: %w", a.name, why, advice, core.ErrFatal)
}
