package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"bellhop/core"
)

// tagRequired is the flag of a forum in which every post needs a tag.
const tagRequired = 1 << 4

// begin makes the post of a forum that o begins: its first message, which has the
// post's id, shows o. A post has no nonce, so that of an earlier try is looked for
// before.
func (a *Adapter) begin(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	if o.Edit != "" {
		return a.change(ctx, o, o.Edit, o.Edit)
	}
	switch id, err := a.begun(ctx, o); {
	case err != nil:
		return core.Receipt{}, err
	case id != "":
		return a.change(ctx, o, id, id)
	}
	var w wireChannel
	err := a.api.call(ctx, http.MethodPost, "channels/"+o.Place.Channel+"/threads", map[string]any{
		"name": o.Begin, "auto_archive_duration": archiveAfter, "message": compose(o),
	}, &w)
	switch {
	case err != nil:
		if err = a.outcome(err); errors.Is(err, core.ErrRefused) {
			a.closed.put(o.Place.Channel, struct{}{})
		}
		return core.Receipt{}, err
	case !isID(w.ID):
		return core.Receipt{}, fmt.Errorf("%w: Discord took the post and did not say its id", core.ErrUnknown)
	}
	a.opened(o, w.ID)
	return core.Receipt{ID: w.ID, Time: time.Now().UTC()}, nil
}

// opened remembers a post of ours.
func (a *Adapter) opened(o core.Outbound, id string) {
	a.known.learn(channel{id: id, kind: discordgo.ChannelTypeGuildPublicThread, parent: o.Place.Channel, name: o.Begin})
	a.asked.put(id, o.Begin)
}

// begun is the post that an earlier try has made: one of ours with its name in the
// forum, younger than what it follows. Empty: there is none.
func (a *Adapter) begun(ctx context.Context, o core.Outbound) (string, error) {
	if o.After == "" { // any post of ours might be it
		return "", nil
	}
	me, err := a.self(ctx)
	if err != nil {
		return "", unsent(err, a.outcome(err))
	}
	var forum wireChannel
	if err := a.api.call(ctx, http.MethodGet, "channels/"+o.Place.Channel, nil, &forum); err != nil {
		return "", unsent(err, a.outcome(err))
	}
	var active struct {
		Threads []wireChannel `json:"threads"`
	}
	if err := a.api.call(ctx, http.MethodGet, "guilds/"+forum.Guild+"/threads/active", nil, &active); err != nil {
		return "", unsent(err, a.outcome(err))
	}
	for _, w := range active.Threads {
		if w.Parent == o.Place.Channel && w.Owner == me.user && w.Name == o.Begin && compareIDs(w.ID, o.After) > 0 {
			a.opened(o, w.ID)
			return w.ID, nil
		}
	}
	return "", nil
}

// unsent is the outcome of a call before anything was sent.
func unsent(err, outcome error) error {
	if e, ok := errors.AsType[*apiError](err); ok && !e.answered && e.retryAfter == 0 {
		return fmt.Errorf("%w: %w", core.ErrNotSent, err)
	}
	return outcome
}
