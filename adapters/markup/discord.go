package markup

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// discordMax is the most code points of a message that is no embed.
const discordMax = 2000

// Discord is the Target of one Discord message. It measures what is sent:
// Discord counts the marks along with the text.
func Discord() Target {
	return Target{Max: discordMax, Measure: func(piece string) int {
		return utf8.RuneCountInString(DiscordMarkdown(piece))
	}}
}

// DiscordMarkdown renders one Markdown piece in Discord's own Markdown. What
// is text stays text, and none of it mentions anybody: whoever must be pinged
// is not the writer's to choose.
func DiscordMarkdown(md string) string { return layout(parse(md), discord{}) }

// discord writes Discord's Markdown: headings of three levels, masked links,
// quotes line by line, fences that nothing but three backticks ends. A
// backslash makes any punctuation literal.
type discord struct{}

func (discord) inline(dst []byte, r rich) []byte { return appendDiscord(dst, r, 0) }

// heading writes a heading where Discord reads one: on one line, from its
// start. Elsewhere, and below the third level, it is bold.
func (discord) heading(dst []byte, h heading) []byte {
	lineStart := len(dst) == 0 || dst[len(dst)-1] == '\n' || dst[len(dst)-1] == quoteStart
	if h.level > 3 || !lineStart || strings.Contains(h.text, "\n") {
		return appendDiscord(dst, h.rich, bold)
	}
	dst = append(dst, "### "[3-h.level:]...)
	return appendDiscord(dst, h.rich, 0)
}

// fenceInfo is what Discord takes for a language.
var fenceInfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_+\-.#]+$`) })

func (discord) pre(dst []byte, info, code string) []byte {
	dst = append(dst, "```"...)
	if lang := language(info); fenceInfo().MatchString(lang) {
		dst = append(dst, lang...)
	}
	dst = append(dst, '\n')
	run := 0
	for i := range len(code) {
		if code[i] != '`' {
			run = 0
		} else if run++; run == 3 {
			dst = append(dst, zeroWidth...)
			run = 1
		}
		dst = append(dst, code[i])
	}
	return append(dst, "\n```"...)
}

const (
	// zeroWidth keeps characters apart that together would mean something.
	zeroWidth = "\u200b"

	// quoteStart marks where an open quote begins. No text contains it: clean
	// takes control characters out.
	quoteStart = 0x02
)

// quoteMark puts "> " before every line of a quote, once it is complete.
func (discord) quoteMark(dst []byte, open bool) []byte {
	if open {
		return append(dst, quoteStart)
	}
	start := bytes.LastIndexByte(dst, quoteStart)
	lines := bytes.ReplaceAll(dst[start+1:], []byte("\n"), []byte("\n> "))
	return append(append(dst[:start:start], "> "...), lines...)
}

// appendDiscord appends r with always set as well as its own styles.
func appendDiscord(dst []byte, r rich, always style) []byte {
	r = forDiscord(r, always)
	r.spans = r.tidySpans()
	w := discordWriter{out: dst, r: r, maskEnd: strings.LastIndex(r.text, "](")}
	nesting{link: w.link, mark: w.mark, text: w.span}.walk(r.spans)
	return w.out
}

// forDiscord is r as Discord can show it: a link that it would not mask is its
// text, followed by its target.
func forDiscord(r rich, always style) rich {
	var b richBuilder
	for from := 0; from < len(r.spans); {
		to, link := from+1, r.spans[from].link
		for to < len(r.spans) && r.spans[to].link == link {
			to++
		}
		masked := link
		if !canMask(r.text[r.spans[from].start:r.spans[to-1].end], link) {
			masked = ""
		}
		for _, sp := range r.spans[from:to] {
			b.add(r.text[sp.start:sp.end], sp.style|always, masked)
		}
		if link != masked {
			b.add(string(appendTarget(nil, r, to-1)), always, "")
		}
		from = to
	}
	return rich{text: string(b.text), spans: b.spans}
}

// canMask reports whether Discord shows label as a link to target. It refuses
// a label that is an address itself, lest it lie about where it leads.
func canMask(label, target string) bool {
	return httpURL(target) == 0 && strings.TrimSpace(label) != "" && !strings.ContainsAny(label, "[]\n") && !strings.Contains(label, "://")
}

// httpURL is where the first address in s begins, or -1.
func httpURL(s string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], "://")
		if i < 0 {
			return -1
		}
		i += from
		for _, scheme := range [...]string{"https", "http"} {
			if at := i - len(scheme); at >= from && strings.EqualFold(s[at:i], scheme) && len(s) > i+3 {
				return at
			}
		}
		from = i + 3
	}
}

// discordWriter writes the spans of r.
type discordWriter struct {
	out     []byte
	r       rich
	maskEnd int  // the last "](" of the text, -1: none
	closed  bool // a mark that closes was the last thing written
	begun   bool // something has been written
}

func (w *discordWriter) mark(s style, open bool) {
	if open && w.closed {
		w.out = append(w.out, zeroWidth...) // "**a***b*" would be read otherwise
	}
	switch s {
	case bold:
		w.out = append(w.out, "**"...)
	case italic:
		w.out = append(w.out, '*')
	case strike:
		w.out = append(w.out, "~~"...)
	}
	w.closed = !open
}

func (w *discordWriter) link(target string, open bool) {
	if open {
		w.out = append(w.out, '[')
	} else {
		w.out = append(w.out, "](<"+inertURL.Replace(target)+">)"...)
	}
	w.closed, w.begun = false, true
}

// inertURL encodes what would end a masked link, and what would mention.
var inertURL = strings.NewReplacer(" ", "%20", "\t", "%09", "\n", "%0A", `\`, "%5C", "<", "%3C", ">", "%3E", "(", "%28", ")", "%29",
	"@everyone", "%40everyone", "@here", "%40here")

func (w *discordWriter) span(sp span) {
	if sp.style&code != 0 {
		s := w.r.text[sp.start:sp.end]
		mark := strings.Repeat("`", longestRun(s, '`')+1)
		pad := ""
		if s[0] == '`' || s[len(s)-1] == '`' {
			pad = " "
		}
		if n := len(w.out); n > 0 && w.out[n-1] == '`' {
			w.out = append(w.out, zeroWidth...)
		}
		w.out = append(w.out, mark+pad+s+pad+mark...)
		w.closed, w.begun = false, true
		return
	}
	w.text(sp.start, sp.end)
	w.closed = false
}

// text writes r.text[from:to] with what would be markup escaped.
func (w *discordWriter) text(from, to int) {
	s := w.r.text
	address := from - 1 // where the next address begins
	for i := from; i < to; i++ {
		if i > address {
			if address = httpURL(s[i:to]); address < 0 {
				address = to
			} else {
				address += i
			}
		}
		switch {
		case i == address:
			end := i + strings.IndexFunc(s[i:to]+" ", func(r rune) bool { return r == '<' || unicode.IsSpace(r) })
			w.out = append(w.out, broadcast().ReplaceAllString(s[i:end], "%40$1")...)
			w.begun, i = true, end-1
			continue
		case s[i] == '@' && broadcast().MatchString(s[i:min(i+len("@everyone"), to)]):
			w.out = append(w.out, "@"+zeroWidth...)
		case w.special(i, from, to) || w.startsBlock(i):
			w.out = append(w.out, '\\', s[i])
		default:
			w.out = append(w.out, s[i])
		}
		w.begun = w.begun && s[i] != '\n' || s[i] > ' '
	}
}

// broadcast is a mention of everybody.
var broadcast = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`@(everyone|here)`) })

// special reports whether the character at i in the span [from, to) would be
// inline markup.
func (w *discordWriter) special(i, from, to int) bool {
	s := w.r.text
	before, after := byte(' '), byte(' ')
	if i > from {
		before = s[i-1]
	} else if i > 0 {
		before = '*' // a mark
	}
	if i+1 < to {
		after = s[i+1]
	} else if to < len(s) {
		after = '*'
	}
	switch s[i] {
	case '`':
		return true
	case '\\':
		return after > ' ' && after < utf8.RuneSelf && !isWordByte(after)
	case '*':
		return before != ' ' || after != ' ' || !w.begun
	case '_':
		return !isWordByte(before) || !isWordByte(after)
	case '~', '|':
		return before == s[i] || after == s[i] || after == '*' || before == '*'
	case '[':
		return i < w.maskEnd || after == '*'
	case '<':
		return strings.IndexByte("@#:/aithAITH", after) >= 0
	}
	return false
}

func isWordByte(c byte) bool { return isHandleByte(c) && c != '_' || c >= utf8.RuneSelf }

// startsBlock reports whether the punctuation at i would make its line a
// heading, a quote or an item of a list.
func (w *discordWriter) startsBlock(i int) bool {
	s := w.r.text
	switch s[i] {
	case '#', '>', '-':
		return !w.begun
	case '.':
		// A line that begins with a number; Discord counts its lists anew.
		j := i
		for j > max(0, i-10) && '0' <= s[j-1] && s[j-1] <= '9' {
			j--
		}
		return j < i && (j == 0 || s[j-1] == '\n')
	}
	return false
}
