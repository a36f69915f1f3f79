package markup

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// place is where inline Markdown stands; it decides what must be escaped.
type place uint8

const (
	inParagraph place = iota
	inHeading
	inTable
)

// frames hold the inline content of each place in a document of its own.
var frames = [...]struct{ before, after string }{
	inParagraph: {"", ""},
	inHeading:   {"# ", ""},
	inTable:     {"| ", " |\n| --- |"},
}

// inline writes r as Markdown. Not every sequence of styles can be written:
// "*" is no marker between a word and punctuation, and a row of them may be
// read in more than one way. A sequence in doubt is read back, and if it does
// not come out the same its styles are given up.
func (w *mdWriter) inline(r rich, at place) {
	r.spans = r.tidySpans()
	start := len(w.out)
	if w.spans(r, at) {
		return
	}
	alone := mdWriter{out: []byte(frames[at].before)}
	alone.spans(r, at)
	if got := firstRich(parse(string(alone.out) + frames[at].after)); got.text == r.text && slices.Equal(got.tidySpans(), r.spans) {
		return
	}
	w.out = w.out[:start]
	var unmarked spanList
	for _, sp := range r.spans {
		unmarked.add(sp.start, sp.end, sp.style&code, sp.link)
	}
	w.spans(rich{r.text, unmarked}, at)
}

// firstRich is the inline content a document begins with.
func firstRich(doc []block) rich {
	if len(doc) > 0 {
		switch b := doc[0].(type) {
		case paragraph:
			return b.rich
		case heading:
			return b.rich
		case *table:
			return b.rows[0][0]
		}
	}
	return rich{}
}

// spans writes r and reports whether there is no doubt about the markers.
func (w *mdWriter) spans(r rich, at place) (sure bool) {
	m := mdInline{w: w, r: r, at: at, before: ' ', sure: true}
	nesting{link: m.link, mark: m.mark, text: m.span}.walk(r.spans)
	m.flush(' ')
	if rest, ok := bytes.CutSuffix(w.out, []byte("#")); ok && at == inHeading {
		w.out = append(rest, `\#`...)
	}
	return m.sure
}

// tidySpans is r.spans with no style on white space at the edge of a styled
// run, where Markdown cannot have its markers.
func (r rich) tidySpans() []span {
	var parts []span
	styled := false
	for _, sp := range r.spans {
		styled = styled || sp.style&^code != 0
		from, to := sp.start, sp.end
		if s := r.text[from:to]; sp.style&code == 0 {
			to -= len(s) - len(strings.TrimRightFunc(s, unicode.IsSpace))
			from += min(to-from, len(s)-len(strings.TrimLeftFunc(s, unicode.IsSpace)))
		}
		for _, cut := range [...][2]int{{sp.start, from}, {from, to}, {to, sp.end}} {
			if cut[0] < cut[1] {
				parts = append(parts, span{cut[0], cut[1], sp.style, sp.link})
			}
		}
	}
	if !styled {
		return r.spans
	}
	isSpace := func(sp span) bool {
		return sp.style&code == 0 && strings.TrimSpace(r.text[sp.start:sp.end]) == ""
	}
	// White space keeps the styles that the text on both sides of it has too.
	narrow := func(sp *span, beside span) {
		if !isSpace(*sp) {
			return
		}
		if sp.style &= beside.style; sp.link != beside.link {
			sp.style = 0
		}
	}
	for i := range parts {
		narrow(&parts[i], parts[max(0, i-1)])
	}
	for i := len(parts) - 1; i >= 0; i-- {
		narrow(&parts[i], parts[min(i+1, len(parts)-1)])
	}
	var out spanList
	for _, sp := range parts {
		out.add(sp.start, sp.end, sp.style, sp.link)
	}
	return out
}

// mdInline writes spans. Markers wait until the text after them is known,
// because whether they open or close depends on the characters around them.
type mdInline struct {
	w      *mdWriter
	r      rich
	at     place
	before rune // the last character written
	inLink bool
	sure   bool // that all markers so far are read as such

	pending []byte // markers to write before the next text
	opens   bool   // pending has a marker that opens,
	closes  bool   // one that closes,
	mixed   bool   // and markers of more than one character
}

func (m *mdInline) mark(s style, open bool) {
	marker := "*"
	switch s {
	case bold:
		marker = "**"
	case strike:
		marker = "~~"
	}
	m.opens = m.opens || open
	m.closes = m.closes || !open
	m.queue(marker)
}

func (m *mdInline) link(target string, open bool) {
	m.inLink = open
	if open {
		m.queue("[")
		return
	}
	m.queue("](" + linkTarget(target, m.at) + ")")
}

func (m *mdInline) queue(marker string) {
	m.mixed = m.mixed || len(m.pending) > 0 && m.pending[0] != marker[0]
	m.pending = append(m.pending, marker...)
}

// flush writes the pending markers before next.
func (m *mdInline) flush(next rune) {
	if len(m.pending) == 0 {
		return
	}
	m.sure = m.sure && m.clear(next)
	m.w.out = append(m.w.out, m.pending...)
	m.before = rune(m.pending[len(m.pending)-1])
	m.pending = m.pending[:0]
	m.opens, m.closes, m.mixed = false, false, false
}

// clear reports whether the pending markers can only be read as meant.
func (m *mdInline) clear(next rune) bool {
	switch {
	case m.opens && m.closes || m.before == '~':
		return false
	case m.opens:
		return util.IsSpaceRune(m.before) || !m.mixed && !isWord(m.before) && isWord(next)
	case m.closes:
		return util.IsSpaceRune(next) || !m.mixed && isWord(m.before) && !isWord(next)
	}
	return true
}

func isWord(r rune) bool { return !util.IsSpaceRune(r) && !util.IsPunctRune(r) }

func (m *mdInline) span(sp span) {
	if sp.style&code != 0 {
		m.flush('`')
		m.code(m.r.text[sp.start:sp.end])
		m.before = '`'
		return
	}
	next, _ := utf8.DecodeRuneInString(m.r.text[sp.start:])
	m.flush(next)
	m.text(sp.start, sp.end)
	m.before, _ = utf8.DecodeLastRuneInString(m.r.text[:sp.end])
}

// code writes a code span, in more backticks than it holds.
func (m *mdInline) code(s string) {
	mark := strings.Repeat("`", longestRun(s, '`')+1)
	pad := ""
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' && strings.Trim(s, " ") != "" {
		pad = " "
	}
	if m.at == inTable {
		s = strings.ReplaceAll(s, "|", `\|`)
	}
	m.w.out = append(m.w.out, mark+pad+s+pad+mark...)
}

// text writes r.text[from:to] with what would be markup escaped.
func (m *mdInline) text(from, to int) {
	s := m.r.text
	for i := from; i < to; i++ {
		c := s[i]
		switch {
		case c == '\n':
			i += m.lineEnd(i)
			continue
		case util.IsPunct(c) && (m.special(i, from, to) || m.at == inParagraph && startsBlock(s, i)):
			m.w.out = append(m.w.out, '\\')
		}
		m.w.out = append(m.w.out, c)
	}
}

// lineEnd writes the newline at i, and reports how many further ones it has
// written with it. A blank line within a block needs a break of its own, and
// in a heading or a table that is the only kind there is.
func (m *mdInline) lineEnd(i int) int {
	if m.at != inParagraph {
		m.w.out = append(m.w.out, "<br>"...)
		return 0
	}
	extra := 0
	if strings.HasPrefix(m.r.text[i+1:], "\n") {
		m.w.out = append(m.w.out, "<br>"...)
		extra = 1
	}
	m.w.newline()
	return extra
}

// special reports whether the character at i in the span [from, to) would be
// inline markup.
func (m *mdInline) special(i, from, to int) bool {
	s := m.r.text
	inside := from < i && i+1 < to
	switch s[i] {
	case '\\':
		return i+1 == to || s[i+1] == '\n' || util.IsPunct(s[i+1])
	case '`', '[':
		return true
	case ']':
		return m.inLink
	case '*', '~':
		return !inside || s[i-1] != ' ' || s[i+1] != ' '
	case '_':
		return !inside || !util.IsAlphaNumeric(s[i-1]) || !util.IsAlphaNumeric(s[i+1])
	case '<':
		return i+1 == to || !util.IsSpace(s[i+1])
	case '&':
		return entityLen(s[i:]) > 1
	case '!':
		return i+1 == to && to < len(s)
	case '|':
		return m.at == inTable
	}
	return false
}

// startsBlock reports whether the punctuation at i would, where it stands on
// its line, begin a block or turn the line before it into one.
func startsBlock(s string, i int) bool {
	line := strings.LastIndexByte(s[max(0, i-10):i], '\n') + 1 + max(0, i-10)
	next := byte('\n')
	if i+1 < len(s) {
		next = s[i+1]
	}
	if line < i {
		return i < line+10 && (s[i] == '.' || s[i] == ')') && util.IsSpace(next) &&
			strings.Trim(s[line:i], "0123456789") == ""
	}
	if i > 0 && s[i-1] != '\n' {
		return false
	}
	switch s[i] {
	case '#', '>', '=', '|':
		return true
	case '-', '+', ':':
		return util.IsSpace(next) || strings.IndexByte("-+:|=", next) >= 0
	case '*':
		return true
	}
	return false
}

// linkTarget writes a link's target, in angle brackets if it needs them.
func linkTarget(target string, at place) string {
	var b strings.Builder
	angle := target == "" || strings.ContainsAny(target, " ()<>\t")
	if angle {
		b.WriteByte('<')
	}
	for i := range len(target) {
		switch c := target[i]; c {
		case '\\', '<', '>':
			b.WriteByte('\\')
		case '&':
			if entityLen(target[i:]) > 1 {
				b.WriteByte('\\')
			}
		case '|':
			if at == inTable {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(target[i])
	}
	if angle {
		b.WriteByte('>')
	}
	return b.String()
}
