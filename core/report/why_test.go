package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/core/report"
)

// What no talk can show: what is known when the log, or all but the log, is
// gone.
func TestWhy(t *testing.T) {
	log := func(all ...core.Activity) core.Life { return core.Life{Log: all} }
	item := core.Item{ID: "i3", Bot: "chief", Message: "m2", State: core.Done}
	of := func(e core.Event, a core.Activity) core.Activity { a.Event = e; return a }
	woke := core.Activity{Event: core.MessageAccepted, Actor: ann, Messages: []core.ID{"m2"}, Items: []core.ID{"i3", "i4"}, Bots: []string{"chief", "scout"}, Why: core.ByMention}
	errand := core.Activity{Actor: core.Actor{Kind: core.ExternalActor, ID: "ci"}, Messages: []core.ID{"m2"}, Items: []core.ID{"i5"}, Detail: "HTTP 500"}
	for _, c := range []struct {
		name string
		life core.Life
		want string
	}{
		{"nothing", core.Life{}, "I do not know that any more."},
		{"the items alone", core.Life{Items: []core.Item{item, {ID: "i5", Bot: "ci", Actor: core.ExternalActor, State: core.Queued}}},
			"Why @chief was woken is not known any more. It answered. @ci has not been told of it yet."},
		{"the log alone", log(woke, core.Activity{Event: core.RunDone, Items: []core.ID{"i3"}}, core.Activity{Event: core.RunFailed, Items: []core.ID{"i4"}, Detail: "broken"}),
			"@chief, @scout were woken because the message mentions them. @chief answered. @scout tried to answer and failed: `broken`."},
		{"a correction that wakes nobody", log(core.Activity{Event: core.MessageCorrected, Messages: []core.ID{"m9", "m2"}}),
			"m9 is what its author made of it after it had been read. It woke nobody."},
		{"a person whom nobody hears", log(core.Activity{Event: core.MessageKept, Actor: ann, Messages: []core.ID{"m2"}, Why: core.NoBot}),
			"Nobody was woken: the message names no bot, and none is the default one here."},
		{"a program that was told", log(of(core.ErrandDone, errand)), "@ci was told of it."},
		{"a program that was not", log(of(core.ErrandFailed, errand)), "@ci could not be told of it: `HTTP 500`."},
		{"a program that is not any more", log(of(core.ErrandDropped, errand)), "Somebody stopped it before @ci was told of it."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, report.Why(c.life)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every line that a trace can have, with what the ledger knows and the log does
// not.
func TestTrace(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2000, 1, 1, 0, 0, s, 0, time.UTC) }
	place := core.Place{Adapter: "chat", Channel: "ann"}
	receipt := func(id string, s int) *core.Receipt { return &core.Receipt{ID: id, Time: at(s)} }
	life := core.Life{
		Thread:  core.Thread{ID: "t1", Place: place},
		Message: core.Message{ID: "m2", Thread: "t1", Sender: ann, Name: "Ann", Time: at(1), Parts: []core.Part{{Kind: core.TextPart, Text: "Do\x1b it."}}},
		Items: []core.Item{
			{ID: "i3", Bot: "chief", Message: "m2", State: core.Done, Run: "r3", Created: at(1), Ended: at(9)},
			{ID: "i4", Bot: "scout", Message: "m2", State: core.Queued, Created: at(1)},
			{ID: "i5", Bot: "scout", Message: "m2", State: core.Cancelled, Created: at(1), Ended: at(2)},
			{ID: "i6", Actor: core.ExternalActor, Bot: "ci", Message: "m2", State: core.Failed, Created: at(1), Ended: at(3), Tries: 4, Error: "HTTP 500"},
			{ID: "i7", Actor: core.ExternalActor, Bot: "pager", Message: "m2", State: core.Queued, Created: at(1), Tries: 2, Next: at(8), Error: "no route"},
		},
		Runs: []core.Run{
			{ID: "r3", Bot: "chief", Items: []core.ID{"i3"}, State: core.Failed, Error: "broken", Created: at(2), Ended: at(9), Usage: core.Usage{Calls: 2, Input: 10, Output: 3}},
			{ID: "r4", Bot: "scout", Items: []core.ID{"i4"}, State: core.Doing, Created: at(3)},
		},
		Steps: map[core.ID][]core.Step{"r3": {
			{N: 1, Time: at(4), Parts: []core.Part{{Kind: core.ToolPart, Tool: &core.ToolUse{Name: "look", Args: `{"what":"it"}`, State: core.ToolDone}}}, Joined: []core.ID{"m8"}},
			{N: 2, Time: at(5), Parts: []core.Part{{Kind: core.TextPart, Text: "half"}}},
		}},
		Posts: []core.Post{
			{ID: "p3", Chunks: 2, Open: receipt("16", 3), Shown: []core.Receipt{*receipt("16", 9)}, Feedback: []core.Feedback{{From: "chat:ann", Emoji: "👍", Time: at(11)}}},
			{ID: "p5", Chunks: 1, Ended: at(6)},
			{ID: "p6", Chunks: 1, Ended: at(7), Dead: "refused"},
		},
		Rows: []core.Row{{Post: "p3", Chunk: 1}},
	}
	want := `message m2 in t1 at chat:ann
00:00:01  Ann: Do\x1b it.
00:00:01  i3 waits for @chief
00:00:01  i4 waits for @scout
00:00:01  i5 waits for @scout
00:00:01  i6 waits for @ci
00:00:01  i7 waits for @pager
00:00:02  i5 is cancelled
00:00:02  @chief begins r3 with i3
00:00:03  i6 is failed after 4 tries: HTTP 500
00:00:03  @scout begins r4 with i4
00:00:03  p3 is opened as platform message 16
00:00:04  r3, step 1: look({"what":"it"}) done, then m8 joined
00:00:05  r3, step 2: text, cut at the output limit
00:00:06  p5 is delivered
00:00:07  p6 is given up: refused
00:00:08  i7 is tried again, after 2 tries: no route
00:00:09  r3 is failed: broken
00:00:09  r3, model calls: 2, tokens: 10 in, 3 out
00:00:09  p3, piece 1 of 2, is platform message 16
00:00:11  p3: 👍 from chat:ann
now  i4 is queued
now  r4 is doing
now  p3, piece 2, is not delivered yet
`
	clock := func(t time.Time) string { return t.Format(time.TimeOnly) }
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(report.Trace(life, clock), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	alone := core.Life{Thread: life.Thread, Log: []core.Activity{{Event: core.RunDone, Time: at(30), Took: 20 * time.Second, Actor: chief, Run: "r3", Items: []core.ID{"i3"}}}}
	want = "in t1 at chat:ann\n00:00:10  @chief begins r3 with i3\n00:00:30  r3 of @chief is done, after 20s\n"
	if diff := cmp.Diff(want, report.Trace(alone, clock)); diff != "" {
		t.Errorf("of the log alone (-want +got):\n%s", diff)
	}
}

// lifeDesk knows one life.
type lifeDesk struct {
	core.Desk
	life core.Life
}

func (d lifeDesk) Life(core.ID, core.ID) (core.Life, bool, error) { return d.life, true, nil }

// TestTraceInChat shows that of a long life the beginning and the end are told.
func TestTraceInChat(t *testing.T) {
	begun := time.Date(2000, 1, 1, 23, 59, 0, 0, time.UTC)
	var life core.Life
	for i := range 100 {
		life.Log = append(life.Log, core.Activity{Event: core.TroubleTold, Time: begun.Add(time.Duration(i) * time.Minute), Detail: fmt.Sprintf("```%d", i)})
	}
	for _, c := range report.Commands(time.UTC) {
		if c.Name != "trace" {
			continue
		}
		reply, err := c.Run(t.Context(), core.Invocation{Desk: lifeDesk{life: life}, Args: "m2", Role: core.Admin})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(reply.Text, "\n")
		if len(got) != 43 || got[0] != "```" || got[1] != "2000-01-01 23:59:00.000  the owner is told: '''0" || got[2] != "2000-01-02 00:00:00.000  the owner is told: '''1" ||
			got[3] != "00:01:00.000  the owner is told: '''2" || got[21] != "… 60 more …" || got[41] != "01:38:00.000  the owner is told: '''99" || got[42] != "```" {
			t.Errorf("got %d lines:\n%s", len(got), reply.Text)
		}
		return
	}
	t.Fatal("there is no /trace")
}
