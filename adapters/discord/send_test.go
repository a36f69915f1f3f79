package discord

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

var (
	dm     = core.Place{Adapter: "dc", Channel: "50"}
	thread = core.Place{Adapter: "dc", Channel: "10", Topic: "11"}  // known as one
	fresh  = core.Place{Adapter: "dc", Channel: "10", Topic: "100"} // of a message that has none yet
)

// now is an id of this moment, so that nothing can have been sent long ago.
func now() string {
	return idAt(time.Now())
}

// inThread makes an adapter that knows the thread.
func inThread(s *server) *Adapter {
	a := testFeed(s).Adapter
	a.asked.put("100", "what is up")
	return a
}

func TestSendParams(t *testing.T) {
	after := now()
	head := map[string]any{
		"content": "a **b** \\<@1> @\u200beveryone", "flags": 4.0,
		"allowed_mentions": map[string]any{"parse": []any{}, "replied_user": false},
	}
	sent := func(more map[string]any) map[string]any {
		m := map[string]any{"nonce": nonce("p1/0"), "enforce_nonce": true}
		for _, from := range []map[string]any{head, more} {
			maps.Copy(m, from)
		}
		return m
	}
	refers := func(id string) map[string]any {
		return map[string]any{"message_reference": map[string]any{"message_id": id, "fail_if_not_exists": false}}
	}
	buttons := map[string]any{"components": []any{map[string]any{"type": 1.0, "components": []any{
		map[string]any{"type": 2.0, "label": "Yes", "style": 2.0, "disabled": false, "custom_id": "y"},
	}}}}
	edited := map[string]any{"components": []any{}}
	maps.Copy(edited, head)
	tests := map[string]struct {
		out  core.Outbound
		what string
		want map[string]any
	}{
		"direct":                     {core.Outbound{Place: dm}, "POST /channels/50/messages", sent(nil)},
		"in a thread":                {core.Outbound{Place: thread}, "POST /channels/11/messages", sent(nil)},
		"a reply in a thread":        {core.Outbound{Place: thread, ReplyTo: "12"}, "POST /channels/11/messages", sent(refers("12"))},
		"a reply to what opened it":  {core.Outbound{Place: thread, ReplyTo: "11"}, "POST /channels/11/messages", sent(nil)},
		"a reply to nothing of ours": {core.Outbound{Place: dm, ReplyTo: "x/y"}, "POST /channels/50/messages", sent(nil)},
		"buttons":                    {core.Outbound{Place: dm, Buttons: []core.Button{{Label: "Yes", Value: "y"}}}, "POST /channels/50/messages", sent(buttons)},
		"edit":                       {core.Outbound{Place: thread, Edit: "7777", ReplyTo: "12"}, "PATCH /channels/11/messages/7777", edited},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			tt.out.Key, tt.out.Text, tt.out.After = "p1/0", "a **b** <@1> @everyone", after
			got, err := inThread(s).Send(t.Context(), tt.out)
			if err != nil || got.ID != "7777" || got.Time.IsZero() {
				t.Fatalf("Send = %v, %v", got, err)
			}
			calls := s.made("")
			if len(calls) != 1 || calls[0].what != tt.what {
				t.Fatalf("calls %v", calls)
			}
			if diff := cmp.Diff(tt.want, calls[0].params); diff != "" {
				t.Error(diff)
			}
			if h := calls[0].header; h.Get("Authorization") != "Bot "+testToken || !strings.HasPrefix(h.Get("User-Agent"), "DiscordBot (https://") {
				t.Errorf("headers %v", h)
			}
		})
	}
	if n := nonce("p1/0"); len(n) != 25 || n == nonce("p1/1") {
		t.Errorf("nonce %q", n)
	}
}

func TestSendFile(t *testing.T) {
	s := newServer(t)
	a := inThread(s)
	file := &core.Attachment{Name: "a \"b\"\n.txt", MIME: "text/plain", Content: []byte("content")}
	if _, err := a.Send(t.Context(), core.Outbound{Key: "k", Place: dm, Text: "look", File: file, After: now()}); err != nil {
		t.Fatal(err)
	}
	c := s.made("POST /channels/50/messages")[0]
	_, attr, err := mime.ParseMediaType(c.header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	r := multipart.NewReader(strings.NewReader(c.body), attr["boundary"])
	payload, err := r.NextPart()
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.NewDecoder(payload).Decode(&m); err != nil || payload.FormName() != "payload_json" || m["content"] != "look" || m["nonce"] == nil {
		t.Errorf("payload %v, %v", m, err)
	}
	part, err := r.NextPart()
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(part)
	if err != nil || part.FormName() != "files[0]" || string(content) != "content" || part.Header.Get("Content-Type") != "text/plain" {
		t.Errorf("file %q in %q, %v", content, part.FormName(), err)
	}
	file.Content = make([]byte, maxFile+1)
	_, err = a.Send(t.Context(), core.Outbound{Key: "k", Place: dm, Text: "look", File: file})
	if !errors.Is(err, core.ErrRefused) || !strings.Contains(err.Error(), "10 MiB") {
		t.Errorf("too large a file: %v", err)
	}
}

func TestSendOutcome(t *testing.T) {
	page := func(status int) answer { return answer{status: status, body: "<html>"} }
	limited := answer{status: 429, header: map[string]string{"Retry-After": "2"}, body: `{"message":"You are being rate limited.","retry_after":1.5,"global":true}`}
	tests := map[string]struct {
		edit  string
		reply answer
		want  error
		words string
	}{
		"server error":          {"", no(500, 0, "Internal Server Error"), core.ErrUnknown, "Internal"},
		"a proxy's page":        {"", page(502), core.ErrUnknown, "HTTP 502"},
		"no answer":             {"", answer{status: -1}, core.ErrUnknown, "no answer"},
		"half an answer":        {"", ok(`{"id":"77`), core.ErrUnknown, "unreadable"},
		"no id":                 {"", ok(`{}`), core.ErrUnknown, "did not say"},
		"a proxy's refusal":     {"", page(403), core.ErrUnknown, "HTTP 403"},
		"token":                 {"", no(401, 0, "401: Unauthorized"), core.ErrFatal, "check the token"},
		"no such channel":       {"", no(404, 10003, "Unknown Channel"), core.ErrRefused, "no longer exists"},
		"cannot see":            {"", no(403, 50001, "Missing Access"), core.ErrRefused, "View Channel"},
		"not allowed":           {"", no(403, 50013, "Missing Permissions"), core.ErrRefused, "permissions"},
		"closed conversation":   {"", no(403, 50007, "Cannot send messages to this user"), core.ErrRefused, "takes no direct messages"},
		"too long":              {"", no(400, 50035, "Invalid Form Body"), core.ErrRefused, "too long"},
		"nothing":               {"", no(400, 50006, "Cannot send an empty message"), core.ErrRefused, "nothing to show"},
		"locked":                {"", no(400, 160005, "Thread is locked"), core.ErrRefused, "locked"},
		"too large":             {"", no(413, 40005, "Request entity too large"), core.ErrRefused, "10 MiB"},
		"too large for a proxy": {"", page(413), core.ErrRefused, "10 MiB"},
		"anything else":         {"", no(400, 99999, "the moon is full"), core.ErrRefused, "the moon is full"},
		"edit of nothing":       {"7777", no(404, 10008, "Unknown Message"), core.ErrGone, ""},
		"edit of another's":     {"7777", no(403, 50005, "Cannot edit a message authored by another user"), core.ErrGone, ""},
		"edit not by number":    {"a.b", ok(`{}`), core.ErrGone, ""},
		"limited":               {"", limited, &core.RetryAfter{After: 2 * time.Second, Global: true}, "rate limited"},
		"limited at the edge":   {"", page(429), &core.RetryAfter{After: edgePatience, Global: true}, "HTTP 429"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.answer = func(call) answer { return tt.reply }
			_, err := inThread(s).Send(t.Context(), core.Outbound{Key: "k", Place: dm, Text: "x", Edit: tt.edit, After: now()})
			if want, ok := errors.AsType[*core.RetryAfter](tt.want); ok {
				got, _ := errors.AsType[*core.RetryAfter](err)
				if got == nil || got.After != want.After || got.Global != want.Global {
					t.Errorf("Send = %#v", err)
				}
			} else if !errors.Is(err, tt.want) {
				t.Errorf("Send = %v, want %v", err, tt.want)
			}
			if err == nil || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("Send = %v, want the words %q", err, tt.words)
			}
			s.secret(err)
		})
	}
	t.Run("no connection", func(t *testing.T) {
		s := newServer(t)
		a := inThread(s)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := a.Send(ctx, core.Outbound{Key: "k", Place: dm, Text: "x", After: now()}); !errors.Is(err, core.ErrNotSent) {
			t.Errorf("Send with an ended context = %v", err)
		}
	})
	for name, o := range map[string]core.Outbound{
		"no channel": {Place: core.Place{Adapter: "dc", Channel: "general"}, Text: "x"},
		"no thread":  {Place: core.Place{Adapter: "dc", Channel: "10", Topic: "../11"}, Text: "x"},
		"long":       {Place: dm, Text: strings.Repeat("x", 2001)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			if _, err := inThread(s).Send(t.Context(), o); !errors.Is(err, core.ErrRefused) || len(s.made("")) > 0 {
				t.Errorf("Send = %v after %d calls", err, len(s.made("")))
			}
		})
	}
}

// script answers calls of a kind with one answer after the other.
func (s *server) answers(by map[string][]answer) {
	s.answer = func(c call) answer {
		s.mu.Lock()
		defer s.mu.Unlock()
		as := by[c.what]
		if len(as) == 0 {
			return answer{}
		}
		by[c.what] = as[1:]
		return as[0]
	}
}

// whats are all calls so far.
func (s *server) whats() (out []string) {
	for _, c := range s.made("") {
		out = append(out, c.what)
	}
	return out
}

func TestEdit(t *testing.T) {
	tests := map[string]struct {
		kind    core.OutKind
		answers map[string][]answer
		want    []string
		id      string
		err     error
	}{
		"archived": {core.OutFinal, map[string][]answer{"PATCH /channels/11/messages/5": {no(400, 50083, "Thread is archived")}},
			[]string{"PATCH /channels/11/messages/5", "PATCH /channels/11", "PATCH /channels/11/messages/5"}, "5", nil},
		"too old": {core.OutFinal, map[string][]answer{"PATCH /channels/11/messages/5": {no(429, 30046, "Maximum number of edits")}},
			[]string{"PATCH /channels/11/messages/5", "POST /channels/11/messages"}, "7777", nil},
		"too old, refused": {core.OutFinal, map[string][]answer{"PATCH /channels/11/messages/5": {no(400, 30046, "Maximum number of edits")}},
			[]string{"PATCH /channels/11/messages/5", "POST /channels/11/messages"}, "7777", nil},
		"too old for a preview": {core.OutUpdate, map[string][]answer{"PATCH /channels/11/messages/5": {no(429, 30046, "Maximum number of edits")}},
			[]string{"PATCH /channels/11/messages/5"}, "", core.ErrRefused},
		"in the channel after all": {core.OutFinal, map[string][]answer{"PATCH /channels/11/messages/5": {no(404, 10003, "Unknown Channel")}},
			[]string{"PATCH /channels/11/messages/5", "PATCH /channels/10/messages/5"}, "5", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.answers(tt.answers)
			r, err := inThread(s).Send(t.Context(), core.Outbound{Key: "k", Kind: tt.kind, Place: thread, Text: "x", Edit: "5", After: now()})
			if r.ID != tt.id || tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("Send = %v, %v, want %s, %v", r, err, tt.id, tt.err)
			}
			if diff := cmp.Diff(tt.want, s.whats()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTypingAndMarks(t *testing.T) {
	s := newServer(t)
	a := inThread(s)
	for _, err := range []error{
		a.typing(t.Context(), thread),
		a.react(t.Context(), thread, "12", "👀"),
		a.react(t.Context(), thread, "11", "👀"), // opened the thread, and stands outside
		a.react(t.Context(), core.Place{Adapter: "dc", Channel: "20", Topic: "21"}, "21", "👀"),
		a.react(t.Context(), thread, "12", ""),
		a.react(t.Context(), thread, "13", ""), // has none
	} {
		if err != nil {
			t.Error(err)
		}
	}
	const eyes = "/reactions/%F0%9F%91%80/@me"
	want := []string{
		"POST /channels/11/typing",
		"PUT /channels/11/messages/12" + eyes, "PUT /channels/10/messages/11" + eyes, "PUT /channels/21/messages/21" + eyes,
		"DELETE /channels/11/messages/12" + eyes,
	}
	if diff := cmp.Diff(want, s.whats()); diff != "" {
		t.Error(diff)
	}
}

// TestKnownNonce: what Discord has shown before under a piece's key becomes
// what the piece is now.
func TestKnownNonce(t *testing.T) {
	s := newServer(t)
	s.answers(map[string][]answer{"POST /channels/50/messages": {ok(`{"id":"60","content":"…"}`), ok(`{"id":"61","content":"…"}`)},
		"PATCH /channels/50/messages/61": {no(404, 10008, "Unknown Message")}})
	a := inThread(s)
	for _, want := range []string{"60", "7777"} {
		r, err := a.Send(t.Context(), core.Outbound{Key: "k", Place: dm, Text: "x", After: now()})
		if err != nil || r.ID != want {
			t.Errorf("Send = %v, %v, want %s", r, err, want)
		}
	}
	calls := s.made("POST")
	if len(calls) != 3 || calls[1].params["nonce"] == calls[2].params["nonce"] {
		t.Errorf("calls %v", s.whats())
	}
}

// TestSecrets: no error and no log line shows a token, wherever it came from.
func TestSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.answer = func(call) answer { return no(400, 1, "bad "+testToken) }
		a := inThread(s)
		f := feed{Adapter: a}
		f.acknowledge(t.Context(), &interaction{id: "1", token: "interaction-token", command: true})
		_, err := a.Send(t.Context(), core.Outbound{Key: "k", Place: dm, Text: "x", After: now()})
		s.answer = func(call) answer { return answer{status: -1} }
		f.acknowledge(t.Context(), &interaction{id: "1", token: "interaction-token"})
		_, err2 := a.Send(t.Context(), core.Outbound{Key: "k", Place: dm, Text: "x", After: now()})
		s.secret(err, err2)
	})
}
