package telegram

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-telegram/bot/models"

	"bellhop/core"
)

// reply adds what the message replies to: as a quote, with its files, and as a
// mention of us if it is ours. Every message of a topic formally replies to
// the one that created the topic; that is no reply.
func (d *decoder) reply(in *core.Inbound, m *rawMessage) {
	if r := m.ReplyToMessage; r != nil && !(m.IsTopicMessage && r.ID == m.MessageThreadID) {
		in.Mentioned = in.Mentioned || d.wrote(r.From)
		in.ReplyTo, in.Quotes = strconv.Itoa(r.ID), d.quote(m.Quote, nil, r)
		in.Files = append(in.Files, files(r)...)
	}
	if e := m.ExternalReply; e != nil {
		r := &rawMessage{media: e.media}
		in.Quotes = append(in.Quotes, d.quote(m.Quote, &e.Origin, r)...)
		in.Files = append(in.Files, files(r)...)
	}
}

// quote is what a person quotes of another message, or all of it. from is
// who wrote it if that is not in the message itself. A message without content
// gives none.
func (d *decoder) quote(part *textQuote, from *origin, m *rawMessage) []core.Quote {
	q := core.Quote{Author: clean(author(m)), Own: d.wrote(m.From), Text: clean(words(m))}
	if from != nil {
		q.Author, q.Own = clean(originName(from)), d.wrote(from.SenderUser)
	}
	if part != nil && part.Text != "" {
		q.Text = clean(part.Text)
	}
	if q.Text == "" {
		var names []string
		for _, f := range files(m) {
			names = append(names, "["+f.Name+"]")
		}
		q.Text = strings.Join(names, " ")
	}
	if q.Text == "" {
		return nil
	}
	return []core.Quote{q}
}

// wrote reports whether the user is us.
func (d *decoder) wrote(u *models.User) bool { return u != nil && u.ID == d.me.ID && u.ID != 0 }

// words is a message's text as it was written.
func words(m *rawMessage) string {
	switch {
	case m.Text != "":
		return m.Text
	case m.Caption != "":
		return m.Caption
	case m.Sticker != nil:
		return m.Sticker.Emoji
	}
	return ""
}

// author is the name that a message is shown under.
func author(m *rawMessage) string {
	switch {
	case m.SenderChat != nil:
		return chatName(m.SenderChat)
	case m.From != nil:
		return userName(m.From)
	}
	return ""
}

func userName(u *models.User) string { return strings.TrimSpace(u.FirstName + " " + u.LastName) }

func chatName(c *models.Chat) string {
	return cmp.Or(c.Title, strings.TrimSpace(c.FirstName+" "+c.LastName), c.Username)
}

// originName is the name of who wrote what is forwarded; empty if the kind of
// origin is not known.
func originName(o *origin) string {
	switch {
	case o.SenderUser != nil:
		return userName(o.SenderUser)
	case o.SenderUserName != "":
		return o.SenderUserName
	case o.SenderChat != nil:
		return chatName(o.SenderChat)
	case o.Chat != nil:
		return chatName(o.Chat)
	}
	return ""
}

// files are a message's attachments. The ids of many files begin alike, so a
// file that has no name is called by its unique id.
func files(m *rawMessage) []core.File {
	var fs []core.File
	add := func(id, unique, name, kind, ext, mime string, size int64) {
		fs = append(fs, core.File{
			Name: clean(cmp.Or(name, kind+"_"+unique+ext)),
			MIME: clean(mime),
			Size: max(size, 0),
			Ref:  clean(id),
		})
	}
	if len(m.Photo) > 0 {
		p := slices.MaxFunc(m.Photo, func(a, b file) int {
			return cmp.Compare(a.Width*a.Height, b.Width*b.Height)
		})
		add(p.FileID, p.FileUniqueID, "", "photo", ".jpg", "image/jpeg", p.FileSize)
	}
	if f := m.Document; f != nil {
		add(f.FileID, f.FileUniqueID, f.FileName, "file", "", f.MimeType, f.FileSize)
	}
	if f := m.Voice; f != nil {
		add(f.FileID, f.FileUniqueID, "", "voice", ".ogg", cmp.Or(f.MimeType, "audio/ogg"), f.FileSize)
	}
	if f := m.Audio; f != nil {
		add(f.FileID, f.FileUniqueID, f.FileName, "audio", ".mp3", cmp.Or(f.MimeType, "audio/mpeg"), f.FileSize)
	}
	if f := m.Video; f != nil {
		add(f.FileID, f.FileUniqueID, f.FileName, "video", ".mp4", cmp.Or(f.MimeType, "video/mp4"), f.FileSize)
	}
	if f := m.VideoNote; f != nil {
		add(f.FileID, f.FileUniqueID, "", "video_note", ".mp4", "video/mp4", f.FileSize)
	}
	return fs
}

// clean takes out what no store or terminal likes. That text is valid UTF-8 is
// the JSON decoder's doing.
func clean(s string) string { return strings.ReplaceAll(s, "\x00", "") }
