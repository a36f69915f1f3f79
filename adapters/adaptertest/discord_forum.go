package adaptertest

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// WantTags makes a forum want a tag of every post.
func (c *DiscordChat) WantTags() {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.flags |= 1 << 4
	c.d.tell("CHANNEL_UPDATE", c, c.json(c.d))
}

// Posts are the threads of a channel, or the posts of a forum, the oldest first.
func (c *DiscordChat) Posts() []*DiscordChat {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return c.d.threadsOf(c)
}

// Called is what it is called.
func (c *DiscordChat) Called() string {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return c.name
}

// threadsOf are the threads of a channel, of all if it is nil. Called with mu
// held.
func (d *Discord) threadsOf(c *DiscordChat) []*DiscordChat {
	var all []*DiscordChat
	for _, t := range d.chats {
		if t.kind == discordThread && (c == nil || t.parent == c) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(x, y *DiscordChat) int {
		if len(x.id) != len(y.id) {
			return len(x.id) - len(y.id)
		}
		return strings.Compare(x.id, y.id)
	})
	return all
}

// createPost makes a post of a forum, with the message that it begins with.
func (d *Discord) createPost(c *discordCall) (any, *discordError) {
	forum, e := d.visible(c)
	if e != nil {
		return nil, e
	}
	var b struct {
		Name    string          `json:"name"`
		Archive int             `json:"auto_archive_duration"`
		Message json.RawMessage `json:"message"`
	}
	if e := c.decode(&b); e != nil {
		return nil, e
	}
	first := &discordCall{host: c.host, ids: c.ids, body: b.Message, files: c.files}
	var body discordBody
	switch n := utf8.RuneCountInString(b.Name); {
	case forum.kind != discordForum:
		return nil, discordNo(50024)
	case forum.refuses != 0:
		return nil, discordNo(forum.refuses)
	case forum.threadless != 0:
		return nil, discordNo(forum.threadless)
	case forum.flags&(1<<4) != 0:
		return nil, discordNo(40067)
	case n < 1 || n > 100:
		return nil, discordForm("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	case len(b.Message) == 0 || json.Unmarshal(b.Message, &body) != nil:
		return nil, discordForm("message", "BASE_TYPE_REQUIRED", "This field is required")
	case len(body.Nonce) > 0 || body.Enforce:
		return nil, discordForm("message.nonce", "UNKNOWN_FIELD", "A post takes none")
	}
	if e := body.check(d, first); e != nil {
		return nil, e
	}
	t := &DiscordChat{d: d, id: d.id(), kind: discordThread, name: b.Name, parent: forum, owner: d.me}
	m := &discordMessage{id: t.id, chat: t, from: d.me}
	if e := body.apply(d, m, first); e != nil {
		return nil, e
	}
	d.chats[t.id] = t
	created := t.json(d)
	created["newly_created"] = true
	d.tell("THREAD_CREATE", t, created)
	d.add(m)
	out := t.json(d)
	out["message"] = m.json(d)
	return out, nil
}

func (d *Discord) activeThreads(c *discordCall) (any, *discordError) {
	if c.ids["guild"] != d.guild {
		return nil, discordNo(10004)
	}
	list := []any{}
	for _, t := range d.threadsOf(nil) {
		if !t.archived {
			list = append(list, t.json(d))
		}
	}
	return map[string]any{"threads": list, "members": []any{}}, nil
}
