package adaptertest

import (
	"encoding/json"
	"regexp"
)

// commandName is what setMyCommands accepts.
var commandName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// maxDownload is the platform's limit for getFile, in bytes.
const maxDownload = 20 << 20

// tgFile is a file that a person has sent.
type tgFile struct {
	id      string
	size    int64
	content []byte
}

func (t *Telegram) getMe(params) (any, *apiError) {
	m := t.me.json()
	m["can_join_groups"] = true
	m["can_read_all_group_messages"] = t.opt.ReadsAll
	m["supports_inline_queries"] = false
	m["has_topics_enabled"] = t.opt.Topics
	return m, nil
}

func (t *Telegram) setMyCommands(p params) (any, *apiError) {
	var list []struct{ Command, Description string }
	if e := p.object("commands", &list); e != nil {
		return nil, e
	}
	if len(list) > 100 {
		return nil, bad("BOT_COMMANDS_TOO_MUCH")
	}
	for _, c := range list {
		switch {
		case !commandName.MatchString(c.Command):
			return nil, bad("BOT_COMMAND_INVALID")
		case c.Description == "" || utf16Len(c.Description) > 256:
			return nil, bad("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	t.commands[p["scope"]+p["language_code"]] = p["commands"]
	return true, nil
}

func (t *Telegram) getMyCommands(p params) (any, *apiError) {
	list := t.commands[p["scope"]+p["language_code"]]
	if list == "" {
		list = "[]"
	}
	return json.RawMessage(list), nil
}

func (t *Telegram) getFile(p params) (any, *apiError) {
	f := t.files[p["file_id"]]
	switch {
	case f == nil:
		return nil, bad("invalid file_id")
	case f.size > maxDownload:
		return nil, bad("file is too big")
	}
	return map[string]any{"file_id": f.id, "file_unique_id": "u" + f.id, "file_size": f.size, "file_path": "files/" + f.id}, nil
}

// download answers a request for a file's content. Called with mu held.
func (t *Telegram) download(path string) answer {
	if len(path) > len("files/") {
		if f := t.files[path[len("files/"):]]; f != nil {
			return answer{status: 200, contentType: "application/octet-stream", body: f.content}
		}
	}
	return (&apiError{code: 404, text: "Not Found"}).answer()
}
