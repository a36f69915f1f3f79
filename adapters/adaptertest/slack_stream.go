package adaptertest

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// streamLife is how long a message may be streamed, whatever is appended; the
// service documents no number.
const streamLife = 5 * time.Minute

// slackStream is the state of a streamed message.
type slackStream struct {
	started time.Time
	stopped bool
	tasks   []string
	doing   string // title of the task in progress
}

func (st *slackStream) alive() bool { return !st.stopped && time.Since(st.started) < streamLife }

// slackChunk is a piece of what a stream is given.
type slackChunk struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status string `json:"status"`
}

// grow appends what a call brings to a streamed message.
func (m *slackMessage) grow(p params, required bool) *slackError {
	var chunks []slackChunk
	if e := p.slackObject("chunks", "invalid_chunks", &chunks); e != nil {
		return e
	}
	if p["markdown_text"] != "" {
		chunks = append(chunks, slackChunk{Type: "markdown_text", Text: p["markdown_text"]})
	}
	if required && len(chunks) == 0 {
		return no("no_text")
	}
	for _, c := range chunks {
		switch {
		case !slices.Contains([]string{"markdown_text", "task_update", "plan_update", "blocks"}, c.Type):
			return no("invalid_chunks")
		case c.Type == "task_update" && (c.ID == "" || c.Title == ""):
			return no("invalid_chunks")
		case utf8.RuneCountInString(c.Text) > maxSlackMarkdown:
			return no("msg_too_long")
		}
	}
	for _, c := range chunks {
		m.text += c.Text
		if c.Type == "task_update" {
			m.stream.tasks = append(m.stream.tasks, strings.TrimSpace(c.ID+" "+c.Status+" "+c.Title))
			if m.stream.doing = ""; c.Status == "in_progress" {
				m.stream.doing = c.Title
			}
		}
	}
	return nil
}

func (s *Slack) startStream(p params) (map[string]any, *slackError) {
	r, e := s.writable(p, "channel")
	if e != nil {
		return nil, e
	}
	if p["thread_ts"] == "" {
		return nil, invalid("invalid_arguments", "[ERROR] missing required field: thread_ts")
	}
	if r.kind != "im" {
		switch {
		case p["recipient_team_id"] == "":
			return nil, no("missing_recipient_team_id")
		case p["recipient_user_id"] == "":
			return nil, no("missing_recipient_user_id")
		case !r.members[p["recipient_user_id"]] || s.users[p["recipient_user_id"]].Team != p["recipient_team_id"]:
			return nil, no("user_not_found")
		}
	}
	m := &slackMessage{from: s.me, username: p["username"], stream: &slackStream{started: time.Now()}}
	if m.thread, e = r.root(p["thread_ts"]); e == nil && m.thread == "" {
		e = no("thread_not_found")
	}
	if e != nil {
		return nil, e
	}
	if e := m.grow(p, false); e != nil {
		return nil, e
	}
	s.add(r, m)
	s.tell(m)
	return map[string]any{"channel": r.id, "ts": m.ts}, nil
}

// streaming finds the message of ours that is being streamed.
func (s *Slack) streaming(p params) (*slackMessage, *slackError) {
	r, e := s.writable(p, "channel")
	if e != nil {
		return nil, e
	}
	m := r.find(p["ts"])
	switch {
	case m == nil:
		return nil, no("message_not_found")
	case m.from != s.me:
		return nil, no("message_not_owned_by_app")
	case m.stream == nil || !m.stream.alive():
		return nil, no("message_not_in_streaming_state")
	}
	return m, nil
}

func (s *Slack) appendStream(p params) (map[string]any, *slackError) {
	m, e := s.streaming(p)
	if e != nil {
		return nil, e
	}
	if e := m.grow(p, true); e != nil {
		return nil, e
	}
	return map[string]any{"channel": m.room.id, "ts": m.ts}, nil
}

func (s *Slack) stopStream(p params) (map[string]any, *slackError) {
	m, e := s.streaming(p)
	if e != nil {
		return nil, e
	}
	var blocks []slackBlock
	if p["blocks"] != "" {
		if blocks, e = s.readBlocks(p["blocks"]); e != nil {
			return nil, e
		}
	}
	if e := m.readMetadata(p); e != nil {
		return nil, e
	}
	if e := m.grow(p, false); e != nil {
		return nil, e
	}
	before := m.json(s, true)
	m.stream.stopped, m.blocks = true, blocks
	s.tellChange("message_changed", m, before)
	return map[string]any{"channel": m.room.id, "ts": m.ts, "message": m.json(s, false)}, nil
}

// EndStreams closes all streams, as the service does with those that are old.
func (s *Slack) EndStreams() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rooms {
		for _, m := range r.messages {
			if m.stream != nil {
				m.stream.stopped = true
			}
		}
	}
	s.notify()
}

// Tasks lists the task updates of a streamed message: "id status title".
func (c *SlackChat) Tasks(ts string) []string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if m := c.r.find(ts); m != nil && m.stream != nil {
		return slices.Clone(m.stream.tasks)
	}
	return nil
}

// sessionThread finds the thread whose state a call sets.
func (s *Slack) sessionThread(p params) (key string, e *slackError) {
	r, e := s.writable(p, "channel_id")
	if e != nil {
		return "", e
	}
	ts, e := r.root(p["thread_ts"])
	if e == nil && ts == "" {
		e = no("thread_not_found")
	}
	return r.id + ts, e
}

// threadsSetStatus shows what the app is doing; an empty status shows nothing.
func (s *Slack) threadsSetStatus(p params) (map[string]any, *slackError) {
	key, e := s.sessionThread(p)
	if e != nil {
		return nil, e
	}
	if s.statuses[key] = p["status"]; p["status"] == "" {
		delete(s.statuses, key)
	}
	return nil, nil
}

func (s *Slack) sessionsSetStatus(p params) (map[string]any, *slackError) {
	key, e := s.sessionThread(p)
	switch {
	case e != nil:
		return nil, e
	case !slices.Contains([]string{"active", "processing", "suspended", "closed"}, p["status"]):
		return nil, no("invalid_status")
	case utf8.RuneCountInString(p["title"]) > 200:
		return nil, no("title_too_long")
	}
	s.sessions[key] = p["status"]
	return map[string]any{"status": p["status"], "agent_status": p["status"], "title": p["title"]}, nil
}
