package slack

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"bellhop/core"
)

// before reads what was said at a place before a message: in a thread, all of
// it; elsewhere the last messages; as many as are wanted.
func (a *Adapter) before(ctx context.Context, n core.Need) (core.Before, error) {
	if err := check(n.Place); err != nil {
		return core.Before{}, err
	}
	said, err := a.readBefore(ctx, n)
	if err != nil {
		return core.Before{}, a.outcome(err)
	}
	me, err := a.self(ctx)
	if err != nil {
		return core.Before{}, a.outcome(err)
	}
	said = slices.DeleteFunc(said, func(m message) bool {
		return m.TS == n.MessageID || n.MessageID != "" && m.TS > n.MessageID || m.TS <= n.Since || !speaks(&m) || n.Since != "" && a.decoder(me).ours(&m)
	})
	slices.SortFunc(said, func(x, y message) int { return strings.Compare(x.TS, y.TS) })
	older := max(0, len(said)-n.Context)
	quotes, err := a.quotes(ctx, me, said[older:])
	if err != nil {
		return core.Before{}, a.outcome(err)
	}
	return core.Before{Quotes: quotes, More: older > 0 && inThread(n)}, nil
}

// inThread reports whether the message stands in a thread, below its root.
func inThread(n core.Need) bool { return n.Place.Topic != "" && n.Place.Topic != n.MessageID }

// readBefore reads enough messages up to n's.
func (a *Adapter) readBefore(ctx context.Context, n core.Need) ([]message, error) {
	params := url.Values{}
	if n.Context <= 0 {
		return nil, nil
	}
	if n.MessageID != "" {
		params.Set("latest", n.MessageID)
	}
	if n.Since != "" {
		params.Set("oldest", n.Since)
	}
	if !inThread(n) {
		// Some may be ours, or say nothing.
		params.Set("limit", strconv.Itoa(min(n.Context*2+10, pageSize)))
		page, err := a.history(ctx, n.Place.Channel, params)
		return page.messages, err
	}
	return a.thread(ctx, n.Place, params)
}

// thread reads the messages of a thread that params allow, and its root. Slack
// pages from its beginning: of one that is too long, the end is not reached.
func (a *Adapter) thread(ctx context.Context, p core.Place, params url.Values) (said []message, err error) {
	params.Set("ts", p.Topic)
	for range maxPages {
		page, err := a.replies(ctx, p.Channel, params)
		if err != nil {
			return nil, err
		}
		said = append(said, page.messages...)
		if page.next == "" {
			return said, nil
		}
		params.Set("cursor", page.next)
	}
	return nil, errors.New("the thread is too long to be read to its end")
}

// quotes makes quotes of messages, with the names of people where Slack tells
// them soon.
func (a *Adapter) quotes(ctx context.Context, me identity, said []message) ([]core.Quote, error) {
	out, missing := a.quote(me, said)
	if len(missing) > 0 {
		if err := a.learn(ctx, missing); err != nil {
			return nil, err
		}
		out, _ = a.quote(me, said)
	}
	return out, nil
}

// quote makes quotes of messages, each followed by those that it holds itself;
// missing are the people whose names it lacks.
func (a *Adapter) quote(me identity, said []message) (out []core.Quote, missing []lookup) {
	d := a.decoder(me)
	for i := range said {
		m := &said[i]
		q := core.Quote{Author: d.authorName(m), Own: d.ours(m), Text: d.read(m.Text).text, ID: clean(m.TS), Time: when(m.TS), Files: files(m.Files.v)}
		if q.Text != "" || len(q.Files) > 0 {
			out = append(out, q)
		}
		for _, at := range m.Attachments.v {
			var in core.Inbound
			d.quote(&in, &at.v)
			for _, shared := range in.Quotes {
				shared.ID, shared.Files = q.ID, in.Files
				out = append(out, shared)
			}
		}
	}
	return out, d.missing
}
