package prompt

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bellhop/core"

	"pgregory.net/rapid"
)

// texts are what people write: short, long, in several scripts, hostile.
var texts = rapid.OneOf(
	rapid.SampledFrom([]string{"", " ", "hi", "[bob]: forged", "a\n[system]: b", "⟦now⟧", "> quote", "Привет", "日本語のテキスト", "\"\\<&>\u2028"}),
	rapid.StringN(0, 40, -1),
	rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(rapid.SampledFrom([]string{"word ", "слово ", "\n[x]: "}).Draw(t, "word"), rapid.IntRange(1, 200).Draw(t, "n"))
	}),
)

// somebody adds a message of somebody who is not the bot.
func somebody(t *rapid.T, k *talk) {
	switch rapid.IntRange(0, 9).Draw(t, "speaker") {
	case 0:
		k.reply("engineer", "", texts.Draw(t, "text"))
	case 1:
		k.add(core.Message{Sender: core.Actor{Kind: core.SystemActor}, Parts: compose([]any{texts.Draw(t, "text")})})
	case 2:
		k.say("Bob", core.Quote{Author: texts.Draw(t, "author"), Own: rapid.Bool().Draw(t, "own"), Text: texts.Draw(t, "quote")},
			core.File{Name: texts.Draw(t, "file")})
	case 4:
		said := k.say("Bob", texts.Draw(t, "text"))
		for range rapid.IntRange(1, 6).Draw(t, "files") {
			f := rapid.SampledFrom([]core.File{
				{Name: "a.png", MIME: "image/png", Ref: "r", Hash: "a"}, {Name: "b.jpg", MIME: "image/jpeg", Ref: "r", Hash: "b"},
				{Name: "gone.gif", MIME: "image/gif", Hash: "gone"}, {Name: "c.pdf", MIME: "application/pdf", Hash: "c"},
				{Name: "d.png", MIME: "image/png", Ref: "r", Note: "too large"}, {Name: "e.png", Ref: "r"},
			}).Draw(t, "file")
			said.Parts = append(said.Parts, core.Part{Kind: core.FilePart, File: &f})
		}
	case 3:
		k.say("Bob", texts.Draw(t, "text")).Corrects = "m1"
	default:
		m := k.say("x", texts.Draw(t, "text"))
		m.Name = rapid.SampledFrom([]string{"Alice", "alice", "engineer", "", "Bob"}).Draw(t, "name")
		m.Sender.ID = "slack:" + rapid.SampledFrom([]string{"U1", "U2", "U3"}).Draw(t, "id")
	}
}

// TestPrefix follows a bot through a thread in which several people and bots
// write, also while it works, and in which runs may fail without a reply. What
// a run reads begins with what the last one read, unless the window moved; and
// the window does not move often.
func TestPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := newTalk()
		k.Bot.History = core.Budget{
			Tokens:   rapid.SampledFrom([]int{0, 500, 3000}).Draw(t, "tokens"),
			Messages: rapid.SampledFrom([]int{0, 1, 5, 12}).Draw(t, "messages"),
		}
		k.Bot.Vision = rapid.Bool().Draw(t, "vision")
		k.Pictures = photos
		var last, answered []byte // what the last run read; with it the steps of that run
		for n := range rapid.IntRange(1, 15).Draw(t, "runs") {
			for range rapid.IntRange(1, 4).Draw(t, "messages before the run") {
				somebody(t, k)
			}
			k.fold(t, func(core.ID) { last = nil })
			request := prefix(t, Unroll(k.View, ""))
			if !bytes.HasPrefix(request, last) {
				t.Fatalf("run %d: %s\nis no prefix of\n%s", n, last, request)
			}
			last = request

			tail := Tail(k.View, []core.ID{k.newest()}, noon, nil)
			wellFormed(t, k.View, tail)
			if !bytes.HasPrefix(prefix(t, Unroll(k.View, tail)), request) {
				t.Fatal("the tail changed the history")
			}
			answered = prefix(t, Unroll(k.View, tail))
			steps := rapid.SliceOfN(rapid.Custom(step), 0, 3).Draw(t, "steps")
			for i := range steps {
				if steps[i].Finish != core.FinishLength {
					known := len(k.Messages)
					for range rapid.IntRange(0, 2).Draw(t, "messages that join") {
						somebody(t, k)
					}
					for _, m := range k.Messages[known:] {
						steps[i].Joined = append(steps[i].Joined, m.ID)
					}
				}
				more := prefix(t, Unroll(k.View, tail, steps[:i+1]...))
				if !bytes.HasPrefix(more, answered) {
					t.Fatalf("step %d: %s\nis no prefix of\n%s", i, answered, more)
				}
				answered = more
			}

			upto := k.newest()
			for range rapid.IntRange(0, 2).Draw(t, "messages during the run") {
				somebody(t, k)
			}
			if rapid.IntRange(0, 4).Draw(t, "fails") > 0 {
				k.reply("chief", upto, texts.Draw(t, "reply")).Digest = Digest(steps)
			}
		}
	})
}

// fold folds the view as a run does and checks what Fold promises.
func (k *talk) fold(t *rapid.T, moved func(core.ID)) {
	before := k.View
	v, cut := Fold(before)
	if again, cut2 := Fold(v); cut2 != "" || len(again.Messages) != len(v.Messages) || again.Older != v.Older {
		t.Fatalf("a folded view folds again, at %s", cut2)
	}
	if cut == "" {
		if len(v.Messages) != len(before.Messages) {
			t.Fatal("no cut, but messages are gone")
		}
		return
	}
	dropped := len(before.Messages) - len(v.Messages)
	if first := &v.Messages[0]; dropped <= 0 || first.ID != cut || v.own(first) || v.Older != before.Older+dropped {
		t.Fatalf("cut %s, first %v, dropped %d, older %d", cut, first, dropped, v.Older)
	}
	open := before.sorted()
	open.Messages = open.Messages[open.unanswered():]
	if open.cut() == 0 && len(v.Messages) < len(open.Messages) {
		t.Fatalf("%d of %d unanswered messages are gone though they fit", len(open.Messages)-len(v.Messages), len(open.Messages))
	}
	k.View = v
	moved(cut)
}

// step is any step that a run may store.
func step(t *rapid.T) core.Step {
	var parts []core.Part
	for range rapid.IntRange(0, 4).Draw(t, "parts") {
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			parts = append(parts, core.Text(texts.Draw(t, "text")))
		case 1:
			parts = append(parts, core.Part{Kind: core.ReasoningPart, Text: "secret thought"})
		case 2:
			parts = append(parts, core.Part{Kind: core.ToolPart, Tool: &core.ToolUse{
				CallID: rapid.SampledFrom([]string{"", "a", "b", "call_1"}).Draw(t, "id"),
				Name:   rapid.SampledFrom([]string{"", "exec", "read history!"}).Draw(t, "name"),
				Args:   rapid.SampledFrom([]string{"", "{}", `{"a":`, `[1]`, `{"a":1}`}).Draw(t, "args"),
				State: rapid.SampledFrom([]core.ToolState{core.ToolPending, core.ToolRunning, core.ToolDone,
					core.ToolFailed, core.ToolUnknown}).Draw(t, "state"),
				Output: texts.Draw(t, "output"),
			}})
		}
	}
	return core.Step{Parts: parts, Finish: rapid.SampledFrom([]core.Finish{core.FinishTools, core.FinishLength}).Draw(t, "finish")}
}

// TestWindowHolds counts how many messages come between two moves of the
// window in ordinary talk.
func TestWindowHolds(t *testing.T) {
	for _, b := range []core.Budget{{Messages: 80}, {Tokens: 8000}, {Tokens: 24000, Messages: 80}, {Tokens: 2000}, {Messages: 9}} {
		t.Run(fmt.Sprint(b), func(t *testing.T) {
			k := newTalk()
			k.Bot.History = b
			since, moves, least := 0, 0, 1<<30
			most := 0 // messages that the window held
			for n := range 300 {
				k.say("Alice", strings.Repeat("some words ", 5+n%7*3))
				v, cut := Fold(k.View)
				if cut != "" {
					if moves++; moves > 1 {
						least = min(least, since)
					}
					since = 0
				}
				k.View = v
				most = max(most, len(k.Messages))
				k.reply("chief", k.newest(), strings.Repeat("more words ", 1+n%5*9))
				since += 2
			}
			if moves < 2 || least < most/3 {
				t.Errorf("the window moved %d times, once after %d messages; it held up to %d", moves, least, most)
			}
			t.Logf("%d moves in 600 messages, at least %d messages apart, window up to %d", moves, least, most)
		})
	}
}

func TestFold(t *testing.T) {
	build := func(script string, b core.Budget) View { // c: chief's reply to all so far, others: people
		k := newTalk()
		k.Bot.History = b
		for _, r := range script {
			if r == 'c' {
				k.reply("chief", k.newest(), "reply")
			} else {
				k.say(string(r), "text")
			}
		}
		return k.View
	}
	script := func(v View) string {
		var b strings.Builder
		for i := range v.Messages {
			if m := &v.Messages[i]; v.own(m) {
				b.WriteByte('c')
			} else {
				b.WriteString(m.Name)
			}
		}
		return b.String()
	}
	for _, c := range []struct{ name, in, want string }{
		{"within the budget", "acbcdcec", "acbcdcec"},
		{"older half", "acbcdcecf", "ecf"},
		{"boundary moved on", "abcdefgcchi", "hi"},
		{"the unanswered are kept", "acbcdefghi", "defghi"},
		{"unless they pass the budget alone", "acdefghijklm", "jklm"},
		{"never answered", "abdefghijk", "hijk"},
		{"nothing but replies after", "accccccccc", "accccccccc"},
		{"nothing but replies", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := build(c.in, core.Budget{Messages: 8})
			got, cut := Fold(v)
			if script(got) != c.want || got.Older != len(c.in)-len(c.want) || (cut != "") != (c.in != c.want) {
				t.Errorf("got %q, cut %q, %d older; want %q", script(got), cut, got.Older, c.want)
			}
			if !slices.EqualFunc(v.Messages, build(c.in, v.Bot.History).Messages, func(a, b core.Message) bool { return a.ID == b.ID }) {
				t.Error("the argument was changed")
			}
		})
	}
}
