package adaptertest

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Where files go and come from, on any host.
const (
	uploadPath = "/upload/v1/"
	filesPath  = "/files-pri/"
)

// slackFile is a file in the workspace.
type slackFile struct {
	id, name, title, mime string
	owner                 *SlackUser
	content               []byte
	length                int64 // that was announced
	shared                bool  // in a conversation
	hidden                bool  // file_access is check_file_info
}

func (f *slackFile) json() map[string]any {
	if f.hidden {
		return map[string]any{"id": f.id, "mode": "file_access", "file_access": "check_file_info"}
	}
	return f.fullJSON()
}

func (f *slackFile) fullJSON() map[string]any {
	kind := strings.TrimPrefix(path.Ext(f.name), ".")
	url := "https://files.slack.com" + filesPath + slackTeam + "-" + f.id + "/" + f.name
	j := map[string]any{"id": f.id, "created": 1, "timestamp": 1, "name": f.name, "title": f.title, "mimetype": f.mime,
		"filetype": kind, "pretty_type": strings.ToUpper(kind), "user": f.owner.ID, "user_team": f.owner.Team, "size": len(f.content),
		"mode": "hosted", "is_external": false, "url_private": url, "url_private_download": url + "?download=1", "file_access": "visible"}
	if strings.HasPrefix(f.mime, "image/") {
		j["thumb_720"], j["original_w"], j["original_h"] = url+"?thumb=720", 1280, 853
	}
	return j
}

func (s *Slack) getUploadURL(p params) (map[string]any, *slackError) {
	length := p.int("length")
	switch {
	case p["filename"] == "" || p["length"] == "":
		return nil, invalid("invalid_arguments", "[ERROR] missing required field")
	case length <= 0:
		return nil, no("file_upload_size_restricted")
	}
	f := &slackFile{id: s.id("F"), name: p["filename"], title: p["filename"], owner: s.me, length: length}
	f.mime = mime.TypeByExtension(path.Ext(f.name))
	s.files[f.id] = f
	return map[string]any{"upload_url": "https://files.slack.com" + uploadPath + f.id, "file_id": f.id}, nil
}

// upload takes a file's content, as it is or in a form.
func (s *Slack) upload(r *http.Request) answer {
	f := s.files[strings.TrimPrefix(r.URL.Path, uploadPath)]
	if f == nil || f.shared {
		return answer{status: http.StatusNotFound, contentType: "text/plain", body: []byte("not found")}
	}
	content, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if kind, attr, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && kind == "multipart/form-data" {
		var part *multipart.Part
		if part, err = multipart.NewReader(bytes.NewReader(content), attr["boundary"]).NextPart(); err == nil {
			content, err = io.ReadAll(part)
		}
	}
	if err != nil || int64(len(content)) != f.length {
		return answer{status: http.StatusBadRequest, contentType: "text/plain", body: []byte("the length is not what was announced")}
	}
	f.content = content
	return answer{status: http.StatusOK, contentType: "text/plain", body: fmt.Appendf(nil, "OK - %d", len(content))}
}

// attached finds the files that a message names.
func (s *Slack) attached(p params) ([]*slackFile, *slackError) {
	var ids []string
	if e := p.slackObject("file_ids", "invalid_arguments", &ids); e != nil {
		return nil, e
	}
	var files []*slackFile
	for _, id := range ids {
		f := s.files[id]
		if f == nil || f.content == nil {
			return nil, no("file_not_found")
		}
		f.shared = true
		files = append(files, f)
	}
	return files, nil
}

// completeUpload shows uploaded files in a conversation. The answer does not
// say in which message.
func (s *Slack) completeUpload(p params) (map[string]any, *slackError) {
	var list []struct{ ID, Title string }
	if e := p.slackObject("files", "invalid_arguments", &list); e != nil {
		return nil, e
	}
	m := &slackMessage{from: s.me, text: normalise(p["initial_comment"]), subtype: "file_share"}
	var done []any
	for _, item := range list {
		f := s.files[item.ID]
		if f == nil || f.content == nil || f.shared {
			return nil, no("file_not_found")
		}
		if item.Title != "" {
			f.title = item.Title
		}
		m.files = append(m.files, f)
		done = append(done, map[string]any{"id": f.id, "title": f.title})
	}
	if len(list) == 0 {
		return nil, no("invalid_arguments")
	}
	if p["channel_id"] != "" {
		r, e := s.writable(p, "channel_id")
		if e != nil {
			return nil, e
		}
		if m.thread, e = r.root(p["thread_ts"]); e != nil {
			return nil, e
		}
		s.add(r, m)
		s.tell(m)
	}
	for _, f := range m.files {
		f.shared = true
	}
	return map[string]any{"files": done}, nil
}

func (s *Slack) filesInfo(p params) (map[string]any, *slackError) {
	f := s.files[p["file"]]
	if f == nil {
		return nil, no("file_not_found")
	}
	return map[string]any{"file": f.fullJSON(), "comments": []any{}, "response_metadata": map[string]any{"next_cursor": ""}}, nil
}

// signIn is where the service leads those who may not see a file: a page that
// is no error.
const signIn = `<!DOCTYPE html><html lang="en-US"><head><title>Sign in | Slack</title></head><body>Sign in to hotel.slack.com</body></html>`

// download gives a file's content to who may read it, and the sign-in page to
// everybody else.
func (s *Slack) download(r *http.Request) answer {
	owner, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, filesPath), "/")
	_, id, _ := strings.Cut(owner, "-")
	f := s.files[id]
	switch {
	case r.Header.Get("Authorization") != "Bearer "+slackBotToken || s.revoked || slices.Contains(s.opt.Lacks, "files:read"):
		return answer{status: http.StatusOK, contentType: "text/html; charset=utf-8", body: []byte(signIn)}
	case f == nil:
		return answer{status: http.StatusNotFound, contentType: "text/html", body: []byte("<html>File not found</html>")}
	}
	a := answer{status: http.StatusOK, contentType: f.mime, body: f.content}
	a.header = http.Header{"Content-Length": {strconv.Itoa(len(f.content))}}
	return a
}
