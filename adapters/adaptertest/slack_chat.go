package adaptertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// SlackUser is a person or an app in the workspace, or connected to it.
type SlackUser struct {
	ID    string
	Name  string // as people see it
	Team  string
	Zone  string // IANA time zone
	Guest bool   // restricted to some channels
	Bot   string // bot id; empty: a person
	App   string // app id, of bots
}

func (u *SlackUser) json() map[string]any {
	profile := map[string]any{"real_name": u.Name + " Real", "real_name_normalized": u.Name + " Real",
		"display_name": u.Name, "display_name_normalized": u.Name, "team": u.Team}
	j := map[string]any{"id": u.ID, "team_id": u.Team, "name": strings.ToLower(u.Name), "real_name": u.Name + " Real",
		"deleted": false, "is_bot": u.Bot != "", "is_app_user": false, "is_admin": false, "is_owner": false,
		"is_restricted": u.Guest, "is_ultra_restricted": false, "tz": u.Zone, "updated": 1, "profile": profile}
	if u.Team != slackTeam {
		j["is_stranger"] = true
	}
	if u.Bot != "" {
		profile["bot_id"], profile["api_app_id"], profile["display_name"] = u.Bot, u.App, ""
		j["real_name"], profile["real_name"] = u.Name, u.Name
	}
	return j
}

func (s *Slack) newUser(u *SlackUser) *SlackUser {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.ID = s.id("U")
	if u.App != "" {
		u.App, u.Bot = s.id("A"), s.id("B")
	}
	s.users[u.ID] = u
	return u
}

// User makes a member of the workspace.
func (s *Slack) User(name string) *SlackUser {
	return s.newUser(&SlackUser{Name: name, Team: slackTeam, Zone: "Europe/Berlin"})
}

// Guest makes somebody who is let into some channels only.
func (s *Slack) Guest(name string) *SlackUser {
	return s.newUser(&SlackUser{Name: name, Team: slackTeam, Guest: true})
}

// Stranger makes somebody from a connected workspace.
func (s *Slack) Stranger(name string) *SlackUser {
	return s.newUser(&SlackUser{Name: name, Team: slackElse})
}

// Bot makes another app.
func (s *Slack) Bot(name string) *SlackUser {
	return s.newUser(&SlackUser{Name: name, Team: slackTeam, App: "?"})
}

// Rename gives an account another name.
func (s *Slack) Rename(u *SlackUser, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.Name = name
}

// slackRoom is a conversation's state, guarded by Slack.mu.
type slackRoom struct {
	id       string
	kind     string // channel, group (a private channel), im, mpim: the channel_type of events
	name     string
	user     *SlackUser // im: the other side
	members  map[string]bool
	messages []*slackMessage
	archived bool
	shut     string // the word with which it refuses what we write; empty: it does not
}

func (r *slackRoom) json(s *Slack) map[string]any {
	j := map[string]any{"id": r.id, "created": 1, "is_channel": r.kind == "channel", "is_group": r.kind == "group",
		"is_im": r.kind == "im", "is_mpim": r.kind == "mpim", "is_private": r.kind != "channel", "is_archived": r.archived,
		"context_team_id": slackTeam, "is_ext_shared": r.shared(s)}
	if r.kind == "im" {
		j["user"], j["is_open"] = r.user.ID, true
		return j
	}
	j["name"], j["name_normalized"] = r.name, r.name
	j["is_member"], j["num_members"] = r.members[s.me.ID], len(r.members)
	return j
}

// shortName is its name in payloads that are not of events.
func (r *slackRoom) shortName() string {
	switch r.kind {
	case "im":
		return "directmessage"
	case "group":
		return "privategroup"
	}
	return r.name
}

// shared reports whether people of another workspace are in it.
func (r *slackRoom) shared(s *Slack) bool {
	for id := range r.members {
		if s.users[id].Team != slackTeam {
			return true
		}
	}
	return false
}

// find is the message with the ts, unless it is deleted or ephemeral.
func (r *slackRoom) find(ts string) *slackMessage {
	i, ok := slices.BinarySearchFunc(r.messages, ts, func(m *slackMessage, ts string) int { return strings.Compare(m.ts, ts) })
	if !ok || r.messages[i].deleted {
		return nil
	}
	return r.messages[i]
}

// replies lists what is shown in a thread, without its root.
func (r *slackRoom) replies(ts string) (list []*slackMessage) {
	for _, m := range r.messages {
		if m.thread == ts && !m.deleted {
			list = append(list, m)
		}
	}
	return list
}

// SlackChat is a conversation, or one thread in it.
type SlackChat struct {
	s      *Slack
	r      *slackRoom
	thread string
}

// ID is the conversation's id.
func (c *SlackChat) ID() string { return c.r.id }

// ThreadTS is the ts of the thread's root; empty: the conversation itself.
func (c *SlackChat) ThreadTS() string { return c.thread }

// Thread is the thread below a message.
func (c *SlackChat) Thread(ts string) *SlackChat { return &SlackChat{c.s, c.r, ts} }

func (s *Slack) newRoom(kind, prefix, name string, members ...*SlackUser) *SlackChat {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &SlackChat{s: s, r: s.openRoom(&slackRoom{kind: kind, name: name}, prefix, members...)}
}

// openRoom adds a conversation, which we are in. Called with mu held.
func (s *Slack) openRoom(r *slackRoom, prefix string, members ...*SlackUser) *slackRoom {
	r.id, r.members = s.id(prefix), map[string]bool{s.me.ID: true}
	for _, u := range members {
		r.members[u.ID] = true
	}
	s.rooms[r.id] = r
	return r
}

// Channel makes a public channel with us in it.
func (s *Slack) Channel(name string, members ...*SlackUser) *SlackChat {
	return s.newRoom("channel", "C", name, members...)
}

// Private makes a private channel with us in it.
func (s *Slack) Private(name string, members ...*SlackUser) *SlackChat {
	return s.newRoom("group", "C", name, members...)
}

// Group makes a direct conversation of several people with us in it.
func (s *Slack) Group(members ...*SlackUser) *SlackChat {
	names := []string{strings.ToLower(s.me.Name)}
	for _, u := range members {
		names = append(names, strings.ToLower(u.Name))
	}
	return s.newRoom("mpim", "G", "mpdm-"+strings.Join(names, "--")+"-1", members...)
}

// Direct is the conversation of a person with us.
func (s *Slack) Direct(u *SlackUser) *SlackChat {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &SlackChat{s: s, r: s.im(u)}
}

// im finds or makes a person's conversation with us. Called with mu held.
func (s *Slack) im(u *SlackUser) *slackRoom {
	for _, r := range s.rooms {
		if r.user == u {
			return r
		}
	}
	return s.openRoom(&slackRoom{kind: "im", user: u}, "D", u)
}

// Leave takes us out of a channel.
func (c *SlackChat) Leave() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	delete(c.r.members, c.s.me.ID)
}

// Archive archives a channel.
func (c *SlackChat) Archive(by *SlackUser) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.r.archived = true
	c.s.emit(c.r, by, map[string]any{"type": "channel_archive", "channel": c.r.id, "user": by.ID})
}

// Shut makes a conversation refuse what we write, with Slack's own word for
// it: "restricted_action", "messages_tab_disabled".
func (c *SlackChat) Shut(word string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.r.shut = word
}

// Shown lists what a person sees now, oldest first: in the thread, if the chat
// is one, without its root; else outside all threads.
func (c *SlackChat) Shown() []Shown {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	var list []Shown
	for _, m := range c.r.messages {
		if m.thread == c.thread && !m.deleted && !m.service() {
			list = append(list, c.s.shown(m))
		}
	}
	return list
}

// shown is a message as a person sees it. Called with mu held.
func (s *Slack) shown(m *slackMessage) Shown {
	text, pings := s.render(m)
	sh := Shown{ID: m.ts, From: m.name(), Own: m.from == s.me, Text: text, Pings: pings, Topic: m.thread, Edits: m.edits, Source: m.text}
	if m.stream != nil && m.stream.alive() && len(m.stream.tasks) > 0 {
		sh.Status = strings.SplitN(m.stream.tasks[len(m.stream.tasks)-1], " ", 3)[2]
	}
	var source []string
	for _, b := range m.blocks {
		if b.Type == "markdown" {
			source = append(source, str(b.Text))
		}
		for _, el := range b.Elements {
			if el.Type == "button" {
				sh.Buttons = append(sh.Buttons, object(el.Text).Text)
			}
		}
	}
	if len(source) > 0 {
		sh.Source = strings.Join(source, "\n")
	}
	for _, f := range m.files {
		sh.Files = append(sh.Files, SentFile{f.name, f.mime, f.content})
	}
	return sh
}

// Reactions lists the emoji below a message, each with the ids of who gave it:
// "eyes U0BELLHOP1".
func (c *SlackChat) Reactions(ts string) (list []string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if m := c.r.find(ts); m != nil {
		for _, re := range m.reactions {
			list = append(list, re.name+" "+strings.Join(re.users, " "))
		}
	}
	return list
}

// Status is what assistant.threads.setStatus shows in the thread now.
func (c *SlackChat) Status() string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.s.statuses[c.r.id+c.thread]
}

// Session is the state of the thread's agent session; empty: there is none.
func (c *SlackChat) Session() string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.s.sessions[c.r.id+c.thread]
}

// String is what people see in all conversations: a golden file's form.
func (s *Slack) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(s.rooms)) {
		r := s.rooms[id]
		title := r.name
		if r.user != nil {
			title = r.user.Name
		}
		fmt.Fprintf(&b, "== %s %s %s\n", r.kind, r.id, title)
		for _, m := range r.messages {
			if m.thread == "" && !m.service() {
				s.dump(&b, m, "")
				for _, reply := range r.replies(m.ts) {
					s.dump(&b, reply, "\t")
				}
			}
		}
	}
	return b.String()
}

func (s *Slack) dump(b *strings.Builder, m *slackMessage, indent string) {
	if m.deleted && len(m.room.replies(m.ts)) == 0 {
		return
	}
	sh := s.shown(m)
	edited := ""
	if sh.Edits > 0 {
		edited = " (edited)"
	}
	if m.deleted {
		sh.From, sh.Text = "nobody", "This message was deleted."
	}
	fmt.Fprintf(b, "%s%s: %s%s\n", indent, sh.From, strings.ReplaceAll(sh.Text, "\n", "\n\t"+indent), edited)
}
