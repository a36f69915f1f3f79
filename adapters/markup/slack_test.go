package markup

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var slackRenderings = []struct {
	name, md, block, text string
}{
	{"text", "a < b & c", "a < b & c", "a &lt; b &amp; c"},
	{"emphasis", "*a* **b** ~~c~~ `d`", "*a* **b** ~~c~~ `d`", "_a_ *b* ~c~ `d`"},
	{"heading", "# A *b*", "# A *b*", "*A _b_*"},
	{"list", "- a\n- b", "- a\n- b", "• a\n• b"},
	{"quote", "> a\n> b\n\nc", "> a\n> b\n\nc", "> a\n> b\n\nc"},
	{"fence", "```go\na < b\n```", "```go\na < b\n```", "```\na &lt; b\n```"},
	{"link", "[a](https://x.y/?a=1&b=2)", "[a](https://x.y/?a=1&b=2)", "<https://x.y/?a=1&amp;b=2|a>"},
	{"link nobody follows", "[a](javascript:x)", "a (javascript:x)", "a (javascript:x)"},
	{"table", "|a|b|\n|-|-|\n|1|2|", "| a | b |\n| --- | --- |\n| 1 | 2 |", "```\na  b\n-  -\n1  2\n```"},
	{"mentions", "<!channel> <@U123> <!subteam^S1|x> <#C1>", "&lt;!channel> &lt;@U123> &lt;!subteam^S1|x> &lt;#C1>", "&lt;!channel&gt; &lt;@U123&gt; &lt;!subteam^S1|x&gt; &lt;#C1&gt;"},
	{"mention in code", "`<!here>`", "`<\u2060!here>`", "`&lt;!here&gt;`"},
	{"mention in a fence", "```\n<@U1> <!DOCTYPE html> \\<!x\n```", "```\n<\u2060@U1> <!DOCTYPE html> \\<\u2060!x\n```", "```\n&lt;@U1&gt; &lt;!DOCTYPE html&gt; \\&lt;!x\n```"},
	{"mention as a target", "[a](<@U123 x>) [b](<https://x.y/\\<!here\\>>)", "a (@U123 x) [b](https://x.y/%3C!here%3E)", "a (@U123 x) <https://x.y/%3C!here%3E|b>"},
	{"mention as a language", "~~~ <!here>\nx\n~~~", "```\nx\n```", "```\nx\n```"},
	{"mention as an entity", "&lt;!channel&gt; &amp;lt;!channel&amp;gt;", `&lt;!channel> \&lt;!channel\&gt;`, "&lt;!channel&gt; &amp;lt;!channel&amp;gt;"},
	{"break in a cell", "|a|\n|-|\n|b<br>c|", "| a |\n| --- |\n| b c |", "```\na\n---\nb c\n```"},
}

func TestSlack(t *testing.T) {
	for _, tt := range slackRenderings {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.block, SlackMarkdown(tt.md)); diff != "" {
				t.Errorf("SlackMarkdown (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.text, SlackText(tt.md)); diff != "" {
				t.Errorf("SlackText (-want +got):\n%s", diff)
			}
			checkSlack(t, tt.md)
		})
	}
}

// slackMention is what Slack reads as a mention.
var slackMention = regexp.MustCompile(`<(!(channel|here|everyone|group|subteam|date)|@[A-Za-z0-9]|#[A-Z0-9])`)

func checkSlack(t rapid.TB, md string) {
	for name, out := range map[string]string{"block": SlackMarkdown(md), "text": SlackText(md), "stream": SlackStream(md)} {
		if m := slackMention.FindString(out); m != "" {
			t.Fatalf("%s: %q mentions %q in %q", name, md, m, out)
		}
		if !utf8.ValidString(out) || strings.ContainsAny(out, beginQuote+endQuote) {
			t.Fatalf("%s: %q is rendered as %q", name, md, out)
		}
	}
}

// mentionsGen mixes mentions with all the rest.
var mentionsGen = rapid.Custom(func(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.OneOf(
		markdownGen,
		rapid.SampledFrom([]string{
			"<!channel>", "<!here|x>", "<@U123>", "<!subteam^S1>", "<", "!channel>", "@U123>", "`", "```\n", "\\", "**", "[", "](", ")", "|", "\n", "&lt;",
			"&#60;", "~~~", "<!-- -->", "> ", "- ", "<https://x.y|z>", "<br>", "\\<!here>", "[x]: <!here>\n",
		}),
	), 1, 8).Draw(t, "parts")
	return strings.Join(parts, "")
})

func TestSlackMentionsNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkSlack(t, mentionsGen.Draw(t, "md")) })
}

// TestSlackStreamGrows: what was streamed begins all that comes later, and no
// mention is put together from parts.
func TestSlackStreamGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		md := mentionsGen.Draw(t, "md")
		shown := ""
		for _, cut := range slices.Sorted(slices.Values(rapid.SliceOfN(rapid.IntRange(0, len(md)), 1, 40).Draw(t, "cuts"))) {
			if cut < len(md) && !utf8.RuneStart(md[cut]) || strings.HasSuffix(md[:cut], "\r") {
				continue
			}
			next := SlackStream(md[:cut])
			if !strings.HasPrefix(next, shown) {
				t.Fatalf("%q becomes %q", shown, next)
			}
			shown = next
		}
	})
}

func TestSlackBudget(t *testing.T) {
	rows := strings.Repeat("| some words | and more < & of them |\n", 900)
	for name, md := range map[string]string{
		"letters": strings.Repeat("x", 30_000),
		"words":   strings.Repeat("lorem ipsum & dolor <@U1> ", 2000),
		"table":   "| head | tail |\n|-|-|\n" + rows,
		"code":    "```go\n" + strings.Repeat("x := 1 << 2 // <!here>\n", 2000) + "```",
		"angles":  strings.Repeat("<", 30_000),
	} {
		pieces := Split(md, Slack())
		if len(pieces) < 2 {
			t.Errorf("%s: %d pieces", name, len(pieces))
		}
		for i, p := range pieces {
			if n := utf8.RuneCountInString(SlackMarkdown(p)); n > slackRunes {
				t.Errorf("%s: piece %d has %d characters", name, i, n)
			}
			if n := utf8.RuneCountInString(SlackText(p)); n > 40_000 {
				t.Errorf("%s: piece %d has %d characters as text", name, i, n)
			}
			if name == "table" && !strings.HasPrefix(SlackMarkdown(p), "| head | tail |\n| --- | --- |\n") {
				t.Errorf("piece %d begins %.40q", i, p)
			}
			if n := cells(parse(p)); n > 10_000 {
				t.Errorf("%s: piece %d has %d characters in cells", name, i, n)
			}
			checkSlack(t, p)
		}
	}
	if got := Split(strings.Repeat("x", slackRunes), Slack()); len(got) != 1 {
		t.Errorf("%d pieces of %d letters", len(got), slackRunes)
	}
}

func FuzzSlack(f *testing.F) {
	for i, s := range seeds() {
		f.Add(s + []string{"<!channel>", "`<@U1>", "\\<", "[<!here>](<@U1 x>)"}[i%4])
	}
	f.Fuzz(func(t *testing.T, md string) {
		if len(md) > 4000 {
			t.Skip()
		}
		checkSlack(t, md)
	})
}

func ExampleSlackMarkdown() {
	fmt.Println(SlackMarkdown("**Done**, <!channel>"))
	// Output: **Done**, &lt;!channel>
}
