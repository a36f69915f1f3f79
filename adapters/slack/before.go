package slack

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"bellhop/core"
)

// maxThread is the most messages of a thread to quote, the latest ones.
const maxThread = 200

// before reads what was said at a place before a message: in a thread, all of
// it; elsewhere the last messages, as many as are wanted. What we said
// ourselves is left out.
func (a *Adapter) before(ctx context.Context, n core.Need) (core.Before, error) {
	if err := check(n.Place); err != nil {
		return core.Before{}, err
	}
	said, err := a.readBefore(ctx, n)
	if err != nil {
		return core.Before{}, a.outcome(err)
	}
	me := a.whoami()
	said = slices.DeleteFunc(said, func(m message) bool {
		return m.TS == n.MessageID || n.MessageID != "" && m.TS > n.MessageID || m.TS <= n.Since || !speaks(&m) || a.decoder(me).ours(&m)
	})
	slices.SortFunc(said, func(x, y message) int { return strings.Compare(x.TS, y.TS) })
	most := maxThread
	if !inThread(n) {
		most = min(max(n.Context, 0), maxThread)
	}
	said = said[max(0, len(said)-most):]

	out, missing := a.quote(me, said)
	if len(missing) > 0 {
		if err := a.learn(ctx, missing); err != nil {
			return core.Before{}, a.outcome(err)
		}
		out, _ = a.quote(me, said)
	}
	return out, nil
}

// inThread reports whether the message stands in a thread, below its root.
func inThread(n core.Need) bool { return n.Place.Topic != "" && n.Place.Topic != n.MessageID }

// readBefore reads enough messages up to n's.
func (a *Adapter) readBefore(ctx context.Context, n core.Need) ([]message, error) {
	params := url.Values{}
	if n.MessageID != "" {
		params.Set("latest", n.MessageID)
	}
	if n.Since != "" {
		params.Set("oldest", n.Since)
	}
	if !inThread(n) {
		if n.Context <= 0 {
			return nil, nil
		}
		// Some may be ours, or say nothing.
		params.Set("limit", strconv.Itoa(min(n.Context*2+10, pageSize)))
		page, err := a.history(ctx, n.Place.Channel, params)
		return page.messages, err
	}
	params.Set("ts", n.Place.Topic)
	var said []message
	for range maxPages {
		page, err := a.replies(ctx, n.Place.Channel, params)
		if err != nil {
			return nil, err
		}
		said = append(said, page.messages...)
		if page.next == "" {
			break
		}
		params.Set("cursor", page.next)
	}
	return said, nil
}

// quote makes quotes of messages; missing are the people whose names it lacks.
func (a *Adapter) quote(me identity, said []message) (out core.Before, missing []lookup) {
	d := a.decoder(me)
	for i := range said {
		m := &said[i]
		in := core.Inbound{Files: files(m.Files.v)}
		text := cmp.Or(d.read(m.Text).text, fileNames(in.Files))
		if text != "" {
			out.Quotes = append(out.Quotes, core.Quote{Author: d.authorName(m), Text: text})
		}
		for _, at := range m.Attachments.v {
			d.quote(&in, &at.v)
		}
		out.Quotes = append(out.Quotes, in.Quotes...)
		out.Files = append(out.Files, in.Files...)
	}
	return out, d.missing
}
