package slack

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"strconv"
)

// pageSize is how many messages are asked for at once.
const pageSize = 200

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
