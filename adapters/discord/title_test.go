package discord

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// TestRename: only a thread that we have opened, and that still has the name that
// it got from us then, is named.
func TestRename(t *testing.T) {
	const get, first, patch = "GET /channels/100", "GET /channels/10/messages/100", "PATCH /channels/100"
	at := core.Place{Adapter: "dc", Channel: "10", Topic: "100"}
	thread := func(owner, name string) answer {
		return ok(fmt.Sprintf(`{"id":"100","type":11,"parent_id":"10","owner_id":%q,"name":%q}`, owner, name))
	}
	asked := ok(`{"id":"100","channel_id":"10","content":"<@1000> what is up","author":{"id":"5"}}`)
	tests := map[string]struct {
		at      core.Place
		answers map[string][]answer
		want    error
		calls   []string
	}{
		"ours":                {at, map[string][]answer{get: {thread(meID, "what is up")}, first: {asked}}, nil, []string{get, first, patch}},
		"ours without a name": {at, map[string][]answer{get: {thread(meID, threadName)}, first: {asked}}, nil, []string{get, first, patch}},
		"shown already":       {at, map[string][]answer{get: {thread(meID, "Painting")}}, nil, []string{get}},
		"a person's":          {at, map[string][]answer{get: {thread("5", "what is up")}}, core.ErrRefused, []string{get}},
		"named since":         {at, map[string][]answer{get: {thread(meID, "Mine")}, first: {asked}}, core.ErrRefused, []string{get, first}},
		"the trigger is gone": {at, map[string][]answer{get: {thread(meID, "x")}, first: {no(404, 10008, "Unknown Message")}}, core.ErrGone, []string{get, first}},
		"no thread":           {at, map[string][]answer{get: {no(404, 10003, "Unknown Channel")}}, core.ErrRefused, []string{get}},
		"not permitted":       {at, map[string][]answer{get: {thread(meID, "what is up")}, first: {asked}, patch: {no(403, 50013, "Missing Permissions")}}, core.ErrRefused, []string{get, first, patch}},
		"archived":            {at, map[string][]answer{get: {thread(meID, "what is up")}, first: {asked}, patch: {no(400, 50083, "Thread is archived")}}, core.ErrRefused, []string{get, first, patch}},
		"direct":              {core.Place{Adapter: "dc", Channel: "50"}, nil, core.ErrRefused, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.answers(tt.answers)
			a := testFeed(s).Adapter
			if err := a.rename(t.Context(), tt.at, "Painting"); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if diff := cmp.Diff(tt.calls, s.whats()); diff != "" {
				t.Error(diff)
			}
			if slices.Contains(tt.calls, patch) && s.made(patch)[0].params["name"] != "Painting" {
				t.Errorf("the name is %v", s.made(patch)[0].params)
			}
		})
	}
}
