package adaptertest

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The kinds of message.
const (
	discordSaid    = 0
	discordJoined  = 7
	discordReply   = 19
	discordAnswer  = 20 // of a command
	discordStarter = 21 // the first in a thread that was opened from a message
)

// discordMessage is a message, guarded by Discord.mu.
type discordMessage struct {
	id       string
	chat     *DiscordChat
	kind     int
	from     *DiscordUser
	text     string
	born     time.Time
	edited   time.Time
	edits    int
	flags    int64
	everyone bool           // it calls everybody
	called   []*DiscordUser // whom else it calls
	refers   *discordMessage
	forward  string // the text that was forwarded; empty: none was
	files    []*discordFile
	rows     []discordRow
	marks    map[string][]*DiscordUser // by emoji
	nonce    string
	whisper  *DiscordUser // who alone sees it; nil: everybody
	threaded bool         // a thread was opened from it
	deleted  bool
}

// discordFile is an attachment.
type discordFile struct {
	SentFile
	id   string
	path string
}

// discordLinkLife is how long the address of an attachment works.
const discordLinkLife = 24 * time.Hour

// json is a message as it is told.
func (m *discordMessage) json(d *Discord) map[string]any {
	out := map[string]any{
		"id": m.id, "channel_id": m.chat.id, "type": m.kind, "content": m.text, "author": m.from.json(),
		"timestamp": discordTime(m.born), "edited_timestamp": discordTime(m.edited), "flags": m.flags,
		"tts": false, "pinned": false, "mention_everyone": m.everyone, "mention_roles": []any{},
		"mentions": discordList(m.called, (*DiscordUser).json), "attachments": discordList(m.files, (*discordFile).json),
		"embeds": []any{}, "components": m.rows,
	}
	if m.rows == nil {
		out["components"] = []any{}
	}
	if m.from.Webhook {
		out["webhook_id"] = m.from.ID
	}
	if len(m.marks) > 0 {
		var marks []any
		for _, emoji := range slices.Sorted(maps.Keys(m.marks)) {
			marks = append(marks, map[string]any{"emoji": map[string]any{"id": nil, "name": emoji},
				"count": len(m.marks[emoji]), "me": slices.Contains(m.marks[emoji], d.me)})
		}
		out["reactions"] = marks
	}
	switch {
	case m.forward != "":
		out["message_reference"] = map[string]any{"type": 1, "channel_id": m.chat.id, "message_id": m.id}
		out["message_snapshots"] = []any{map[string]any{"message": map[string]any{"type": 0, "content": m.forward, "timestamp": discordTime(m.born),
			"edited_timestamp": nil, "flags": 0, "mentions": []any{}, "mention_roles": []any{}, "attachments": []any{}, "embeds": []any{}, "components": []any{}}}}
	case m.refers != nil:
		out["message_reference"] = map[string]any{"type": 0, "channel_id": m.refers.chat.id, "message_id": m.refers.id}
		out["referenced_message"] = nil
		if !m.refers.deleted {
			referred := m.refers.json(d)
			delete(referred, "referenced_message") // only one step back
			out["referenced_message"] = referred
		}
	}
	return out
}

// event is a message as the gateway tells of it.
func (m *discordMessage) event(d *Discord) map[string]any {
	out := m.json(d)
	if m.chat.with == nil {
		out["guild_id"] = d.guild
		if !m.from.Webhook {
			out["member"] = map[string]any{"nick": nil, "roles": []any{}, "joined_at": discordTime(m.from.joined)}
		}
	}
	return out
}

// discordList is a list in JSON, which is never null.
func discordList[T any](list []T, element func(T) map[string]any) []map[string]any {
	out := make([]map[string]any, 0, len(list))
	for _, v := range list {
		out = append(out, element(v))
	}
	return out
}

func (f *discordFile) json() map[string]any {
	expires := time.Now().Add(discordLinkLife).Unix()
	address := discordCDN + f.path + "?ex=" + discordHex(expires) + "&is=0&hm=signed"
	return map[string]any{"id": f.id, "filename": f.Name, "content_type": f.MIME, "size": len(f.Content),
		"url": address, "proxy_url": strings.Replace(address, "cdn.discordapp.com", "media.discordapp.net", 1)}
}

// discordRow is a row of buttons.
type discordRow struct {
	Kind    int             `json:"type"`
	Buttons []discordButton `json:"components"`
}

type discordButton struct {
	Kind     int             `json:"type"`
	Style    int             `json:"style"`
	Label    string          `json:"label,omitempty"`
	CustomID string          `json:"custom_id,omitempty"`
	URL      string          `json:"url,omitempty"`
	Emoji    json.RawMessage `json:"emoji,omitempty"`
	Disabled bool            `json:"disabled,omitempty"`
}

// shown is a message as people see it.
func (m *discordMessage) shown(d *Discord) Shown {
	s := Shown{ID: m.id, From: m.from.Name, Own: m.from == d.me, Text: d.render(m.text), Source: m.text, Edits: m.edits}
	if m.refers != nil && !m.refers.deleted {
		s.ReplyTo = m.refers.id
	}
	if m.chat.parent != nil {
		s.Topic = m.chat.id
	}
	if m.everyone {
		s.Pings = append(s.Pings, "everyone")
	}
	for _, u := range m.called {
		s.Pings = append(s.Pings, u.ID)
	}
	for _, f := range m.files {
		s.Files = append(s.Files, f.SentFile)
	}
	for _, row := range m.rows {
		for _, b := range row.Buttons {
			s.Buttons = append(s.Buttons, b.Label)
		}
	}
	return s
}

var (
	// discordMention is how people are called in a text.
	discordMention = regexp.MustCompile(`<@!?(\d+)>`)
	// discordEverybody is how all are called.
	discordEverybody = regexp.MustCompile(`@(everyone|here)\b`)
)

// call notes whom a text calls, as far as that is allowed. Called with mu
// held.
func (m *discordMessage) call(d *Discord, allowed discordMentions) {
	m.everyone = allowed.may("everyone", "") && discordEverybody.MatchString(m.text)
	m.called = nil
	for _, found := range discordMention.FindAllStringSubmatch(m.text, -1) {
		u := d.users[found[1]]
		if u != nil && allowed.may("users", u.ID) && !slices.Contains(m.called, u) {
			m.called = append(m.called, u)
		}
	}
	if m.refers != nil && m.kind == discordReply && allowed.replied() && !slices.Contains(m.called, m.refers.from) {
		m.called = append(m.called, m.refers.from)
	}
}

// discordMentions says who may be called.
type discordMentions struct {
	Parse   *[]string `json:"parse"`
	Users   []string  `json:"users"`
	Roles   []string  `json:"roles"`
	Replied *bool     `json:"replied_user"`

	given bool // otherwise all may be
}

func (a *discordMentions) UnmarshalJSON(data []byte) error {
	type plain discordMentions
	err := json.Unmarshal(data, (*plain)(a))
	a.given = string(data) != "null"
	return err
}

// check refuses what contradicts itself.
func (a discordMentions) check() *discordError {
	if a.Parse == nil {
		if a.given && len(a.Users) == 0 && len(a.Roles) == 0 {
			return discordForm("allowed_mentions.parse", "BASE_TYPE_REQUIRED", "This field is required")
		}
		return nil
	}
	for _, kind := range *a.Parse {
		switch {
		case !slices.Contains([]string{"everyone", "users", "roles"}, kind):
			return discordForm("allowed_mentions.parse", "BASE_TYPE_CHOICES", "Value must be one of ('everyone', 'users', 'roles').")
		case kind == "users" && len(a.Users) > 0, kind == "roles" && len(a.Roles) > 0:
			return discordForm("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "parse and "+kind+" are mutually exclusive")
		}
	}
	return nil
}

func (a discordMentions) may(kind, id string) bool {
	return !a.given || a.Parse != nil && slices.Contains(*a.Parse, kind) || id != "" && slices.Contains(a.Users, id)
}

func (a discordMentions) replied() bool {
	if a.Replied != nil {
		return *a.Replied
	}
	return !a.given
}
