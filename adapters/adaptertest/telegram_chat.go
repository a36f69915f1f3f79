package adaptertest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// TelegramUser is a person or a bot on the platform.
type TelegramUser struct {
	ID       int64
	Name     string
	Username string // may be empty
	Bot      bool
}

func (u *TelegramUser) json() map[string]any {
	m := map[string]any{"id": u.ID, "is_bot": u.Bot, "first_name": u.Name}
	if u.Username != "" {
		m["username"] = u.Username
	}
	return m
}

// User is the person with the id; another name renames them.
func (t *Telegram) User(id int64, name string) *TelegramUser {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.users[id]
	if u == nil {
		u = &TelegramUser{ID: id}
		t.users[id] = u
	}
	u.Name = name
	return u
}

// Bot is another bot.
func (t *Telegram) Bot(id int64, username string) *TelegramUser {
	u := t.User(id, username)
	u.Username, u.Bot = username, true
	return u
}

// room is a chat's state, guarded by Telegram.mu.
type room struct {
	id       int64
	kind     string // private, group, supergroup
	title    string
	user     *TelegramUser // private: the other side
	forum    bool
	topics   map[int]string // names by message_thread_id
	messages map[int]*message
	order    []*message
	lastID   int    // supergroups count for themselves
	shut     string // why the bot may not write; empty: it may
	movedTo  int64
	rank     string // what the bot is in a group; empty: an admin with all rights
	topical  bool   // everybody may make topics
}

func (r *room) json() map[string]any {
	m := map[string]any{"id": r.id, "type": r.kind}
	if r.user != nil {
		m["first_name"] = r.user.Name
		if r.user.Username != "" {
			m["username"] = r.user.Username
		}
		return m
	}
	m["title"] = r.title
	if r.forum {
		m["is_forum"] = true
	}
	return m
}

// TelegramChat is a chat, or one topic of it.
type TelegramChat struct {
	t     *Telegram
	r     *room
	topic int
}

// ID is the chat's id.
func (c *TelegramChat) ID() int64 { return c.r.id }

// TopicID is the topic's message_thread_id; 0: the whole chat, or General.
func (c *TelegramChat) TopicID() int { return c.topic }

func (t *Telegram) newRoom(r *room) *TelegramChat {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.openRoom(r)
}

// openRoom adds a chat, unless it is there already. Called with mu held.
func (t *Telegram) openRoom(r *room) *TelegramChat {
	if r.id == 0 {
		t.lastGroup++
		r.id = -t.lastGroup
		if r.kind == "supergroup" {
			r.id -= 1_000_000_000_000
			r.lastID = 1 // the chat's creation; the General topic has this id
		}
	}
	if t.rooms[r.id] == nil {
		r.messages, r.topics = map[int]*message{}, map[int]string{}
		t.rooms[r.id] = r
	}
	return &TelegramChat{t: t, r: t.rooms[r.id]}
}

// Private is the chat of a person with the bot.
func (t *Telegram) Private(u *TelegramUser) *TelegramChat {
	return t.newRoom(&room{id: u.ID, kind: "private", user: u})
}

// Group makes a basic group that the bot is in.
func (t *Telegram) Group(title string) *TelegramChat {
	return t.newRoom(&room{kind: "group", title: title})
}

// Supergroup makes a supergroup that the bot is in.
func (t *Telegram) Supergroup(title string) *TelegramChat {
	return t.newRoom(&room{kind: "supergroup", title: title})
}

// Forum makes a supergroup with topics; the chat itself stands for General.
func (t *Telegram) Forum(title string) *TelegramChat {
	return t.newRoom(&room{kind: "supergroup", title: title, forum: true})
}

// Topic makes a topic in a forum, or in a private chat if the bot has topics
// there; the bot sees a service message.
func (c *TelegramChat) Topic(by *TelegramUser, name string) *TelegramChat {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	if !c.r.forum && !(c.r.kind == "private" && c.t.opt.Topics) {
		panic("adaptertest: a chat without topics: " + c.r.title)
	}
	return &TelegramChat{c.t, c.r, c.t.openTopic(c.r, by, name)}
}

// openTopic makes a topic and returns its id. Called with mu held.
func (t *Telegram) openTopic(r *room, by *TelegramUser, name string) int {
	m := &message{from: by, extra: map[string]any{"forum_topic_created": map[string]any{"name": name, "icon_color": 7322096}}}
	t.number(r, m)
	m.topic = m.id
	r.topics[m.id] = name
	t.add(r, m)
	t.deliver("message", m)
	return m.id
}

// Block makes the person of a private chat block the bot.
func (c *TelegramChat) Block() {
	c.member("kicked", "bot was blocked by the user")
}

// Unblock takes Block back.
func (c *TelegramChat) Unblock() { c.member("member", "") }

// Kick removes the bot from a group.
func (c *TelegramChat) Kick() {
	c.member("kicked", "bot was kicked from the "+c.r.kind+" chat")
}

// Add makes somebody add the bot to a group that it was not in.
func (c *TelegramChat) Add(by *TelegramUser) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.r.shut = ""
	c.t.seat(c.r, by, "left", "member")
}

// member changes what the bot is in a chat.
func (c *TelegramChat) member(status, shut string) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	before := "member"
	if c.r.shut != "" {
		before = "kicked"
	}
	c.r.shut = shut
	by := c.r.user
	if by == nil {
		by = anonymousAdmin
	}
	c.t.seat(c.r, by, before, status)
}

// seat tells of a change of what the bot is in a chat. Called with mu held.
func (t *Telegram) seat(r *room, by *TelegramUser, before, status string) {
	t.enqueue("my_chat_member", map[string]any{
		"chat": r.json(), "from": by.json(), "date": time.Now().Unix(),
		"old_chat_member": map[string]any{"user": t.me.json(), "status": before, "until_date": 0},
		"new_chat_member": map[string]any{"user": t.me.json(), "status": status, "until_date": 0},
	})
}

// Migrate turns a basic group into a supergroup, which has another id, and
// tells so in both.
func (c *TelegramChat) Migrate() *TelegramChat {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	if c.r.kind != "group" {
		panic("adaptertest: only a basic group migrates")
	}
	to := c.t.openRoom(&room{kind: "supergroup", title: c.r.title})
	c.r.movedTo = to.r.id
	old := c.t.add(c.r, &message{from: anonymousAdmin, extra: map[string]any{"migrate_to_chat_id": to.r.id}})
	c.t.deliver("message", old)
	fresh := c.t.add(to.r, &message{from: anonymousAdmin, extra: map[string]any{"migrate_from_chat_id": c.r.id}})
	c.t.deliver("message", fresh)
	return to
}

// Shown lists what a person sees in the chat now, oldest first, without
// service messages: in the topic if the chat is one, else in all of it.
func (c *TelegramChat) Shown() []Shown {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	var list []Shown
	for _, m := range c.r.order {
		if m.deleted || m.service() || c.topic != 0 && m.topic != c.topic {
			continue
		}
		s := Shown{ID: itoa(m.id), Own: m.from == c.t.me, Text: m.text, Source: m.source, Edits: m.edits, Files: m.files}
		for _, b := range slices.Concat(m.keyboard...) {
			s.Buttons = append(s.Buttons, b.Text)
		}
		if m.from != nil {
			s.From = m.from.Name
		}
		if m.topic != 0 {
			s.Topic = itoa(m.topic)
		}
		if m.replyTo != nil && !m.replyTo.deleted {
			s.ReplyTo = itoa(m.replyTo.id)
		}
		list = append(list, s)
	}
	return list
}

// Reaction is the bot's reaction to a message.
func (c *TelegramChat) Reaction(id int) string {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	if m := c.r.find(id); m != nil {
		return m.reaction
	}
	return ""
}

// String is what people see in all chats: a golden file's form.
func (t *Telegram) String() string {
	t.mu.Lock()
	rooms := make([]*room, 0, len(t.rooms))
	for _, r := range t.rooms {
		rooms = append(rooms, r)
	}
	t.mu.Unlock()
	slices.SortFunc(rooms, func(a, b *room) int { return int(b.id - a.id) })
	var b strings.Builder
	for _, r := range rooms {
		title := r.title
		if r.user != nil {
			title = r.user.Name
		}
		fmt.Fprintf(&b, "== %s %d %s\n", r.kind, r.id, title)
		for _, s := range (&TelegramChat{t: t, r: r}).Shown() {
			fmt.Fprintf(&b, "%s", s.ID)
			if s.Topic != "" {
				fmt.Fprintf(&b, " in %s", s.Topic)
			}
			if s.ReplyTo != "" {
				fmt.Fprintf(&b, " to %s", s.ReplyTo)
			}
			if s.Edits > 0 {
				fmt.Fprintf(&b, " edited")
			}
			fmt.Fprintf(&b, " %s: %s\n", s.From, strings.ReplaceAll(s.Text, "\n", "\n\t"))
		}
	}
	return b.String()
}
