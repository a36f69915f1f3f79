package adaptertest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestSlackFiles(t *testing.T) {
	s := NewSlack(SlackOptions{})
	ann, gus := s.User("Ann"), s.Stranger("Gus")
	dm := s.Direct(ann)
	type m = map[string]any
	get := func(s *Slack, path, token string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.Status + " " + string(b)
	}
	dm.Upload(ann, "look", SentFile{"a.txt", "text/plain", []byte("content")})
	id := slices.Collect(maps.Keys(s.files))[0]
	file := slackCall(t, s, "files.info", m{"file": id})["file"].(map[string]any)
	if got := get(s, file["url_private"].(string), s.BotToken()); got != "200 OK content" {
		t.Error(got)
	}
	if got := get(s, file["url_private"].(string), "other"); got != "200 OK "+signIn {
		t.Error(got)
	}
	if got := dm.Shown()[0].Files; len(got) != 1 || got[0].Name != "a.txt" {
		t.Error(got)
	}
	s.Group(ann, gus).Upload(gus, "", SentFile{"b.txt", "text/plain", []byte("from elsewhere")})
	if e := string(s.events[len(s.events)-1].payload); !strings.Contains(e, `"file_access":"check_file_info"`) || strings.Contains(e, "url_private") {
		t.Errorf("a file from elsewhere is told as %s", e)
	}

	up := slackCall(t, s, "files.getUploadURLExternal", m{"filename": "c.md", "length": 4})
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "c.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write([]byte("# hi")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ kind, body, want string }{
		{"text/plain", "too long", "400 Bad Request"},
		{"text/plain", "# hi", "200 OK"},
		{w.FormDataContentType(), form.String(), "200 OK"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, up["upload_url"].(string), strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", c.kind)
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.Status != c.want {
			t.Errorf("%s: %s, want %s", c.body, resp.Status, c.want)
		}
	}
	done := m{"files": []m{{"id": up["file_id"], "title": "notes"}}, "channel_id": dm.ID(), "initial_comment": "here"}
	if got := said(slackCall(t, s, "files.completeUploadExternal", done)); got != "" {
		t.Error(got)
	}
	if got := said(slackCall(t, s, "files.completeUploadExternal", done)); got != "file_not_found" {
		t.Error(got)
	}
	if got := dm.Shown()[1]; !got.Own || got.Text != "here" || len(got.Files) != 1 || got.Files[0].Name != "c.md" {
		t.Errorf("%+v", got)
	}
}

func TestSlackFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlack(SlackOptions{})
		dm := s.Direct(s.User("Ann"))
		say := func(text string) (status string, err error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			resp, err := slackSend(ctx, s, "chat.postMessage", s.BotToken(), "application/json", `{"channel":"`+dm.ID()+`","text":"`+text+`"}`)
			if err != nil {
				return "", err
			}
			defer resp.Body.Close()
			_, err = io.ReadAll(resp.Body)
			return strings.TrimSpace(resp.Status + " " + resp.Header.Get("Retry-After")), err
		}
		shown := func(text string) bool {
			for _, m := range dm.Shown() {
				if m.Text == text {
					return true
				}
			}
			return false
		}
		s.Fail("chat.postMessage", 1, Fault{RetryAfter: 3500 * time.Millisecond})
		if status, err := say("late"); err != nil || status != "429 Too Many Requests 4" || shown("late") {
			t.Errorf("%s, %v", status, err)
		}
		s.Refuse("chat.postMessage", 1, "ratelimited")
		if got := said(slackCall(t, s, "chat.postMessage", map[string]any{"channel": dm.ID(), "text": "refused"})); got != "ratelimited" || shown("refused") {
			t.Error(got)
		}
		for f, want := range map[Fault]struct {
			err   error
			shown bool
		}{
			{Net: NetRefuse}: {syscall.ECONNREFUSED, false},
			{Net: NetLost}:   {syscall.ECONNRESET, true},
			{Net: NetCut}:    {io.ErrUnexpectedEOF, true},
			{Net: NetHang}:   {context.DeadlineExceeded, false},
			{Net: NetStall}:  {context.DeadlineExceeded, true},
			{Status: 502}:    {nil, false},

			{Status: 504, Net: NetLost}: {nil, true},
		} {
			hits := s.Fail("chat.postMessage", 1, f)
			if _, err := say(f.String()); !errors.Is(err, want.err) || shown(f.String()) != want.shown || hits() != 1 {
				t.Errorf("%s: %v, shown %v", f, err, shown(f.String()))
			}
		}
		s.Fail("", Always, Fault{Net: NetRefuse})
		s.Heal()
		if _, err := say("fine"); err != nil || !shown("fine") {
			t.Errorf("healed: %v", err)
		}
		s.Fail("connect", 1, Fault{Net: NetRefuse})
		if _, err := s.Dial(t.Context(), "tcp", ""); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("a refused socket: %v", err)
		}
	})
}
