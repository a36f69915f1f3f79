package adaptertest

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"time"
)

// SlackPost is what somebody writes.
type SlackPost struct {
	Text      string       // as it is typed
	Mention   []*SlackUser // mentioned before Text
	Files     []SentFile
	Forward   *SlackUser // Text was written by them, and is passed on
	Broadcast bool       // a reply is shown in the channel as well
	Silent    bool       // from before the app was there: it is not told
	Only      string     // "message" or "app_mention": the only signal of a mention
}

// Say writes a text and returns its ts.
func (c *SlackChat) Say(u *SlackUser, text string) string { return c.Post(u, SlackPost{Text: text}) }

// Mention writes a text that mentions the app.
func (c *SlackChat) Mention(u *SlackUser, text string) string {
	return c.Post(u, SlackPost{Text: text, Mention: []*SlackUser{c.s.me}})
}

// Reply writes a text in the thread of a message.
func (c *SlackChat) Reply(u *SlackUser, ts, text string) string { return c.Thread(ts).Say(u, text) }

// Upload sends a file with a comment.
func (c *SlackChat) Upload(u *SlackUser, comment string, f SentFile) string {
	return c.Post(u, SlackPost{Text: comment, Files: []SentFile{f}})
}

// typedLink is what the client makes a link of.
var typedLink = regexp.MustCompile(`https?://[\w.-]+\.[a-z]{2,}(?:/[\w./?=%#~+-]*)?`)

// typed is a text as the client sends it: what is not a link is escaped.
func typed(text string) string {
	var b strings.Builder
	last := 0
	for _, at := range typedLink.FindAllStringIndex(text, -1) {
		b.WriteString(unescapes.Replace(text[last:at[0]]))
		b.WriteString("<" + text[at[0]:at[1]] + ">")
		last = at[1]
	}
	b.WriteString(unescapes.Replace(text[last:]))
	return strings.TrimSpace(b.String())
}

// Post writes a message and returns its ts.
func (c *SlackChat) Post(u *SlackUser, p SlackPost) string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.thread != "" && c.r.find(c.thread) == nil {
		panic("adaptertest: a reply to message " + c.thread + ", which is not there")
	}
	c.r.members[u.ID] = true
	m := &slackMessage{from: u, thread: c.thread, broadcast: p.Broadcast, clientID: c.s.id("client-")}
	var words []string
	for _, who := range p.Mention {
		words = append(words, "<@"+who.ID+">")
	}
	m.text = strings.TrimSpace(strings.Join(append(words, typed(p.Text)), " "))
	if p.Broadcast {
		m.subtype = "thread_broadcast"
	}
	if p.Forward != nil {
		m.text = strings.Join(words, " ")
		m.attachments = []any{map[string]any{"is_msg_unfurl": true, "is_share": true, "author_id": p.Forward.ID, "author_name": p.Forward.Name,
			"author_subname": p.Forward.Name, "text": typed(p.Text), "fallback": "[today] " + p.Text, "ts": c.s.stamp(),
			"channel_id": "C0ELSEWHERE", "from_url": "https://hotel.slack.com/archives/C0ELSEWHERE/p1", "mrkdwn_in": []string{"text"}}}
	}
	for _, f := range p.Files {
		m.subtype = "file_share"
		m.files = append(m.files, c.s.keep(u, f))
	}
	c.s.add(c.r, m)
	if !p.Silent {
		c.s.signal(m, p.Only)
	}
	return m.ts
}

// keep stores a file that somebody sends. Called with mu held.
func (s *Slack) keep(u *SlackUser, sent SentFile) *slackFile {
	f := &slackFile{id: s.id("F"), name: sent.Name, title: sent.Name, mime: sent.MIME, owner: u, content: sent.Content,
		shared: true, hidden: u.Team != slackTeam}
	s.files[f.id] = f
	return f
}

// tell is signal for what is told once.
func (s *Slack) tell(m *slackMessage) { s.signal(m, "message") }

// signal tells the app of a new message. A mention is told twice, in either
// order. Called with mu held.
func (s *Slack) signal(m *slackMessage, only string) {
	message, mention := m.json(s, false), m.json(s, false)
	message["channel"], message["channel_type"], message["event_ts"] = m.room.id, m.room.kind, m.ts
	mention["type"], mention["channel"], mention["event_ts"] = "app_mention", m.room.id, m.ts
	delete(mention, "subtype")
	if m.from.Team != slackTeam {
		message["user_team"], message["source_team"], message["user_profile"] = m.from.Team, m.from.Team, map[string]any{"display_name": m.from.Name}
	}
	signals := []map[string]any{message}
	if strings.Contains(m.text, "<@"+s.me.ID+">") && m.room.kind != "im" && m.from != s.me && only != "message" {
		signals = append(signals, mention)
		if s.swap = !s.swap; s.swap {
			signals[0], signals[1] = mention, message
		}
		if only == "app_mention" {
			signals = []map[string]any{mention}
		}
	}
	for _, event := range signals {
		s.emit(m.room, m.from, event)
	}
}

// tellChange tells the app that a message is not what it was. Called with mu
// held.
func (s *Slack) tellChange(subtype string, m *slackMessage, before map[string]any) {
	event := map[string]any{"type": "message", "subtype": subtype, "hidden": true, "channel": m.room.id,
		"channel_type": m.room.kind, "ts": s.stamp(), "previous_message": before}
	event["event_ts"] = event["ts"]
	if m.deleted && len(m.room.replies(m.ts)) == 0 {
		event["deleted_ts"] = m.ts
	} else {
		event["subtype"], event["message"] = "message_changed", m.json(s, false)
	}
	s.emit(m.room, m.from, event)
}

// must finds a message that a person acts on.
func (c *SlackChat) must(ts string) *slackMessage {
	m := c.r.find(ts)
	if m == nil {
		panic("adaptertest: there is no message " + ts)
	}
	return m
}

// Edit changes the text of a person's message.
func (c *SlackChat) Edit(ts, text string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	m := c.must(ts)
	before := m.json(c.s, false)
	m.text = typed(text)
	m.edits++
	m.edited = time.Now()
	c.s.tellChange("message_changed", m, before)
}

// Unfurl adds the preview of a link to a message. The app is told of a change
// that does not change the text.
func (c *SlackChat) Unfurl(ts, title string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	m := c.must(ts)
	before := m.json(c.s, false)
	m.attachments = append(m.attachments, map[string]any{"id": len(m.attachments) + 1, "title": title, "fallback": title,
		"from_url": "https://example.org/", "original_url": "https://example.org/", "service_name": "example.org"})
	c.s.tellChange("message_changed", m, before)
}

// Delete removes a message.
func (c *SlackChat) Delete(ts string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.remove(c.must(ts))
}

// emojiName is the name of an emoji, with a skin tone perhaps.
var emojiName = regexp.MustCompile(`^[a-z0-9_+'-]+(?:::skin-tone-[2-6])?$`)

// React puts an emoji below a message, by its name: "eyes".
func (c *SlackChat) React(u *SlackUser, ts, name string) { c.reaction("reaction_added", u, ts, name) }

// Unreact takes it away.
func (c *SlackChat) Unreact(u *SlackUser, ts, name string) {
	c.reaction("reaction_removed", u, ts, name)
}

func (c *SlackChat) reaction(kind string, u *SlackUser, ts, name string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	m := c.must(ts)
	done := m.react
	if kind == "reaction_removed" {
		done = m.unreact
	}
	if !done(u.ID, name) {
		panic(fmt.Sprintf("adaptertest: %s of %s: it was so already", kind, name))
	}
	c.s.emit(c.r, u, map[string]any{"type": kind, "user": u.ID, "reaction": name, "item_user": m.from.ID,
		"item": map[string]any{"type": "message", "channel": c.r.id, "ts": ts}})
}

// Join makes a person join a channel: the app is told by two events.
func (c *SlackChat) Join(u *SlackUser) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.r.members[u.ID] = true
	m := c.s.add(c.r, &slackMessage{from: u, subtype: "channel_join", text: "<@" + u.ID + "> has joined the channel"})
	c.s.emit(c.r, u, map[string]any{"type": "member_joined_channel", "user": u.ID, "channel": c.r.id, "channel_type": "C", "team": slackTeam})
	c.s.tell(m)
}

// Invite makes somebody let the app into a channel; nil: it comes by itself.
func (c *SlackChat) Invite(by *SlackUser) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.r.members[c.s.me.ID] = true
	event := map[string]any{"type": "member_joined_channel", "user": c.s.me.ID, "channel": c.r.id, "channel_type": "C", "team": slackTeam}
	if by != nil {
		c.r.members[by.ID] = true
		event["inviter"] = by.ID
	}
	c.s.emit(c.r, c.s.me, event)
}

// Stop presses the stop button of the thread's agent session.
func (c *SlackChat) Stop(u *SlackUser) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	streams := []string{}
	for _, m := range c.r.replies(c.thread) {
		if m.stream != nil && m.stream.alive() {
			streams = append(streams, m.ts)
		}
	}
	c.s.emit(c.r, u, map[string]any{"type": "agent_session_stopped", "channel": c.r.id, "user": u.ID, "thread_ts": c.thread, "streaming_message_ts": streams})
}

// trigger makes the id with which the app may open a view.
func (s *Slack) trigger() string {
	id := s.id("trigger.")
	s.triggers[id] = time.Now()
	return id
}

// interact sends what somebody did, for which they wait. Called with mu held.
func (s *Slack) interact(r *slackRoom, u *SlackUser, payload map[string]any) {
	maps.Copy(payload, map[string]any{"token": "verification", "trigger_id": s.trigger(), "api_app_id": slackApp,
		"team":         map[string]any{"id": slackTeam, "domain": "hotel"},
		"user":         map[string]any{"id": u.ID, "username": strings.ToLower(u.Name), "name": strings.ToLower(u.Name), "team_id": u.Team},
		"channel":      map[string]any{"id": r.id, "name": r.shortName()},
		"response_url": "https://hooks.slack.com/actions/" + slackTeam + "/1/x", "enterprise": nil, "is_enterprise_install": false})
	s.push(&slackEvent{kind: "interactive", payload: encode(payload), once: true})
}

// Press presses a button below a message of the app.
func (c *SlackChat) Press(u *SlackUser, ts, action string) {
	if !c.press(u, ts, func(el slackElement) bool { return el.ActionID == action }) {
		panic("adaptertest: there is no button " + action)
	}
}

// PressValue presses the button that has the value.
func (c *SlackChat) PressValue(u *SlackUser, ts, value string) error {
	if !c.press(u, ts, func(el slackElement) bool { return el.Value == value || object(el.Text).Text == value }) {
		return fmt.Errorf("below %s there is no button with the value %q", ts, value)
	}
	return nil
}

func (c *SlackChat) press(u *SlackUser, ts string, which func(slackElement) bool) bool {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	m := c.must(ts)
	block, el, ok := m.button(which)
	if !ok {
		return false
	}
	c.pressed(u, m, block, el)
	return true
}

// Shortcut uses a message shortcut.
func (c *SlackChat) Shortcut(u *SlackUser, ts, callback string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.interact(c.r, u, map[string]any{"type": "message_action", "callback_id": callback, "message_ts": ts,
		"message": c.must(ts).json(c.s, false), "action_ts": c.s.stamp()})
}

// Slash uses a slash command. There are none in threads.
func (c *SlackChat) Slash(u *SlackUser, command, text string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.thread != "" {
		panic("adaptertest: a slash command in a thread")
	}
	c.s.push(&slackEvent{kind: "slash_commands", once: true, payload: encode(map[string]any{"token": "verification",
		"team_id": slackTeam, "team_domain": "hotel", "channel_id": c.r.id, "channel_name": c.r.shortName(), "user_id": u.ID,
		"user_name": strings.ToLower(u.Name), "command": command, "text": typed(text), "api_app_id": slackApp,
		"is_enterprise_install": "false", "response_url": "https://hooks.slack.com/commands/" + slackTeam + "/1/x", "trigger_id": c.s.trigger()})})
}
