package adaptertest

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"bellhop/core"
)

// textCases are about splitting and about what must not break it.
var textCases = []testCase{
	{"split at the limit", testSplit},
	{"lossless split", testLossless},
	{"graphemes", testGraphemes},
	{"nasty text", testNasty},
	{"nasty text in", testNastyIn},
	{"blank text", testBlank},
	{"nobody is called", testPings},
	{"huge text", testHuge},
}

// limit is the size of a piece to test with, in the platform's units: at most
// what keeps a test short.
func (s *session) limit() int {
	const most = 40_000
	if s.f.MaxText > 0 {
		return min(s.f.MaxText, most)
	}
	return most
}

// post splits a text, shows its pieces and returns what a person then reads.
func (s *session) post(e core.Inbound, r Room, key, text string) string {
	s.t.Helper()
	before := len(s.own(r))
	for i, piece := range s.f.Split(text) {
		if strings.TrimSpace(piece) == "" {
			s.t.Errorf("a piece of %.60q is blank", text)
			continue
		}
		if _, err := s.try(s.t.Context(), e, fmt.Sprint(key, i), piece); err != nil {
			s.t.Errorf("piece %d of %.60q: %v", i, text, err)
			return ""
		}
	}
	var b strings.Builder
	for _, m := range s.own(r)[before:] {
		b.WriteString(m.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// testSplit: a piece may be as long as the platform allows, and is never
// longer.
func testSplit(s *session) {
	r, ann := s.room(Direct)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	limit := s.f.MaxText
	if limit <= 0 {
		s.can(Unsupported("Features.MaxText says that there is no limit"))
	}
	for _, n := range []int{1, limit - 1, limit, limit + 1, 2 * limit, 2*limit + 1} {
		text := strings.Repeat("x", n)
		pieces := s.f.Split(text)
		if least := (n + limit - 1) / limit; len(pieces) < least || n <= limit && len(pieces) != 1 {
			s.t.Errorf("%d letters, of which %d fit, are %d pieces", n, limit, len(pieces))
		}
		s.lossless("letters", text, s.post(e, r, fmt.Sprint(n), text))
	}
	if pieces := s.f.Split("one\n\ntwo"); len(pieces) != 1 {
		s.t.Errorf("a short text is %d pieces", len(pieces))
	}
}

// letters is what of a text no rendering takes away.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// lossless checks that a text is shown whole, once, and in order.
func (s *session) lossless(what, text, shown string) {
	s.t.Helper()
	want, got := letters(text), letters(shown)
	if got == want {
		return
	}
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	i = max(0, i-20)
	s.t.Errorf("%s: of %d letters %d are shown; from %d on\n got %.60q\nwant %.60q", what, len(want), len(got), i, got[min(i, len(got)):], want[i:])
}

// testLossless: constructs that do not fit into one piece lose nothing.
func testLossless(s *session) {
	r, ann := s.room(Direct)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	enough := s.limit()/4 + 10
	numbered := func(format string) string {
		var b strings.Builder
		for i := range enough {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"words":         numbered("word%d "),
		"paragraphs":    numbered("paragraph%d\n\n"),
		"lines":         numbered("line%d\n"),
		"list":          numbered("- item%d\n"),
		"nested list":   numbered("- item%d\n    - inner\n"),
		"code":          "before\n\n```\n" + numbered("x%d := 1 << 2 && y\n") + "```\n\nafter",
		"one line":      "```\n" + numbered("word%d ") + "\n```",
		"quotation":     numbered("> line%d\n"),
		"bold":          "**" + numbered("bold%d ") + "end**",
		"in bold":       numbered("**bold%d** and *slanted* and `code` "),
		"angles":        numbered("a%d < b && b > c "),
		"inline code":   numbered("`x<%d>` "),
		"headings":      numbered("## head%d\n\ntext\n\n"),
		"surrogates":    numbered("😀%d"),
		"ideographs":    numbered("漢字%d"),
		"right to left": numbered("שלום%d عليكم "),
		"unclosed":      "```\n" + numbered("code%d\n"),
	} {
		s.lossless(name, text, s.post(e, r, name, text))
	}
}

// testGraphemes: what a person takes for one character is never cut.
func testGraphemes(s *session) {
	r, ann := s.room(Direct)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	for _, g := range []string{"👨‍👩‍👧‍👦", "🇩🇪", "é", "👍🏽", "नि"} {
		before := len(s.own(r))
		text := strings.Repeat(g, s.limit()/len(g)*3)
		s.post(e, r, g, text)
		n := 0
		for _, m := range s.own(r)[before:] {
			n += strings.Count(m.Text, g)
			if rest := strings.TrimSpace(strings.ReplaceAll(m.Text, g, "")); rest != "" {
				s.t.Errorf("%q was cut: %+q", g, rest)
			}
		}
		if want := strings.Count(text, g); n != want {
			s.t.Errorf("%d of %d times %q are shown", n, want, g)
		}
	}
}

// nasty are texts that have broken others.
var nasty = []string{
	"\u202eright to left\u202c", "\u2066isolated\u2069", "z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍a̴̵̜̰͔ͫ͗͢l̠ͨͧͩ͘g̴͑o͓̭̗", strings.Repeat("a\u0301", 50) + strings.Repeat("\u0301", 300),
	"nul \x00 byte", "bell \a escape \x1b[31m red", "invalid \xff\xfe bytes \xc3", "surrogate \xed\xa0\x80 half", "\ufeffbyte order mark", "not a character \U0010ffff",
	"zero\u200bwidth\u200djoin", "line\u2028separator\u2029", "crlf\r\nlines\rend",
	"<b>bold</b>", "<script>alert(1)</script>", "</b></i></code></pre>", "<b", "<a href=\"", "&lt;b&gt; &amp;amp; & &#0; &nosuch;", "a < b > c & d", "<!-- comment -->", "<tg-emoji emoji-id=\"1\">x</tg-emoji>",
	"*", "**", "***", "_", "__", "`", "``", "```", "~~~", "~~", "||", "[", "]", "(", "![](", "[x](", "[x]()", "[](x)", ">", ">>>", "#", "######", "-", "- ", "1.", "---", "===", "| a |", "|-|", "\\", "\\*", "!", "<", "&", ";",
	"**bold *nested** crossed*", "*a **b _c ~~d `e", "[text](javascript:alert(1))", "[text](http://x/<>\"'&)", "[a](<b> c)", "[^1]: note", "[x]: http://y", "```go\nunclosed", "````\n```\n````", "`` ` ``", "| a | b |\n|---|---|\n| 1 | <b> |",
	"@everyone @here <!channel> <@U123> @bellhop_bot", "/new", "null", "undefined", "%s%n%d", "${jndi:ldap://x}", "'; DROP TABLE m; --", "{\"ok\":false}", strings.Repeat(">", 200) + " deep", strings.Repeat("- ", 100) + "deep", strings.Repeat("*", 500) + "x" + strings.Repeat("*", 500), strings.Repeat("[", 1000),
	"﷽", "👩‍👩‍👦‍👦", "Ⱥ", "ﬀ", "İ", "ß", "\u0338", "᚛᚛", "￼",
}

// testNasty: every text is shown, or refused because nothing of it can be
// seen; never anything else. What follows it is not harmed.
func testNasty(s *session) {
	r, ann := s.room(Direct)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	for i, text := range nasty {
		pieces := s.f.Split(text)
		if len(pieces) == 0 && strings.TrimSpace(text) != "" {
			s.t.Errorf("%+q is no piece", text)
		}
		for _, piece := range pieces {
			if strings.TrimSpace(piece) == "" {
				continue
			}
			_, err := s.try(s.t.Context(), e, fmt.Sprint("k", i), piece)
			if err != nil && (!errors.Is(err, core.ErrRefused) || letters(text) != "") {
				s.t.Errorf("%+q: %v", text, err)
			}
		}
		shown := s.post(e, r, fmt.Sprint("w", i), "before\n\n"+text+"\n\nafter")
		if !strings.HasPrefix(shown, "before") || !strings.HasSuffix(strings.TrimRight(shown, "\n`~*_ "), "after") && !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
			s.t.Errorf("around %+q is shown %+q", text, shown)
		}
		if !utf8.ValidString(shown) {
			s.t.Errorf("%+q is shown as %+q", text, shown)
		}
	}
	for _, text := range []string{"<b>bold</b>", "a < b > c & d", "</b></i></code></pre>", "<script>alert(1)</script>", "{\"ok\":false}", "%s%n%d", "'; DROP TABLE m; --"} {
		if shown := strings.TrimSpace(s.post(e, r, "x"+text, text)); shown != text {
			s.t.Errorf("%q is shown as %q", text, shown)
		}
	}
	s.show(e, "last", "fine")
}

// testNastyIn: what people write arrives.
func testNastyIn(s *session) {
	r, ann := s.room(Group)
	for _, text := range nasty {
		if !utf8.ValidString(text) || strings.TrimSpace(text) == "" {
			continue // no platform lets it through
		}
		e := s.hear(r, Saying{From: ann, Text: text})
		if letters(strings.ReplaceAll(e.Text, "@"+s.p.Me().Name, "")) != letters(strings.ReplaceAll(text, "@"+s.p.Me().Name, "")) {
			s.t.Errorf("%+q arrives as %+q", text, e.Text)
		}
		e = s.hear(r, Saying{From: ann, Mention: []Account{s.p.Me()}, Text: "😀 " + text})
		if !e.Mentioned || !strings.HasPrefix(e.Text, "😀") {
			s.t.Errorf("%+q, to us, arrives as %+v", text, e)
		}
	}
}

// testBlank: white space is no piece, and around a text it does no harm.
func testBlank(s *session) {
	r, ann := s.room(Direct)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	for _, text := range []string{"", " ", "\n\n\n", "\t", "\u00a0\u2003", strings.Repeat("\n", 3*s.limit())} {
		for _, piece := range s.f.Split(text) {
			if strings.TrimSpace(piece) != "" {
				s.t.Errorf("%.20q has the piece %q", text, piece)
			}
		}
	}
	blank := strings.Repeat("\n", s.limit())
	for i, text := range []string{"  text  ", "\n\ntext\n\n", blank + "text" + blank, "a" + strings.Repeat("\n\n", s.limit()) + "b"} {
		s.lossless(fmt.Sprintf("%.10q", text), text, s.post(e, r, fmt.Sprint("k", i), text))
	}
}

// testPings: what a model writes notifies nobody, and is shown all the same.
func testPings(s *session) {
	r, ann := s.room(Group)
	bob := s.p.Person("Bob")
	e := s.hear(r, Saying{From: ann, Mention: []Account{bob}, Text: "hello"})
	for i, text := range []string{"<!channel> now", "<!here|here> now", "<@" + bob.ID + "> now", "@everyone @here now", "&lt;!everyone&gt; now",
		"**<!channel>** now", "[<!channel>](http://x.org) now", "| <!channel> |\n|---|\n| now |", "<!subteam^S1> now", "\\<!channel> now", "<<!channel>> now"} {
		s.post(e, r, fmt.Sprint("k", i), text)
		own := s.own(r)
		if last := own[len(own)-1]; len(last.Pings) > 0 || !strings.Contains(last.Text, "now") {
			s.t.Errorf("%q calls %q and is shown as %q", text, last.Pings, last.Text)
		}
	}
}

// testHuge: a million characters of anything are only many pieces.
func testHuge(s *session) {
	r, ann := s.room(Direct)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	const size = 1_000_000
	text := strings.Repeat("lorem ipsum & dolor < sit amet, ", size/32)
	s.lossless("words", text, s.post(e, r, "words", text))
	for _, unit := range []string{"x", "*", "[", "`a", "<b>", "> ", "~", "_a", "a\n\n", "|a"} {
		if len(s.f.Split(strings.Repeat(unit, size/10))) == 0 {
			s.t.Errorf("%d times %q are no piece", size/10, unit)
		}
	}
}
