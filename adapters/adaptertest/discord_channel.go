package adaptertest

import (
	"slices"
	"time"
	"unicode/utf8"
)

// The kinds of channel.
const (
	discordText   = 0
	discordDM     = 1
	discordThread = 11
	discordForum  = 15
)

// DiscordChat is a channel, a thread, a forum, or a direct conversation.
type DiscordChat struct {
	d      *Discord
	id     string
	kind   int
	name   string
	parent *DiscordChat // of a thread
	with   *DiscordUser // of a direct conversation
	owner  *DiscordUser // of a thread: who has opened it

	messages   []*discordMessage // guarded by d.mu, as is all below
	archived   bool
	locked     bool
	hidden     bool // we cannot see it
	refuses    int  // the code with which we may not write; 0: we may
	threadless int  // the code with which we may not open threads; 0: we may
	flags      int
}

// ID is the platform's.
func (c *DiscordChat) ID() string { return c.id }

func (c *DiscordChat) json(d *Discord) map[string]any {
	out := map[string]any{"id": c.id, "type": c.kind, "last_message_id": nil}
	if n := len(c.messages); n > 0 {
		out["last_message_id"] = c.messages[n-1].id
	}
	if c.with != nil {
		out["recipients"] = []any{c.with.json()}
		return out
	}
	out["guild_id"], out["name"], out["flags"] = d.guild, c.name, c.flags
	if c.kind == discordThread {
		out["parent_id"], out["owner_id"] = c.parent.id, c.owner.ID
		out["thread_metadata"] = map[string]any{"archived": c.archived, "locked": c.locked, "auto_archive_duration": 1440}
	}
	return out
}

// find is a message that is there; nil: none.
func (c *DiscordChat) find(id string) *discordMessage {
	i := slices.IndexFunc(c.messages, func(m *discordMessage) bool { return m.id == id && !m.deleted })
	if i < 0 {
		return nil
	}
	return c.messages[i]
}

// visible is the channel that a call is about. Called with mu held.
func (d *Discord) visible(c *discordCall) (*DiscordChat, *discordError) {
	chat := d.chats[c.ids["channel"]]
	switch {
	case chat == nil:
		return nil, discordNo(10003)
	case chat.hidden, chat.parent != nil && chat.parent.hidden:
		return nil, discordNo(50001)
	}
	return chat, nil
}

// message is the message that a call is about. Called with mu held.
func (d *Discord) message(c *discordCall) (*DiscordChat, *discordMessage, *discordError) {
	chat, e := d.visible(c)
	if e != nil {
		return nil, nil, e
	}
	m := chat.find(c.ids["message"])
	if m == nil || m.whisper != nil {
		return nil, nil, discordNo(10008)
	}
	return chat, m, nil
}

// add gives a message its id and tells of it. Called with mu held.
func (d *Discord) add(m *discordMessage) {
	if m.id == "" {
		m.id = d.id()
	}
	m.born = time.Now()
	m.chat.messages = append(m.chat.messages, m)
	if m.whisper == nil {
		event := m.event(d)
		if m.nonce != "" {
			event["nonce"] = m.nonce
		}
		d.tell("MESSAGE_CREATE", m.chat, event)
	}
}

// reopen unarchives a thread in which something is said. Called with mu held.
func (d *Discord) reopen(c *DiscordChat) {
	if c.archived {
		c.archived = false
		d.tell("THREAD_UPDATE", c, c.json(d))
	}
}

func (d *Discord) getMe(*discordCall) (any, *discordError) { return d.me.json(), nil }

func (d *Discord) openDirect(c *discordCall) (any, *discordError) {
	var b struct {
		Recipient string `json:"recipient_id"`
	}
	if e := c.decode(&b); e != nil {
		return nil, e
	}
	u := d.users[b.Recipient]
	if u == nil || u.Webhook {
		return nil, discordNo(10013)
	}
	return d.direct(u).json(d), nil
}

func (d *Discord) getChannel(c *discordCall) (any, *discordError) {
	chat, e := d.visible(c)
	if e != nil {
		return nil, e
	}
	return chat.json(d), nil
}

// editChannel reopens a thread, which everybody may unless it is locked, or names
// it, which who has opened it may.
func (d *Discord) editChannel(c *discordCall) (any, *discordError) {
	chat, e := d.visible(c)
	if e != nil {
		return nil, e
	}
	var b struct {
		Archived *bool  `json:"archived"`
		Name     string `json:"name"`
	}
	if e := c.decode(&b); e != nil {
		return nil, e
	}
	switch {
	case chat.kind != discordThread || b.Archived == nil && b.Name == "", chat.locked, b.Name != "" && chat.owner != d.me:
		return nil, discordNo(50013)
	case chat.refuses != 0:
		return nil, discordNo(chat.refuses)
	case b.Archived == nil && chat.archived:
		return nil, discordNo(50083)
	case utf8.RuneCountInString(b.Name) > 100:
		return nil, discordForm("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}
	if b.Name != "" {
		chat.name = b.Name
	}
	if b.Archived != nil {
		chat.archived = *b.Archived
	}
	d.tell("THREAD_UPDATE", chat, chat.json(d))
	return chat.json(d), nil
}

func (d *Discord) showTyping(c *discordCall) (any, *discordError) {
	chat, e := d.visible(c)
	switch {
	case e != nil:
		return nil, e
	case chat.refuses != 0:
		return nil, discordNo(chat.refuses)
	}
	return nil, nil
}

func (d *Discord) createThread(c *discordCall) (any, *discordError) {
	chat, e := d.visible(c)
	if e != nil {
		return nil, e
	}
	var b struct {
		Name    string `json:"name"`
		Archive int    `json:"auto_archive_duration"`
	}
	if e := c.decode(&b); e != nil {
		return nil, e
	}
	m := chat.find(c.ids["message"])
	switch n := utf8.RuneCountInString(b.Name); {
	case chat.kind != discordText:
		return nil, discordNo(50024)
	case chat.threadless != 0:
		return nil, discordNo(chat.threadless)
	case n < 1 || n > 100:
		return nil, discordForm("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	case b.Archive != 0 && !slices.Contains([]int{60, 1440, 4320, 10080}, b.Archive):
		return nil, discordForm("auto_archive_duration", "BASE_TYPE_CHOICES", "Value must be one of (60, 1440, 4320, 10080).")
	case m != nil && m.threaded, m == nil && d.chats[c.ids["message"]] != nil:
		return nil, discordNo(160004)
	case m == nil:
		return nil, discordNo(10008)
	}
	return d.branch(m, d.me, b.Name).json(d), nil
}

// branch opens the thread of a message. Called with mu held.
func (d *Discord) branch(m *discordMessage, by *DiscordUser, name string) *DiscordChat {
	m.threaded = true
	m.flags |= 1 << 5
	t := &DiscordChat{d: d, id: m.id, kind: discordThread, name: name, parent: m.chat, owner: by}
	d.chats[t.id] = t
	created := t.json(d)
	created["newly_created"] = true
	d.tell("THREAD_CREATE", t, created)
	d.tell("MESSAGE_UPDATE", m.chat, m.event(d))
	d.add(&discordMessage{chat: t, kind: discordStarter, from: m.from, refers: m})
	return t
}

// reactable is a message below which we may put an emoji.
func (d *Discord) reactable(c *discordCall) (*discordMessage, *discordError) {
	chat, m, e := d.message(c)
	switch {
	case e != nil:
		return nil, e
	case chat.archived:
		return nil, discordNo(50083)
	case c.ids["emoji"] == "" || c.ids["emoji"][0] < 0x80:
		return nil, discordNo(10014)
	}
	return m, nil
}

func (d *Discord) addReaction(c *discordCall) (any, *discordError) {
	m, e := d.reactable(c)
	if e != nil {
		return nil, e
	}
	d.mark(m, d.me, c.ids["emoji"], false)
	return nil, nil
}

func (d *Discord) removeReaction(c *discordCall) (any, *discordError) {
	m, e := d.reactable(c)
	if e != nil {
		return nil, e
	}
	d.mark(m, d.me, c.ids["emoji"], true)
	return nil, nil
}

// mark puts an emoji below a message, or takes it away, and tells of that
// unless it was so already. Called with mu held.
func (d *Discord) mark(m *discordMessage, u *DiscordUser, emoji string, removed bool) {
	if slices.Contains(m.marks[emoji], u) != removed {
		return
	}
	kind := "MESSAGE_REACTION_ADD"
	if removed {
		kind = "MESSAGE_REACTION_REMOVE"
		m.marks[emoji] = slices.DeleteFunc(m.marks[emoji], func(other *DiscordUser) bool { return other == u })
		if len(m.marks[emoji]) == 0 {
			delete(m.marks, emoji)
		}
	} else {
		if m.marks == nil {
			m.marks = map[string][]*DiscordUser{}
		}
		m.marks[emoji] = append(m.marks[emoji], u)
	}
	event := map[string]any{"user_id": u.ID, "channel_id": m.chat.id, "message_id": m.id, "emoji": map[string]any{"id": nil, "name": emoji}}
	if m.chat.with == nil {
		event["guild_id"] = d.guild
		if !removed {
			event["member"] = map[string]any{"user": u.json(), "nick": nil, "roles": []any{}}
		}
	}
	d.tell(kind, m.chat, event)
}
