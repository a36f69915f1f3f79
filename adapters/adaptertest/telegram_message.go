package adaptertest

import (
	"maps"
	"regexp"
	"strings"
	"time"
)

// anonymousAdmin is the account that stands for admins who hide themselves.
var anonymousAdmin = &TelegramUser{ID: 1087968824, Name: "Group", Username: "GroupAnonymousBot", Bot: true}

// message is one message in a chat, guarded by Telegram.mu.
type message struct {
	room      *room
	id        int
	from      *TelegramUser
	anonymous bool
	date      time.Time
	edited    time.Time
	edits     int
	topic     int // message_thread_id of a topic; 0: none
	text      string
	source    string // HTML
	caption   bool   // text is the caption of a file
	named     []*TelegramUser
	replyTo   *message
	reaction  string
	files     []SentFile
	tags      map[int64]string // people's reactions
	keyboard  [][]tgButton
	deleted   bool
	extra     map[string]any // fields of the Message object for media, forwards and service messages
}

// services are the fields that make a message a service message.
var services = strings.Fields(`forum_topic_created forum_topic_edited new_chat_members left_chat_member migrate_to_chat_id
	migrate_from_chat_id new_chat_title pinned_message`)

func (m *message) service() bool {
	for _, s := range services {
		if m.extra[s] != nil {
			return true
		}
	}
	return false
}

// number gives a message its id: a supergroup counts for itself, all other
// chats of the account share one counter. Called with mu held.
func (t *Telegram) number(r *room, m *message) {
	last := &t.lastID
	if r.kind == "supergroup" {
		last = &r.lastID
	}
	*last++
	m.id = *last
}

// add puts a message into a chat. Called with mu held.
func (t *Telegram) add(r *room, m *message) *message {
	if m.id == 0 {
		t.number(r, m)
	}
	m.room, m.date = r, time.Now()
	r.messages[m.id] = m
	r.order = append(r.order, m)
	t.notify()
	return m
}

// deliver queues the update for a message, if the bot may see it. Called with
// mu held.
func (t *Telegram) deliver(kind string, m *message) {
	if t.visible(m) {
		t.enqueue(kind, t.messageJSON(m, true))
	}
}

// visible is privacy mode: in groups a bot sees service messages, commands
// that are not for others, mentions of it and replies to it.
func (t *Telegram) visible(m *message) bool {
	if t.opt.ReadsAll || m.room.kind == "private" || m.service() || m.replyTo != nil && m.replyTo.from == t.me {
		return true
	}
	for _, e := range m.entities() {
		switch e["type"] {
		case "bot_command":
			_, at, ok := strings.Cut(e["text"].(string), "@")
			if !ok || strings.EqualFold(at, t.me.Username) {
				return true
			}
		case "mention":
			if strings.EqualFold(e["text"].(string), "@"+t.me.Username) {
				return true
			}
		}
	}
	return false
}

// messageJSON is the platform's Message object. Called with mu held.
func (t *Telegram) messageJSON(m *message, withReply bool) map[string]any {
	j := map[string]any{"message_id": m.id, "date": m.date.Unix(), "chat": m.room.json()}
	if m.from != nil {
		j["from"] = m.from.json()
	}
	if m.anonymous {
		j["from"], j["sender_chat"] = anonymousAdmin.json(), m.room.json()
	}
	if !m.edited.IsZero() {
		j["edit_date"] = m.edited.Unix()
	}
	maps.Copy(j, m.extra)
	text, entities := "text", "entities"
	if m.caption {
		text, entities = "caption", "caption_entities"
	}
	if m.text != "" {
		j[text] = m.text
	}
	if list := m.entities(); len(list) > 0 {
		for _, e := range list {
			delete(e, "text")
		}
		j[entities] = list
	}
	if len(m.keyboard) > 0 {
		j["reply_markup"] = map[string]any{"inline_keyboard": m.keyboard}
	}
	t.threadJSON(j, m)
	if withReply {
		to := m.replyTo
		if to == nil && m.topic != 0 && m.topic != m.id {
			to = m.room.messages[m.topic] // in a topic, a message that replies to nothing replies to the topic's first
		}
		if to != nil && !to.deleted {
			j["reply_to_message"] = t.messageJSON(to, false)
		}
	}
	return j
}

// threadJSON adds what the platform says about a message's thread. Outside
// topics, message_thread_id names the root of a chain of replies; it is no
// address.
func (t *Telegram) threadJSON(j map[string]any, m *message) {
	switch {
	case m.topic != 0:
		j["message_thread_id"], j["is_topic_message"] = m.topic, true
	case m.room.kind == "supergroup" && m.replyTo != nil:
		root := m.replyTo
		for root.replyTo != nil {
			root = root.replyTo
		}
		j["message_thread_id"] = root.id
	}
}

// marks finds what the platform marks by itself in a text: commands and
// mentions of user names.
var marks = regexp.MustCompile(`/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?|@[A-Za-z0-9_]{3,32}`)

// entities computes the MessageEntity objects of a text; offsets are in UTF-16
// units. Each carries the text that it covers as well.
func (m *message) entities() (list []map[string]any) {
	mark := func(kind string, from, to int) map[string]any {
		e := map[string]any{"type": kind, "offset": utf16Len(m.text[:from]), "length": utf16Len(m.text[from:to]), "text": m.text[from:to]}
		list = append(list, e)
		return e
	}
	for _, at := range marks.FindAllStringIndex(m.text, -1) {
		from, to := at[0], at[1]
		if from > 0 && (isWord(m.text[from-1]) || strings.IndexByte("/<>@", m.text[from-1]) >= 0) {
			continue
		}
		if m.text[from] == '@' {
			mark("mention", from, to)
		} else if to == len(m.text) || strings.IndexByte("/<>", m.text[to]) < 0 {
			mark("bot_command", from, to)
		}
	}
	for _, u := range m.named {
		if from := strings.Index(m.text, u.Name); from >= 0 {
			mark("text_mention", from, from+len(u.Name))["user"] = u.json()
		}
	}
	return list
}
