package adaptertest

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (s *Slack) conversationsInfo(p params) (map[string]any, *slackError) {
	r, e := s.readable(p, "channel")
	if e != nil {
		return nil, e
	}
	return map[string]any{"channel": r.json(s)}, nil
}

// legible finds the conversation whose messages a call reads.
func (s *Slack) legible(p params) (*slackRoom, *slackError) {
	r, e := s.readable(p, "channel")
	if e == nil && !r.members[s.me.ID] {
		e = no("not_in_channel")
	}
	return r, e
}

// conversationsHistory reads what is outside threads, the newest first.
func (s *Slack) conversationsHistory(p params) (map[string]any, *slackError) {
	r, e := s.legible(p)
	if e != nil {
		return nil, e
	}
	var list []*slackMessage
	for _, m := range slices.Backward(r.messages) {
		if m.deleted && len(r.replies(m.ts)) == 0 || m.thread != "" && !m.broadcast {
			continue
		}
		list = append(list, m)
	}
	return s.page(p, list)
}

// conversationsReplies reads a thread, its root first. For a message without a
// thread that is the message alone.
func (s *Slack) conversationsReplies(p params) (map[string]any, *slackError) {
	r, e := s.legible(p)
	if e != nil {
		return nil, e
	}
	replies := r.replies(p["ts"])
	i := slices.IndexFunc(r.messages, func(m *slackMessage) bool { return m.ts == p["ts"] })
	if i < 0 || r.messages[i].deleted && len(replies) == 0 {
		return nil, no("thread_not_found")
	}
	root := r.messages[i]
	if root.thread != "" {
		return s.page(p, []*slackMessage{root})
	}
	// The root comes along whatever the bounds are.
	result, e := s.page(p, replies)
	if e == nil && p["cursor"] == "" {
		result["messages"] = append([]any{root.json(s, p.bool("include_all_metadata"))}, result["messages"].([]any)...)
	}
	return result, e
}

// page cuts a list to the bounds and the page that a call asks for.
func (s *Slack) page(p params, list []*slackMessage) (map[string]any, *slackError) {
	for _, key := range []string{"oldest", "latest"} {
		if _, err := strconv.ParseFloat(p[key], 64); p[key] != "" && err != nil {
			return nil, no("invalid_ts_" + key)
		}
	}
	inclusive := p.bool("inclusive")
	list = slices.DeleteFunc(slices.Clone(list), func(m *slackMessage) bool {
		return p["oldest"] != "" && later(p["oldest"], m.ts, inclusive) || p["latest"] != "" && later(m.ts, p["latest"], inclusive)
	})
	from, to, next, e := span(p, len(list), 1000)
	if e != nil {
		return nil, e
	}
	messages := []any{}
	for _, m := range list[from:to] {
		messages = append(messages, m.json(s, p.bool("include_all_metadata")))
	}
	return map[string]any{"messages": messages, "has_more": next != "", "pin_count": 0,
		"response_metadata": map[string]any{"next_cursor": next}}, nil
}

// later reports whether a lies after b, or is at it and not included.
func later(a, b string, inclusive bool) bool {
	stamp := func(ts string) float64 {
		f, _ := strconv.ParseFloat(ts, 64) // checked before, or made here
		return f
	}
	return stamp(a) > stamp(b) || !inclusive && stamp(a) == stamp(b)
}

// span is the page of n things that a call asks for, and the cursor of the
// next one. A page may be shorter than asked for.
func span(p params, n, most int) (from, to int, next string, e *slackError) {
	limit := int(p.int("limit"))
	if limit <= 0 {
		limit = 100
	}
	if limit > most {
		return 0, 0, "", no("invalid_limit")
	}
	if p["cursor"] != "" {
		b, err := base64.StdEncoding.DecodeString(p["cursor"])
		if err == nil {
			from, err = strconv.Atoi(strings.TrimPrefix(string(b), "next:"))
		}
		if err != nil || from < 0 || from > n {
			return 0, 0, "", no("invalid_cursor")
		}
	}
	if to = min(n, from+limit); to < n {
		next = base64.StdEncoding.EncodeToString([]byte("next:" + strconv.Itoa(to)))
	}
	return from, to, next, nil
}

func (s *Slack) conversationsMembers(p params) (map[string]any, *slackError) {
	r, e := s.readable(p, "channel")
	if e != nil {
		return nil, e
	}
	members := slices.Sorted(maps.Keys(r.members))
	from, to, next, e := span(p, len(members), 1000)
	if e != nil {
		return nil, e
	}
	return map[string]any{"members": members[from:to], "response_metadata": map[string]any{"next_cursor": next}}, nil
}

func (s *Slack) conversationsList(p params) (map[string]any, *slackError) {
	return s.listRooms(p, func(r *slackRoom) bool { return r.kind == "channel" || r.members[s.me.ID] })
}

func (s *Slack) usersConversations(p params) (map[string]any, *slackError) {
	return s.listRooms(p, func(r *slackRoom) bool { return r.members[s.me.ID] })
}

func (s *Slack) listRooms(p params, visible func(*slackRoom) bool) (map[string]any, *slackError) {
	types := p["types"]
	if types == "" {
		types = "public_channel"
	}
	var kinds []string
	for t := range strings.SplitSeq(types, ",") {
		kind := map[string]string{"public_channel": "channel", "private_channel": "group", "mpim": "mpim", "im": "im"}[strings.TrimSpace(t)]
		if kind == "" {
			return nil, no("invalid_types")
		}
		kinds = append(kinds, kind)
	}
	rooms := []any{}
	for _, id := range slices.Sorted(maps.Keys(s.rooms)) {
		r := s.rooms[id]
		if visible(r) && slices.Contains(kinds, r.kind) && !(r.archived && p.bool("exclude_archived")) {
			rooms = append(rooms, r.json(s))
		}
	}
	from, to, next, e := span(p, len(rooms), 1000)
	if e != nil {
		return nil, e
	}
	return map[string]any{"channels": rooms[from:to], "response_metadata": map[string]any{"next_cursor": next}}, nil
}

func (s *Slack) conversationsOpen(p params) (map[string]any, *slackError) {
	if p["channel"] != "" {
		return s.conversationsInfo(p)
	}
	var users []*SlackUser
	for id := range strings.SplitSeq(p["users"], ",") {
		u := s.users[strings.TrimSpace(id)]
		if u == nil {
			return nil, no("user_not_found")
		}
		users = append(users, u)
	}
	if len(users) != 1 {
		return map[string]any{"channel": map[string]any{"id": s.openRoom(&slackRoom{kind: "mpim", name: "mpdm"}, "G", users...).id}}, nil
	}
	if users[0].Bot != "" {
		return nil, no("cannot_dm_bot")
	}
	return map[string]any{"channel": map[string]any{"id": s.im(users[0]).id}}, nil
}

func (s *Slack) conversationsJoin(p params) (map[string]any, *slackError) {
	r := s.rooms[p["channel"]]
	switch {
	case r == nil:
		return nil, no("channel_not_found")
	case r.kind != "channel":
		return nil, no("method_not_supported_for_channel_type")
	case r.archived:
		return nil, no("is_archived")
	}
	r.members[s.me.ID] = true
	return map[string]any{"channel": r.json(s)}, nil
}

func (s *Slack) usersInfo(p params) (map[string]any, *slackError) {
	u := s.users[p["user"]]
	if u == nil {
		return nil, no("user_not_found")
	}
	return map[string]any{"user": u.json()}, nil
}

// reacted finds the message that a reaction is about.
func (s *Slack) reacted(p params) (*slackMessage, *slackError) {
	r, e := s.legible(p)
	if e != nil {
		return nil, e
	}
	m := r.find(p["timestamp"])
	switch {
	case m == nil:
		return nil, no("message_not_found")
	case p["name"] == "":
		return nil, no("no_reaction")
	case r.archived:
		return nil, no("is_archived")
	case !emojiName.MatchString(p["name"]):
		return nil, no("invalid_name")
	}
	return m, nil
}

func (s *Slack) reactionsAdd(p params) (map[string]any, *slackError) {
	m, e := s.reacted(p)
	if e != nil {
		return nil, e
	}
	if !m.react(s.me.ID, p["name"]) {
		return nil, no("already_reacted")
	}
	return nil, nil
}

func (s *Slack) reactionsRemove(p params) (map[string]any, *slackError) {
	m, e := s.reacted(p)
	if e != nil {
		return nil, e
	}
	if !m.unreact(s.me.ID, p["name"]) {
		return nil, no("no_reaction")
	}
	return nil, nil
}

// react puts an emoji below a message; false: it is there already.
func (m *slackMessage) react(user, name string) bool {
	i := slices.IndexFunc(m.reactions, func(r *slackReaction) bool { return r.name == name })
	if i < 0 {
		m.reactions = append(m.reactions, &slackReaction{name, []string{user}})
		return true
	}
	if slices.Contains(m.reactions[i].users, user) {
		return false
	}
	m.reactions[i].users = append(m.reactions[i].users, user)
	return true
}

// unreact takes it away; false: it is not there.
func (m *slackMessage) unreact(user, name string) bool {
	for i, r := range m.reactions {
		if at := slices.Index(r.users, user); r.name == name && at >= 0 {
			if r.users = slices.Delete(r.users, at, at+1); len(r.users) == 0 {
				m.reactions = slices.Delete(m.reactions, i, i+1)
			}
			return true
		}
	}
	return false
}

// connectionsOpen makes the address of a socket, good for one connection.
func (s *Slack) connectionsOpen(p params) (map[string]any, *slackError) {
	ticket := s.id("ticket-")
	s.tickets[ticket] = true
	time.AfterFunc(30*time.Second, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.tickets, ticket)
	})
	return map[string]any{"url": "ws://" + p["host"] + socketPath + "?ticket=" + ticket + "&app_id=" + slackApp}, nil
}
