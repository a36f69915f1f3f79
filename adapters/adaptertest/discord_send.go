package adaptertest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Discord's limits on a message.
const (
	discordMaxText   = 2000     // code points
	discordMaxNonce  = 25       // characters
	discordMaxFile   = 10 << 20 // bytes, without boosts
	discordMaxRows   = 5
	discordMaxLabel  = 80  // code points
	discordMaxCustom = 100 // characters

	// discordNonceLife is how long a nonce is kept: "the past few minutes".
	discordNonceLife = 5 * time.Minute
)

// discordBody is a message as it is sent or edited; what is nil is not
// changed.
type discordBody struct {
	Content   *string           `json:"content"`
	Mentions  discordMentions   `json:"allowed_mentions"`
	Flags     *int64            `json:"flags"`
	Rows      *[]discordRow     `json:"components"`
	Files     []discordUpload   `json:"attachments"`
	Reference *discordReference `json:"message_reference"`
	Nonce     json.RawMessage   `json:"nonce"`
	Enforce   bool              `json:"enforce_nonce"`
}

type discordUpload struct {
	ID   json.Number `json:"id"`
	Name string      `json:"filename"`
}

type discordReference struct {
	Message string `json:"message_id"`
	Must    *bool  `json:"fail_if_not_exists"` // nil: yes
}

// check refuses what no message may be. Called with mu held.
func (b *discordBody) check(d *Discord, c *discordCall) *discordError {
	if b.Content != nil && utf8.RuneCountInString(*b.Content) > discordMaxText {
		return discordForm("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
	}
	if nonce := b.nonce(); utf8.RuneCountInString(nonce) > discordMaxNonce {
		return discordForm("nonce", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
	}
	if len(c.files) > 0 && d.noFiles {
		return discordNo(50013)
	}
	for _, f := range b.Files {
		sent, ok := c.files["files["+f.ID.String()+"]"]
		if !ok {
			return discordForm("attachments", "ATTACHMENT_NOT_FOUND", "Attachment data must be present")
		}
		if len(sent.Content) > discordMaxFile {
			return discordNo(40005)
		}
	}
	if e := discordRowsError(b.Rows); e != nil {
		return e
	}
	return b.Mentions.check()
}

// nonce is the nonce, which may be a number.
func (b *discordBody) nonce() string { return strings.Trim(string(b.Nonce), `"`) }

// discordRowsError refuses malformed buttons.
func discordRowsError(rows *[]discordRow) *discordError {
	if rows == nil {
		return nil
	}
	seen := map[string]bool{}
	bad := func(field, why string) *discordError {
		return discordForm("components."+field, "BASE_TYPE_BAD_LENGTH", why)
	}
	if len(*rows) > discordMaxRows {
		return bad("0", "Must be between 1 and 5 in length.")
	}
	for _, row := range *rows {
		if row.Kind != 1 || len(row.Buttons) == 0 || len(row.Buttons) > discordMaxRows {
			return bad("components", "Must be between 1 and 5 in length.")
		}
		for _, b := range row.Buttons {
			switch {
			case b.Kind != 2 || b.Style < 1 || b.Style > 4:
				return bad("type", "Only buttons that answer are known here.")
			case b.Label == "" || utf8.RuneCountInString(b.Label) > discordMaxLabel:
				return bad("label", "Must be between 1 and 80 in length.")
			case b.CustomID == "" || len(b.CustomID) > discordMaxCustom:
				return bad("custom_id", "Must be between 1 and 100 in length.")
			case seen[b.CustomID]:
				return bad("custom_id", "Component custom id cannot be duplicated")
			}
			seen[b.CustomID] = true
		}
	}
	return nil
}

// apply makes a message what the body says. Called with mu held.
func (b *discordBody) apply(d *Discord, m *discordMessage, c *discordCall) *discordError {
	text, rows, files := m.text, m.rows, m.files
	if b.Content != nil {
		text = strings.TrimSpace(*b.Content)
	}
	if b.Rows != nil {
		rows = *b.Rows
	}
	if b.Files != nil {
		files = nil // what an edit does not name goes
	}
	for _, f := range b.Files {
		sent := c.files["files["+f.ID.String()+"]"]
		if f.Name != "" {
			sent.Name = f.Name
		}
		files = append(files, d.attach(m.chat, sent))
	}
	if text == "" && len(files) == 0 {
		return discordNo(50006)
	}
	m.text, m.rows, m.files = text, rows, files
	if b.Flags != nil {
		m.flags = *b.Flags
	}
	m.call(d, b.Mentions)
	return nil
}

// attach keeps a file. Called with mu held.
func (d *Discord) attach(c *DiscordChat, f SentFile) *discordFile {
	id := d.id()
	file := &discordFile{SentFile: f, id: id, path: discordFiles + c.id + "/" + id + "/" + f.Name}
	d.files[file.path] = file
	return file
}

func (d *Discord) download(r *http.Request) answer {
	f := d.files[r.URL.Path]
	expires, err := strconv.ParseInt(r.URL.Query().Get("ex"), 16, 64)
	if f == nil || err != nil || time.Now().Unix() >= expires {
		return answer{status: http.StatusNotFound, contentType: "text/plain", body: []byte("This content is no longer available.")}
	}
	return answer{status: http.StatusOK, contentType: f.MIME, body: f.Content}
}

func (d *Discord) createMessage(c *discordCall) (any, *discordError) {
	chat, e := d.visible(c)
	if e != nil {
		return nil, e
	}
	var b discordBody
	if e := c.decode(&b); e != nil {
		return nil, e
	}
	if e := b.check(d, c); e != nil {
		return nil, e
	}
	switch {
	case chat.refuses != 0:
		return nil, discordNo(chat.refuses)
	case chat.kind == discordForum:
		return nil, discordNo(50008)
	case chat.archived && chat.locked:
		return nil, discordNo(160005)
	}
	if b.Enforce && b.nonce() != "" {
		for _, m := range chat.messages {
			if m.from == d.me && m.nonce == b.nonce() && time.Since(m.born) < discordNonceLife {
				return m.created(d), nil
			}
		}
	}
	m := &discordMessage{chat: chat, from: d.me, nonce: b.nonce()}
	if r := b.Reference; r != nil {
		m.refers = chat.find(r.Message)
		switch {
		case m.refers != nil:
			m.kind = discordReply
		case r.Must == nil || *r.Must:
			return nil, discordForm("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
		}
	}
	if e := b.apply(d, m, c); e != nil {
		return nil, e
	}
	d.reopen(chat)
	d.add(m)
	return m.created(d), nil
}

// created is a message as the answer to its sending has it.
func (m *discordMessage) created(d *Discord) map[string]any {
	out := m.json(d)
	if m.nonce != "" {
		out["nonce"] = m.nonce
	}
	return out
}

func (d *Discord) editMessage(c *discordCall) (any, *discordError) {
	chat, m, e := d.message(c)
	if e != nil {
		return nil, e
	}
	var b discordBody
	if e := c.decode(&b); e != nil {
		return nil, e
	}
	switch {
	case m.from != d.me:
		return nil, discordNo(50005)
	case chat.archived:
		return nil, discordNo(50083)
	}
	return d.revise(m, &b, c)
}

// revise edits a message of ours and tells of it. Called with mu held.
func (d *Discord) revise(m *discordMessage, b *discordBody, c *discordCall) (any, *discordError) {
	if e := b.check(d, c); e != nil {
		return nil, e
	}
	if e := b.apply(d, m, c); e != nil {
		return nil, e
	}
	d.edited(m)
	return m.json(d), nil
}

// edited notes that a message was edited, each time at another moment. Called
// with mu held.
func (d *Discord) edited(m *discordMessage) {
	now := time.Now()
	if least := d.lastEdit.Add(time.Microsecond); now.Before(least) {
		now = least
	}
	d.lastEdit, m.edited = now, now
	m.edits++
	if m.whisper == nil {
		d.tell("MESSAGE_UPDATE", m.chat, m.event(d))
	}
}

func (d *Discord) getMessage(c *discordCall) (any, *discordError) {
	_, m, e := d.message(c)
	if e != nil {
		return nil, e
	}
	return m.json(d), nil
}

func (d *Discord) listMessages(c *discordCall) (any, *discordError) {
	chat, e := d.visible(c)
	if e != nil {
		return nil, e
	}
	limit := 50
	if s := c.query.Get("limit"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 100 {
			return nil, discordForm("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
		}
		limit = n
	}
	for _, name := range []string{"before", "after", "around"} {
		if s := c.query.Get(name); s != "" {
			if _, err := strconv.ParseUint(s, 10, 64); err != nil {
				return nil, discordForm(name, "NUMBER_TYPE_COERCE", fmt.Sprintf("Value %q is not snowflake.", s))
			}
		}
	}
	list := chat.window(c.query.Get("before"), c.query.Get("after"), c.query.Get("around"), limit)
	slices.Reverse(list)
	return discordList(list, func(m *discordMessage) map[string]any { return m.json(d) }), nil
}

// window chooses messages, oldest first.
func (c *DiscordChat) window(before, after, around string, limit int) []*discordMessage {
	list := slices.DeleteFunc(slices.Clone(c.messages), func(m *discordMessage) bool { return m.deleted || m.whisper != nil })
	from := func(number int64) int { // the first message that is not older
		i, _ := slices.BinarySearchFunc(list, number, func(m *discordMessage, n int64) int { return cmp.Compare(m.number(), n) })
		return i
	}
	switch {
	case around != "":
		list = list[max(from(discordNumber(around))-limit/2, 0):]
		return list[:min(limit, len(list))]
	case after != "":
		list = list[from(discordNumber(after)+1):]
		return list[:min(limit, len(list))]
	case before != "":
		list = list[:from(discordNumber(before))]
	}
	return list[max(len(list)-limit, 0):]
}

// number is a message's id, which orders it.
func (m *discordMessage) number() int64 { return discordNumber(m.id) }

func discordNumber(id string) int64 {
	n, _ := strconv.ParseInt(id, 10, 64)
	return n
}
