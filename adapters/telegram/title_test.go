package telegram

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"bellhop/core"
)

// TestTitle: whatever Telegram says to a title, nothing but the title suffers.
func TestTitle(t *testing.T) {
	topic := core.Place{Adapter: "tg", Channel: "-1001", Topic: "5"}
	tests := map[string]struct {
		at    core.Place
		reply reply
		want  error
		calls int
	}{
		"shown":           {topic, ok("true"), nil, 1},
		"shown already":   {topic, no(400, "Bad Request: TOPIC_NOT_MODIFIED"), nil, 1},
		"no right":        {topic, no(400, "Bad Request: not enough rights to manage topics"), core.ErrRefused, 1},
		"gone":            {topic, no(400, "Bad Request: message thread not found"), core.ErrRefused, 1},
		"an old server":   {topic, no(404, "Not Found: method not found"), core.ErrRefused, 1},
		"kicked":          {topic, no(403, "Forbidden: bot was kicked from the supergroup chat"), core.ErrRefused, 1},
		"an outage":       {topic, page(502), core.ErrUnknown, 1},
		"no topic":        {core.Place{Adapter: "tg", Channel: "7"}, ok("true"), core.ErrRefused, 0},
		"no place at all": {core.Place{Adapter: "tg", Channel: "x", Topic: "y"}, ok("true"), core.ErrRefused, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &wire{answer: func(context.Context, call) reply { return tt.reply }}
			a := New(Options{Name: "tg", Token: testToken, HTTP: &http.Client{Transport: w}})
			if err := a.title(t.Context(), tt.at, "Painting"); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			calls := w.calls("editForumTopic")
			if len(calls) != tt.calls || tt.calls > 0 && (calls[0].params["name"] != "Painting" || calls[0].number("message_thread_id") != 5) {
				t.Errorf("called was %v", calls)
			}
		})
	}
	w := &wire{answer: func(context.Context, call) reply { return tooMany(3) }}
	a := New(Options{Name: "tg", Token: testToken, HTTP: &http.Client{Transport: w}})
	if wait, ok := errors.AsType[*core.RetryAfter](a.title(t.Context(), topic, "Painting")); !ok || wait.After.Seconds() != 3 {
		t.Errorf("a limit is %v", wait)
	}
}

// TestTopic: whatever Telegram says to a topic that is to be made, it is known
// whether there is one.
func TestTopic(t *testing.T) {
	chat := core.Place{Adapter: "tg", Channel: "-1001"}
	tests := map[string]struct {
		at    core.Place
		reply reply
		id    string
		want  error
	}{
		"made":            {chat, ok(`{"message_thread_id":7,"name":"Painting"}`), "7", nil},
		"made, no id":     {chat, ok("{}"), "", core.ErrUnknown},
		"no right":        {chat, no(400, "Bad Request: not enough rights to create a topic"), "", core.ErrRefused},
		"no topics":       {chat, no(400, "Bad Request: the chat is not a forum"), "", core.ErrRefused},
		"an old server":   {chat, no(404, "Not Found: method not found"), "", core.ErrRefused},
		"kicked":          {chat, no(403, "Forbidden: bot was kicked from the supergroup chat"), "", core.ErrRefused},
		"an outage":       {chat, page(502), "", core.ErrUnknown},
		"no place at all": {core.Place{Adapter: "tg", Channel: "x"}, ok("true"), "", core.ErrRefused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &wire{answer: func(context.Context, call) reply { return tt.reply }}
			a := New(Options{Name: "tg", Token: testToken, HTTP: &http.Client{Transport: w}})
			r, err := a.Send(t.Context(), core.Outbound{Kind: core.OutOpen, Place: tt.at, Text: "…", Begin: "Painting"})
			if !errors.Is(err, tt.want) || r.ID != tt.id || err == nil != (tt.want == nil) {
				t.Errorf("%q, %v, want %q, %v", r.ID, err, tt.id, tt.want)
			}
			if calls := w.calls("createForumTopic"); len(w.seen) != len(calls) || len(calls) > 0 && calls[0].params["name"] != "Painting" {
				t.Errorf("called was %v", w.seen)
			}
		})
	}
}
