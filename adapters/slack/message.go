package slack

import (
	"cmp"
	"encoding/json"
	"strings"

	"bellhop/core"
)

// message is a message as it comes in an event and out of a history. What
// decides where it stands, who wrote it and what it says must decode.
type message struct {
	Subtype string `json:"subtype"`
	Channel string `json:"channel"`
	User    string `json:"user"`
	Bot     string `json:"bot_id"`
	Text    string `json:"text"`
	TS      string `json:"ts"`
	Thread  string `json:"thread_ts"`

	ChannelType loose[string]              `json:"channel_type"`
	Username    loose[string]              `json:"username"`
	UserTeam    loose[string]              `json:"user_team"`
	SourceTeam  loose[string]              `json:"source_team"`
	Parent      loose[string]              `json:"parent_user_id"`
	Files       loose[[]loose[file]]       `json:"files"`
	Attachments loose[[]loose[attachment]] `json:"attachments"`
	BotProfile  loose[struct {
		Name loose[string] `json:"name"`
	}] `json:"bot_profile"`
	Edited loose[struct {
		TS loose[string] `json:"ts"`
	}] `json:"edited"`
	Metadata loose[metadata] `json:"metadata"`

	Changed  *message `json:"message"`          // message_changed: what it is now
	Previous *message `json:"previous_message"` // what it was
	Deleted  string   `json:"deleted_ts"`
}

// metadata is what we attach to our messages.
type metadata struct {
	Type    loose[string] `json:"event_type"`
	Payload loose[struct {
		Key loose[string] `json:"key"`
	}] `json:"event_payload"`
}

// attachment is what Slack shows below a message: here, another message.
type attachment struct {
	Share    loose[bool]          `json:"is_share"`
	Unfurl   loose[bool]          `json:"is_msg_unfurl"`
	AuthorID loose[string]        `json:"author_id"`
	Author   loose[string]        `json:"author_name"`
	Text     loose[string]        `json:"text"`
	Fallback loose[string]        `json:"fallback"`
	Files    loose[[]loose[file]] `json:"files"`
}

// message decodes a message that is new, was changed or was deleted; key is
// the event's.
func (d *decoder) message(key string, raw json.RawMessage, m *message) core.Inbound {
	switch {
	case m.Channel == "":
		return unreadable(key, raw)
	case m.Subtype == "message_changed" && m.Changed != nil:
		return d.changed(key, raw, m)
	case m.Subtype == "message_deleted":
		return d.deleted(key, m.Channel, m.ChannelType.v, m.Deleted, m.Previous)
	case m.TS == "":
		return unreadable(key, raw)
	}
	if !speaks(m) || d.ours(m) {
		// Not by the message's key: another signal of it may say more.
		return ignored(key)
	}
	in := d.said(core.InMessage, d.messageKey(m.Channel, m.TS), m)
	in.Unnamed = in.Kind == core.InMessage && in.Place.Topic != "" // until a person names its session
	return in
}

// messageKey is the key of every signal of a message. The team is ours, for
// that is the one team which a history and all signals agree on.
func (d *decoder) messageKey(channel, ts string) string {
	return "m/" + d.me.team + "/" + clean(channel) + "/" + clean(ts)
}

// changed decodes an edit, an unfurl among them. A root that was deleted while
// it has replies is changed into a tombstone.
func (d *decoder) changed(key string, raw json.RawMessage, m *message) core.Inbound {
	now := *m.Changed
	now.Channel, now.ChannelType = m.Channel, m.ChannelType
	switch {
	case now.Subtype == "tombstone":
		gone := m.Previous
		if gone == nil {
			gone = &now
		}
		return d.deleted(key, m.Channel, m.ChannelType.v, now.TS, gone)
	case now.TS == "":
		return unreadable(key, raw)
	case !speaks(&now) || d.ours(&now):
		return ignored(key)
	}
	// The key is the event's: two edits of one second have the same time.
	in := d.said(core.InEdit, key, &now)
	if at := when(now.Edited.v.TS.v); !at.IsZero() {
		in.Time = at
	}
	return in
}

func (d *decoder) deleted(key, channel, channelType, ts string, was *message) core.Inbound {
	if ts == "" || was != nil && d.ours(was) {
		return ignored(key)
	}
	thread := ""
	if was != nil {
		thread = was.Thread
	}
	k := d.kind(channel, channelType)
	return core.Inbound{
		Key: key, Kind: core.InDelete, Place: d.place(channel, topicOf(k, ts, thread)), Direct: k == direct,
		MessageID: clean(ts), Time: when(ts),
	}
}

// speaks reports whether a message says anything: those about joins, topics,
// huddles and the like do not, whatever kinds of them there will be.
func speaks(m *message) bool {
	switch m.Subtype {
	case "", "file_share", "thread_broadcast", "me_message", "bot_message":
		return strings.TrimSpace(m.Text) != "" || len(m.Files.v) > 0 || len(m.Attachments.v) > 0
	}
	return false
}

// ours reports whether we have written the message.
func (d *decoder) ours(m *message) bool {
	return m.User != "" && m.User == d.me.user || m.Bot != "" && m.Bot == d.me.bot
}

// said decodes what somebody says in a message.
func (d *decoder) said(what core.InboundKind, key string, m *message) core.Inbound {
	k := d.kind(m.Channel, m.ChannelType.v)
	s := d.read(m.Text)
	in := core.Inbound{
		Key:       key,
		Kind:      what,
		Place:     d.place(m.Channel, topicOf(k, m.TS, m.Thread)),
		Direct:    k == direct,
		From:      d.author(m),
		MessageID: clean(m.TS),
		Text:      s.text,
		Mentioned: s.mentioned || m.Parent.v != "" && m.Parent.v == d.me.user && !s.others,
		Others:    s.others && !s.mentioned,
		Files:     files(m.Files.v),
		Time:      when(m.TS),
	}
	for _, a := range m.Attachments.v {
		d.quote(&in, &a.v)
	}
	if in.Direct || in.Mentioned {
		in.Text, in.Command = d.asCommand(in.Text)
	}
	return in
}

// author is who wrote a message. Who is of another team is a guest, and who
// cannot be told is nobody.
func (d *decoder) author(m *message) core.Person {
	name := cmp.Or(m.Username.v, m.BotProfile.v.Name.v)
	var p core.Person
	switch {
	case m.User != "":
		p = d.person(m.User, name)
	case m.Bot != "":
		p = core.Person{ID: personID(d.adapter, clean(m.Bot)), Name: clean(name)}
	default:
		return core.Person{Name: clean(name), Guest: true}
	}
	p.Bot = p.Bot || m.Bot != ""
	if d.me.enterprise == "" { // in an organisation, other teams may be ours as well
		p.Guest = p.Guest || !d.me.home(m.UserTeam.v, "") || !d.me.home(m.SourceTeam.v, "")
	}
	return p
}

// quote adds a message that was shared or linked, and its files.
func (d *decoder) quote(in *core.Inbound, a *attachment) {
	if !a.Share.v && !a.Unfurl.v {
		return
	}
	more := files(a.Files.v)
	q := core.Quote{
		Author: clean(a.Author.v),
		Own:    a.AuthorID.v != "" && (a.AuthorID.v == d.me.user || a.AuthorID.v == d.me.bot),
		Text:   cmp.Or(d.read(a.Text.v).text, clean(a.Fallback.v), fileNames(more)),
	}
	if q.Text != "" {
		in.Quotes = append(in.Quotes, q)
	}
	in.Files = append(in.Files, more...)
}

// asCommand is text as a command if that is all it is: "new", which a person
// writes where no slash can be typed, or "/new" with whatever follows.
func (d *decoder) asCommand(text string) (string, bool) {
	trimmed := strings.TrimSpace(text)
	if word, slashed := strings.CutPrefix(trimmed, "/"); slashed {
		return text, d.knows(firstWord(word))
	}
	if d.knows(trimmed) {
		return "/" + strings.ToLower(trimmed), true
	}
	return text, false
}

// knows reports whether word is the name of a command.
func (d *decoder) knows(word string) bool {
	for _, c := range d.commands {
		if strings.EqualFold(c.Name, word) {
			return true
		}
	}
	return false
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(strings.Join(strings.Fields(s), " "), " ")
	return word
}

// file is a file as Slack describes it.
type file struct {
	ID        string        `json:"id"`
	Name      loose[string] `json:"name"`
	Title     loose[string] `json:"title"`
	MIME      loose[string] `json:"mimetype"`
	Size      loose[int64]  `json:"size"`
	URL       loose[string] `json:"url_private"`
	Mode      loose[string] `json:"mode"`
	External  loose[bool]   `json:"is_external"`
	Access    loose[string] `json:"file_access"`
	Thumb1024 loose[string] `json:"thumb_1024"`
	Thumb720  loose[string] `json:"thumb_720"`
}

// files are those that can be fetched.
func files(fs []loose[file]) []core.File {
	var out []core.File
	for _, f := range fs {
		if c, ok := f.v.content(); ok {
			out = append(out, c)
		}
	}
	return out
}

// content is the file as the appliance knows it. Its Ref is the id and, unless
// Slack must be asked for it first, where the content is. A picture in a
// format that few can read is a thumbnail of it.
func (f *file) content() (core.File, bool) {
	if f.ID == "" || f.External.v || f.Mode.v == "tombstone" || f.Mode.v == "hidden_by_limit" {
		return core.File{}, false
	}
	c := core.File{
		Name: clean(cmp.Or(f.Name.v, f.Title.v, f.ID)),
		MIME: clean(f.MIME.v),
		Size: max(f.Size.v, 0),
		Ref:  clean(f.ID),
	}
	if f.Access.v != "check_file_info" && f.URL.v != "" {
		c.Ref += " " + clean(f.URL.v)
	}
	thumb := cmp.Or(f.Thumb1024.v, f.Thumb720.v)
	if (c.MIME == "image/heic" || c.MIME == "image/heif") && thumb != "" {
		c.Name, c.MIME, c.Size, c.Ref = c.Name+".jpg", "image/jpeg", 0, clean(f.ID+" "+thumb)
	}
	return c, true
}

// fileNames stands for files where only text can.
func fileNames(fs []core.File) string {
	var names []string
	for _, f := range fs {
		names = append(names, "["+f.Name+"]")
	}
	return strings.Join(names, " ")
}
