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
	// maxMissed bounds the pages that one place is worth, and
	maxMissed = 3
	// maxCatchUp the calls that one gap is worth.
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

// fallBehind notes, after a gap, all places where something may have been said
// meanwhile.
func (r *receiver) fallBehind() {
	r.behind, r.next, r.reads = r.rooms.toRead(), time.Now().Add(historyEvery), 0
}

// isBehind tells which place must be caught up with before the event is taken.
func (r *receiver) isBehind(in core.Inbound) (core.Place, bool) {
	if in.Kind != core.InMessage || in.MessageID == "" || time.Now().Before(r.refuse) {
		return core.Place{}, false
	}
	home := core.Place{Adapter: in.Place.Adapter, Channel: in.Place.Channel}
	for _, p := range r.behind {
		if p == in.Place || p == home && in.Place.Topic == in.MessageID {
			return p, true
		}
	}
	return core.Place{}, false
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

// readOn reads what a place has said since it was last heard, oldest first, and
// takes it off those that are behind. It returns an error only with ctx's end,
// or if Slack refuses the credentials.
func (r *receiver) readOn(ctx context.Context, p core.Place) ([]delivery, error) {
	r.behind = slices.DeleteFunc(r.behind, func(other core.Place) bool { return other == p })
	oldest := r.rooms.since(p)
	params := url.Values{"oldest": {oldest}}
	read := r.history
	if p.Topic != "" {
		read = r.replies
		params.Set("ts", p.Topic)
	}
	var found []delivery
	for range maxMissed {
		page, err := read(ctx, p.Channel, params)
		r.reads++
		r.next = time.Now().Add(historyEvery)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			e, _ := errors.AsType[*apiError](err)
			if slices.Contains(finished, e.code) {
				return nil, r.fatal(e, false)
			}
			r.log.Warn("what was said meanwhile could not be read", "place", p, "err", err)
			if e.retryAfter > 0 {
				r.behind = append(r.behind, p)
				r.next = r.next.Add(e.retryAfter)
				r.refuse = r.next
			}
			break
		}
		for i, m := range page.messages {
			if m.TS > oldest {
				found = append(found, delivery{channel: p.Channel, message: page.raw[i]})
			}
		}
		if page.next == "" {
			break
		}
		params.Set("cursor", page.next)
	}
	if r.reads > maxCatchUp && len(r.behind) > 0 {
		r.log.Warn("not all that was said meanwhile is read", "places", len(r.behind))
		r.behind = nil
	}
	slices.SortStableFunc(found, func(x, y delivery) int { return strings.Compare(stampOf(x.message), stampOf(y.message)) })
	return found, nil
}

// stampOf is a message's time stamp.
func stampOf(raw json.RawMessage) string {
	var m struct {
		TS string `json:"ts"`
	}
	_ = json.Unmarshal(raw, &m)
	return m.TS
}
