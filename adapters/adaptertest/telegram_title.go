package adaptertest

import (
	"slices"
	"unicode/utf8"
)

// Seat makes the bot a member, an admin without the right to topics, or whatever
// the rank is, in a group where everybody may make topics or not.
func (c *TelegramChat) Seat(rank string, topical bool) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.r.rank, c.r.topical = rank, topical
}

// HasTopic reports whether the chat has a topic with the id.
func (c *TelegramChat) HasTopic(id int) bool {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	return c.r.topics[id] != ""
}

// Topics are the names of all topics of the chat, in order.
func (c *TelegramChat) Topics() []string {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	var names []string
	for _, m := range c.r.order {
		if name := c.r.topics[m.id]; name != "" {
			names = append(names, name)
		}
	}
	return slices.Clip(names)
}

// mayTopic reports whether the bot may make topics in a group.
func (r *room) mayTopic() bool {
	return r.rank == "" || r.rank == "member" && r.topical
}

// createForumTopic makes a topic, of which the bot is told as everybody is.
func (t *Telegram) createForumTopic(p params) (any, *apiError) {
	r, e := t.room(p)
	if e != nil {
		return nil, e
	}
	switch n := utf8.RuneCountInString(p["name"]); {
	case r.kind == "supergroup" && !r.forum, r.kind == "group":
		return nil, bad("the chat is not a forum")
	case r.kind == "private" && !t.opt.Topics:
		return nil, bad("the chat is not a forum")
	case !r.mayTopic():
		return nil, bad("not enough rights to create a topic")
	case n < 1 || n > 128:
		return nil, bad("TOPIC_TITLE_INVALID")
	}
	id := t.openTopic(r, t.me, p["name"])
	return map[string]any{"message_thread_id": id, "name": p["name"], "icon_color": 7322096}, nil
}

func (t *Telegram) getChatMember(p params) (any, *apiError) {
	r, e := t.room(p)
	switch {
	case e != nil:
		return nil, e
	case p.int("user_id") != t.me.ID:
		return nil, bad("the fake knows the bot alone")
	case r.rank == "":
		return map[string]any{"user": t.me.json(), "status": "administrator", "can_manage_topics": true}, nil
	case r.rank == "administrator":
		return map[string]any{"user": t.me.json(), "status": "administrator", "can_manage_topics": false}, nil
	}
	return map[string]any{"user": t.me.json(), "status": r.rank}, nil
}

func (t *Telegram) getChat(p params) (any, *apiError) {
	r, e := t.room(p)
	if e != nil {
		return nil, e
	}
	m := r.json()
	m["permissions"] = map[string]any{"can_send_messages": true, "can_manage_topics": r.topical}
	return m, nil
}

// editForumTopic names a topic. In a group that needs the right to.
func (t *Telegram) editForumTopic(p params) (any, *apiError) {
	r, e := t.room(p)
	if e != nil {
		return nil, e
	}
	id, e := r.topic(p)
	name := p["name"]
	switch {
	case e != nil:
		return nil, e
	case id == 0:
		return nil, bad("message thread not found")
	case !r.mayTopic():
		return nil, bad("not enough rights to manage topics")
	case utf8.RuneCountInString(name) > 128:
		return nil, bad("TOPIC_TITLE_INVALID")
	case name == "" || name == r.topics[id]:
		return nil, bad("TOPIC_NOT_MODIFIED")
	}
	r.topics[id] = name
	t.add(r, &message{from: t.me, topic: id, extra: map[string]any{"forum_topic_edited": map[string]any{"name": name}}})
	return true, nil
}

// Name has a person name the topic; the bot sees a service message.
func (c *TelegramChat) Name(by *TelegramUser, name string) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.r.topics[c.topic] = name
	m := c.t.add(c.r, &message{from: by, topic: c.topic, extra: map[string]any{"forum_topic_edited": map[string]any{"name": name}}})
	c.t.deliver("message", m)
}

// Name implements Platform.
func (p *TelegramPlatform) Name(r Room, by Account, title string) error {
	if c := p.rooms[r]; c.topic != 0 {
		c.Name(p.user(by), title)
		return nil
	}
	return Unsupported("only topics have titles that we see")
}

// Title implements Platform.
func (p *TelegramPlatform) Title(r Room) (string, error) {
	c := p.rooms[r]
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	return c.r.topics[c.topic], nil
}
