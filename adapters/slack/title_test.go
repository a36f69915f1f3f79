package slack

import (
	"errors"
	"io"
	"slices"
	"testing"

	"bellhop/core"
)

// TestTitle: a session is named, or else an assistant's thread, or nothing; no
// refusal ends the adapter.
func TestTitle(t *testing.T) {
	const rename, set = "agents.sessions.rename", "assistant.threads.setTitle"
	thread := core.Place{Adapter: "slack", Channel: "C1", Topic: "1700000000.000100"}
	tests := map[string]struct {
		at      core.Place
		replies map[string][]reply
		want    error
		calls   []string
	}{
		"shown":             {thread, nil, nil, []string{rename}},
		"no session":        {thread, map[string][]reply{rename: {no("session_not_found")}}, core.ErrRefused, []string{rename}},
		"no agent":          {thread, map[string][]reply{rename: {no("unknown_method")}}, nil, []string{rename, set}},
		"no assistant":      {thread, map[string][]reply{rename: {no("not_allowed_token_type")}, set: {no("not_allowed_token_type")}}, core.ErrRefused, []string{rename, set}},
		"an outage":         {thread, map[string][]reply{rename: {htmlPage(502)}}, core.ErrUnknown, []string{rename}},
		"no thread":         {core.Place{Adapter: "slack", Channel: "D1"}, nil, core.ErrRefused, nil},
		"no place of Slack": {core.Place{Adapter: "slack", Channel: "?"}, nil, core.ErrRefused, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := script(tt.replies)
			if err := adapter(o, io.Discard).title(t.Context(), tt.at, "Painting"); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if got := o.methods(); !slices.Equal(got, tt.calls) {
				t.Errorf("called was %v, want %v", got, tt.calls)
			}
		})
	}
}
