package slack

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"bellhop/core"
)

// read pages back through what was said at a place. Slack pages forwards
// through a thread, so all of it up to before is asked for.
func (a *Adapter) read(ctx context.Context, p core.Place, before string, limit int) (core.Page, error) {
	if err := check(p); err != nil {
		return core.Page{}, err
	}
	params := url.Values{}
	if before != "" {
		if when(before).IsZero() {
			return core.Page{}, fmt.Errorf("%w: there is no page before %q", core.ErrRefused, before)
		}
		params.Set("latest", before)
	}
	said, older, err := a.readPage(ctx, p, params, min(max(limit, 1), pageSize))
	if err != nil {
		return core.Page{}, a.outcome(err)
	}
	out := core.Page{}
	if older && len(said) > 0 {
		out.Before = clean(said[0].TS)
	}
	said = slices.DeleteFunc(said, func(m message) bool { return !speaks(&m) })
	me, err := a.self(ctx)
	if err == nil {
		out.Quotes, err = a.quotes(ctx, me, said)
	}
	if err != nil {
		return core.Page{}, a.outcome(err)
	}
	return out, nil
}

// readPage reads the last messages that params allow, oldest first; older:
// there are others.
func (a *Adapter) readPage(ctx context.Context, p core.Place, params url.Values, limit int) (said []message, older bool, err error) {
	oldestFirst := func(x, y message) int { return strings.Compare(x.TS, y.TS) }
	if p.Topic == "" {
		params.Set("limit", strconv.Itoa(limit))
		page, err := a.history(ctx, p.Channel, params)
		slices.SortFunc(page.messages, oldestFirst)
		return page.messages, page.next != "", err
	}
	until := params.Get("latest")
	if said, err = a.thread(ctx, p, params); err != nil {
		return nil, false, err
	}
	said = slices.DeleteFunc(said, func(m message) bool { return until != "" && m.TS >= until })
	slices.SortFunc(said, oldestFirst)
	first := max(0, len(said)-limit)
	return said[first:], first > 0, nil
}
