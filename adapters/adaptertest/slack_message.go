package adaptertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// slackMessage is one message in a conversation, guarded by Slack.mu.
type slackMessage struct {
	room        *slackRoom
	ts          string
	thread      string // ts of its thread's root; empty: it is in no thread, or a root
	from        *SlackUser
	username    string // shown instead of the sender's
	subtype     string
	text        string // mrkdwn, as the platform stores it
	blocks      []slackBlock
	attachments []any
	metadata    json.RawMessage
	files       []*slackFile
	reactions   []*slackReaction
	stream      *slackStream // nil: it was not streamed
	plain       bool         // sent with mrkdwn=false
	broadcast   bool
	clientID    string // of the client it was written with
	edited      time.Time
	edits       int
	deleted     bool
}

type slackReaction struct {
	name  string
	users []string
}

// service reports whether it tells of what happened, and nobody has said it.
func (m *slackMessage) service() bool { return strings.HasSuffix(m.subtype, "_join") }

func (m *slackMessage) name() string {
	if m.username != "" {
		return m.username
	}
	return m.from.Name
}

// add puts a message into a conversation. Called with mu held.
func (s *Slack) add(r *slackRoom, m *slackMessage) *slackMessage {
	m.room, m.ts = r, s.stamp()
	r.messages = append(r.messages, m)
	if m.from == s.me {
		delete(s.statuses, r.id+m.thread) // the status goes when the app posts
	}
	s.notify()
	return m
}

// json is the message as the methods give it. Called with mu held.
func (m *slackMessage) json(s *Slack, withMetadata bool) map[string]any {
	j := map[string]any{"type": "message", "user": m.from.ID, "team": m.from.Team, "text": m.text, "ts": m.ts}
	if m.deleted {
		return map[string]any{"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "hidden": true,
			"text": "This message was deleted.", "ts": m.ts, "thread_ts": m.ts}
	}
	if m.from.Bot != "" {
		j["bot_id"], j["app_id"] = m.from.Bot, m.from.App
		j["bot_profile"] = map[string]any{"id": m.from.Bot, "app_id": m.from.App, "name": m.from.Name, "team_id": m.from.Team, "deleted": false}
	} else {
		j["client_msg_id"] = m.clientID
	}
	if m.subtype != "" {
		j["subtype"] = m.subtype
	}
	if m.username != "" {
		j["username"] = m.username
	}
	if len(m.blocks) > 0 {
		j["blocks"] = s.translated(m)
	}
	if len(m.attachments) > 0 {
		j["attachments"] = m.attachments
	}
	if withMetadata && m.metadata != nil {
		j["metadata"] = m.metadata
	}
	if !m.edited.IsZero() {
		j["edited"] = map[string]any{"user": m.from.ID, "ts": fmt.Sprintf("%010d.000000", m.edited.Unix())}
	}
	if m.stream != nil && m.stream.alive() {
		j["streaming_state"] = "in_progress"
	}
	m.filesJSON(j)
	m.threadJSON(j)
	if len(m.reactions) > 0 {
		var list []any
		for _, r := range m.reactions {
			list = append(list, map[string]any{"name": r.name, "users": r.users, "count": len(r.users)})
		}
		j["reactions"] = list
	}
	return j
}

func (m *slackMessage) filesJSON(j map[string]any) {
	if len(m.files) == 0 {
		return
	}
	var files []any
	for _, f := range m.files {
		files = append(files, f.json())
	}
	// The service writes display_as_bot as it happens to be at hand: here, as
	// a string.
	j["files"], j["upload"], j["display_as_bot"] = files, false, "false"
}

// threadJSON adds what the platform says about a message's thread.
func (m *slackMessage) threadJSON(j map[string]any) {
	replies := m.room.replies(m.ts)
	switch {
	case m.thread != "":
		j["thread_ts"] = m.thread
		if root := m.room.find(m.thread); root != nil {
			j["parent_user_id"] = root.from.ID
		}
	case len(replies) > 0:
		users := map[string]bool{}
		for _, r := range replies {
			users[r.from.ID] = true
		}
		j["thread_ts"], j["reply_count"] = m.ts, len(replies)
		j["reply_users"], j["latest_reply"] = slices.Sorted(maps.Keys(users)), replies[len(replies)-1].ts
	}
}

// The limits of a message.
const (
	maxSlackText     = 40_000
	maxSlackMarkdown = 12_000
	maxSlackMetadata = 16 << 10
)

// writable finds the conversation a call is for, if we may write there.
func (s *Slack) writable(p params, key string) (*slackRoom, *slackError) {
	r, e := s.readable(p, key)
	switch {
	case e != nil:
		return nil, e
	case r.archived:
		return nil, no("is_archived")
	case !r.members[s.me.ID]:
		return nil, no("not_in_channel")
	case r.shut != "":
		return nil, no(r.shut)
	}
	return r, nil
}

// readable finds the conversation a call is for: a public one, or one that we
// are in.
func (s *Slack) readable(p params, key string) (*slackRoom, *slackError) {
	id := p[key]
	if u := s.users[id]; u != nil && key == "channel" && u.Bot == "" {
		return s.im(u), nil // a message to a person
	}
	r := s.rooms[id]
	if r == nil || r.kind != "channel" && !r.members[s.me.ID] {
		return nil, no("channel_not_found")
	}
	return r, nil
}

// root checks the thread that a call names. What answers a deleted message
// that nobody else has answered is in no thread.
func (r *slackRoom) root(ts string) (string, *slackError) {
	if ts == "" {
		return "", nil
	}
	i := slices.IndexFunc(r.messages, func(m *slackMessage) bool { return m.ts == ts })
	switch {
	case i < 0:
		return "", no("thread_not_found")
	case r.messages[i].thread != "" || r.messages[i].service():
		return "", no("cannot_reply_to_message")
	case r.messages[i].deleted && len(r.replies(ts)) == 0:
		return "", nil
	}
	return ts, nil
}

// content reads what a call wants to show into the message; what it does not
// mention stays.
func (s *Slack) content(p params, m *slackMessage) *slackError {
	if p["markdown_text"] != "" && (p["text"] != "" || p["blocks"] != "") {
		return no("markdown_text_conflict")
	}
	if utf8.RuneCountInString(p["text"]) > maxSlackText || utf8.RuneCountInString(p["markdown_text"]) > maxSlackMarkdown {
		return no("msg_too_long")
	}
	if p["text"] != "" {
		m.text, m.blocks = normalise(p["text"]), nil
		m.plain = p["mrkdwn"] == "false"
	}
	if p["markdown_text"] != "" {
		m.text, m.blocks = p["markdown_text"], []slackBlock{{Type: "markdown", Text: encode(p["markdown_text"])}}
	}
	if p["blocks"] != "" {
		blocks, e := s.readBlocks(p["blocks"])
		if e != nil {
			return e
		}
		if m.blocks = blocks; p["text"] == "" && len(blocks) > 0 {
			m.text = "" // the service builds one of the blocks
		}
	}
	if e := p.slackObject("attachments", "invalid_attachments", &m.attachments); e != nil {
		return e
	}
	if len(m.attachments) > 100 {
		return no("too_many_attachments")
	}
	if e := m.readMetadata(p); e != nil {
		return e
	}
	if strings.TrimSpace(m.text) == "" && len(m.blocks)+len(m.attachments)+len(m.files) == 0 {
		return no("no_text")
	}
	return nil
}

func (m *slackMessage) readMetadata(p params) *slackError {
	if p["metadata"] == "" {
		return nil
	}
	var meta struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"event_payload"`
	}
	switch {
	case len(p["metadata"]) > maxSlackMetadata:
		return no("metadata_too_large")
	case strings.TrimSpace(p["metadata"]) == "{}":
		m.metadata = nil
		return nil
	case json.Unmarshal([]byte(p["metadata"]), &meta) != nil, meta.Type == "", meta.Payload == nil:
		return no("invalid_metadata_format")
	}
	m.metadata = json.RawMessage(p["metadata"])
	return nil
}

func (s *Slack) postMessage(p params) (map[string]any, *slackError) {
	r, e := s.writable(p, "channel")
	if e != nil {
		return nil, e
	}
	m := &slackMessage{from: s.me, username: p["username"], broadcast: p.bool("reply_broadcast")}
	if m.thread, e = r.root(p["thread_ts"]); e != nil {
		return nil, e
	}
	if m.files, e = s.attached(p); e != nil {
		return nil, e
	}
	if e := s.content(p, m); e != nil {
		return nil, e
	}
	s.add(r, m)
	s.tell(m)
	return map[string]any{"channel": r.id, "ts": m.ts, "message": m.json(s, false)}, nil
}

// own finds the message of ours that a call is for.
func (s *Slack) own(p params, foreign string) (*slackRoom, *slackMessage, *slackError) {
	r := s.rooms[p["channel"]]
	if r == nil || r.kind != "channel" && !r.members[s.me.ID] {
		return nil, nil, no("channel_not_found")
	}
	m := r.find(p["ts"])
	switch {
	case m == nil:
		return nil, nil, no("message_not_found")
	case m.from != s.me:
		return nil, nil, no(foreign)
	}
	return r, m, nil
}

func (s *Slack) updateMessage(p params) (map[string]any, *slackError) {
	r, m, e := s.own(p, "cant_update_message")
	switch {
	case e != nil:
		return nil, e
	case r.archived:
		return nil, no("is_inactive")
	case r.shut != "":
		return nil, no(r.shut)
	case m.stream != nil && m.stream.alive():
		return nil, no("streaming_state_conflict")
	case p["text"] == "" && p["blocks"] == "" && p["markdown_text"] == "" && p["attachments"] == "":
		return nil, no("no_text")
	}
	fresh := *m
	fresh.stream = nil
	if e := s.content(p, &fresh); e != nil {
		return nil, e
	}
	before := m.json(s, true)
	*m = fresh
	m.edits++
	if len(m.blocks) == 0 {
		m.edited = time.Now() // what has blocks is not marked as edited
	}
	s.tellChange("message_changed", m, before)
	return map[string]any{"channel": r.id, "ts": m.ts, "text": m.text, "message": m.json(s, false)}, nil
}

func (s *Slack) deleteMessage(p params) (map[string]any, *slackError) {
	r, m, e := s.own(p, "cant_delete_message")
	if e != nil {
		return nil, e
	}
	s.remove(m)
	return map[string]any{"channel": r.id, "ts": m.ts}, nil
}

// remove deletes a message and tells the app. Called with mu held.
func (s *Slack) remove(m *slackMessage) {
	before := m.json(s, true)
	m.deleted = true
	s.tellChange("message_deleted", m, before)
	s.notify()
}

func (s *Slack) postEphemeral(p params) (map[string]any, *slackError) {
	r, e := s.writable(p, "channel")
	if e != nil {
		return nil, e
	}
	if !r.members[p["user"]] {
		return nil, no("user_not_in_channel")
	}
	m := &slackMessage{from: s.me, room: r, thread: p["thread_ts"]}
	if e := s.content(p, m); e != nil {
		return nil, e
	}
	text, _ := s.render(m)
	s.whispers = append(s.whispers, SlackWhisper{Channel: r.id, Thread: m.thread, To: p["user"], Text: text})
	return map[string]any{"message_ts": s.stamp()}, nil
}
