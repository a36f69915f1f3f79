package markup

import (
	"strings"
	"testing"
)

func TestWithStatus(t *testing.T) {
	for name, test := range map[string]struct{ text, status, html string }{
		"below the text":          {"Let me **see**.", "Looking…", "Let me <b>see</b>.\n\n<i>Looking…</i>"},
		"alone":                   {"", "Thinking…", "<i>Thinking…</i>"},
		"none":                    {"Let me see.", " \n", "Let me see."},
		"below an open fence":     {"So:\n```go\nx := 1", "Looking…", "So:\n\n<pre><code class=\"language-go\">x := 1</code></pre>\n\n<i>Looking…</i>"},
		"below a list":            {"- one\n- tw", "Looking…", "• one\n• tw\n\n<i>Looking…</i>"},
		"below a quote":           {"> one", "Looking…", "<blockquote>one</blockquote>\n\n<i>Looking…</i>"},
		"below an open link":      {"see [here](http", "Looking…", "see [here](http\n\n<i>Looking…</i>"},
		"below an open comment":   {"<!-- x", "Looking…", "&lt;!-- x\n\n<i>Looking…</i>"},
		"plain, whatever it says": {"one", "Using a_b*c*, `d`\n<b>&…", "one\n\n<i>Using a_b*c*, `d` &lt;b&gt;&amp;…</i>"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := TelegramHTML(WithStatus(test.text, test.status)); got != test.html {
				t.Errorf("got %q, want %q", got, test.html)
			}
		})
	}
}

func FuzzWithStatus(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s, "Looking…")
	}
	f.Add("one", "Using a_b*c*, `d`\n<b>…")
	f.Fuzz(func(t *testing.T, text, status string) {
		words := strings.Join(strings.Fields(clean(status)), " ")
		got := Plain(WithStatus(text, status))
		if want := strings.TrimSpace(Plain(text) + "\n\n" + words); words != "" && strings.TrimSpace(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
