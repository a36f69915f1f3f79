package slack

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"bellhop/core"
)

const (
	// pageSize is how many messages are asked for at once.
	pageSize = 200

	// historyEvery is the pause between calls while catching up. Slack takes
	// about 50 a minute, and answers need some of them.
	historyEvery = 1500 * time.Millisecond
	// maxCatchUp bounds the calls that one gap is worth.
	maxCatchUp = 60
	// threadLife is how long after its last message a thread is caught up with.
	threadLife = 48 * time.Hour
)

// page is a part of what was said somewhere.
type page struct {
	messages []message
	raw      []json.RawMessage // of the same messages
	next     string            // the cursor of the part that follows; empty: none
}

// history reads messages of a channel, the newest first, without those in
// threads.
func (a *Adapter) history(ctx context.Context, channel string, params url.Values) (page, error) {
	return a.page(ctx, "conversations.history", channel, params)
}

// replies reads a thread from its root on.
func (a *Adapter) replies(ctx context.Context, channel string, params url.Values) (page, error) {
	return a.page(ctx, "conversations.replies", channel, params)
}

func (a *Adapter) page(ctx context.Context, method, channel string, params url.Values) (page, error) {
	params = maps.Clone(params)
	params.Set("channel", channel)
	if !params.Has("limit") {
		params.Set("limit", strconv.Itoa(pageSize))
	}
	var answer struct {
		Messages []json.RawMessage `json:"messages"`
		Metadata loose[struct {
			Next loose[string] `json:"next_cursor"`
		}] `json:"response_metadata"`
	}
	if err := a.api.call(ctx, method, params, &answer); err != nil {
		return page{}, err
	}
	p := page{next: answer.Metadata.v.Next.v}
	for _, raw := range answer.Messages {
		var m message
		if json.Unmarshal(raw, &m) != nil {
			continue
		}
		m.Channel = channel
		p.messages, p.raw = append(p.messages, m), append(p.raw, raw)
	}
	return p, nil
}

// catchUp reads, after each gap, what was said meanwhile where this process
// has heard of something before. It returns when ctx has ended.
func (r *receiver) catchUp(ctx context.Context) error {
	for {
		select {
		case <-r.gap:
		case <-ctx.Done():
			return nil
		}
		calls := 0
		for _, p := range r.rooms.toRead() {
			if calls >= maxCatchUp {
				r.log.Warn("a gap is longer than what may be read at once", "calls", calls)
				break
			}
			n, err := r.readOn(ctx, p)
			calls += n
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				r.log.Warn("a place could not be caught up with", "place", p, "err", err)
			}
		}
	}
}

// toRead lists the places to catch up with, those where something happened
// last first.
func (r *rooms) toRead() []core.Place {
	r.mu.Lock()
	defer r.mu.Unlock()
	var places []core.Place
	for p, c := range r.cursors.entries {
		if p.Topic == "" || time.Since(c.at) < threadLife {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, func(x, y core.Place) int {
		return r.cursors.entries[y].at.Compare(r.cursors.entries[x].at)
	})
	return places
}

// since is the time stamp up to which a place has been heard.
func (r *rooms) since(p core.Place) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, _ := r.cursors.get(p)
	return c.ts
}

// readOn hands on what a place has said since it was last heard, oldest first,
// and returns how many calls that took.
func (r *receiver) readOn(ctx context.Context, p core.Place) (calls int, err error) {
	params := url.Values{"oldest": {r.rooms.since(p)}}
	read := r.history
	if p.Topic != "" {
		read = r.replies
		params.Set("ts", p.Topic)
	}
	var found []delivery
	for calls < 3 {
		calls++
		if err := sleep(ctx, historyEvery); err != nil {
			return calls, err
		}
		page, err := read(ctx, p.Channel, params)
		if e, ok := errors.AsType[*apiError](err); ok && e.retryAfter > 0 {
			if err := sleep(ctx, e.retryAfter); err != nil {
				return calls, err
			}
			continue
		}
		if err != nil {
			return calls, err
		}
		for i, m := range page.messages {
			if m.TS > params.Get("oldest") {
				found = append(found, delivery{channel: p.Channel, message: page.raw[i]})
			}
		}
		if page.next == "" {
			break
		}
		params.Set("cursor", page.next)
	}
	slices.SortStableFunc(found, func(x, y delivery) int { return strings.Compare(stampOf(x.message), stampOf(y.message)) })
	for _, d := range found {
		select {
		case r.waiting <- d:
		case <-ctx.Done():
			return calls, ctx.Err()
		}
	}
	return calls, nil
}

// stampOf is a message's time stamp.
func stampOf(raw json.RawMessage) string {
	var m struct {
		TS string `json:"ts"`
	}
	_ = json.Unmarshal(raw, &m)
	return m.TS
}
