package adaptertest

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// DiscordUser is a person, a bot, or a webhook.
type DiscordUser struct {
	ID      string
	Name    string // as people see it
	Bot     bool
	Webhook bool

	joined time.Time
}

func (u *DiscordUser) json() map[string]any {
	out := map[string]any{"id": u.ID, "username": strings.ToLower(u.Name), "global_name": u.Name, "discriminator": "0", "avatar": nil}
	if u.Bot || u.Webhook {
		out["bot"] = true
		out["username"], out["global_name"] = u.Name, nil
	}
	return out
}

// join makes a user. Called with mu held, or before anybody else has d.
func (d *Discord) join(u DiscordUser) *DiscordUser {
	u.ID, u.joined = d.id(), time.Now()
	d.users[u.ID] = &u
	return &u
}

// User makes a person in the server.
func (d *Discord) User(name string) *DiscordUser {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.join(DiscordUser{Name: name})
}

// Bot makes another bot.
func (d *Discord) Bot(name string) *DiscordUser {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.join(DiscordUser{Name: name, Bot: true})
}

// Webhook makes a webhook, which may call itself by anybody's name.
func (d *Discord) Webhook(name string) *DiscordUser {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.join(DiscordUser{Name: name, Webhook: true})
}

// Rename gives a user another name.
func (d *Discord) Rename(u *DiscordUser, name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u.Name = name
}

// Channel makes a channel for text.
func (d *Discord) Channel(name string) *DiscordChat { return d.found(discordText, name) }

// Forum makes a channel that holds nothing but threads.
func (d *Discord) Forum(name string) *DiscordChat { return d.found(discordForum, name) }

func (d *Discord) found(kind int, name string) *DiscordChat {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &DiscordChat{d: d, id: d.id(), kind: kind, name: name}
	d.chats[c.id] = c
	d.tell("CHANNEL_CREATE", c, c.json(d))
	return c
}

// Direct is the conversation of a user with the bot.
func (d *Discord) Direct(u *DiscordUser) *DiscordChat {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.direct(u)
}

func (d *Discord) direct(u *DiscordUser) *DiscordChat {
	for _, c := range d.chats {
		if c.with == u {
			return c
		}
	}
	c := &DiscordChat{d: d, id: d.id(), kind: discordDM, with: u}
	d.chats[c.id] = c
	return c
}

// Open makes a thread of a channel, or a post of a forum, which begins with a
// text; its id is then that of its first message.
func (c *DiscordChat) Open(u *DiscordUser, name, text string) *DiscordChat {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	t := &DiscordChat{d: c.d, id: c.d.id(), kind: discordThread, name: name, parent: c, owner: u}
	c.d.chats[t.id] = t
	created := t.json(c.d)
	created["newly_created"] = true
	c.d.tell("THREAD_CREATE", t, created)
	if c.kind == discordForum {
		c.d.add(&discordMessage{id: t.id, chat: t, from: u, text: text})
	}
	return t
}

// Thread is the thread of a message, which somebody opens if there is none.
func (c *DiscordChat) Thread(message string) *DiscordChat {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	if t := c.d.chats[message]; t != nil {
		return t
	}
	m := c.must(message)
	return c.d.branch(m, m.from, "thread")
}

// Branch is the thread of a message; nil: there is none.
func (c *DiscordChat) Branch(message string) *DiscordChat {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return c.d.chats[message]
}

// must finds a message that a person acts on.
func (c *DiscordChat) must(id string) *discordMessage {
	m := c.find(id)
	if m == nil {
		panic("adaptertest: there is no message " + id)
	}
	return m
}

// DiscordPost is what somebody writes.
type DiscordPost struct {
	Text    string // Discord's own Markdown
	Mention []*DiscordUser
	ReplyTo string // a message of the same chat
	Forward string // a text from elsewhere, which goes without any other
	Files   []SentFile
	Signals int // how often the gateway tells of it; 0 is 1
}

// Post writes a message and returns its id.
func (c *DiscordChat) Post(u *DiscordUser, p DiscordPost) string {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	m := &discordMessage{chat: c, from: u, forward: p.Forward}
	var words []string
	for _, other := range p.Mention {
		words = append(words, "<@"+other.ID+">")
	}
	m.text = strings.TrimSpace(strings.Join(append(words, p.Text), " "))
	if p.ReplyTo != "" {
		m.kind, m.refers = discordReply, c.must(p.ReplyTo)
	}
	for _, f := range p.Files {
		m.files = append(m.files, c.d.attach(c, f))
	}
	m.call(c.d, discordMentions{})
	c.d.reopen(c)
	c.d.add(m)
	for range p.Signals - 1 {
		c.d.tell("MESSAGE_CREATE", c, m.event(c.d))
	}
	return m.id
}

// Edit changes the text of a person's message.
func (c *DiscordChat) Edit(id, text string) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	m := c.must(id)
	m.text = text
	m.call(c.d, discordMentions{})
	c.d.edited(m)
}

// Unfurl tells of a message whose link has got a preview.
func (c *DiscordChat) Unfurl(id string) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	m := c.must(id)
	c.d.tell("MESSAGE_UPDATE", c, m.event(c.d))
}

// Delete removes a message.
func (c *DiscordChat) Delete(id string) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.must(id).deleted = true
	event := map[string]any{"id": id, "channel_id": c.id}
	if c.with == nil {
		event["guild_id"] = c.d.guild
	}
	c.d.tell("MESSAGE_DELETE", c, event)
}

// React puts an emoji below a message.
func (c *DiscordChat) React(u *DiscordUser, id, emoji string) { c.mark(u, id, emoji, false) }

// Unreact takes it away.
func (c *DiscordChat) Unreact(u *DiscordUser, id, emoji string) { c.mark(u, id, emoji, true) }

func (c *DiscordChat) mark(u *DiscordUser, id, emoji string, removed bool) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.d.mark(c.must(id), u, emoji, removed)
}

// Join tells that somebody has joined the server.
func (c *DiscordChat) Join(u *DiscordUser) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.d.add(&discordMessage{chat: c, kind: discordJoined, from: u})
}

// Archive closes a thread; one that is locked only moderators reopen.
func (c *DiscordChat) Archive(locked bool) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.archived, c.locked = true, locked
	c.d.tell("THREAD_UPDATE", c, c.json(c.d))
}

// Shut forbids us to write: a channel for lack of a permission, a conversation
// because the person takes no messages of ours.
func (c *DiscordChat) Shut() {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.refuses = 50013
	if c.with != nil {
		c.refuses = 50007
	}
}

// Hide makes a channel one that we cannot see.
func (c *DiscordChat) Hide() {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.hidden = true
}

// ForbidThreads forbids us to open threads in a channel.
func (c *DiscordChat) ForbidThreads() {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.threadless = 50013
}

// Shown is what people see, oldest first.
func (c *DiscordChat) Shown() (list []Shown) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	for _, m := range c.messages {
		if !m.deleted && m.whisper == nil && m.kind != discordStarter && m.kind != discordJoined {
			list = append(list, m.shown(c.d))
		}
	}
	return list
}

// Whispers is what only u sees.
func (c *DiscordChat) Whispers(u *DiscordUser) (list []Shown) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	for _, m := range c.messages {
		if m.whisper == u {
			list = append(list, m.shown(c.d))
		}
	}
	return list
}

// Marks lists the emoji that u has put below a message.
func (c *DiscordChat) Marks(u *DiscordUser, id string) (list []string) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	m := c.must(id)
	for _, emoji := range slices.Sorted(maps.Keys(m.marks)) {
		if slices.Contains(m.marks[emoji], u) {
			list = append(list, emoji)
		}
	}
	return list
}
