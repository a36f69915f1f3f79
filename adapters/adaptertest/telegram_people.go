package adaptertest

import (
	"fmt"
	"strings"
	"time"
)

// TelegramPost is what a person writes.
type TelegramPost struct {
	Text      string
	Named     []*TelegramUser // mentioned by name: the first place in Text that is their name
	ReplyTo   int             // message id in the same chat
	Quote     string          // the part of ReplyTo that is quoted
	Forward   *TelegramUser   // the author of the forwarded Text
	Anonymous bool            // an admin who hides behind the group
	File      *TelegramFile   // Text is its caption
}

// TelegramFile is a file that a person sends.
type TelegramFile struct {
	Kind    string // photo, document, voice
	Name    string // documents only
	MIME    string
	Content []byte
	Size    int64  // 0: of Content
	Album   string // media_group_id
}

// Say writes plain text and returns the message id.
func (c *TelegramChat) Say(u *TelegramUser, text string) int {
	return c.Post(u, TelegramPost{Text: text})
}

// Reply answers a message.
func (c *TelegramChat) Reply(u *TelegramUser, to int, text string) int {
	return c.Post(u, TelegramPost{Text: text, ReplyTo: to})
}

// Quote answers a part of a message.
func (c *TelegramChat) Quote(u *TelegramUser, to int, quote, text string) int {
	return c.Post(u, TelegramPost{Text: text, ReplyTo: to, Quote: quote})
}

// Forward passes on what somebody has written elsewhere.
func (c *TelegramChat) Forward(u, author *TelegramUser, text string) int {
	return c.Post(u, TelegramPost{Text: text, Forward: author})
}

// Command writes a command with its arguments: "help", "help@bellhop_bot".
func (c *TelegramChat) Command(u *TelegramUser, name, args string) int {
	return c.Say(u, strings.TrimSpace("/"+name+" "+args))
}

// Photo sends a JPEG with a caption.
func (c *TelegramChat) Photo(u *TelegramUser, caption string, jpeg []byte) int {
	return c.Post(u, TelegramPost{Text: caption, File: &TelegramFile{Kind: "photo", Content: jpeg}})
}

// Document sends a file with a caption.
func (c *TelegramChat) Document(u *TelegramUser, caption, name, mime string, content []byte) int {
	return c.Post(u, TelegramPost{Text: caption, File: &TelegramFile{Kind: "document", Name: name, MIME: mime, Content: content}})
}

// Voice sends a voice message.
func (c *TelegramChat) Voice(u *TelegramUser, ogg []byte) int {
	return c.Post(u, TelegramPost{File: &TelegramFile{Kind: "voice", MIME: "audio/ogg", Content: ogg}})
}

// Post writes a message and returns its id.
func (c *TelegramChat) Post(u *TelegramUser, p TelegramPost) int {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	m := &message{from: u, topic: c.topic, text: p.Text, named: p.Named, anonymous: p.Anonymous, extra: map[string]any{}}
	if p.ReplyTo != 0 {
		if m.replyTo = c.r.find(p.ReplyTo); m.replyTo == nil {
			panic(fmt.Sprintf("adaptertest: a reply to message %d, which is not there", p.ReplyTo))
		}
	}
	if p.Quote != "" {
		before, _, _ := strings.Cut(m.replyTo.text, p.Quote)
		m.extra["quote"] = map[string]any{"text": p.Quote, "position": utf16Len(before), "is_manual": true}
	}
	if p.Forward != nil {
		m.extra["forward_origin"] = map[string]any{"type": "user", "sender_user": p.Forward.json(), "date": time.Now().Unix()}
	}
	if p.File != nil {
		m.caption = true
		c.t.attach(m, p.File)
	}
	c.t.add(c.r, m)
	c.t.deliver("message", m)
	return m.id
}

// attach adds a file to a message. Called with mu held.
func (t *Telegram) attach(m *message, f *TelegramFile) {
	size := f.Size
	if size == 0 {
		size = int64(len(f.Content))
	}
	stored := &tgFile{id: fmt.Sprintf("F%d", len(t.files)+1), size: size, content: f.Content}
	t.files[stored.id] = stored
	m.files = []SentFile{{f.Name, f.MIME, f.Content}}
	j := map[string]any{"file_id": stored.id, "file_unique_id": "u" + stored.id, "file_size": size}
	if f.MIME != "" {
		j["mime_type"] = f.MIME
	}
	if m.extra == nil {
		m.extra = map[string]any{}
	}
	switch f.Kind {
	case "photo":
		small := map[string]any{"file_id": stored.id + "s", "file_unique_id": "u" + stored.id + "s", "file_size": size/4 + 1, "width": 90, "height": 60}
		t.files[stored.id+"s"] = &tgFile{id: stored.id + "s", size: size/4 + 1}
		j["width"], j["height"] = 1280, 853
		m.extra["photo"] = []any{small, j}
	case "document":
		j["file_name"] = f.Name
		m.extra["document"] = j
	case "voice":
		j["duration"] = 3
		m.extra["voice"] = j
	default:
		panic("adaptertest: no such kind of file: " + f.Kind)
	}
	if f.Album != "" {
		m.extra["media_group_id"] = f.Album
	}
}

// Edit changes a message's text.
func (c *TelegramChat) Edit(id int, text string) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	m := c.r.find(id)
	m.text, m.edited = text, time.Now()
	m.edits++
	c.t.deliver("edited_message", m)
	c.t.notify()
}

// Delete removes a message. The platform does not tell bots.
func (c *TelegramChat) Delete(id int) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.r.find(id).deleted = true
	c.t.notify()
}

// Again queues another update, with an id of its own, for a message that was
// sent before.
func (c *TelegramChat) Again(id int) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.t.deliver("message", c.r.find(id))
}

// Join makes a person join a group: a service message.
func (c *TelegramChat) Join(u *TelegramUser) int {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	m := c.t.add(c.r, &message{from: u, topic: c.topic, extra: map[string]any{"new_chat_members": []any{u.json()}}})
	c.t.deliver("message", m)
	return m.id
}
