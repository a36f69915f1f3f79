package discord

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"bellhop/core"
)

// FuzzEvent feeds the feed what a server, or somebody who plays one, may send:
// whatever comes of it is something that a store can take.
func FuzzEvent(f *testing.F) {
	kinds := []string{
		"MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK", "MESSAGE_REACTION_ADD", "INTERACTION_CREATE",
		"GUILD_CREATE", "THREAD_CREATE", "THREAD_LIST_SYNC", "GUILD_ROLE_CREATE", "CHANNEL_DELETE", "READY",
	}
	for i, seed := range []string{
		posted("10", "100", "<@1000> <@&71> <#10> <:a:1> </b:2> <@!1>", `"mentions":[{"id":"1000"},null],"attachments":[{}],"message_snapshots":[{"message":{"content":"\u0000"}}]`),
		posted("10", "100", "x\u0000", `"edited_timestamp":"2026-01-02T03:05:00+00:00","referenced_message":{"author":{"id":"1000"},"content":"\ud800","attachments":[{"filename":""}]}`),
		`{"id":"100","channel_id":"10","guild_id":"1"}`,
		`{"ids":["1","\u0000"],"channel_id":"10"}`,
		`{"user_id":"2000","channel_id":"10","message_id":"1","emoji":{"name":null}}`,
		`{"id":"300","type":2,"token":"t","channel_id":"10","data":{"name":"new","options":[{"value":{"a":1e400}},{"value":1e99}]}}`,
		`{"id":"1","channels":[{"id":"10","last_message_id":"5"},{"id":5}],"threads":7,"roles":[{}]}`,
		`{"id":"11","type":11,"parent_id":""}`,
		`{"threads":[null]}`, `{"role":null}`, `[]`, `null`, `{"id":"18446744073709551616","channel_id":"10","author":{"id":"1"},"type":0}`,
	} {
		f.Add(i, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, kind int, raw []byte) {
		if !json.Valid(raw) {
			t.Skip() // it would be no packet
		}
		a := New(Options{Name: "dc", Token: testToken, HTTP: &http.Client{Transport: forbidden{}}})
		fd := &feed{Adapter: a, me: identity{user: meID}, catchUp: catchUp{guilds: map[string]bool{}}}
		fr := frame{session: testSession, seq: 3, kind: kinds[uint(kind)%uint(len(kinds))], data: raw}
		got, err := fd.event(t.Context(), fr)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range got.events {
			checkEvent(t, in)
		}
	})
}

func checkEvent(t *testing.T, in core.Inbound) {
	if in.Key == "" || in.Place.Adapter != "dc" {
		t.Errorf("an event without key or adapter: %+v", in)
	}
	switch in.Kind {
	case core.InIgnored:
	case core.InUnreadable:
		if strings.Contains(string(in.Raw), testToken) {
			t.Error("it keeps a token")
		}
	case core.InMessage, core.InEdit, core.InDelete, core.InButton, core.InReaction:
		if in.Place.Channel == "" || in.Time.IsZero() {
			t.Errorf("an event without an address or time: %+v", in)
		}
		if (in.Kind == core.InMessage || in.Kind == core.InEdit) && (in.MessageID == "" || in.From.ID == "" && !in.From.Guest) {
			t.Errorf("a message without id, or of nobody: %+v", in)
		}
	default:
		t.Errorf("kind %q", in.Kind)
	}
	texts := []string{in.Key, in.Text, in.From.Name, string(in.From.ID), in.Place.Channel, in.Place.Topic, in.MessageID, in.Button, in.Emoji}
	for _, q := range in.Quotes {
		texts = append(texts, q.Author, q.Text)
	}
	for _, f := range in.Files {
		texts = append(texts, f.Name, f.MIME, f.Ref)
	}
	for _, s := range texts {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			t.Errorf("%q is no text", s)
		}
	}
	if _, err := json.Marshal(in); err != nil {
		t.Errorf("no store can take it: %v", err)
	}
}

// FuzzRender checks that our mention is seen wherever it stands, and that what
// is left is text.
func FuzzRender(f *testing.F) {
	f.Add("<@", " a <@!1000>  b <@&71>")
	f.Add("<:x:", ":1>")
	a := New(Options{Name: "dc"})
	f.Fuzz(func(t *testing.T, before, after string) {
		if !utf8.ValidString(before+after) || strings.ContainsAny(before, "<") {
			t.Skip() // JSON gives no such text, and an open tag may swallow ours
		}
		var mentioned bool
		got := a.render(&message{Content: before + "<@" + meID + ">" + after}, meID, &mentioned)
		if !mentioned || !utf8.ValidString(got) || len(got) > len(before)+len(after) {
			t.Errorf("%q + us + %q becomes %q", before, after, got)
		}
	})
}

// forbidden is a transport to a Discord that refuses everything.
type forbidden struct{}

func (forbidden) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusForbidden, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(`{"message":"Missing Access","code":50001}`)),
	}, nil
}
