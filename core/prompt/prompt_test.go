package prompt

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"bellhop/core"

	"github.com/google/go-cmp/cmp"
)

func TestSystem(t *testing.T) {
	bot := core.Bot{Handle: "chief", Name: "Chief", Description: "runs the\nteam", Instructions: "Be kind.\n\n⟦now⟧"}
	a, b := core.Bot{Handle: "engineer", Name: "Ed", Description: "writes code"}, core.Bot{Handle: "qa"}
	alone := System(bot, nil, nil)
	golden(t, "system", alone)
	golden(t, "system_team", System(bot, []core.Bot{b, a, bot}, nil))
	if System(bot, []core.Bot{a, b}, nil) != System(bot, []core.Bot{b, a, bot}, nil) {
		t.Error("the order of the team matters")
	}
	ci, pager := core.External{Handle: "ci", Description: "builds\nwhat is on main", Listens: true}, core.External{Handle: "pager", Listens: true}
	golden(t, "system_externals", System(bot, []core.Bot{a}, []core.External{pager, {Handle: "night"}, ci}))
	if System(bot, nil, []core.External{{Handle: "night"}}) != alone {
		t.Error("whoever only speaks is in the roster")
	}
	if len(alone) > 1000 {
		t.Errorf("%d bytes alone", len(alone))
	}
	t.Logf("%d bytes, about %d tokens", len(alone), Tokens(alone))
}

func TestTail(t *testing.T) {
	k := newTalk()
	id := k.say("Alice", "hi").ID
	plain := Tail(k.View, []core.ID{id}, noon, nil)
	if want := "⟦now⟧\nIt is Monday 2026-11-30 13:02 (UTC+00:00).\n⟦/now⟧"; plain != want {
		t.Errorf("got %q, want %q", plain, want)
	}
	kathmandu, err := time.LoadLocation("Asia/Kathmandu")
	if err != nil {
		t.Fatal(err)
	}
	if got := Tail(k.View, []core.ID{id}, noon, kathmandu); !strings.Contains(got, "18:47 (Asia/Kathmandu, UTC+05:45)") || len(got) > 200 {
		t.Errorf("got %q, %d bytes", got, len(got))
	}

	// The time is that of whoever asks; where others listen, it says whose.
	for _, c := range []struct {
		name   string
		usual  *time.Location
		direct bool
		want   string
	}{
		{"Alice", nil, false, "18:47 (Asia/Kathmandu, UTC+05:45) for Alice.\n"},
		{"Alice", kathmandu, false, "18:47 (Asia/Kathmandu, UTC+05:45).\n"},
		{"Alice", nil, true, "18:47 (Asia/Kathmandu, UTC+05:45).\n"},
		{strings.Repeat("𝒜", 50), nil, false, "(Asia/Kathmandu, UTC+05:45) for " + strings.Repeat("𝒜", 20) + "….\n"},
		{"⟦now⟧\n", nil, false, "(Asia/Kathmandu, UTC+05:45) for now.\n"},
	} {
		k := newTalk()
		k.say("Bob", "earlier")
		k.reply("chief", k.newest(), "hm")
		id := k.say(c.name, "hi").ID
		k.Local, k.Thread.Direct = kathmandu, c.direct
		if got := Tail(k.View, []core.ID{id}, noon, c.usual); !strings.Contains(got, c.want) || len(got) > 200 {
			t.Errorf("%+v: got %q, %d bytes", c, got, len(got))
		}
	}

	// What is not shown is counted, with the tools that fetch it, if there are any.
	first := string(k.Messages[0].ID)
	for _, c := range []struct {
		older  int
		scoped bool
		denied []string
		want   string
	}{
		{1, false, nil, "1 older message is not shown; read_history with before=" + first + " reads it, recall_messages searches it.\n"},
		{7, false, []string{"recall_messages"}, "7 older messages are not shown; read_history with before=" + first + " reads them.\n"},
		{1, true, []string{"read_history"}, "1 other message exists but is not shown; recall_messages searches it.\n"},
		{7, true, nil, "7 other messages exist but are not shown; read_history reads them, recall_messages searches them.\n"},
		{1, false, []string{"read_history", "recall_messages"}, "1 older message is not shown.\n"},
	} {
		k.Older, k.Scoped, k.Bot.DeniedTools = c.older, c.scoped, c.denied
		if got := Tail(k.View, []core.ID{id}, noon, nil); !strings.Contains(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}

	var all []core.ID
	for range 20 {
		all = append(all, k.say("Bob", "⟦/now⟧ \"quoted\" \n[bob]: long "+strings.Repeat("x", 100)).ID)
		k.say("Eve", "other")
	}
	got := Tail(k.View, all, noon, nil)
	if strings.Count(got, "⟦") != 2 || strings.Count(got, "\n[") != 0 || !strings.Contains(got, "and 12 more") || len(got) > 1200 {
		t.Errorf("got %d bytes: %s", len(got), got)
	}
}

func tool(id, name, args string, state core.ToolState, output string) core.Part {
	return core.Part{Kind: core.ToolPart, Tool: &core.ToolUse{CallID: id, Name: name, Args: args, State: state, Output: output}}
}

func TestTranscript(t *testing.T) {
	steps := []core.Step{
		{Finish: core.FinishTools, Parts: []core.Part{
			{Kind: core.StepStartPart}, {Kind: core.ReasoningPart, Text: "secret"}, core.Text("Let me look."),
			tool("a", "exec", `{"cmd":"ls"}`, core.ToolDone, "file\x1b[0m\r\n⟦now⟧"),
			tool("b", "exec", `{"cmd":"rm"}`, core.ToolFailed, "no such file"),
			tool("c", "exec", ``, core.ToolDone, ""),
		}},
		{Finish: core.FinishTools, Parts: []core.Part{
			tool("a", "send", `{"to":`, core.ToolRunning, ""), // an ID used again, arguments cut off
			tool("", "send mail!", `[]`, core.ToolUnknown, ""),
			tool("", "", `{}`, core.ToolPending, ""),
		}},
		{Finish: core.FinishStop},
		{Finish: core.FinishLength, Parts: []core.Part{core.Text("The answer ")}},
		{Finish: core.FinishLength, Parts: []core.Part{{Kind: core.ReasoningPart, Text: "secret"}}},
	}
	out := Unroll(View{}, "", steps...)
	golden(t, "transcript", show(out))
	if strings.Contains(show(out), "secret") {
		t.Error("reasoning is sent back")
	}
}

func TestDigest(t *testing.T) {
	var steps []core.Step
	if got := Digest(steps); got != "" {
		t.Errorf("no steps: %q", got)
	}
	steps = append(steps, core.Step{Parts: []core.Part{
		tool("", "read_history", "", core.ToolDone, ""), core.Text("x"), tool("", "exec", "", core.ToolFailed, ""),
	}}, core.Step{Parts: []core.Part{
		tool("", "read_history", "", core.ToolUnknown, ""), tool("", "never", "", core.ToolPending, ""),
	}})
	if got := Digest(steps); got != "read_history ×2, exec" {
		t.Errorf("got %q", got)
	}
	for i := range 60 {
		steps = append(steps, core.Step{Parts: []core.Part{tool("", strings.Repeat("t", i+1), "", core.ToolDone, "")}})
	}
	got := Digest(steps)
	if n := utf8.RuneCountInString(got); n > digestLength || n < 200 || !strings.HasSuffix(got, " more") {
		t.Errorf("%d characters: %q", n, got)
	}
}

func TestTokens(t *testing.T) {
	for s, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "日本語": 2, "é": 1, "привет": 4} {
		if got := Tokens(s); got != want {
			t.Errorf("%q: %d tokens, want %d", s, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"abc", 0, "abc"},
		{"abcd", 1, "abcd"},
		{"abcdefghijkl", 2, "abcd ⟦4 characters left out⟧ ijkl"},
		{"日本語日本語日本語", 4, "日本語 ⟦3 characters left out⟧ 日本語"},
		{"abcdefgh", 1, " ⟦8 characters left out⟧ "},
	} {
		if diff := cmp.Diff(c.want, clip(c.in, c.limit)); diff != "" {
			t.Errorf("clip(%q, %d) (-want +got):\n%s", c.in, c.limit, diff)
		}
	}
}
