package slack

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

func TestFetch(t *testing.T) {
	page := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	html := "<!DOCTYPE html><title>Sign in</title>"
	const at = "https://files.slack.com/x.pdf"
	tests := map[string]struct {
		file  core.File
		reply reply
		words string // of the error; empty: it is there
	}{
		"there":                   {core.File{Ref: "F1 " + at, MIME: "application/pdf"}, reply{status: 200, body: "%PDF"}, ""},
		"where calls go":          {core.File{Ref: "F1 https://slack.test/f/x.pdf"}, reply{status: 200, body: "%PDF"}, ""},
		"to be asked for first":   {core.File{Ref: "F1"}, reply{status: 200, body: "%PDF"}, ""},
		"sign-in page":            {core.File{Ref: "F1 " + at, MIME: "application/pdf"}, reply{status: 200, header: page, body: html}, "files:read"},
		"sign-in page, unnamed":   {core.File{Ref: "F1 " + at, MIME: "image/png"}, reply{status: 200, body: "\n <HTML><body>"}, "files:read"},
		"a page that was sent":    {core.File{Ref: "F1 " + at, MIME: "text/html"}, reply{status: 200, header: page, body: html}, ""},
		"empty":                   {core.File{Ref: "F1 " + at}, reply{status: 200}, ""},
		"gone":                    {core.File{Ref: "F1 " + at}, reply{status: 404}, "HTTP 404"},
		"elsewhere":               {core.File{Ref: "F1 https://evil.test/x"}, reply{}, "not kept by Slack"},
		"elsewhere, nearly":       {core.File{Ref: "F1 https://notslack.com/x"}, reply{}, "not kept by Slack"},
		"not encrypted":           {core.File{Ref: "F1 http://files.slack.com/x"}, reply{}, "not kept by Slack"},
		"redirected to elsewhere": {core.File{Ref: "F1 " + at}, reply{status: 302, header: http.Header{"Location": {"https://evil.test/x"}}}, "redirected away"},
		"redirected to sign in":   {core.File{Ref: "F1 " + at, MIME: "text/html"}, reply{status: 302, header: http.Header{"Location": {"https://hotel.slack.com/?redir=%2Fx.pdf"}}}, "files:read"},
		"broken":                  {core.File{Ref: "F1 " + at}, reply{err: errors.New("reset")}, "reset"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := newOffice(func(_ context.Context, c call) reply {
				switch c.method {
				case "files.info":
					return ok(`"file":{"id":"F1","url_private":"` + at + `"}`)
				case "x.pdf":
					return tt.reply
				}
				return reply{status: 200, body: html}
			})
			body, err := adapter(o, io.Discard).Features().Fetch(t.Context(), tt.file)
			if tt.words != "" {
				if err == nil || !strings.Contains(err.Error(), tt.words) {
					t.Errorf("Fetch: %v, want %q", err, tt.words)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer body.Close()
			if got, err := io.ReadAll(body); err != nil || string(got) != tt.reply.body {
				t.Errorf("read %q, %v", got, err)
			}
			if c := o.calls("x.pdf")[0]; c.header.Get("Authorization") != "Bearer "+botToken {
				t.Errorf("header %v", c.header)
			}
		})
	}
}

func TestUpload(t *testing.T) {
	file := &core.Attachment{Name: "q3.csv", MIME: "text/csv", Content: []byte("a,b")}
	o := script(map[string][]reply{
		"files.getUploadURLExternal": {ok(`"upload_url":"https://files.slack.test/upload/1","file_id":"F1"`)},
		"1":                          {{status: 200, body: "OK - 3"}},
		"chat.postMessage":           {htmlPage(502), {}},
	})
	a := adapter(o, io.Discard)
	a.me = identity{user: "UBOT", bot: "BBOT"}
	out := core.Outbound{Key: "p1/0", Kind: core.OutFinal, Place: thread, Text: "see", File: file}
	_, err := a.Send(t.Context(), out)
	only(t, err, core.ErrUnknown)
	if _, err := a.Send(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	want := []string{"conversations.replies", "files.getUploadURLExternal", "1", "files.completeUploadExternal", "chat.postMessage", "chat.postMessage"}
	if diff := cmp.Diff(want, o.methods()); diff != "" {
		t.Error(diff)
	}
	if c := o.seen[2]; c.body != "a,b" || c.header.Get("Authorization") != "" {
		t.Errorf("uploaded %q with %v", c.body, c.header)
	}
	got := values(o.seen[3])
	if diff := cmp.Diff(map[string]string{"files": `[{"id":"F1","title":"q3.csv"}]`, "channel_id": "C1", "thread_ts": thread.Topic}, got); diff != "" {
		t.Error(diff)
	}
	if got := o.seen[1].params.Get("length"); got != "3" {
		t.Errorf("length %s", got)
	}

	for name, tt := range map[string]struct {
		replies map[string][]reply
		content string
		want    error
	}{
		"no scope":   {map[string][]reply{"files.getUploadURLExternal": {no("missing_scope")}}, "x", core.ErrRefused},
		"blind":      {map[string][]reply{"conversations.history": {no("missing_scope")}, "files.getUploadURLExternal": {ok(`"upload_url":"https://files.slack.test/1"`)}}, "x", nil},
		"cannot see": {map[string][]reply{"conversations.history": {htmlPage(502)}}, "x", core.ErrUnknown},
		"empty":      {nil, "", core.ErrRefused},
		"broken":     {map[string][]reply{"files.getUploadURLExternal": {ok(`"upload_url":"https://files.slack.test/1"`)}, "1": {htmlPage(500)}}, "x", core.ErrNotSent},
		"lost":       {map[string][]reply{"files.getUploadURLExternal": {ok(`"upload_url":"https://files.slack.test/1"`)}, "files.completeUploadExternal": {htmlPage(500)}}, "x", core.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			o := script(tt.replies)
			_, err := adapter(o, io.Discard).Send(t.Context(), core.Outbound{Place: dm, Text: "see", File: &core.Attachment{Name: "a.txt", Content: []byte(tt.content)}})
			only(t, err, tt.want)
			if posts := o.calls("chat.postMessage"); (tt.want == nil) != (len(posts) == 1) {
				t.Errorf("posted %v", posts)
			}
		})
	}
}
