package markup

import (
	"strings"
	"testing"
)

// hostile are texts of about n bytes, and of extreme depth, that would take a
// careless parser or splitter quadratic time, or a very deep stack.
func hostile(n int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, n/len(s)) }
	deep := func(s string) string { return strings.Repeat(s, 10_000) }
	return map[string]string{
		"prose in one paragraph": fill("hello world. "),
		"one long line":          fill("x"),
		"many items":             fill("- item\n"),
		"long fence":             "```go\n" + fill("x := 1\n") + "```",
		"one long code line":     "```\n" + fill("x"),
		"paragraphs":             fill("word *it* x.\n\n"),
		"nested items":           fill("- a\n  - b\n    - c\n"),
		"loose items":            fill("1. a\n\n   b\n\n"),
		"long table":             "|a|b|\n|-|-|\n" + fill("|cell one|cell two|\n"),
		"links":                  fill("[a](http://x.y/z) "),
		"handles":                fill("@abcd "),
		"deep quote":             deep(">") + "a",
		"deep brackets":          deep("[") + "a" + deep("]"),
		"deep stars":             deep("*") + "a" + deep("*"),
		"deep list":              deep("- ") + "x\n" + fill("\n") + "y",
		"deep images":            deep("![") + deep("](a)"),
		"many deep quotes":       fill(strings.Repeat("> ", 50) + "a\n"),
		"mismatched emphasis":    strings.Repeat("*a ", n/6) + strings.Repeat("b_ ", n/6),
		"unclosed code":          fill("`a ``b "),
		"unclosed link titles":   fill(`[a](b "`),
		"unclosed comments":      fill("<!-- "),
		"link references":        fill("[a]: b\n"),
		"wide table, short rows": strings.Repeat("|a", 500) + "|\n" + strings.Repeat("|-", 500) + "|\n" + fill("x\n"),
		"escaped pipes":          "|a|\n|-|\n" + fill("|`\\|`|\n"),
		"one wide cell":          "|a|b|\n|-|-|\n|" + fill("x") + "|b|\n" + fill("|a|b|\n"),
		"one grapheme":           "e" + fill("\u0301"),
		"long heading":           "# " + fill("*a* "),
		"entities":               fill("&amp"),
		"blank lines":            "a" + fill("\n") + "b",
		"breaks":                 fill("<br>") + "a",
	}
}

// TestWorkIsLinear counts the characters that Split gives to Measure instead
// of taking time, which differs from machine to machine: they are a small
// number of times the text, and none of the pieces tried is much longer than
// a message.
func TestWorkIsLinear(t *testing.T) {
	for name, md := range hostile(200_000) {
		t.Run(name, func(t *testing.T) {
			target := Telegram()
			measured, longest := 0, 0
			measure := target.Measure
			target.Measure = func(piece string) int {
				measured += len(piece)
				longest = max(longest, len(piece))
				return measure(piece)
			}
			Split(md, target)
			if times := measured / len(md); times > 6 {
				t.Errorf("measured %d times the text", times)
			}
			if longest > 64*target.Max {
				t.Errorf("measured a piece of %d bytes", longest)
			}
		})
	}
}

// BenchmarkHostile shows that no text of a megabyte takes much longer than
// any other.
func BenchmarkHostile(b *testing.B) {
	for name, md := range hostile(1_000_000) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(md)))
			for b.Loop() {
				Split(md, Telegram())
			}
		})
	}
}
