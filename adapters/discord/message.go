package discord

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"bellhop/core"
)

// message is what we read of a message, new or edited.
type message struct {
	ID         string                `json:"id"`
	Channel    string                `json:"channel_id"`
	Guild      lenient[string]       `json:"guild_id"`
	Kind       discordgo.MessageType `json:"type"`
	Content    string                `json:"content"`
	Author     user                  `json:"author"`
	Webhook    string                `json:"webhook_id"`
	Time       lenient[time.Time]    `json:"timestamp"`
	Edited     string                `json:"edited_timestamp"`
	Member     lenient[member]       `json:"member"`
	Mentions   lenient[[]mentioned]  `json:"mentions"`
	Roles      lenient[[]string]     `json:"mention_roles"`
	Attached   lenient[[]attachment] `json:"attachments"`
	Stickers   lenient[[]sticker]    `json:"sticker_items"`
	Reference  lenient[reference]    `json:"message_reference"`
	Referenced lenient[*message]     `json:"referenced_message"`
	Snapshots  lenient[[]snapshot]   `json:"message_snapshots"`
	Nonce      lenient[string]       `json:"nonce"`
}

type user struct {
	ID     string `json:"id"`
	Name   string `json:"username"`
	Global string `json:"global_name"`
	Bot    bool   `json:"bot"`
}

// member is a user in a server.
type member struct {
	Nick string        `json:"nick"`
	User lenient[user] `json:"user"`
}

type mentioned struct {
	user
	Member lenient[member] `json:"member"`
}

type sticker struct {
	Name string `json:"name"`
}

type reference struct {
	Message string `json:"message_id"`
}

// snapshot is a message that was forwarded, without its author.
type snapshot struct {
	Message lenient[message] `json:"message"`
}

type attachment struct {
	ID    string `json:"id"`
	Name  string `json:"filename"`
	MIME  string `json:"content_type"`
	Size  int64  `json:"size"`
	URL   string `json:"url"`
	Proxy string `json:"proxy_url"`
}

// spoken reports whether a message is something that somebody said: those
// about joins, pins, names and the like are not, whatever kinds there will be.
func (m *message) spoken() bool {
	return m.Kind == discordgo.MessageTypeDefault || m.Kind == discordgo.MessageTypeReply
}

// when is the time of a message, or of its edit.
func (m *message) when() time.Time {
	if t, err := time.Parse(time.RFC3339, m.Edited); err == nil {
		return t.UTC()
	}
	if t := m.Time.v; !t.IsZero() {
		return t.UTC()
	}
	return whenever(m.ID)
}

// author is who wrote a message. One that came through a webhook has no author
// that anybody could trust.
func (f *feed) author(m *message) core.Person {
	p := f.person(m.Author, m.Member.v.Nick)
	if m.Webhook != "" {
		return core.Person{Name: p.Name, Guest: true}
	}
	return p
}

func (f *feed) person(u user, nick string) core.Person {
	return core.Person{
		ID:   core.PersonID(f.name + ":" + clean(u.ID)),
		Name: clean(cmp.Or(nick, u.Global, u.Name)),
		Bot:  u.Bot,
	}
}

// quote is a message as another one refers to it; none if it has no content.
func (a *Adapter) quote(m *message) []core.Quote {
	text := a.plain(m)
	if text == "" {
		var names []string
		for _, f := range m.files() {
			names = append(names, "["+f.Name+"]")
		}
		text = strings.Join(names, " ")
	}
	if text == "" {
		return nil
	}
	a.mu.Lock()
	me := a.me.user
	a.mu.Unlock()
	return []core.Quote{{
		Author: m.authorName(),
		Own:    me != "" && m.Author.ID == me,
		Text:   text,
	}}
}

// fileRef is what finds an attachment again. Its address works for a day or
// so; then the message tells a fresh one.
type fileRef struct {
	Channel string `json:"c"`
	Message string `json:"m"`
	ID      string `json:"a"`
	URL     string `json:"u"`
}

// files are a message's attachments.
func (m *message) files() []core.File {
	var files []core.File
	for _, a := range m.Attached.v {
		ref, err := json.Marshal(fileRef{clean(m.Channel), clean(m.ID), clean(a.ID), clean(a.address())})
		if err != nil {
			continue // strings always encode
		}
		f := core.File{Name: clean(cmp.Or(a.Name, "file_"+a.ID)), MIME: clean(a.MIME), Size: max(a.Size, 0), Ref: string(ref)}
		if a.converted() {
			f.Name, f.MIME, f.Size = f.Name+".png", "image/png", 0
		}
		files = append(files, f)
	}
	return files
}

// converted reports whether the attachment is a picture of a kind that nothing
// here can read and Discord's proxy can change.
func (a attachment) converted() bool {
	kind, _, _ := strings.Cut(a.MIME, ";")
	return a.Proxy != "" && slices.Contains([]string{"image/heic", "image/heif", "image/avif"}, kind)
}

// address is where the attachment's content is.
func (a attachment) address() string {
	if !a.converted() {
		return a.URL
	}
	u, err := url.Parse(a.Proxy)
	if err != nil {
		return a.URL
	}
	q := u.Query()
	q.Set("format", "png")
	u.RawQuery = q.Encode()
	return u.String()
}

// String is for logs: an address is good for a day to whoever has it.
func (r fileRef) String() string { return fmt.Sprintf("attachment %s of message %s", r.ID, r.Message) }
