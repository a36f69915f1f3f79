package telegram

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
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
			got, err := awake(w).Features().Resolve(t.Context(), core.Outbound{
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

// TestResolveAfterBacklog: what people wrote while nothing ran is taken in
// before a lost message is looked for among it, in as many polls as that takes,
// none of which waits for more.
func TestResolveAfterBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taken := 0
		w := &wire{answer: func(ctx context.Context, c call) reply {
			switch left := 250 - taken; {
			case c.method == "editMessageText":
				return ok(`{"message_id":2000}`)
			case c.method == "getUpdates" && left > 0:
				var updates []string
				for i := range min(left, 100) {
					updates = append(updates, message(taken+i+1, "hello"))
				}
				return waits(ctx, time.Second, ok("["+strings.Join(updates, ",")+"]"))
			}
			return normal(ctx, c)
		}}
		a := adapter(w, io.Discard)
		stop := run(t, a, func(_ context.Context, batch []core.Inbound) error {
			taken += len(batch)
			return nil
		})
		began := time.Now()
		got, err := a.Features().Resolve(t.Context(), core.Outbound{Place: group, Text: "…", After: "1999"})
		if err != nil || got.ID != "2000" || taken != 250 {
			t.Errorf("found %q, %v after %s and %d events", got.ID, err, time.Since(began), taken)
		}
		synctest.Wait()
		var timeouts []int
		for _, c := range w.calls("getUpdates") {
			timeouts = append(timeouts, c.number("timeout"))
		}
		if !slices.Equal(timeouts, []int{0, 0, 0, 50}) {
			t.Errorf("the polls waited %v seconds", timeouts)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}

		// Where nothing can be polled, it does not wait for ever.
		deaf := adapter(&wire{answer: func(_ context.Context, c call) reply {
			if c.method == "editMessageText" {
				return ok(`{"message_id":2000}`)
			}
			return page(502)
		}}, io.Discard)
		began = time.Now()
		if got, err := deaf.Features().Resolve(t.Context(), core.Outbound{Place: group, Text: "…", After: "1999"}); err != nil || got.ID != "2000" || time.Since(began) != catchUp {
			t.Errorf("found %q, %v after %s", got.ID, err, time.Since(began))
		}
	})
}

// TestResolveNear: of several triggers the lost message may follow any.
func TestResolveNear(t *testing.T) {
	w := &wire{answer: func(_ context.Context, c call) reply {
		if c.number("message_id") == 103 {
			return ok(`{"message_id":103}`)
		}
		return no(400, "Bad Request: message to edit not found")
	}}
	got, err := awake(w).Features().Resolve(t.Context(), core.Outbound{Place: group, Text: "…", After: "31", Near: []string{"31", "101", "33", "x"}})
	if err != nil || got.ID != "103" {
		t.Errorf("Resolve = %v, %v", got, err)
	}
	var all []string
	for range 100 {
		all = append(all, strconv.Itoa(40+20*len(all)))
	}
	w = always(no(400, "Bad Request: message to edit not found"))
	_, err = awake(w).Features().Resolve(t.Context(), core.Outbound{Place: group, Text: "…", After: "31", Near: all})
	only(t, err, core.ErrNotSent)
	if n := len(w.seen); n != maxProbes || w.seen[0].number("message_id") != 2021 {
		t.Errorf("%d probes, want %d, the first after the newest message: %v", n, maxProbes, w.seen[0])
	}
	var ids []int
	for id := range candidates(31, []string{"35", "33", "33"}, func(id int) bool { return id > 38 && id < 50 }) {
		ids = append(ids, id)
	}
	want := []int{36, 37, 38, 50, 51, 52, 53, 54, 55, 56, 57, 58, 34, 35, 32, 33}
	if !slices.Equal(ids, want) {
		t.Errorf("looks at %v", ids)
	}
}

// TestResolveAmongMany: it was sent after the first of many triggers, before the
// others had come.
func TestResolveAmongMany(t *testing.T) {
	w := &wire{answer: func(_ context.Context, c call) reply {
		if c.number("message_id") == 32 {
			return ok(`{"message_id":32}`)
		}
		return no(400, "Bad Request: message to edit not found")
	}}
	near := []string{"31", "33", "34", "35", "36", "37"}
	got, err := awake(w).Features().Resolve(t.Context(), core.Outbound{Place: group, Text: "…", After: "31", Near: near,
		Known: func(id string) bool { return slices.Contains(near, id) }})
	if err != nil || got.ID != "32" {
		t.Errorf("Resolve = %v, %v after %d probes", got, err, len(w.seen))
	}
}

func TestResolveEnds(t *testing.T) {
	w := always(ok(`{}`))
	_, err := awake(w).Features().Resolve(t.Context(), core.Outbound{Place: group, Text: "…", After: "31", Known: func(string) bool { return true }})
	only(t, err, core.ErrNotSent)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = awake(w).Features().Resolve(ctx, core.Outbound{Place: group, Text: "…", After: "31"})
	if !errors.Is(err, core.ErrUnknown) || len(w.seen) != 0 {
		t.Errorf("without time: %v after %d calls", err, len(w.seen))
	}
}

func TestResolveWaitsAsTold(t *testing.T) {
	_, err := awake(always(tooMany(9))).Features().Resolve(t.Context(), core.Outbound{Place: group, Text: "…", After: "31"})
	if e, ok := errors.AsType[*core.RetryAfter](err); !ok || e.After != 9*time.Second {
		t.Errorf("Resolve: %v", err)
	}
}

func TestResolveWithoutTrigger(t *testing.T) {
	for _, after := range []string{"", "x", "-4"} {
		w := always(ok(`{}`))
		_, err := awake(w).Features().Resolve(t.Context(), core.Outbound{Place: group, Text: "…", After: after})
		only(t, err, core.ErrNotSent)
		if len(w.seen) != 0 {
			t.Errorf("after %q: %v", after, w.seen)
		}
	}
}

func TestResolveOfAnEditEditsAgain(t *testing.T) {
	w := always(ok(`{"message_id":77}`))
	got, err := awake(w).Features().Resolve(t.Context(), core.Outbound{Place: group, Edit: "77", Text: "x", After: "31"})
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
	a := awake(w)
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
		a := awake(w)
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

// TestResolveTellsAnswersApart: nor does it take a status line that answers
// another message, whichever of its own the lost one answered when it was sent.
func TestResolveTellsAnswersApart(t *testing.T) {
	replies := map[int]string{40: "30", 41: "32", 42: "36"}
	w := &wire{answer: func(_ context.Context, c call) reply {
		id := c.number("message_id")
		if replies[id] == "" {
			return no(400, "Bad Request: message to edit not found")
		}
		return ok(`{"message_id":` + strconv.Itoa(id) + `,"reply_to_message":{"message_id":` + replies[id] + `}}`)
	}}
	for _, tt := range []struct {
		out  core.Outbound
		want string
	}{
		{core.Outbound{After: "32", ReplyTo: "32"}, "41"},
		{core.Outbound{After: "31", ReplyTo: "35", Near: []string{"31", "32", "35"}}, "41"},
		{core.Outbound{After: "36"}, "42"},
		{core.Outbound{After: "31"}, ""},
	} {
		tt.out.Place, tt.out.Text = group, "…"
		got, err := awake(w).Features().Resolve(t.Context(), tt.out)
		if got.ID != tt.want || tt.want == "" && !errors.Is(err, core.ErrNotSent) {
			t.Errorf("%+v: found %q, %v; want %q", tt.out, got.ID, err, tt.want)
		}
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
