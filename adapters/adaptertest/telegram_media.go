package adaptertest

import (
	"mime"
	"path"
	"strings"
	"time"
)

// Limits of a file that a bot sends.
const (
	maxUpload  = 50 << 20 // bytes
	maxCaption = 1024     // UTF-16 units after parsing
)

// ForbidFiles makes an admin of every chat forbid files.
func (t *Telegram) ForbidFiles() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.noFiles = true
}

// upload is what a call attaches: the file that "attach://NAME" names.
func (p params) upload(media string) (SentFile, *apiError) {
	field, ok := strings.CutPrefix(media, "attach://")
	content, sent := p[field]
	switch {
	case !ok:
		return SentFile{}, bad("wrong remote file identifier specified: Wrong padding in the string")
	case !sent:
		return SentFile{}, bad("file not found")
	case content == "":
		return SentFile{}, bad("file must be non-empty")
	case len(content) > maxUpload:
		return SentFile{}, &apiError{code: 413, text: "Request Entity Too Large"}
	}
	return SentFile{Name: p[field+fileName], Content: []byte(content)}, nil
}

// editMessageMedia gives a message another file, or one to a message of text,
// which it cannot lose again.
func (t *Telegram) editMessageMedia(p params) (any, *apiError) {
	media := params{}
	if media.addObject([]byte(p["media"])) != nil || media["type"] != "document" {
		return nil, bad("can't parse InputMedia: expected an Object of a document")
	}
	file, e := p.upload(media["media"])
	if e != nil {
		return nil, e
	}
	media["text"] = media["caption"]
	var caption, source string
	if media["caption"] != "" {
		if caption, source, e = media.text("message caption is empty", "message caption is too long"); e != nil {
			return nil, e
		}
	}
	if utf16Len(caption) > maxCaption {
		return nil, bad("message caption is too long")
	}
	if t.noFiles {
		return nil, bad("not enough rights to send documents to the chat")
	}
	r, e := t.room(p)
	if e != nil {
		return nil, e
	}
	m := r.find(int(p.int("message_id")))
	switch {
	case m == nil:
		return nil, bad("message to edit not found")
	case m.from != t.me || m.service():
		return nil, bad("message can't be edited")
	}
	t.attach(m, &TelegramFile{Kind: "document", Name: file.Name, MIME: mime.TypeByExtension(path.Ext(file.Name)), Content: file.Content})
	m.text, m.source, m.caption, m.edited = caption, source, true, time.Now()
	m.edits++
	return t.messageJSON(m, true), nil
}
