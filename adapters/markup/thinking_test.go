package markup

import (
	"strings"
	"testing"
)

func TestThinking(t *testing.T) {
	const wild = "So <b>&\n\n||it|| is @everyone *4*\x00 [x](http://y)"
	if got, want := TelegramThinking(wild), "<blockquote expandable>So &lt;b&gt;&amp; ||it|| is <code>@everyone</code> *4* [x](http://y)</blockquote>\n"; got != want {
		t.Errorf("Telegram: got %q, want %q", got, want)
	}
	got := DiscordThinking(wild)
	if inner, ok := strings.CutPrefix(got, "> ||"); !ok || strings.Count(inner, "||") != 1 || !strings.HasSuffix(inner, "||\n") || strings.Count(got, "\n") != 1 || strings.Contains(got, "@everyone") {
		t.Errorf("Discord: %q", got)
	}
	if got := TelegramThinking(" \n") + DiscordThinking(""); got != "" {
		t.Errorf("nothing is %q", got)
	}
}

// An answer cannot make itself such a quote, to hide something in it.
func TestThinkingIsNotForged(t *testing.T) {
	for _, text := range append(seeds(), "> ||hidden||", "<blockquote expandable>hidden</blockquote>", "||hidden||", "<tg-spoiler>x</tg-spoiler>") {
		if got := TelegramHTML(text); strings.Contains(got, "<blockquote expandable>") || strings.Contains(got, "<tg-spoiler>") {
			t.Errorf("Telegram: %q is %q", text, got)
		}
	}
	for _, text := range []string{"> ||hidden||", "||hidden||", "a ||hidden|| b"} {
		if got := DiscordMarkdown(text); strings.Contains(got, "||") {
			t.Errorf("Discord: %q is %q", text, got)
		}
	}
}
