package markup

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// shown measures what is shown, source the Markdown itself.
func shown(most int) Target {
	return Target{Max: most, Measure: func(s string) int { return UTF16Len(Plain(s)) }}
}

func source(most int) Target { return Target{Max: most, Measure: utf8.RuneCountInString} }

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		name   string
		target Target
		md     string
		want   []string
	}{
		{"blank", shown(20), " \n\t", nil},
		{"what fits stays as it is", shown(40), "* a\n* b &amp; [c][d]\n\n[d]: http://x.y\n", []string{"* a\n* b &amp; [c][d]\n\n[d]: http://x.y\n"}},
		{"between blocks", shown(21), "one two three.\n\nfour five six.\n\nseven", []string{"one two three.", "four five six.\n\nseven"}},
		{"between items", shown(20), "1. one two\n2. three four\n3. five six", []string{"1. one two", "2. three four", "3. five six"}},
		{"outer blocks before items", shown(24), "one two three\n\n- four\n- five six", []string{"one two three", "- four\n- five six"}},
		{"heading stays with its text", shown(30), "one two three four\n\n# five\n\nsix seven eight", []string{"one two three four", "# five\n\nsix seven eight"}},
		{"between lines", shown(20), "one. two. three\nfour five six", []string{"one. two. three", "four five six"}},
		{"between sentences", shown(20), "One two three. Four five.", []string{"One two three.", "Four five."}},
		{"between wide sentences", shown(8), "一二三。四五六七八九。", []string{"一二三。", "四五六七八九。"}},
		{"between words", shown(10), "one two three four", []string{"one two", "three four"}},
		{"a word keeps whole if it can", shown(10), "a abcdefghij b", []string{"a", "abcdefghij", "b"}},
		{"between graphemes", shown(13), "👩‍👩‍👧‍👦👩‍👩‍👧‍👦e\u0301e\u0301", []string{"👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦e\u0301", "e\u0301"}},
		{"within a giant grapheme", shown(4), "e" + strings.Repeat("\u0301", 6), []string{"e\u0301\u0301\u0301", "\u0301\u0301\u0301"}},
		{"styles close and open again", shown(10), "**one *two three* four**", []string{"**one *two***", "***three* four**"}},
		{"code closes and opens again", shown(10), "a `bcd efg hij klm`", []string{"a `bcd efg`", "`hij klm`"}},
		{"a link moves whole", shown(24), "one two three [four](http://x.y/)", []string{"one two three", "[four](http://x.y/)"}},
		{"a long link is text", shown(10), "[a](http://x.y/)", []string{"a", "(http://x.", "y/)"}},
		{"fence", shown(12), "```go x\none\n  two\n\nthree\nfour\n```", []string{"```go x\none\n  two\n```", "```go x\nthree\nfour\n```"}},
		{"fence around a fence", source(16), "````\n```\na\n```\nb\n````", []string{"````\n```\na\n````", "````\n```\nb\n````"}},
		{"indentation of code stays", shown(12), "```\nif a:\n    b()\n    c()\n```", []string{"```\nif a:\n```", "```\n    b()\n```", "```\n    c()\n```"}},
		{
			"table", shown(30), "|ab|cd|\n|-|:-:|\n|1|2|\n|3|4|\n|5|6|",
			[]string{"| ab | cd |\n| --- | :-: |\n| 1 | 2 |\n| 3 | 4 |", "| ab | cd |\n| --- | :-: |\n| 5 | 6 |"},
		},
		{"a row too wide is text", shown(16), "|a|\n|-|\n|1|\n|one two three four|", []string{"| a |\n| --- |\n| 1 |", "one two three", "four"}},
		{"quote", shown(10), "> one two\n> three", []string{"> one two", "> three"}},
		{"an item goes on without marker", shown(13), "- one two\n\n  three\n- four", []string{"- one two", "three\n\n- four"}},
		{"a nested item stays nested", shown(13), "- one\n  - two\n  - three\n- four", []string{"- one\n  - two", "- - three", "- four"}},
		{"numbers go on", shown(12), "7. one\n   1. two\n   2. three\n8. four", []string{"7. one", "7. 1. two", "7. 2. three", "8. four"}},
		{"a task goes on without box", shown(12), "- [x] one two\n      three four", []string{"- [x] one two", "three four"}},
		{"neighbouring lists stay apart", shown(17), "- a\n\n* b\n\n1. c\n\n1) d\n\nlong enough", []string{"- a\n\n+ b\n\n1. c", "1. d\n\nlong enough"}},
		{"what looks like markup is escaped", source(24), "\\*a\\* \\[b] \\# \\`c\\`\n\\- d\n1\\. e\n\\> f &amp;lt; g_h \\<br>", []string{"\\*a\\* \\[b] # \\`c\\`\n\\- d", "1\\. e\n\\> f \\&lt; g_h", "\\<br>"}},
		{"reference links", shown(20), "[one][r] two three\n\nfour five six\n\n[r]: http://x.y", []string{"[one](http://x.y) two", "three\n\nfour five six"}},
		{"nothing fits", shown(1), "👍 a", []string{"👍", "a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Split(tt.md, tt.target)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A piece of a large text is as full as its blocks permit.
func TestSplitFillsPieces(t *testing.T) {
	target := Telegram()
	pieces := Split(prose(200_000), target)
	for i, p := range pieces[:len(pieces)-1] {
		if n := target.Measure(p); n < target.Max*3/4 || n > target.Max {
			t.Errorf("piece %d measures %d of %d", i, n, target.Max)
		}
	}
}

func TestSplitOfPiecesIsThePieces(t *testing.T) {
	for _, target := range []Target{shown(64), source(300), Telegram()} {
		pieces := Split(prose(20_000), target)
		for _, p := range pieces {
			if again := Split(p, target); !slices.Equal(again, []string{p}) {
				t.Fatalf("%q splits again into %q", p, again)
			}
		}
	}
}
