package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"bellhop/core"
)

// named decodes that a person has named a session.
func (d *decoder) named(key string, raw json.RawMessage) core.Inbound {
	var s struct {
		User    string        `json:"user"`
		Channel string        `json:"channel"`
		Thread  string        `json:"thread_ts"`
		Title   loose[string] `json:"title"`
		Time    loose[string] `json:"event_ts"`
	}
	if err := json.Unmarshal(raw, &s); err != nil || s.Channel == "" || s.User == "" {
		return unreadable(key, raw)
	}
	k := d.kind(s.Channel, "")
	return core.Inbound{
		Key: key, Kind: core.InNamed, Place: d.place(s.Channel, s.Thread), Direct: k == direct, From: d.person(s.User, ""),
		Text: clean(s.Title.v), Time: when(s.Time.v),
	}
}

// title names a thread: the agent's session, which is untitled unless a person
// has named it, of which Slack tells; where there are no sessions, the
// assistant's thread. A direct conversation outside of threads has no name.
func (a *Adapter) title(ctx context.Context, p core.Place, title string) error {
	if err := check(p); err != nil {
		return err
	}
	if p.Topic == "" {
		return fmt.Errorf("%w: there is no thread to name", core.ErrRefused)
	}
	params := url.Values{"channel_id": {p.Channel}, "thread_ts": {p.Topic}, "title": {title}}
	if !a.latches.noSession.Load() {
		err := a.api.call(ctx, "agents.sessions.rename", params, nil)
		if !is(err, lacking...) {
			return a.outcome(err)
		}
	}
	err := a.api.call(ctx, "assistant.threads.setTitle", params, nil)
	if is(err, lacking...) {
		return fmt.Errorf("%w: %w", core.ErrRefused, err)
	}
	return a.outcome(err)
}

// branches reports whether what we say in the channel of a place begins a
// thread: in a direct conversation it would stand among the other messages.
func (a *Adapter) branches(p core.Place) bool {
	k, known := a.rooms.kind(p.Channel)
	return p.Topic != "" && known && k == named
}
