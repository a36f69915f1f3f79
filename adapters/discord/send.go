package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"bellhop/core"
)

// nonceWindow is how long Discord surely keeps a nonce: it says "the past few
// minutes". Nothing of a piece can have been sent before what it follows, so
// one that follows something younger needs no other protection.
const nonceWindow = 2 * time.Minute

// Send shows one piece, or edits one. It opens the thread of a place that has
// none yet.
func (a *Adapter) Send(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	if err := check(o); err != nil {
		return core.Receipt{}, err
	}
	if o.Begin != "" && a.known.isForum(o.Place.Channel) {
		return a.begin(ctx, o)
	}
	if r, taken, err := a.respond(ctx, o); taken {
		return r, err
	}
	if o.Edit != "" {
		return a.edit(ctx, o)
	}
	at, err := a.open(ctx, o.Place)
	if err != nil {
		return core.Receipt{}, err
	}
	return a.post(ctx, o, at, o.Key)
}

// post sends a new piece to a channel or thread; key makes it unique.
func (a *Adapter) post(ctx context.Context, o core.Outbound, at, key string) (core.Receipt, error) {
	if written := born(o.After); o.After == "" || time.Since(written) > nonceWindow {
		switch r, err := a.find(ctx, o, at, key); {
		case err == nil:
			return r, nil
		case !errors.Is(err, core.ErrNotSent) && !errors.Is(err, core.ErrRefused):
			return core.Receipt{}, err
		}
	}
	m := compose(o)
	var shown message
	err := a.reopening(ctx, at, func() error {
		return a.api.call(ctx, http.MethodPost, messagePath(at, ""), m.post(key, a.replyTo(o, at)), &shown)
	})
	switch {
	case err != nil:
		return core.Receipt{}, a.outcome(err)
	case !isID(shown.ID):
		return core.Receipt{}, fmt.Errorf("%w: Discord took the message and did not say its id", core.ErrUnknown)
	case m.shows(shown.Content):
		return receipt(shown), nil
	}
	// The nonce was known: this is what an earlier try has shown, perhaps only
	// the status line of the piece.
	r, err := a.change(ctx, o, at, shown.ID)
	if errors.Is(err, core.ErrGone) {
		return a.post(ctx, o, at, key+"/again")
	}
	return r, err
}

// replyTo is the message that a new piece refers to. One in a thread refers to
// nothing outside of it; one that should have had a thread, to its trigger.
func (a *Adapter) replyTo(o core.Outbound, at string) string {
	switch {
	case at == o.Place.Topic && o.ReplyTo == o.Place.Topic && !a.known.isForum(o.Place.Channel):
		return ""
	case at != o.Place.Topic:
		return cmp.Or(o.ReplyTo, o.Place.Topic)
	}
	return o.ReplyTo
}

// edit makes the message o.Edit what it should be.
func (a *Adapter) edit(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	at := o.Place.Channel
	inThread := o.Place.Topic != "" && !a.unthreaded.has(o.Place.Topic)
	if inThread {
		at = o.Place.Topic
	}
	r, err := a.change(ctx, o, at, o.Edit)
	if inThread && refusedWith(err, discordgo.ErrCodeUnknownChannel) {
		// There never was a thread, and it stands in the channel.
		at = o.Place.Channel
		r, err = a.change(ctx, o, at, o.Edit)
	}
	if o.Kind == core.OutFinal && refusedWith(err, tooOld) {
		return a.post(ctx, o, at, o.Key+"/new")
	}
	return r, err
}

// change edits a message.
func (a *Adapter) change(ctx context.Context, o core.Outbound, at, id string) (core.Receipt, error) {
	err := a.reopening(ctx, at, func() error {
		return a.api.call(ctx, http.MethodPatch, messagePath(at, id), compose(o).edit(), nil)
	})
	if err != nil {
		return core.Receipt{}, a.outcome(err)
	}
	return core.Receipt{ID: id, Time: time.Now().UTC()}, nil
}

// reopening makes a call in a thread, once more if the thread was archived and
// could be reopened.
func (a *Adapter) reopening(ctx context.Context, at string, call func() error) error {
	err := call()
	if !refusedWith(err, discordgo.ErrCodePerformedOperationOnArchivedThread) {
		return err
	}
	if err := a.api.call(ctx, http.MethodPatch, "channels/"+at, map[string]any{"archived": false}, nil); err != nil {
		return err
	}
	return call()
}
