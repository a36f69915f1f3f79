package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

func TestBefore(t *testing.T) {
	line := func(n int, who, text string, more ...string) string {
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"type":"message",%s,"text":%s,"ts":"17000000%02d.000100"%s}`, who, data, n, strings.Join(more, ""))
	}
	const ann, bob, us = `"user":"UANN"`, `"user":"UBOB"`, `"user":"UBOT","bot_id":"BBOT"`
	messages := []string{
		line(10, ann, "root &amp; all"), line(20, us, "ours"), line(30, bob, "<@UANN> look", `,"files":[{"id":"F1","name":"a.txt","url_private":"https://files.slack.com/a"}]`),
		line(40, ann, "", `,"subtype":"channel_join"`), line(50, `"bot_id":"B2","username":"CI"`, "red", `,"subtype":"bot_message"`),
		line(60, ann, "<@UBOT> help"), line(70, bob, "after"), `{"text":5}`,
	}
	root := core.Quote{Author: "Ann", Text: "root & all"}
	look := core.Quote{Author: "Bob", Text: "@Ann look"}
	red := core.Quote{Author: "CI", Text: "red"}
	file := []core.File{{Name: "a.txt", Ref: "F1 https://files.slack.com/a"}}
	at := func(n int) string { return fmt.Sprintf("17000000%02d.000100", n) }
	tests := map[string]struct {
		need   core.Need
		method string
		params map[string]string
		want   core.Before
	}{
		"a thread so far": {
			core.Need{Place: core.Place{Channel: "C1", Topic: at(10)}, MessageID: at(60)}, "conversations.replies",
			map[string]string{"channel": "C1", "ts": at(10), "latest": at(60), "limit": "200"}, core.Before{Quotes: []core.Quote{root, look, red}, Files: file},
		},
		"what is new in it": {
			core.Need{Place: core.Place{Channel: "C1", Topic: at(10)}, MessageID: at(60), Since: at(30)}, "conversations.replies",
			map[string]string{"channel": "C1", "ts": at(10), "latest": at(60), "oldest": at(30), "limit": "200"}, core.Before{Quotes: []core.Quote{red}},
		},
		"the last of a channel": {
			core.Need{Place: core.Place{Channel: "C1", Topic: at(60)}, MessageID: at(60), Context: 2}, "conversations.history",
			map[string]string{"channel": "C1", "latest": at(60), "limit": "14"}, core.Before{Quotes: []core.Quote{look, red}, Files: file},
		},
		"of a direct conversation": {
			core.Need{Place: dm, MessageID: at(60), Since: at(30), Context: 10}, "conversations.history",
			map[string]string{"channel": "D1", "latest": at(60), "oldest": at(30), "limit": "30"}, core.Before{Quotes: []core.Quote{red}},
		},
		"nothing is wanted": {core.Need{Place: dm, MessageID: at(60)}, "", nil, core.Before{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := newOffice(func(_ context.Context, c call) reply {
				if c.method == tt.method {
					return ok(`"messages":[` + strings.Join(messages, ",") + `]`)
				}
				return reply{}
			})
			a := adapter(o, io.Discard)
			a.me = identity{user: "UBOT", bot: "BBOT", team: "T1"}
			got, err := a.Features().Before(t.Context(), tt.need)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if tt.method == "" {
				return
			}
			if diff := cmp.Diff(tt.params, values(o.calls(tt.method)[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
	_, err := adapter(always(no("not_in_channel")), io.Discard).Features().Before(t.Context(), tests["a thread so far"].need)
	only(t, err, core.ErrRefused)
}

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

// TestTokensAreNowhere provokes every kind of failure and looks for the tokens
// and the ticket in all that comes out of it.
func TestTokensAreNowhere(t *testing.T) {
	var log bytes.Buffer
	var told []string
	tell := func(err error) {
		for ; err != nil; err = errors.Unwrap(err) {
			told = append(told, err.Error(), fmt.Sprintf("%+v %#v", err, err))
		}
	}
	echo := "Bearer " + botToken + " and " + appToken
	replies := []reply{
		no(echo), no("invalid_auth"), no("missing_scope"), htmlPage(502), tooManyCalls(1), ok(`"ts":"` + botToken + `"`), ok(`"ts":{}`),
		{status: 200, body: echo}, {err: errors.New("dialing with " + echo + " failed")},
		{status: 200, body: `{"ok":false,"error":"missing_scope","needed":"` + botToken + `"}`},
	}
	for _, r := range replies {
		a := adapter(always(r), &log)
		f := a.Features()
		for _, o := range []core.Outbound{{Place: dm, Text: "x"}, {Place: dm, Text: "x", Edit: "1.1"}, {Place: dm, Text: "x", File: &core.Attachment{Name: "a", Content: []byte("b")}}} {
			_, err := a.Send(t.Context(), o)
			tell(err)
		}
		_, err := f.Resolve(t.Context(), core.Outbound{Place: dm, Text: "x"})
		tell(err)
		_, err = f.Fetch(t.Context(), core.File{Ref: "F1 https://files.slack.com/x"})
		tell(err)
		_, err = f.Before(t.Context(), core.Need{Place: thread, MessageID: "1700000000.000900"})
		tell(err)
		tell(f.Typing(t.Context(), thread))
		tell(f.React(t.Context(), thread, "1.1", "👀"))
		told = append(told, fmt.Sprintf("%v %+v %#v %+v", a, a, a.api, f))
	}
	synctest.Test(t, func(t *testing.T) {
		for _, r := range append(replies, ok(`"url":"ws://%zz/?ticket=secret-ticket"`), ok(`"url":"ws://x.test/?ticket=secret-ticket"`)) {
			o := script(map[string][]reply{"apps.connections.open": {r}})
			a := adapter(o, &log)
			a.dial = nil
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			tell(a.Run(ctx, nothing))
			told = append(told, a.state().Trouble)
			cancel()
		}
	})
	for _, text := range append(told, log.String()) {
		if strings.Contains(text, "secret") {
			t.Fatalf("a secret is in %q", text)
		}
	}
	if log.Len() == 0 || len(told) < 50 {
		t.Error("nothing was said")
	}
}
