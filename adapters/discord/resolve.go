package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"bellhop/core"
)

// findPages bounds the search for a lost message: what was sent right after
// its trigger is not far behind it.
const findPages = 3

// resolve finds out whether o is shown. An edit may be done again; so may the
// answer that replaces an acknowledgement.
func (a *Adapter) resolve(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	if o.Edit != "" {
		return a.Send(ctx, o)
	}
	if err := check(o); err != nil {
		return core.Receipt{}, err
	}
	if r, taken, err := a.respond(ctx, o); taken {
		return r, err
	}
	places := []string{o.Place.Channel}
	if o.Place.Topic != "" && !a.unthreaded.has(o.Place.Topic) {
		places = []string{o.Place.Topic, o.Place.Channel}
	}
	for _, at := range places {
		r, err := a.find(ctx, o, at, o.Key)
		if err == nil {
			return r, nil
		}
		switch {
		case errors.Is(err, core.ErrNotSent), refusedWith(err, discordgo.ErrCodeUnknownChannel):
		case errors.Is(err, core.ErrRefused):
			return core.Receipt{}, fmt.Errorf("%w: %s", core.ErrUnknown, err.Error())
		default:
			return core.Receipt{}, err
		}
	}
	return core.Receipt{}, fmt.Errorf("%w: nothing after %s is it", core.ErrNotSent, cmp.Or(o.After, "the beginning"))
}

// find looks for the message of a piece that may have been sent, and makes it
// what it should be. ErrNotSent says that it is not there, and other errors
// nothing.
//
// It is one of ours with the nonce of the piece. Discord forgets nonces, so
// one after o.After that the ledger does not know is it, too, if it has the
// same text, or is a status line that nothing has followed: the piece was
// opened, and that was lost.
func (a *Adapter) find(ctx context.Context, o core.Outbound, at, key string) (core.Receipt, error) {
	me, err := a.self(ctx)
	if err != nil {
		return core.Receipt{}, a.searched(err)
	}
	guess := o.Known != nil && isID(o.After)
	m := compose(o)
	var same, open *message
	after := o.After
	for range findPages {
		page, err := a.page(ctx, at, after)
		if err != nil {
			return core.Receipt{}, a.searched(err)
		}
		for _, c := range page {
			after = c.ID
			if c.Author.ID != me.user || !c.spoken() || c.ID == o.Edit || o.Known != nil && o.Known(c.ID) {
				continue
			}
			if at != o.Place.Topic && o.Place.Topic != "" && c.Reference.v.Message != o.Place.Topic && c.Reference.v.Message != o.ReplyTo {
				continue // another conversation's in the same channel
			}
			switch {
			case c.Nonce.v == nonce(key):
				return a.settle(ctx, o, m, at, c)
			case guess && same == nil && m.shows(c.Content):
				same = &c
			case guess && open == nil && strings.HasSuffix(c.Content, "…"):
				open = &c
			}
		}
		if len(page) < pageSize || o.After == "" {
			break
		}
	}
	if it := cmp.Or(same, open); it != nil {
		return a.settle(ctx, o, m, at, *it)
	}
	return core.Receipt{}, fmt.Errorf("%w: it is not in channel %s", core.ErrNotSent, at)
}

// page reads the messages after one, oldest first; the latest if that is empty.
func (a *Adapter) page(ctx context.Context, at, after string) ([]message, error) {
	path := fmt.Sprintf("%s?limit=%d", messagePath(at, ""), pageSize)
	if isID(after) {
		path += "&after=" + after
	}
	var page []message
	err := a.api.call(ctx, http.MethodGet, path, nil, &page)
	slices.SortFunc(page, func(a, b message) int { return compareIDs(a.ID, b.ID) })
	return page, err
}

// settle makes a message that was found what the piece should be.
func (a *Adapter) settle(ctx context.Context, o core.Outbound, m outgoing, at string, found message) (core.Receipt, error) {
	if m.shows(found.Content) {
		return receipt(found), nil
	}
	return a.change(ctx, o, at, found.ID)
}

// searched is what a search that failed knows: of the message, nothing.
func (a *Adapter) searched(err error) error {
	err = a.outcome(err)
	if errors.Is(err, core.ErrNotSent) {
		return fmt.Errorf("%w: %s", core.ErrUnknown, err.Error())
	}
	return err
}
