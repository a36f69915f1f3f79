package discord

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"bellhop/core"
)

// before reads what was said at a place before a message.
func (a *Adapter) before(ctx context.Context, n core.Need) (core.Before, error) {
	at := a.home(n.Place, n.MessageID)
	if !isID(at) || !isID(n.MessageID) || n.Context <= 0 {
		return core.Before{}, nil
	}
	me, err := a.self(ctx)
	if err != nil {
		return core.Before{}, a.outcome(err)
	}
	said, more, err := a.back(ctx, at, n.MessageID, n.Since, n.Context, func(m *message) bool { return n.Since == "" || m.Author.ID != me.user })
	if err != nil {
		return core.Before{}, a.outcome(err)
	}
	return core.Before{Quotes: a.recall(me, said), More: more && at == n.Place.Topic}, nil
}

// read pages back through what was said at a place.
func (a *Adapter) read(ctx context.Context, p core.Place, before string, limit int) (core.Page, error) {
	at := a.home(p, "")
	switch {
	case !isID(at), before != "" && !isID(before):
		return core.Page{}, fmt.Errorf("%w: there is no page before %q of %s", core.ErrRefused, before, p)
	case a.known.isForum(at):
		return core.Page{}, fmt.Errorf("%w: a forum has nothing but posts, each of which is a thread", core.ErrRefused)
	}
	me, err := a.self(ctx)
	if err != nil {
		return core.Page{}, a.outcome(err)
	}
	said, more, err := a.back(ctx, at, before, "", max(limit, 1), func(*message) bool { return true })
	if err != nil {
		return core.Page{}, a.outcome(err)
	}
	out := core.Page{Quotes: a.recall(me, said)}
	if more {
		out.Before = said[len(said)-1].ID
	}
	return out, nil
}

// back reads what was said in a channel, from the message until (empty: from
// the end) back to the message since (empty: to the beginning), the newest
// first. It ends when it has most messages that are wanted; more says that
// there is another.
func (a *Adapter) back(ctx context.Context, channel, until, since string, most int, wanted func(*message) bool) (said []message, more bool, err error) {
	limit := min(2*most+10, pageSize) // some may not be wanted
	for range maxPages {
		path := fmt.Sprintf("%s?limit=%d", messagePath(channel, ""), limit)
		if until != "" {
			path += "&before=" + until
		}
		var page []message
		if err := a.api.call(ctx, http.MethodGet, path, nil, &page); err != nil {
			return nil, false, err
		}
		slices.SortFunc(page, func(a, b message) int { return compareIDs(b.ID, a.ID) })
		for _, m := range page {
			until = m.ID
			if first := m.Referenced.v; m.Kind == discordgo.MessageTypeThreadStarterMessage && first != nil {
				m = *first // the message that the thread was opened from
			}
			if since != "" && compareIDs(m.ID, since) <= 0 {
				return said, false, nil
			}
			if !m.spoken() || !wanted(&m) {
				continue
			}
			if len(said) == most {
				return said, true, nil
			}
			said = append(said, m)
		}
		if len(page) < limit || !isID(until) {
			return said, false, nil
		}
	}
	return said, true, nil
}

// recall makes quotes, the oldest first, of messages that were read back.
func (a *Adapter) recall(me identity, said []message) (out []core.Quote) {
	for _, m := range slices.Backward(said) {
		q := core.Quote{Author: m.authorName(), Own: m.Author.ID == me.user, Text: a.plain(&m), ID: clean(m.ID), Time: born(m.ID), Files: m.files()}
		for _, s := range m.Snapshots.v { // what was forwarded
			q.Text = strings.TrimSpace(q.Text + "\n" + a.plain(&s.Message.v))
			q.Files = append(q.Files, s.Message.v.files()...)
		}
		if q.Text != "" || len(q.Files) > 0 {
			out = append(out, q)
		}
	}
	return out
}

// authorName is how the writer of a message is shown.
func (m *message) authorName() string {
	return clean(cmp.Or(m.Member.v.Nick, m.Author.Global, m.Author.Name))
}
