package markup

import (
	"slices"
	"strings"
	"testing"
)

// nasty are seeds beyond what the grammar makes.
var nasty = []string{
	"", " ", "\n", "\x00", "a\x00b\x1b[31m", "\xff\xfe", "a\xc3", "\xed\xa0\x80\xed\xb0\x80", "\u0085\u2028\u2029",
	"\u202e*abc*\u202c", "👩‍👩‍👧‍👦👨‍👩‍👧‍👦*🏳️‍🌈*", "e" + strings.Repeat("\u0301", 200), "\u0301", "\u200d\u200d", "\ufeff# x",
	"a\r\nb\rc", strings.Repeat(">", 200) + "a", strings.Repeat("[", 200), strings.Repeat("*a", 100),
	strings.Repeat("- ", 100) + "x", "- - - -\n- +\n1.\n2.", "- [ ] # a\n- [x]\n      code", "a*b**c***d**e*f",
	"```\n~~~\n````\n```", "~~~ `x` ~\na\n~~~", "|a|\n|-|\n|`\\|`|\\||", "a\n-|-\n", "1. a\n\n1) b\n\n999999999. c\n1. d",
	"[a]: <b>\n[a][] [a] ![a]", "[![i](j)](k) <a@b.c> <http://x> @handle_x", "&#0;&#10;&#x202e;&nbsp;&#xd800;&bogus;",
	"# a #\n\na\n===\nb\n---", "\\\n\\*\\", "> ```\n> a\nb", "<br><br/><BR >\n<br>", "[a\n](b) [\\]](c) [d](<e f>)",
}

func seeds() []string {
	out := slices.Clone(nasty)
	for i := range 50 {
		out = append(out, markdownGen.Example(i))
	}
	return out
}

func FuzzSplit(f *testing.F) {
	for i, s := range seeds() {
		f.Add(s, 20+i%300)
	}
	f.Fuzz(func(t *testing.T, md string, limit int) {
		if limit < 20 || limit > 5000 || len(md) > 4000 {
			t.Skip()
		}
		checkSplit(t, md, limit)
	})
}

func FuzzTelegramHTML(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, md string) {
		checkHTML(t, md)
		checkReadsBack(t, md)
	})
}
