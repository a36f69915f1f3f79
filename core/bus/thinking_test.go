package bus

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"bellhop/adapters/markup"
	"bellhop/core"
)

// What a model has thought takes nothing from the answer, and its message stays
// within the platform's limit.
func TestSplitBelow(t *testing.T) {
	answers := map[string]string{
		"short": "It is **4**.", "long": strings.Repeat("It is four, and that is that. ", 400), "lines": strings.Repeat("- it is *four*\n", 500),
		"code":      "```go\n" + strings.Repeat("x := 4 // and that is that\n", 300) + "```",
		"table":     "| a | b |\n|---|---|\n" + strings.Repeat("| four | 4 |\n", 300),
		"full":      strings.Repeat("x", 2000),
		"one word":  strings.Repeat("x", 9000),
		"an x list": "xxxx\n\n" + strings.Repeat("x ", 3000),
	}
	thoughts := map[string]string{"few": "2 and 2", "many": strings.Repeat("2 and 2 is... ", 999), "marks": strings.Repeat("*_~|`", 999), "wide": strings.Repeat("🤔 ", 999)}
	for _, p := range []struct {
		name   string
		target markup.Target
		above  func(thinking string) int
	}{
		{"telegram", markup.Telegram(), func(s string) int { return markup.UTF16Len(s) + 1 }},
		{"discord", markup.Discord(), func(s string) int { return utf8.RuneCountInString(markup.DiscordThinking(s)) }},
		{"slack", markup.Slack(), utf8.RuneCountInString},
	} {
		pen := newPen(p.name, core.Features{MaxText: p.target.Max, Split: func(s string) []string { return markup.Pieces(s, p.target) }})
		b := New(t.Context(), Options{Adapters: []core.Adapter{pen}})
		for name, answer := range answers {
			for kind, thinking := range thoughts {
				t.Run(fmt.Sprintf("%s/%s/%s", p.name, name, kind), func(t *testing.T) {
					pieces := b.SplitBelow(core.Place{Adapter: p.name}, answer, thinking)
					var all, want strings.Builder
					for i, piece := range pieces {
						n := p.target.Measure(piece.Text)
						if piece.Thinking != "" {
							n += p.above(piece.Thinking)
						}
						if n > p.target.Max || i > 0 && piece.Thinking != "" {
							t.Errorf("piece %d measures %d, with %.20q above", i, n, piece.Thinking)
						}
						all.WriteString(piece.Text)
					}
					for _, piece := range b.Split(core.Place{Adapter: p.name}, answer) {
						want.WriteString(piece.Text)
					}
					for _, mark := range []string{"four", "4", "x", "that is that"} {
						if a, b := strings.Count(all.String(), mark), strings.Count(want.String(), mark); a != b && !strings.Contains(name, "table") {
							t.Errorf("%d times %q, want %d", a, mark, b)
						}
					}
					if name == "short" && pieces[0].Thinking == "" {
						t.Error("nothing is shown above a short answer")
					}
				})
			}
		}
	}
}

func TestThought(t *testing.T) {
	f := &core.Features{MaxText: 40}
	for thinking, want := range map[string]string{
		"": "", " \n\t": "", "a\n\n b": "a b", "0123456789": "0123456789", "0 123456789": "…123456789",
		strings.Repeat("é", 100): "…" + strings.Repeat("é", 9), strings.Repeat(" ", 1000) + "a": "…a",
	} {
		if got := thought(f, thinking); got != want {
			t.Errorf("%.20q: got %q, want %q", thinking, got, want)
		}
	}
}

func TestThinks(t *testing.T) {
	b := New(t.Context(), Options{Bindings: []core.Binding{{Place: "chat:a", Thinking: true}, {Place: "chat:b"}, {Place: "chat:*", Thinking: true}}})
	for channel, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if got := b.Thinks(core.Place{Adapter: "chat", Channel: channel, Topic: "1"}); got != want {
			t.Errorf("%s: %v", channel, got)
		}
	}
	if b.Thinks(core.Place{Adapter: "other", Channel: "a"}) {
		t.Error("shown without a binding")
	}
}
