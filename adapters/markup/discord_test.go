package markup

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestDiscordMarkdown(t *testing.T) {
	tests := map[string]struct{ md, want string }{
		"styles":               {"a **b** *c* ~~d~~ `e`", "a **b** *c* ~~d~~ `e`"},
		"neighbours":           {"**a***b*", "**a**\u200b*b*"},
		"headings":             {"# a\n\n## b\n\n### c\n\n#### d", "# a\n\n## b\n\n### c\n\n**d**"},
		"heading in an item":   {"- # a", "• **a**"},
		"text like a heading":  {`\# a`, `\# a`},
		"text like a list":     {"a\n\n\\- b\n\n\\* c\n\n1986\\. d", "a\n\n\\- b\n\n\\* c\n\n1986\\. d"},
		"subtext":              {"\\-# a", "\\-# a"},
		"table":                {"| a | bb |\n|---|--:|\n| ccc | 1 |", "```\na    bb\n---  --\nccc   1\n```"},
		"fence":                {"```go\nx := 1\n```", "```go\nx := 1\n```"},
		"a language of ours":   {"```c++ title=\"x\"\na\n```", "```c++\na\n```"},
		"no language":          {"```a&b\na\n```", "```\na\n```"},
		"backticks in a fence": {"``````\n```\n`````\n``````", "```\n``\u200b`\n``\u200b``\u200b`\n```"},
		"code with backticks":  {"`` ` ``", "`` ` ``"},
		"link":                 {"[a *b*](https://e.example/x)", "[a *b*](<https://e.example/x>)"},
		"link with brackets":   {"[a](<https://e.example/x (1)>)", "[a](<https://e.example/x%20%281%29>)"},
		"address as label":     {"[https://bank.example](https://evil.example)", "https://bank.example (https://evil.example)"},
		"autolink":             {"<https://e.example/a_b_>", "https://e.example/a_b_"},
		"address in text":      {"see https://e.example/a_b_(c) now", "see https://e.example/a_b_(c) now"},
		"other schemes":        {"[x](javascript:alert(1))", "x (javascript:alert(1))"},
		"image":                {"![a cat](https://e.example/cat.png)", "[a cat](<https://e.example/cat.png>)"},
		"quote":                {"> a\n> b\n\nc", "> a\n> b\n\nc"},
		"heading in a quote":   {"> # a\n>\n> ```\n> b\n> ```", "> # a\n> \n> ```\n> b\n> ```"},
		"two quotes":           {"> a\n\n---\n\n> b", "> a\n\n———\n\n> b"},
		"nested quotes":        {"> a\n>\n> > b", "> a\n> \n> b"},
		"spoiler":              {`\|\|a\|\| a|b`, `\|\|a\|\| a|b`},
		"underscores":          {`snake_case \_a\_`, `snake_case \_a\_`},
		"product":              {"2 * 3 and 2\\*3", "2 * 3 and 2\\*3"},
		"angles":               {"a < b && <b>c</b>", `a < b && <b>c\</b>`},
		"backslash":            {`C:\dir \\*`, `C:\dir \\\*`},
		"brackets":             {`[x] \[a](b) [y]`, `\[x] \[a](b) [y]`},
		"everybody":            {"@everyone @here @ann", "@\u200beveryone @\u200bhere @ann"},
		"everybody in code":    {"`@everyone`", "`@everyone`"},
		"everybody in a link":  {"https://e.example/@everyone [a](https://e.example/@here)", "https://e.example/%40everyone [a](<https://e.example/%40here>)"},
		"mentions":             {"<@1> <@!1> <@&1> <#1> <:a:1> <a:b:1> <t:1:R>", `\<@1> \<@!1> \<@&1> \<#1> \<:a:1> \<a:b:1> \<t:1:R>`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := DiscordMarkdown(tt.md); got != tt.want {
				t.Errorf("%q\n got %q\nwant %q", tt.md, got, tt.want)
			}
		})
	}
}

func TestDiscordMeasure(t *testing.T) {
	target := Discord()
	if target.Max != 2000 {
		t.Errorf("a message holds %d", target.Max)
	}
	for md, want := range map[string]int{"*a* `b`": 7, "👍": 1, "[a](http://x.y)": len("[a](<http://x.y>)")} {
		if got := target.Measure(md); got != want {
			t.Errorf("%q measures %d, want %d", md, got, want)
		}
	}
}

var (
	discordFence = regexp.MustCompile("(?s)```.*?```")
	discordCode  = regexp.MustCompile("`(?:[^`\n])+`")
	discordPing  = regexp.MustCompile(`@everyone|@here|(^|[^\\])<(@[!&]?|#)\d`)
)

// checkDiscord checks that md renders to a message that pings nobody, with all
// its fences closed.
func checkDiscord(t rapid.TB, md string) {
	out := DiscordMarkdown(md)
	if !utf8.ValidString(out) || strings.ContainsRune(out, quoteStart) {
		t.Fatalf("%q: no text: %q", md, out)
	}
	if strings.Count(out, "```")%2 != 0 && !strings.Contains(md, "`") {
		t.Fatalf("%q: a fence is open in %q", md, out)
	}
	if strings.Contains(md, "`") || strings.Contains(md, "|") {
		out = discordCode.ReplaceAllString(discordFence.ReplaceAllString(out, ""), "")
	}
	if ping := discordPing.FindString(out); ping != "" && !strings.Contains(out, "`") {
		t.Fatalf("%q: %q pings in %q", md, ping, out)
	}
}

func TestDiscordProperties(t *testing.T) {
	pings := rapid.SampledFrom([]string{"@everyone", "@here", "<@123>", "<@!123>", "<@&123>", "<#123>", "@", "everyone", "here", "<", "@1>"})
	rapid.Check(t, func(t *rapid.T) {
		md := markdownGen.Draw(t, "md")
		checkDiscord(t, md)
		var b strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "parts") {
			b.WriteString(rapid.OneOf(pings, inlineGen(1)).Draw(t, "part"))
		}
		checkDiscord(t, b.String())
	})
}

// TestDiscordSplit checks that no piece is longer than a message.
func TestDiscordSplit(t *testing.T) {
	for name, md := range hostile(8_000) {
		for _, piece := range Split(md, Discord()) {
			if n := utf8.RuneCountInString(DiscordMarkdown(piece)); n > discordMax && longestCluster(Plain(piece)) < discordMax/2 {
				t.Errorf("%s: a piece of %d code points", name, n)
			}
		}
	}
}

func FuzzDiscordMarkdown(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Add("@everyone **@**here <@&1> > `a` https://x/@everyone")
	f.Fuzz(func(t *testing.T, md string) { checkDiscord(t, md) })
}
