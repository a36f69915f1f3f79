package markup

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTelegramRich(t *testing.T) {
	wide := strings.Repeat("| a ", 21) + "|\n" + strings.Repeat("| - ", 21) + "|"
	for name, tt := range map[string]struct {
		in, want string
		ok       bool
	}{
		"text":        {"Just **words** and a [link](https://example.org).", "", false},
		"one heading": {"# Title\n\nWords.", "", false},
		"headings":    {"# One\n\na\n\n## Two\n\nb @bob", "# One\n\na\n\n## Two\n\nb @bob", true},
		"table":       {"| a | b |\n|---|--:|\n| *1* | `2` |", "| a | b |\n| --- | --: |\n| *1* | `2` |", true},
		"wide":        {wide, "", false},
		"pings": {"| a |\n|---|\n| [you](tg://user?id=7) |", `| a |
| --- |
| you (tg://user?id=7) |`, true},
		"tags are text":    {"# a\n\n# b\n\n<details>x</details>", "# a\n\n# b\n\n\\<details>x\\</details>", true},
		"code is as it is": {"# a\n\n# b\n\n```html\n<b>@x</b>\n```", "# a\n\n# b\n\n```html\n<b>@x</b>\n```", true},
	} {
		got, ok := TelegramRich(tt.in)
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, ok, tt.want, tt.ok)
		}
	}
}

// A rich message keeps what it gains by, leads nowhere else, and is no longer than
// Telegram takes.
func TestTelegramRichProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		md := markdownGen.Draw(t, "markdown")
		for _, piece := range Split(md, Telegram()) {
			got, ok := TelegramRich(piece)
			if !ok {
				continue
			}
			if _, again := TelegramRich(got); !again {
				t.Fatalf("%q has lost its tables and headings", got)
			}
			rewrite(parse(got), func(r rich, _ bool) rich {
				for _, sp := range r.spans {
					if sp.link != "" && webLink(sp.link) == "" {
						t.Fatalf("%q leads to %q", got, sp.link)
					}
				}
				return r
			}, func(f fence) fence { return f })
			if n := UTF16Len(got); n > 32_768 {
				t.Fatalf("%d units", n)
			}
		}
	})
}
