package adaptertest

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of a text message.
const (
	maxText   = 4096      // UTF-16 units after parsing
	maxSource = 32 * 1024 // bytes before parsing
)

// room finds the chat a call is for, if the bot may write there. Called with
// mu held, as everything in this file.
func (t *Telegram) room(p params) (*room, *apiError) {
	if p["chat_id"] == "" {
		return nil, bad("chat_id is empty")
	}
	r := t.rooms[p.int("chat_id")]
	switch {
	case r == nil:
		return nil, bad("chat not found")
	case r.movedTo != 0:
		return nil, &apiError{400, "Bad Request: group chat was upgraded to a supergroup chat", map[string]any{"migrate_to_chat_id": r.movedTo}}
	case r.shut != "":
		return nil, forbidden(r.shut)
	}
	return r, nil
}

// topic finds the topic a call is for; 0: none, or General.
func (r *room) topic(p params) (int, *apiError) {
	id := int(p.int("message_thread_id"))
	if id != 0 && r.topics[id] == "" {
		return 0, bad("message thread not found")
	}
	return id, nil
}

// text reads, parses and cleans the text of a call. The source is returned for
// HTML with tags only: without any, the text is the same as a plain one.
func (p params) text(empty, long string) (plain, source string, e *apiError) {
	plain = p["text"]
	if !utf8.ValidString(plain) {
		return "", "", bad("strings must be encoded in UTF-8")
	}
	if len(plain) > maxSource {
		return "", "", bad("%s", long)
	}
	switch strings.ToLower(p["parse_mode"]) {
	case "":
		var entities []any
		if e := p.object("entities", &entities); e != nil {
			return "", "", e
		}
	case "html":
		if strings.Contains(plain, "<") {
			source = plain
		}
		var err error
		if plain, err = parseHTML(plain); err != nil {
			return "", "", bad("can't parse entities: %s", capital(err.Error()))
		}
	default:
		return "", "", bad("unsupported parse_mode")
	}
	plain = cleanText(plain)
	if plain == "" {
		return "", "", bad("%s", empty)
	}
	if utf16Len(plain) > maxText {
		return "", "", bad("%s", long)
	}
	return plain, source, nil
}

// cleanText does to a text what the service does: control characters become
// spaces, some that break the lines of others vanish, the ends are trimmed. A
// text that shows nothing is empty.
func cleanText(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\r', r >= 0x2028 && r <= 0x202e, r == 0x333, r == 0x33f, r == 0x30a:
			return -1
		case r < ' ' && r != '\n':
			return ' '
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) }) < 0 {
		return ""
	}
	return s
}

// utf16Len is the length of a text in UTF-16 units, in which the platform counts.
func utf16Len(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

func (t *Telegram) sendMessage(p params) (any, *apiError) {
	plain, source, e := p.text("message text is empty", "message is too long")
	if e != nil {
		return nil, e
	}
	r, e := t.room(p)
	if e != nil {
		return nil, e
	}
	topic, e := r.topic(p)
	if e != nil {
		return nil, e
	}
	var reply struct {
		MessageID int  `json:"message_id"`
		Without   bool `json:"allow_sending_without_reply"`
	}
	reply.MessageID, reply.Without = int(p.int("reply_to_message_id")), p.bool("allow_sending_without_reply")
	if e := p.object("reply_parameters", &reply); e != nil {
		return nil, e
	}
	var to *message
	if reply.MessageID != 0 {
		if to = r.find(reply.MessageID); to == nil && !reply.Without {
			return nil, bad("message to be replied not found")
		}
	}
	if e := p.object("link_preview_options", &map[string]any{}); e != nil {
		return nil, e
	}
	keyboard, e := p.keyboard()
	if e != nil {
		return nil, e
	}
	m := t.add(r, &message{from: t.me, topic: topic, text: plain, source: source, replyTo: to, keyboard: keyboard})
	return t.messageJSON(m, true), nil
}

// rich is the text of a rich message, as it was written.
func (p params) rich() (markdown string, e *apiError) {
	var rich struct {
		Markdown string `json:"markdown"`
		Skip     bool   `json:"skip_entity_detection"`
	}
	if e := p.object("rich_message", &rich); e != nil {
		return "", e
	}
	switch {
	case p["text"] != "":
		return "", bad("there is both a text and a rich message")
	case strings.TrimSpace(rich.Markdown) == "":
		return "", bad("RICH_MESSAGE_EMPTY")
	case utf16Len(rich.Markdown) > maxRich:
		return "", bad("RICH_MESSAGE_TOO_LONG")
	case !rich.Skip && strings.Contains(rich.Markdown, "@"):
		return "", bad("this would mention people")
	}
	return rich.Markdown, nil
}

// maxRich is the most that a rich message holds.
const maxRich = 32_768

func (t *Telegram) editMessageText(p params) (any, *apiError) {
	var plain, source string
	var e *apiError
	if p["rich_message"] != "" {
		plain, e = p.rich()
		source = plain
	} else {
		plain, source, e = p.text("message text is empty", "MESSAGE_TOO_LONG")
	}
	if e != nil {
		return nil, e
	}
	r, e := t.room(p)
	if e != nil {
		return nil, e
	}
	keyboard, e := p.keyboard()
	if e != nil {
		return nil, e
	}
	m := r.find(int(p.int("message_id")))
	switch {
	case m == nil:
		return nil, bad("message to edit not found")
	case m.from != t.me || m.service():
		return nil, bad("message can't be edited")
	case m.caption:
		return nil, bad("there is no text in the message to edit")
	case m.text == plain && m.source == source && reflect.DeepEqual(m.keyboard, keyboard):
		return nil, bad("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	m.text, m.source, m.edited, m.keyboard = plain, source, time.Now(), keyboard
	m.edits++
	return t.messageJSON(m, true), nil
}

func (t *Telegram) deleteMessage(p params) (any, *apiError) {
	r, e := t.room(p)
	if e != nil {
		return nil, e
	}
	m := r.find(int(p.int("message_id")))
	switch {
	case m == nil:
		return nil, bad("message to delete not found")
	case m.from != t.me && r.kind != "private":
		return nil, bad("message can't be deleted")
	}
	m.deleted = true
	return true, nil
}

// actions are what sendChatAction may show.
var actions = strings.Fields(`typing upload_photo record_video upload_video record_voice upload_voice
	upload_document choose_sticker find_location record_video_note upload_video_note`)

func (t *Telegram) sendChatAction(p params) (any, *apiError) {
	r, e := t.room(p)
	if e != nil {
		return nil, e
	}
	if _, e := r.topic(p); e != nil {
		return nil, e
	}
	if !slices.Contains(actions, p["action"]) {
		return nil, bad("wrong parameter action in request")
	}
	return true, nil
}

// reactions are the emoji a bot may react with.
var reactions = strings.Fields(`❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚
	🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅
	🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡`)

func (t *Telegram) setMessageReaction(p params) (any, *apiError) {
	r, e := t.room(p)
	if e != nil {
		return nil, e
	}
	m := r.find(int(p.int("message_id")))
	if m == nil {
		return nil, bad("message to react not found")
	}
	var list []struct{ Type, Emoji string }
	if e := p.object("reaction", &list); e != nil {
		return nil, e
	}
	switch {
	case len(list) > 1:
		return nil, bad("REACTIONS_TOO_MANY")
	case len(list) == 0:
		m.reaction = ""
		return true, nil
	case list[0].Type != "emoji" || !slices.Contains(reactions, list[0].Emoji):
		return nil, bad("REACTION_INVALID")
	}
	m.reaction = list[0].Emoji
	return true, nil
}

// find is the message with the id, unless it is deleted.
func (r *room) find(id int) *message {
	if m := r.messages[id]; m != nil && !m.deleted {
		return m
	}
	return nil
}

func itoa[I int | int64](i I) string { return strconv.FormatInt(int64(i), 10) }

// capital is how the service begins its sentences.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
