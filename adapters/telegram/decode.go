package telegram

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-telegram/bot/models"

	"bellhop/core"
)

// decoder turns updates into events. It holds no state.
type decoder struct {
	adapter string
	me      models.User
}

// found is what an update says: at least one event.
type found struct {
	id     int64 // of the update; 0: it has none
	events []core.Inbound
	query  string // of a press: what is to be answered
	forum  int64  // of a command in a chat with topics: that chat
}

// update decodes one update. It never fails: what cannot be read at all becomes
// InUnreadable.
func (d *decoder) update(raw json.RawMessage) found {
	u, err := parse(raw)
	unreadable := found{id: u.ID, events: []core.Inbound{{Key: unreadableKey(raw, u.ID), Kind: core.InUnreadable, Raw: raw}}}
	if err != nil || u.ID == 0 {
		return unreadable
	}
	key := "u/" + strconv.FormatInt(u.ID, 10)
	m, kind := u.Message, core.InMessage
	if m == nil {
		m, kind = u.EditedMessage, core.InEdit
	}
	switch {
	case m == nil:
		did, err := d.act(key, raw)
		if err != nil {
			return unreadable
		}
		if did.id = u.ID; len(did.events) == 0 {
			did.events = []core.Inbound{{Key: key, Kind: core.InIgnored}}
		}
		return did
	case m.ID == 0 || m.Chat.ID == 0:
		return unreadable
	case m.TopicCreated != nil && d.wrote(m.From):
		// A topic of ours is no other message: it may be the one that is looked for.
	case kind == core.InMessage:
		key = messageKey(core.Place{Channel: strconv.FormatInt(m.Chat.ID, 10)}, strconv.Itoa(m.ID))
	}
	out := found{id: u.ID, events: []core.Inbound{d.event(key, kind, m)}}
	if out.events[0].Command && m.Chat.IsForum && m.Chat.Type == models.ChatTypeSupergroup {
		out.forum = m.Chat.ID
	}
	return out
}

// event reads a message that is new, or was edited.
func (d *decoder) event(key string, kind core.InboundKind, m *rawMessage) core.Inbound {
	channel := strconv.FormatInt(m.Chat.ID, 10)
	switch {
	case m.MigrateToChatID != 0:
		return core.Inbound{
			Key: key, Kind: core.InMoved,
			Place: core.Place{Adapter: d.adapter, Channel: channel},
			To:    strconv.FormatInt(m.MigrateToChatID, 10),
			Time:  when(m),
		}
	case m.TopicEdited != nil && m.TopicEdited.Name != "" && m.From != nil && m.From.ID != d.me.ID && topic(m) != "":
		return core.Inbound{
			Key: key, Kind: core.InNamed, Place: core.Place{Adapter: d.adapter, Channel: channel, Topic: topic(m)},
			Direct: m.Chat.Type == models.ChatTypePrivate, From: d.person(m), Text: clean(m.TopicEdited.Name), Time: when(m),
		}
	case !speaks(m) || m.From != nil && m.From.ID == d.me.ID:
		return core.Inbound{Key: key, Kind: core.InIgnored}
	}
	in := core.Inbound{
		Key:       key,
		Kind:      kind,
		Place:     core.Place{Adapter: d.adapter, Channel: channel, Topic: topic(m)},
		Direct:    m.Chat.Type == models.ChatTypePrivate,
		From:      d.person(m),
		MessageID: strconv.Itoa(m.ID),
		Files:     files(m),
		Time:      when(m),
		Unnamed:   kind == core.InMessage && d.unnamed(m),
	}
	if m.ForwardOrigin != nil {
		// None of it is the sender's own words, and it addresses nobody here.
		in.Quotes = d.quote(nil, m.ForwardOrigin, m)
		return in
	}
	s := read(d.me, m)
	in.Text, in.Mentioned, in.Others = s.text, s.mentioned, s.others
	in.Command, in.Foreign = s.command, s.foreign
	d.reply(&in, m)
	in.Others = in.Others && !in.Mentioned
	return in
}

// speaks reports whether a message says anything: those about joins, titles,
// pins and the like do not, whatever kinds of them there will be.
func speaks(m *rawMessage) bool {
	return m.Text != "" || m.Caption != "" || m.Sticker != nil || len(files(m)) > 0
}

// topic is the forum topic of a message. Elsewhere message_thread_id is only
// the root of a chain of replies, and the General topic has no address.
func topic(m *rawMessage) string {
	if !m.IsTopicMessage || m.MessageThreadID <= generalTopic {
		return ""
	}
	return strconv.Itoa(m.MessageThreadID)
}

// when is the time of a message or of its edit.
func when(m *rawMessage) time.Time {
	return time.Unix(int64(max(m.Date, m.EditDate)), 0).UTC()
}

// person is who wrote a message. One that is sent in the name of a chat (a
// channel's post, an anonymous admin) has no author that anybody could trust.
func (d *decoder) person(m *rawMessage) core.Person {
	name := clean(author(m))
	if m.SenderChat != nil || m.From == nil {
		return core.Person{Name: name, Guest: true}
	}
	return core.Person{
		ID:   core.PersonID(d.adapter + ":" + strconv.FormatInt(m.From.ID, 10)),
		Name: name,
		Bot:  m.From.IsBot,
	}
}

// unreadableKey is the update's id, if that much could be read, else what the
// redelivered bytes have in common.
func unreadableKey(raw []byte, id int64) string {
	if id != 0 {
		return "u/" + strconv.FormatInt(id, 10)
	}
	sum := sha256.Sum256(raw)
	return "x/" + hex.EncodeToString(sum[:8])
}

// parse decodes an update. Where a part of it is not what it should be, it saves
// the rest.
func parse(raw []byte) (rawUpdate, error) {
	var u rawUpdate
	if unmarshal(raw, &u) == nil {
		return u, nil
	}
	var parts struct {
		ID            int64           `json:"update_id"`
		Message       json.RawMessage `json:"message"`
		EditedMessage json.RawMessage `json:"edited_message"`
	}
	if err := unmarshal(raw, &parts); err != nil {
		return rawUpdate{ID: parts.ID}, err
	}
	message, err1 := salvage(parts.Message)
	edited, err2 := salvage(parts.EditedMessage)
	return rawUpdate{ID: parts.ID, Message: message, EditedMessage: edited}, errors.Join(err1, err2)
}

// essential are the fields without which a message cannot be read: it would
// be another's, or elsewhere, or say something else.
var essential = []string{
	"message_id", "message_thread_id", "is_topic_message", "chat", "from", "sender_chat", "date", "edit_date",
	"text", "entities", "caption", "caption_entities", "migrate_to_chat_id",
}

// salvage decodes a message field by field. Of a field that does not decode it
// keeps what there is, so that a forward of an unknown kind is still seen to be
// one. It returns nil for no message, and an error if an essential field does
// not decode.
func salvage(raw json.RawMessage) (*rawMessage, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var fields map[string]json.RawMessage
	if err := unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	m := new(rawMessage)
	for name, value := range fields {
		field, err := json.Marshal(map[string]json.RawMessage{name: value})
		if err != nil {
			return nil, err
		}
		err = unmarshal(field, m)
		switch {
		case err == nil:
		case slices.Contains(essential, name):
			return nil, err
		case name == "reply_to_message":
			// What cannot be read of it is not worth the message.
			m.ReplyToMessage, _ = salvage(value)
		}
	}
	return m, nil
}

// unmarshal is json.Unmarshal for types whose own decoding may panic.
func unmarshal(data []byte, v any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("decoding panicked: %v", r)
		}
	}()
	return json.Unmarshal(data, v)
}
