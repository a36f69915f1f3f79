package telegram

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bellhop/core"
)

// TestResolve looks for a lost "…" after message 31 of a chat where only some
// ids answer.
func TestResolve(t *testing.T) {
	const (
		missing = "Bad Request: message to edit not found"
		foreign = "Bad Request: message can't be edited"
		same    = "Bad Request: message is not modified: exactly the same"
	)
	tests := map[string]struct {
		answers map[int]reply // by message id; else missing
		known   []string
		want    string
		err     error
		probed  []int
	}{
		"right after":     {map[int]reply{32: no(400, same)}, nil, "32", nil, []int{32, 32, 32}},
		"it took an edit": {map[int]reply{33: ok(`{"message_id":33}`)}, nil, "33", nil, []int{32, 33, 33}},
		"after others":    {map[int]reply{32: no(400, foreign), 34: no(400, same)}, nil, "34", nil, []int{32, 33, 34, 34, 34}},
		"known ones are not touched": {
			map[int]reply{32: ok(`{}`), 33: ok(`{}`), 34: no(400, same)}, []string{"32", "33"}, "34", nil, []int{34, 34, 34},
		},
		"nowhere": {nil, nil, "", core.ErrNotSent, []int{32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43}},
		"nowhere among what is not known": {
			nil, []string{"33", "34"}, "", core.ErrNotSent, []int{32, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45},
		},
		"broken":         {map[int]reply{32: page(502)}, nil, "", core.ErrUnknown, []int{32}},
		"a probe failed": {map[int]reply{33: no(500, "Internal Server Error")}, nil, "", core.ErrUnknown, []int{32, 33}},
		"kicked":         {map[int]reply{32: no(403, "Forbidden: bot was kicked")}, nil, "", core.ErrRefused, []int{32}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &wire{answer: func(_ context.Context, c call) reply {
				if r, ok := tt.answers[c.number("message_id")]; ok {
					return r
				}
				return no(400, missing)
			}}
			got, err := adapter(w, io.Discard).Features().Resolve(t.Context(), core.Outbound{
				Kind: core.OutOpen, Place: group, Text: "…", After: "31",
				Known: func(id string) bool { return slices.Contains(tt.known, id) },
			})
			if got.ID != tt.want {
				t.Errorf("found %q, want %q", got.ID, tt.want)
			}
			if tt.err == nil && err != nil {
				t.Error(err)
			}
			only(t, err, tt.err)
			var probed []int
			for _, c := range w.calls("editMessageText") {
				probed = append(probed, c.number("message_id"))
			}
			if !slices.Equal(probed, tt.probed) || len(probed) != len(w.seen) {
				t.Errorf("probed %v, want %v", probed, tt.probed)
			}
		})
	}
}

// TestResolveNear: of several triggers the lost message may follow any.
func TestResolveNear(t *testing.T) {
	w := &wire{answer: func(_ context.Context, c call) reply {
		if c.number("message_id") == 103 {
			return ok(`{"message_id":103}`)
		}
		return no(400, "Bad Request: message to edit not found")
	}}
	got, err := adapter(w, io.Discard).Features().Resolve(t.Context(), core.Outbound{Place: group, Text: "…", After: "31", Near: []string{"31", "101", "33", "x"}})
	if err != nil || got.ID != "103" {
		t.Errorf("Resolve = %v, %v", got, err)
	}
	var all []string
	for range 100 {
		all = append(all, strconv.Itoa(40+20*len(all)))
	}
	w = always(no(400, "Bad Request: message to edit not found"))
	_, err = adapter(w, io.Discard).Features().Resolve(t.Context(), core.Outbound{Place: group, Text: "…", After: "31", Near: all})
	only(t, err, core.ErrNotSent)
	if n := len(w.seen); n != maxProbes {
		t.Errorf("%d probes, want %d", n, maxProbes)
	}
}

func TestResolveEnds(t *testing.T) {
	w := always(ok(`{}`))
	_, err := adapter(w, io.Discard).Features().Resolve(t.Context(), core.Outbound{Place: group, Text: "…", After: "31", Known: func(string) bool { return true }})
	only(t, err, core.ErrNotSent)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = adapter(w, io.Discard).Features().Resolve(ctx, core.Outbound{Place: group, Text: "…", After: "31"})
	if !errors.Is(err, core.ErrUnknown) || len(w.seen) != 0 {
		t.Errorf("without time: %v after %d calls", err, len(w.seen))
	}
}

func TestResolveWaitsAsTold(t *testing.T) {
	_, err := adapter(always(tooMany(9)), io.Discard).Features().Resolve(t.Context(), core.Outbound{Place: group, Text: "…", After: "31"})
	if e, ok := errors.AsType[*core.RetryAfter](err); !ok || e.After != 9*time.Second {
		t.Errorf("Resolve: %v", err)
	}
}

func TestResolveWithoutTrigger(t *testing.T) {
	for _, after := range []string{"", "x", "-4"} {
		w := always(ok(`{}`))
		_, err := adapter(w, io.Discard).Features().Resolve(t.Context(), core.Outbound{Place: group, Text: "…", After: after})
		only(t, err, core.ErrNotSent)
		if len(w.seen) != 0 {
			t.Errorf("after %q: %v", after, w.seen)
		}
	}
}

func TestResolveOfAnEditEditsAgain(t *testing.T) {
	w := always(ok(`{"message_id":77}`))
	got, err := adapter(w, io.Discard).Features().Resolve(t.Context(), core.Outbound{Place: group, Edit: "77", Text: "x", After: "31"})
	if err != nil || got.ID != strconv.Itoa(77) || len(w.calls("editMessageText")) != 1 {
		t.Errorf("Resolve = %v, %v", got, err)
	}
}

// TestResolveLeavesOtherTopicsAlone: the ids of a chat's topics are one series.
func TestResolveLeavesOtherTopicsAlone(t *testing.T) {
	id := 31
	w := &wire{answer: func(_ context.Context, c call) reply {
		if c.method == "sendMessage" {
			id++
			return ok(`{"message_id":` + strconv.Itoa(id) + `,"date":1}`)
		}
		return ok(`{"message_id":34,"message_thread_id":6,"is_topic_message":true}`)
	}}
	a := adapter(w, io.Discard)
	topic := func(name string) core.Place { return core.Place{Adapter: "tg", Channel: "-10042", Topic: name} }
	for _, p := range []core.Place{topic("5"), topic(""), topic("6")} {
		if _, err := a.Send(t.Context(), core.Outbound{Place: p, Text: "…"}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := a.Features().Resolve(t.Context(), core.Outbound{Place: topic("6"), Text: "…", After: "31"})
	if err != nil || got.ID != "34" || len(w.calls("editMessageText")) != 2 {
		t.Errorf("Resolve = %v, %v with the probes %v", got, err, w.calls("editMessageText"))
	}
}

// TestResolveTellsTopicsApart: two status lines were lost in two topics, and the
// process that looks for them has sent neither. Each search finds its own, and
// what it passes still looks as it did.
func TestResolveTellsTopicsApart(t *testing.T) {
	shown := map[int]string{32: "…", 33: "…"}
	topics := map[int]string{32: "5", 33: "6"}
	w := &wire{answer: func(_ context.Context, c call) reply {
		id, text := c.number("message_id"), c.params["text"].(string)
		switch shown[id] {
		case "":
			return no(400, "Bad Request: message to edit not found")
		case text:
			return no(400, "Bad Request: message is not modified: exactly the same")
		}
		shown[id] = text
		return ok(`{"message_id":` + strconv.Itoa(id) + `,"message_thread_id":` + topics[id] + `,"is_topic_message":true}`)
	}}
	find := func(topic, text, want string) {
		t.Helper()
		a := adapter(w, io.Discard)
		got, err := a.Features().Resolve(t.Context(), core.Outbound{Place: core.Place{Adapter: "tg", Channel: "-10042", Topic: topic}, Text: text, After: "31"})
		if err != nil || got.ID != want {
			t.Errorf("in topic %s: %v, %v; want %s", topic, got, err, want)
		}
	}
	find("6", "The answer", "33")
	if line := strings.TrimRight(shown[32], "\u2060"); line != "…" || shown[33] != "The answer" {
		t.Errorf("shown now: %v", shown)
	}
	find("5", "…", "32")
	if shown[32] != "…" || shown[33] != "The answer" {
		t.Errorf("shown at the end: %v", shown)
	}
}

func TestRecentForgetsTheOldest(t *testing.T) {
	var r recent
	for id := range maxRecent + 2 {
		r.add(target{chat: 1, topic: 5}, id)
	}
	elsewhere := target{chat: 1}
	if r.elsewhere(elsewhere, 1) || !r.elsewhere(elsewhere, 2) || !r.elsewhere(elsewhere, maxRecent+1) || len(r.sent) != maxRecent {
		t.Errorf("%d messages are remembered, and not the latest", len(r.sent))
	}
}
