package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/bwmarrin/discordgo"

	"bellhop/core"
)

const (
	threadName    = "bellhop" // of a thread whose trigger is not known
	maxThreadName = 100       // code points
	archiveAfter  = 1440      // minutes without a message
)

// Why a message cannot have a thread, though it is one that others can; said
// once in its channel.
var threadless = map[int]string{
	discordgo.ErrCodeMissingPermissions:                              "I lack the permission Create Public Threads here",
	discordgo.ErrCodeMissingAccess:                                   "I lack the permission Create Public Threads here",
	discordgo.ErrCodeMaximumNumberOfActiveThreadsReached:             "this server has as many active threads as Discord allows",
	discordgo.ErrCodeMaximumNumberOfActiveAnnouncementThreadsReached: "this server has as many active threads as Discord allows",
}

// open is the channel or thread to send to. A place whose thread does not
// exist yet gets it, or, where there can be none, its channel.
func (a *Adapter) open(ctx context.Context, p core.Place) (string, error) {
	switch {
	case p.Topic == "", a.unthreaded.has(p.Topic):
		return p.Channel, nil
	case a.known.speaksAloud(p.Channel):
		a.unthreaded.put(p.Topic, struct{}{})
		return p.Channel, nil
	case a.known.isThread(p.Topic):
		return p.Topic, nil
	}
	name, _ := a.asked.get(p.Topic)
	err := a.start(ctx, p, cmp.Or(name, threadName))
	if refusedWith(err, discordgo.ErrCodeInvalidFormBody) {
		err = a.start(ctx, p, threadName) // a server may forbid words in names
	}
	e, _ := errors.AsType[*apiError](err)
	switch {
	case err == nil, refusedWith(err, discordgo.ErrCodeThreadAlreadyCreatedForThisMessage):
		a.known.learn(channel{id: p.Topic, kind: discordgo.ChannelTypeGuildPublicThread, parent: p.Channel})
		return p.Topic, nil
	case !e.answered && e.retryAfter == 0:
		// Opening a thread twice does no harm, and nothing of the piece was sent.
		return "", fmt.Errorf("%w: %w", core.ErrNotSent, err)
	case !e.answered, e.status == http.StatusTooManyRequests, e.status == http.StatusUnauthorized,
		refusedWith(err, discordgo.ErrCodeUnknownChannel):
		return "", a.outcome(err)
	}
	// A message that was heard in the channel is no thread, unless it is gone
	// and its thread is left.
	if !a.asked.has(p.Topic) || refusedWith(err, discordgo.ErrCodeUnknownMessage) {
		if thread, err := a.isThread(ctx, p); thread || err != nil {
			return p.Topic, err
		}
	}
	a.unthreaded.put(p.Topic, struct{}{})
	if why := threadless[e.code]; why != "" {
		a.explain(ctx, p, why)
	}
	return p.Channel, nil
}

// isThread reports whether a place, which cannot be opened, is open already: a
// post of a forum, say, began without a message. If not, it is certain that a
// message of the channel asked: what belongs in a thread, perhaps a private
// one, must not be shown to the channel.
func (a *Adapter) isThread(ctx context.Context, p core.Place) (bool, error) {
	var w wireChannel
	err := a.api.call(ctx, http.MethodGet, "channels/"+p.Topic, nil, &w)
	if c := w.channel(); err == nil && c.thread() {
		a.known.learn(c)
		return true, nil
	}
	if err != nil && !refusedWith(err, discordgo.ErrCodeUnknownChannel) {
		return false, a.outcome(err)
	}
	err = a.outcome(a.api.call(ctx, http.MethodGet, messagePath(p.Channel, p.Topic), nil, nil))
	if errors.Is(err, core.ErrGone) {
		err = fmt.Errorf("%w: there is no thread, nor the message that it would begin with", core.ErrRefused)
	}
	return false, err
}

// start opens the thread of a message; its id is the message's.
func (a *Adapter) start(ctx context.Context, p core.Place, name string) error {
	return a.api.call(ctx, http.MethodPost, messagePath(p.Channel, p.Topic)+"/threads", map[string]any{
		"name": name, "auto_archive_duration": archiveAfter,
	}, nil)
}

// title names a thread after the first line of what was asked.
func title(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	name := []rune(strings.Join(strings.Fields(first), " "))
	if len(name) == 0 {
		return threadName
	}
	if len(name) > maxThreadName {
		name = append(name[:maxThreadName-1], '…')
	}
	return string(name)
}

// explain says once in a channel why there is no thread.
func (a *Adapter) explain(ctx context.Context, p core.Place, why string) {
	if a.told.has(p.Channel) {
		return
	}
	a.told.put(p.Channel, struct{}{})
	m := compose(core.Outbound{Text: "I answer in the channel because I could not open a thread: " + why + "."})
	if err := a.api.call(ctx, http.MethodPost, messagePath(p.Channel, ""), m.post("threadless/"+p.Channel, p.Topic), nil); err != nil {
		a.log.Warn("it could not be said why there is no thread", "channel", p.Channel, "err", err)
	}
}

// branches reports whether what we say in the channel of a place can have a
// thread, or be a post of a forum: not in direct conversations, channels for
// voices, and forums that want more of a post or have refused one.
func (a *Adapter) branches(p core.Place) bool {
	c, _ := a.known.find(p.Channel)
	return p.Topic != "" && !c.tagged && !a.closed.has(p.Channel) && !a.known.speaksAloud(p.Channel) && !a.unthreaded.has(p.Topic)
}
