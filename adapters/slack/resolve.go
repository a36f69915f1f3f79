package slack

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"bellhop/core"
)

// maxPages bounds the search for a lost message.
const maxPages = 10

// resolve finds out whether o is shown. An edit may be done again; a message
// is looked for by its key where it should stand. A lost stream has no key: in
// its thread it is the message of ours that nobody knows.
func (a *Adapter) resolve(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	if o.Edit != "" {
		return a.Send(ctx, o)
	}
	if err := check(o.Place); err != nil {
		return core.Receipt{}, err
	}
	me, err := a.self(ctx)
	if err != nil {
		return core.Receipt{}, unresolved(a.outcome(err))
	}
	found, stray := "", ""
	err = a.search(ctx, o, func(m *message) bool {
		switch {
		case m.Metadata.v.Type.v == metadataType && m.Metadata.v.Payload.v.Key.v == keyOf(o):
			found = m.TS
		case a.mayBe(me, o, m):
			stray = m.TS
		}
		return found != ""
	})
	switch {
	case is(err, "thread_not_found", "message_not_found"):
		return core.Receipt{}, fmt.Errorf("%w: %w", core.ErrNotSent, err)
	case err != nil:
		return core.Receipt{}, unresolved(a.outcome(err))
	case found != "":
		a.rooms.sent(o.Place, found)
	case stray != "":
		found = stray
	default:
		return core.Receipt{}, fmt.Errorf("%w: no message there has its key", core.ErrNotSent)
	}
	return core.Receipt{ID: found, Time: when(found)}, nil
}

// search reads what was said where o should stand, since o.After if that is
// known, until it is the message that is looked for.
func (a *Adapter) search(ctx context.Context, o core.Outbound, is func(*message) bool) error {
	params := url.Values{"include_all_metadata": {"true"}, "inclusive": {"true"}}
	if timestamp().MatchString(o.After) {
		params.Set("oldest", o.After)
	}
	read := a.history
	if o.Place.Topic != "" {
		read = a.replies
		params.Set("ts", o.Place.Topic)
	}
	for range maxPages {
		page, err := read(ctx, o.Place.Channel, params)
		if err != nil {
			return err
		}
		for i := range page.messages {
			if is(&page.messages[i]) {
				return nil
			}
		}
		if page.next == "" {
			return nil
		}
		params.Set("cursor", page.next)
	}
	return fmt.Errorf("%w: it is not among the latest %d messages", core.ErrUnknown, maxPages*pageSize)
}

// mayBe reports whether m can be the stream that was opened for o.
func (a *Adapter) mayBe(me identity, o core.Outbound, m *message) bool {
	if a.streams.get(spot{o.Place.Channel, m.TS}) != nil {
		return false // another's, and known to us if not yet to the ledger
	}
	return me.wrote(m) && !a.latches.noStream.Load() && o.Place.Topic != "" && timestamp().MatchString(o.After) &&
		m.TS > o.After && m.Metadata.v.Type.v == "" && m.Subtype == "" && len(m.Files.v) == 0 && (o.Known == nil || !o.Known(m.TS))
}

// unresolved is what a failed search says of the message: nothing.
func unresolved(err error) error {
	if errors.Is(err, core.ErrNotSent) || errors.Is(err, core.ErrFatal) {
		return fmt.Errorf("%w: %s", core.ErrUnknown, err.Error())
	}
	return err
}
