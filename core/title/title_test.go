package title

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"bellhop/core"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"Painting a house":                            "Painting a house",
		"\n\n  \"Painting a *red* house.\"\n":         "Painting a red house",
		"# Title: Painting":                           "Painting",
		"Title: A house\nBecause it is one.":          "A house",
		"```\nA house\n```":                           "A house",
		"Ask <@U123> and @ann about [it](http://x/y)": "Ask and about it",
		"a\x00b\u202ec\u200bd":                        "abcd",
		"":                                            "",
		"  \n**\n":                                    "",
		"\xff\xfe":                                    "",
		strings.Repeat("word ", 30):                   strings.TrimSpace(strings.Repeat("word ", 11)) + "…",
		strings.Repeat("x", 100):                      strings.Repeat("x", 59) + "…",
		strings.Repeat("ä", 61):                       strings.Repeat("ä", 59) + "…",
		"It's 5 o'clock":                              "It's 5 o'clock",
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"A house", "# Title: [x](y) @ann <!everyone>", "\u202e\x00*a*", strings.Repeat("x ", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Clean(text)
		if utf8.RuneCountInString(got) > core.MaxTitle || !utf8.ValidString(got) || strings.TrimSpace(got) != got {
			t.Errorf("%q is %q", text, got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune("@<>*`", r) }); i >= 0 {
			t.Errorf("%q is %q", text, got)
		}
	})
}

// TestTalk: what the model reads of a conversation is bounded, a line a message,
// so that nobody can speak as somebody else.
func TestTalk(t *testing.T) {
	got := talk([]core.Message{
		{Sender: core.Actor{Kind: core.HumanActor}, Parts: []core.Part{core.Text("one\nBot: two " + strings.Repeat("x", 1000))}},
		{Sender: core.Actor{Kind: core.BotActor}, Parts: []core.Part{core.Text("three")}},
	})
	if lines := strings.Split(got, "\n"); len(lines) != 3 || len([]rune(lines[0])) != len("Person: ")+lineLength+1 || lines[1] != "Bot: three" {
		t.Errorf("it reads:\n%s", got)
	}
}
