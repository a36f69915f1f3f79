package discord

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

const openFresh = "POST /channels/10/messages/100/threads"

func TestOpenThread(t *testing.T) {
	tests := map[string]struct {
		answers map[string][]answer
		want    []string
		err     error
	}{
		"opened":         {nil, []string{openFresh, "POST /channels/100/messages"}, nil},
		"opened already": {map[string][]answer{openFresh: {no(400, 160004, "A thread has already been created for this message")}}, []string{openFresh, "POST /channels/100/messages"}, nil},
		"forbidden words": {map[string][]answer{openFresh: {no(400, 50035, "Invalid Form Body")}},
			[]string{openFresh, openFresh, "POST /channels/100/messages"}, nil},
		"not permitted": {map[string][]answer{openFresh: {no(403, 50013, "Missing Permissions")}},
			[]string{openFresh, "POST /channels/10/messages", "POST /channels/10/messages"}, nil},
		"the trigger is gone": {map[string][]answer{openFresh: {no(404, 10008, "Unknown Message")}, "GET /channels/100": {no(404, 10003, "Unknown Channel")},
			"GET /channels/10/messages/100": {no(404, 10008, "Unknown Message")}},
			[]string{openFresh, "GET /channels/100", "GET /channels/10/messages/100"}, core.ErrRefused},
		"no channel": {map[string][]answer{openFresh: {no(404, 10003, "Unknown Channel")}}, []string{openFresh}, core.ErrRefused},
		"outage":     {map[string][]answer{openFresh: {{status: 502}}}, []string{openFresh}, core.ErrNotSent},
		"archived": {map[string][]answer{"POST /channels/100/messages": {no(400, 50083, "Thread is archived")}},
			[]string{openFresh, "POST /channels/100/messages", "PATCH /channels/100", "POST /channels/100/messages"}, nil},
		"archived and locked": {map[string][]answer{"POST /channels/100/messages": {no(400, 50083, "Thread is archived")}, "PATCH /channels/100": {no(400, 160005, "Thread is locked")}},
			[]string{openFresh, "POST /channels/100/messages", "PATCH /channels/100"}, core.ErrRefused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.answers(tt.answers)
			a := inThread(s)
			_, err := a.Send(t.Context(), core.Outbound{Key: "k", Place: fresh, Text: "x", After: now()})
			if !errors.Is(err, tt.err) {
				t.Errorf("Send = %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, s.whats()); diff != "" {
				t.Error(diff)
			}
			if p := s.made(openFresh)[0].params; p["name"] != "what is up" || p["auto_archive_duration"] != 1440.0 {
				t.Errorf("the thread is opened with %v", p)
			}
		})
	}
}

// TestWithoutThread: where there can be no thread, everything happens in the
// channel, as replies, and the reason is told once.
func TestWithoutThread(t *testing.T) {
	s := newServer(t)
	s.answers(map[string][]answer{
		openFresh:                                {no(403, 50013, "Missing Permissions")},
		"POST /channels/10/messages/101/threads": {no(403, 50013, "Missing Permissions")},
	})
	a := inThread(s)
	a.asked.put("101", "another")
	other := core.Place{Adapter: "dc", Channel: "10", Topic: "101"}
	for _, o := range []core.Outbound{
		{Key: "1", Place: fresh, Text: "…"},
		{Key: "1", Place: fresh, Text: "answer", Edit: "7777"},
		{Key: "2", Place: fresh, Text: "more"},
		{Key: "3", Place: other, Text: "other", ReplyTo: "102"},
	} {
		o.After = now()
		if _, err := a.Send(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.typing(t.Context(), fresh); err != nil {
		t.Error(err)
	}
	want := []string{
		openFresh, "POST /channels/10/messages", "POST /channels/10/messages", "PATCH /channels/10/messages/7777", "POST /channels/10/messages",
		"POST /channels/10/messages/101/threads", "POST /channels/10/messages", "POST /channels/10/typing",
	}
	if diff := cmp.Diff(want, s.whats()); diff != "" {
		t.Error(diff)
	}
	var said []string
	for _, c := range s.made("POST /channels/10/messages") {
		ref, _ := c.params["message_reference"].(map[string]any)
		if text, ok := c.params["content"].(string); ok {
			said = append(said, ref["message_id"].(string)+" "+text)
		}
	}
	why := "100 I answer in the channel because I could not open a thread: I lack the permission Create Public Threads here."
	if diff := cmp.Diff([]string{why, "100 …", "100 more", "102 other"}, said); diff != "" {
		t.Error(diff)
	}
}

// TestVoice: beside a voice channel there are no threads, which is no news.
func TestVoice(t *testing.T) {
	s := newServer(t)
	p := core.Place{Adapter: "dc", Channel: "30", Topic: "100"}
	if _, err := inThread(s).Send(t.Context(), core.Outbound{Key: "k", Place: p, Text: "x", After: now()}); err != nil {
		t.Fatal(err)
	}
	c := s.made("")
	if len(c) != 1 || c[0].what != "POST /channels/30/messages" || !strings.Contains(c[0].body, `"message_reference":{"message_id":"100"`) {
		t.Errorf("calls %q", s.whats())
	}
}

// TestUnknownThread: after a restart, a place that cannot be opened may be a
// thread already; what belongs in one is never shown in the channel.
func TestUnknownThread(t *testing.T) {
	post := core.Place{Adapter: "dc", Channel: "20", Topic: "22"}
	const open, get, first = "POST /channels/20/messages/22/threads", "GET /channels/22", "GET /channels/20/messages/22"
	tests := map[string]struct {
		answers map[string][]answer
		want    []string
		err     error
	}{
		"a post of a forum": {map[string][]answer{open: {no(404, 10008, "Unknown Message")}, get: {ok(`{"id":"22","type":11,"parent_id":"20"}`)}},
			[]string{open, get, "POST /channels/22/messages"}, nil},
		"a private thread": {map[string][]answer{open: {no(403, 50013, "Missing Permissions")}, get: {no(403, 50001, "Missing Access")}},
			[]string{open, get}, core.ErrRefused},
		"gone": {map[string][]answer{open: {no(404, 10008, "Unknown Message")}, get: {no(404, 10003, "Unknown Channel")}, first: {no(404, 10008, "Unknown Message")}},
			[]string{open, get, first}, core.ErrRefused},
		"a message without a thread": {map[string][]answer{open: {no(403, 50013, "Missing Permissions")}, get: {no(404, 10003, "Unknown Channel")}},
			[]string{open, get, first, "POST /channels/20/messages", "POST /channels/20/messages"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.answers(tt.answers)
			_, err := inThread(s).Send(t.Context(), core.Outbound{Key: "k", Place: post, Text: "x", After: now()})
			if !errors.Is(err, tt.err) {
				t.Errorf("Send = %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, s.whats()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTitle(t *testing.T) {
	for text, want := range map[string]string{
		"": "bellhop", " \n": "bellhop", "fix  it\nplease": "fix it", strings.Repeat("é", 120): strings.Repeat("é", 99) + "…",
	} {
		if got := title(text); got != want {
			t.Errorf("title(%q) = %q", text, got)
		}
	}
}
