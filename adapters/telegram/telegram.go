// Package telegram is the adapter for a Telegram bot account.
//
// It polls for updates itself and decodes each one alone, so that an update of
// a kind that did not exist when this was built never holds up the others, and
// asks Telegram to forget a batch only when the sink has it. Calls are plain
// JSON posts; the library gives the types of both directions.
//
// Run starts one goroutine besides its own, which asks who the bot is and
// publishes its commands; it has ended when Run returns. Send, Typing, React
// and Resolve work in the caller's goroutine.
//
// It may import core, adapters/markup and github.com/go-telegram/bot.
package telegram

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"bellhop/adapters/markup"
	"bellhop/core"
)

const (
	defaultAPI = "https://api.telegram.org"

	// maxText is the longest message in UTF-16 units, counted after parsing.
	maxText = 4096

	// Least time between two previews. Telegram takes 20 messages a minute in
	// a group with all its topics, edits included, of which five are left for
	// what cannot wait; about one a second in a private chat; and 30 a second
	// from one account.
	groupPreview   = 4 * time.Second
	privatePreview = 1200 * time.Millisecond
	allPreviews    = 50 * time.Millisecond

	// maxPieces is about as much as people read in a chat.
	maxPieces = 5

	// callTimeout bounds every call but the long poll and those with a file,
	// which uploadTimeout bounds.
	callTimeout   = 30 * time.Second
	uploadTimeout = 3 * time.Minute
)

// Options configure an Adapter.
type Options struct {
	Name     string         // durable identity
	Token    string         // from BotFather
	APIURL   string         // empty: https://api.telegram.org
	Plain    bool           // no rich messages
	HTTP     *http.Client   // nil: one of its own; must have no Timeout shorter than a long poll
	Commands []core.Command // shown in the clients' command menu
	Log      *slog.Logger   // nil: discard
}

// Adapter is one bot account. It implements core.Adapter.
type Adapter struct {
	name     string
	api      *client
	commands []core.Command
	log      *slog.Logger
	recent   recent
	rights   rights
	plain    atomic.Bool // no rich messages

	caughtUp chan struct{} // closed when the sink has what came in before Run
	current  func()        // closes it

	mu     sync.Mutex // guards the fields below
	health core.Health
	user   string // our user name; empty: not known yet
}

var _ core.Adapter = (*Adapter)(nil)

// New makes an adapter. It calls nobody before Run or Send.
func New(o Options) *Adapter {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	a := &Adapter{
		name:     o.Name,
		api:      newClient(o),
		commands: o.Commands,
		log:      log.With("adapter", o.Name),
		caughtUp: make(chan struct{}),
	}
	a.plain.Store(o.Plain)
	a.current = sync.OnceFunc(func() { close(a.caughtUp) })
	return a
}

// Series names what numbers the messages of a place: the private chats and the
// small groups of an account share one counter, and supergroups have their own.
func Series(p core.Place) string {
	if strings.HasPrefix(p.Channel, "-100") {
		return p.Channel
	}
	return "account"
}

// MessageKeys is what the Inbound.Key of every message id in the series of a
// place begins with. The key goes on with the chat: whatever a server numbers
// together, no two messages share a key.
func MessageKeys(p core.Place, id string) string { return "m/" + Series(p) + "/" + id + "/" }

func messageKey(p core.Place, id string) string { return MessageKeys(p, id) + p.Channel }

// Name is the configured name.
func (a *Adapter) Name() string { return a.name }

// Features says what Telegram can do. A send has no idempotency key, an edit
// needs none: hence OnceEdit.
func (a *Adapter) Features() core.Features {
	return core.Features{
		Once:      core.OnceEdit,
		MaxText:   maxText,
		MaxPieces: maxPieces,
		Reply:     core.ReplyMention,
		Replies:   true,
		Edits:     true,
		Buttons:   true,
		Preview:   preview,
		Previews:  allPreviews,
		Split:     split,
		Resolve:   a.resolve,
		Typing:    a.typing,
		React:     a.react,
		Fetch:     a.fetch,
		Title:     a.title,
		Branch:    a.branches,
		Invite:    a.invite,
		Health:    a.state,
	}
}

// invite is the deep link that sends us /start CODE.
func (a *Adapter) invite(code string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.user == "" {
		return ""
	}
	return "https://t.me/" + a.user + "?start=" + code
}

// split cuts Markdown into messages.
func split(markdown string) []string { return markup.Pieces(markdown, markup.Telegram()) }

// preview is the pause between previews. The ids of groups are negative.
func preview(p core.Place) time.Duration {
	if strings.HasPrefix(p.Channel, "-") {
		return groupPreview
	}
	return privatePreview
}

// typing shows "typing" for about five seconds.
func (a *Adapter) typing(ctx context.Context, p core.Place) error {
	to, err := parseTarget(p)
	if err != nil {
		return err
	}
	err = a.api.raw(ctx, callTimeout, "sendChatAction", bot.SendChatActionParams{
		ChatID:          to.chat,
		MessageThreadID: to.topic,
		Action:          models.ChatActionTyping,
	}, nil)
	return a.outcome(p, err)
}

// reactionParams always has its list: an empty one takes the mark away, which
// the library's type leaves out.
type reactionParams struct {
	ChatID    int64                 `json:"chat_id"`
	MessageID int                   `json:"message_id"`
	Reaction  []models.ReactionType `json:"reaction"`
}

// react marks a message. Telegram allows bots a fixed set of emoji and refuses
// any other.
func (a *Adapter) react(ctx context.Context, p core.Place, id, emoji string) error {
	to, err := parseTarget(p)
	if err != nil {
		return err
	}
	message, ok := parseID(id)
	if !ok {
		return fmt.Errorf("%w: %q is no Telegram message", core.ErrGone, id)
	}
	reaction := []models.ReactionType{}
	if emoji != "" {
		reaction = append(reaction, models.ReactionType{
			Type:              models.ReactionTypeTypeEmoji,
			ReactionTypeEmoji: &models.ReactionTypeEmoji{Emoji: emoji},
		})
	}
	err = a.api.raw(ctx, callTimeout, "setMessageReaction", reactionParams{to.chat, message, reaction}, nil)
	return a.outcome(p, err)
}

// state is the adapter's health.
func (a *Adapter) state() core.Health {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.health
}

// alive notes an answer of the platform; it ends any trouble.
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
