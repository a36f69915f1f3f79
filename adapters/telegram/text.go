package telegram

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"
)

// speech is a message's text and what it says about whom it is for.
type speech struct {
	text      string // without our own name
	mentioned bool   // names us
	others    bool   // names people or bots besides us
	command   bool   // begins with a command for us
	foreign   bool   // begins with a command for another bot
}

// read reads a message's text. Entities count UTF-16 units; one that does not
// lie in the text is cut to it.
func read(me models.User, m *rawMessage) speech {
	entities := m.Entities
	if m.Text == "" {
		entities = m.CaptionEntities
	}
	t := tokens{units: utf16.Encode([]rune(words(m)))}
	var s speech
	for _, e := range slices.SortedStableFunc(slices.Values(entities), func(a, b models.MessageEntity) int {
		return cmp.Compare(a.Offset, b.Offset)
	}) {
		// An entity within one that was taken out is gone with it.
		if e.Offset < t.pos || e.Offset >= len(t.units) || e.Length <= 0 {
			continue
		}
		end := e.Offset + min(e.Length, len(t.units)-e.Offset)
		switch e.Type {
		case models.MessageEntityTypeBotCommand:
			if s.command || s.foreign || !t.leads(e.Offset) {
				continue
			}
			at := slices.Index(t.units[e.Offset:end], '@')
			switch {
			case at < 0:
				s.command = true
			case isMe(me, t.slice(e.Offset+at, end)):
				s.command, s.mentioned = true, true
				t.cut(e.Offset+at, end)
			default:
				s.foreign = true
			}
		case models.MessageEntityTypeMention:
			if !isMe(me, t.slice(e.Offset, end)) {
				s.others = true
				continue
			}
			s.mentioned = true
			t.cut(e.Offset, end)
		case models.MessageEntityTypeTextMention:
			if e.User == nil || e.User.ID != me.ID {
				s.others = true
				continue
			}
			s.mentioned = true
			t.cut(e.Offset, end)
		}
	}
	s.text = clean(t.rest())
	return s
}

// isMe reports whether handle is our @username; Telegram takes it in any case.
func isMe(me models.User, handle string) bool {
	return me.Username != "" && strings.EqualFold(handle, "@"+me.Username)
}

// tokens is a text of which parts are taken out, from left to right.
type tokens struct {
	units []uint16
	kept  []uint16 // of what lies before pos
	pos   int
}

func (t *tokens) slice(start, end int) string { return string(utf16.Decode(t.units[start:end])) }

// leads reports whether there is nothing left before offset.
func (t *tokens) leads(offset int) bool {
	return blank(t.kept) && blank(t.units[t.pos:offset])
}

// cut takes out a part, and one of the two spaces that would meet.
func (t *tokens) cut(start, end int) {
	t.kept = append(t.kept, t.units[t.pos:start]...)
	t.pos = end
	if end < len(t.units) && isSpace(t.units[end]) && (len(t.kept) == 0 || isSpace(t.kept[len(t.kept)-1])) {
		t.pos++
	}
}

// rest is the text without what was cut. Space at the ends of a text that
// nothing was cut from is the writer's.
func (t *tokens) rest() string {
	if t.pos == 0 {
		return string(utf16.Decode(t.units))
	}
	return strings.TrimSpace(string(utf16.Decode(append(t.kept, t.units[t.pos:]...))))
}

func blank(units []uint16) bool {
	return !slices.ContainsFunc(units, func(u uint16) bool { return !isSpace(u) })
}

// isSpace: all of Unicode's white space is in the basic plane.
func isSpace(u uint16) bool { return unicode.IsSpace(rune(u)) }
