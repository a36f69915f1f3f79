package adaptertest

import "unicode/utf8"

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
