package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"bellhop/core"
)

const (
	// pageSize is the most messages of one answer.
	pageSize = 100
	// maxPages bounds what is read back of one channel.
	maxPages = 20
)

// wireRole is a role as Discord tells of it.
type wireRole struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Tags struct {
		Bot string `json:"bot_id"`
	} `json:"tags"`
}

func (w wireRole) role(me identity) role {
	return role{name: w.Name, ours: w.Tags.Bot != "" && w.Tags.Bot == me.user}
}

// begun takes up a session. After another, what was said meanwhile in direct
// conversations is read back; servers tell of theirs in GUILD_CREATE.
func (f *feed) begun(ctx context.Context, fr frame) (out found, err error) {
	p := packet{Data: fr.data}
	if _, me, err := parseReady(p); err == nil {
		f.me = me
	}
	f.gap = f.newest
	if !f.again {
		f.again = true
		return found{}, nil
	}
	for _, id := range f.known.direct() {
		missed, err := f.missed(ctx, id, "", cmp.Or(f.last[id], f.gap))
		if err != nil {
			return found{}, err
		}
		out.events = append(out.events, missed...)
	}
	return out, nil
}

// guild learns a server's channels, threads and roles. If they were known
// before, Discord was away, or we: what has been said since is read back.
func (f *feed) guild(ctx context.Context, fr frame) (out found, err error) {
	var g struct {
		ID       string                 `json:"id"`
		Channels lenient[[]wireChannel] `json:"channels"`
		Threads  lenient[[]wireChannel] `json:"threads"`
		Roles    lenient[[]wireRole]    `json:"roles"`
	}
	if !parse(fr.data, &g) || g.ID == "" {
		f.log.Warn("discord tells of a server in a way that cannot be read")
		return found{}, nil
	}
	for _, r := range g.Roles.v {
		f.known.setRole(r.ID, r.role(f.me))
	}
	for _, w := range slices.Concat(g.Channels.v, g.Threads.v) {
		if !isID(w.ID) {
			continue
		}
		w.Guild = g.ID
		f.known.learn(w.channel())
		if !isID(w.Last) {
			continue
		}
		since := cmp.Or(f.last[w.ID], f.gap) // all in a thread that is new to us was missed
		if !f.guilds[g.ID] || f.known.isForum(w.ID) || compareIDs(w.Last, since) <= 0 {
			f.saw(w.ID, w.Last)
			continue
		}
		missed, err := f.missed(ctx, w.ID, g.ID, since)
		if err != nil {
			return found{}, err
		}
		out.events = append(out.events, missed...)
		f.saw(w.ID, w.Last)
	}
	f.guilds[g.ID] = true
	return out, nil
}

// missed reads back what was said in a channel after a message, oldest first.
// Where that is not permitted there is nothing. The error is ctx's.
func (f *feed) missed(ctx context.Context, channel, guild, after string) (out []core.Inbound, err error) {
	for range maxPages {
		var page []json.RawMessage
		err := retry(ctx, func() error {
			return f.api.call(ctx, http.MethodGet, fmt.Sprintf("%s?after=%s&limit=%d", messagePath(channel, ""), after, pageSize), nil, &page)
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			f.log.Warn("what was missed in a channel cannot be read", "channel", channel, "err", err)
			return out, nil
		}
		slices.SortStableFunc(page, func(a, b json.RawMessage) int { return compareIDs(idOf(a), idOf(b)) })
		for _, raw := range page {
			got, err := f.read(ctx, frame{kind: "MESSAGE_CREATE", data: raw}, guild)
			if err != nil {
				return nil, err
			}
			out = append(out, got.events...)
			if id := idOf(raw); compareIDs(id, after) > 0 {
				after = id
			}
		}
		if len(page) < pageSize {
			return out, nil
		}
	}
	f.log.Error("too much was missed in a channel to read all of it back", "channel", channel, "from", after)
	return out, nil
}

// idOf is the id of a message that may be unreadable otherwise.
func idOf(raw json.RawMessage) string {
	var m struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(raw, &m) // "" sorts first
	return m.ID
}
