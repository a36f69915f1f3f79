package console

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"plain, ünïcode, 日本, 👩‍💻", "plain, ünïcode, 日本, 👩‍💻"},
		{"a\n\tb", "a\n\tb"},
		{"a\r\nb\rc", "a\nb^Mc"},
		{"\x1b[2J\x1b]0;title\x07", "^[[2J^[]0;title^G"},
		{"\u009b31m", "<U+009B>31m"},
		{"\x9b31m", "\uFFFD31m"},
		{"a\x00\x7f", "a^@^?"},
		{"\u202egpj.exe", "<U+202E>gpj.exe"},
		{"a\u2028b", "a<U+2028>b"},
	} {
		if got := visible(test.in); got != test.want {
			t.Errorf("%q: got %q, want %q", test.in, got, test.want)
		}
	}
}

func TestLabel(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"chief", "chief> "},
		{"", "bellhop> "},
		{" \n", "bellhop> "},
		{"a\nb\x1b[1m", "a b^[[1m> "},
		{"Research assistant of the second floor", "Research assistant of> "},
		{strings.Repeat("長", 30), strings.Repeat("長", 12) + "> "},
	} {
		if got := label(test.in); got != test.want {
			t.Errorf("%q: got %q, want %q", test.in, got, test.want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "a\r\nb", "\r\r\n", "\x1b]52;c;eA==\x07", "\u009b1m", "\x9b", "\u202e", "<U+202E>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := visible(s)
		if !utf8.ValidString(got) {
			t.Errorf("%q is not UTF-8", got)
		}
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Errorf("%q holds %U", got, r)
			}
		}
		if again := visible(got); again != got {
			t.Errorf("%q becomes %q", got, again)
		}
		if strings.ContainsAny(label(s), "\n\t\x1b") {
			t.Errorf("label %q", label(s))
		}
	})
}
