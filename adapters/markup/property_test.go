package markup

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMarkdownReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		md := markdownGen.Draw(t, "md")
		checkReadsBack(t, md)
	})
}

// checkReadsBack checks that what the Markdown writer makes of a document
// shows the same, but for styles it cannot express and blank lines: a tight
// list can hold what is only written in a loose one.
func checkReadsBack(t rapid.TB, md string) {
	doc := parse(md)
	back := markdown(doc)
	for name, d := range map[string]dialect{"plain": plain{}, "telegram": telegram{}} {
		if diff := cmp.Diff(unstyled(layout(doc, d)), unstyled(layout(parse(back), d))); diff != "" {
			t.Fatalf("%s of %q written as %q (-want +got):\n%s", name, md, back, diff)
		}
	}
}

var (
	styleTags  = regexp.MustCompile(`</?[bis]>`)
	blankLines = regexp.MustCompile(`\n\n+`)
)

func unstyled(s string) string {
	return blankLines.ReplaceAllString(styleTags.ReplaceAllString(s, ""), "\n")
}

func TestSplitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		md := markdownGen.Draw(t, "md")
		limit := rapid.SampledFrom([]int{20, 64, 300, 4096}).Draw(t, "max")
		checkSplit(t, md, limit)
	})
}

// checkSplit checks all that Split promises, for targets that measure what is
// shown and the Markdown itself.
func checkSplit(t rapid.TB, md string, limit int) {
	for name, measure := range map[string]func(string) int{
		"shown":  func(s string) int { return UTF16Len(Plain(s)) },
		"source": utf8.RuneCountInString,
	} {
		target := Target{Max: limit, Measure: measure}
		pieces := Split(md, target)
		if len(pieces) == 0 {
			if shown := Plain(md); strings.TrimSpace(shown) != "" {
				t.Fatalf("nothing left of %q, which shows %q", md, shown)
			}
			continue
		}
		for _, p := range pieces {
			if strings.TrimSpace(Plain(p)) == "" {
				t.Fatalf("a blank piece %q of %q (max %d, %s)", p, md, limit, name)
			}
			if n := measure(p); n > limit && longestCluster(Plain(p)) < limit/2 {
				t.Fatalf("piece %q of %q measures %d of %d (%s)", p, md, n, limit, name)
			}
			if again := Split(p, target); measure(p) <= limit && !slices.Equal(again, []string{p}) {
				t.Fatalf("piece %q splits again into %q", p, again)
			}
			if p != clean(md) {
				checkFences(t, p)
			}
		}
		if diff := cmp.Diff(content([]string{md}), content(pieces)); diff != "" {
			t.Fatalf("%q (max %d, %s) became %q (-want +got):\n%s", md, limit, name, pieces, diff)
		}
	}
}

func longestCluster(s string) int {
	longest := 0
	for s != "" {
		n, _ := clusterLen(s, -1)
		longest, s = max(longest, n), s[n:]
	}
	return longest
}

// content is every character the pieces show, in order, but for white space
// and the headers of tables, which a piece may repeat.
func content(pieces []string) string {
	var b strings.Builder
	header := ""
	var walk func(bs []block)
	add := func(s string) { b.WriteString(s) }
	walk = func(bs []block) {
		for _, bl := range bs {
			switch bl := bl.(type) {
			case quote:
				walk(bl.blocks)
			case *list:
				for i, it := range bl.items {
					if !it.bare() {
						add(bl.marker(i))
					}
					walk(it.blocks)
				}
			case *table:
				rows := bl.rows
				var h strings.Builder
				for _, cell := range rows[0] {
					h.WriteString(cellText(cell) + "|")
				}
				if h.String() == header {
					rows = rows[1:]
				} else {
					header = h.String()
				}
				for _, row := range rows {
					for _, cell := range row {
						add(cellText(cell))
					}
				}
			default:
				add(layout([]block{bl}, plain{}))
				header = ""
			}
		}
	}
	for _, p := range pieces {
		walk(parse(p))
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, b.String())
}

// checkFences checks that a piece closes every fence it opens: what follows
// the piece is not code.
func checkFences(t rapid.TB, piece string) {
	doc := parse(piece + "\n\nafter\n")
	if n := len(doc); n > 0 {
		if _, ok := doc[n-1].(fence); ok {
			t.Fatalf("a fence is left open in %q", piece)
		}
	}
}

func TestTelegramHTMLProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkHTML(t, markdownGen.Draw(t, "md"))
	})
}

var tagPattern = regexp.MustCompile(`^<(?:(b|i|u|s|code|pre|blockquote|tg-spoiler)|(code) class="language-[^"<>]+"|(a) href="[^"<>]+"|/([a-z-]+))>`)

var handlePattern = regexp.MustCompile(`(^|[^\pL\pN_])@[A-Za-z][A-Za-z0-9_]{3,31}`)

// checkHTML checks that md renders to what Telegram accepts.
func checkHTML(t rapid.TB, md string) {
	out := TelegramHTML(md)
	var open []string
	var shown, loose strings.Builder // loose has no @ within code and links
	for i := 0; i < len(out); {
		switch out[i] {
		case '<':
			m := tagPattern.FindStringSubmatch(out[i:])
			if m == nil {
				t.Fatalf("%q: not a tag: %q in %q", md, out[i:], out)
			}
			i += len(m[0])
			if closing := m[4]; closing != "" {
				if len(open) == 0 || open[len(open)-1] != closing {
					t.Fatalf("%q: </%s> closes %q in %q", md, closing, open, out)
				}
				open = open[:len(open)-1]
				continue
			}
			tag := m[1] + m[2] + m[3]
			for j, outer := range open {
				innerCode := m[2] == "code" && outer == "pre" && j == len(open)-1
				if outer == "code" || outer == "pre" && !innerCode || outer == tag || tag == "code" && !innerCode && outer != "blockquote" {
					t.Fatalf("%q: <%s> within %q in %q", md, tag, open, out)
				}
			}
			open = append(open, tag)
		case '>':
			t.Fatalf("%q: stray %q in %q", md, out[i], out)
		case '&':
			j := strings.IndexByte(out[i:], ';')
			if j < 0 || !slices.Contains([]string{"&amp;", "&lt;", "&gt;", "&quot;"}, out[i:i+j+1]) {
				t.Fatalf("%q: bad entity at %q in %q", md, out[i:], out)
			}
			shown.WriteString(html.UnescapeString(out[i : i+j+1]))
			loose.WriteByte('&')
			i += j + 1
		default:
			if out[i] == '@' && slices.ContainsFunc(open, func(tag string) bool { return tag == "code" || tag == "pre" || tag == "a" }) {
				loose.WriteByte(' ')
			} else {
				loose.WriteByte(out[i])
			}
			shown.WriteByte(out[i])
			i++
		}
	}
	if len(open) > 0 {
		t.Fatalf("%q: %q left open in %q", md, open, out)
	}
	if !utf8.ValidString(out) {
		t.Fatalf("%q: invalid UTF-8 in %q", md, out)
	}
	if h := handlePattern.FindString(loose.String()); h != "" && !strings.Contains(loose.String(), "://") {
		t.Fatalf("%q: %q pings in %q", md, h, out)
	}
	checkTidy(t, md, Plain(md))
	checkTidy(t, md, shown.String())
	if UTF16Len(shown.String()) > UTF16Len(Plain(md)) {
		t.Fatalf("%q: HTML shows more than plain text: %q", md, shown.String())
	}
}

// checkTidy checks that text has no white space at line ends.
func checkTidy(t rapid.TB, md, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line != strings.TrimRight(line, " \t") {
			t.Fatalf("%q: trailing space in %q", md, text)
		}
	}
}
