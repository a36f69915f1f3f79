package slack

import (
	"io"
	"strings"
	"testing"

	"bellhop/core"
)

// TestResolve looks for the message with the key p1/0 in a thread.
func TestResolve(t *testing.T) {
	const (
		theirs = `{"user":"UANN","text":"x","ts":"1700000000.000100"}`
		other  = `{"bot_id":"BBOT","text":"x","ts":"1700000050.000100","metadata":{"event_type":"bellhop_out","event_payload":{"key":"p0/0"}}}`
		it     = `{"bot_id":"BBOT","text":"x","ts":"1700000060.000100","metadata":{"event_type":"bellhop_out","event_payload":{"key":"p1/0"}}}`
		fake   = `{"user":"UANN","text":"x","ts":"1700000055.000100","metadata":{"event_type":"else","event_payload":{"key":"p1/0"}}}`
		stray  = `{"bot_id":"BBOT","user":"UBOT","text":"","ts":"1700000070.000100"}`
	)
	list := func(messages ...string) string { return `"messages":[` + strings.Join(messages, ",") + `]` }
	more := `,"response_metadata":{"next_cursor":"c2"}`
	tests := map[string]struct {
		pages []reply
		want  string
		err   error
	}{
		"there":             {[]reply{ok(list(theirs, other, fake, it))}, "1700000060.000100", nil},
		"on the next page":  {[]reply{ok(list(theirs, other) + more), ok(list(it))}, "1700000060.000100", nil},
		"nowhere":           {[]reply{ok(list(theirs, other))}, "", core.ErrNotSent},
		"no root":           {[]reply{no("thread_not_found")}, "", core.ErrNotSent},
		"a stream":          {[]reply{ok(list(theirs, other, stray))}, "1700000070.000100", nil},
		"it before strays":  {[]reply{ok(list(stray, it))}, "1700000060.000100", nil},
		"never ending":      {[]reply{ok(list(theirs) + more)}, "", core.ErrUnknown},
		"broken":            {[]reply{htmlPage(502)}, "", core.ErrUnknown},
		"away":              {[]reply{no("service_unavailable")}, "", core.ErrUnknown},
		"token":             {[]reply{no("invalid_auth")}, "", core.ErrUnknown},
		"not in there":      {[]reply{no("not_in_channel")}, "", core.ErrRefused},
		"history forbidden": {[]reply{no("missing_scope")}, "", core.ErrRefused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := script(map[string][]reply{"conversations.replies": tt.pages})
			a := adapter(o, io.Discard)
			a.me = identity{user: "UBOT", bot: "BBOT"}
			got, err := a.Features().Resolve(t.Context(), core.Outbound{Key: "p1/0", Kind: core.OutOpen, Place: thread, Text: "…", After: thread.Topic,
				Known: func(id string) bool { return id == "1700000050.000100" }})
			if got.ID != tt.want || tt.err == nil && err != nil {
				t.Errorf("found %q, %v; want %q", got.ID, err, tt.want)
			}
			only(t, err, tt.err)
			p := o.seen[0].params
			if p.Get("include_all_metadata") != "true" || p.Get("oldest") != thread.Topic || p.Get("ts") != thread.Topic {
				t.Errorf("asked %v", p)
			}
			if len(o.seen) > maxPages {
				t.Errorf("%d pages", len(o.seen))
			}
		})
	}
	o := script(map[string][]reply{"conversations.history": {ok(list(it))}})
	got, err := adapter(o, io.Discard).Features().Resolve(t.Context(), core.Outbound{Key: "p1/0", Place: dm, Text: "x"})
	if err != nil || got.ID != "1700000060.000100" || o.calls("conversations.history")[0].params.Has("oldest") {
		t.Errorf("Resolve = %v, %v with %v", got, err, o.seen)
	}
	// Nor is it missed by a process that has just begun, and asks who it is first.
	for name, tt := range map[string]struct {
		auth reply
		want string
		err  error
	}{"asked": {reply{}, "1700000070.000100", nil}, "not told": {htmlPage(502), "", core.ErrUnknown}} {
		o = script(map[string][]reply{"conversations.replies": {ok(list(theirs, stray))}, "auth.test": {tt.auth}})
		got, err = adapter(o, io.Discard).Features().Resolve(t.Context(), core.Outbound{Key: "p1/0", Kind: core.OutOpen, Place: thread, Text: "…", After: thread.Topic})
		if got.ID != tt.want {
			t.Errorf("%s, Resolve = %v, %v, want %q", name, got, err, tt.want)
		}
		only(t, err, tt.err)
	}
	o = always(reply{})
	if got, err := adapter(o, io.Discard).Features().Resolve(t.Context(), core.Outbound{Place: dm, Edit: "1.1", Text: "x"}); err != nil || got.ID != "1.1" {
		t.Errorf("Resolve of an edit = %v, %v", got, err)
	}
}
