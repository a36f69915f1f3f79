package markup

import (
	"bytes"
	"sort"
	"strings"
	"unicode"
)

// A block is one piece of a document: paragraph, heading, fence, rule,
// *table, quote or *list.
type block any

type (
	paragraph struct{ rich }
	heading   struct {
		level int
		rich
	}
	// fence is a code block. info is the source's info string, unescaped
	// only where a language is read from it.
	fence struct{ info, code string }
	rule  struct{}
	quote struct{ blocks []block }
	list  struct {
		ordered bool
		start   int
		tight   bool
		items   []item
	}
	item struct {
		task   task
		blocks []block
	}
	// table holds its header as rows[0]; every row has len(align) cells.
	table struct {
		align []align
		rows  [][]rich
	}
)

// bare reports whether the item has no text of its own, only a list. Such an
// item shows no marker, which lets a piece go on in the middle of a nested
// list without repeating the markers above it.
func (it item) bare() bool {
	if len(it.blocks) == 0 {
		return false
	}
	_, ok := it.blocks[0].(*list)
	return ok && it.task == noTask
}

type task uint8

const (
	noTask task = iota
	openTask
	doneTask
)

type align uint8

const (
	alignLeft align = iota
	alignCenter
	alignRight
)

type style uint8

const (
	bold style = 1 << iota
	italic
	strike
	code
)

// rich is inline content: a text and the spans that cover it without gaps.
// A newline in the text is a line break, soft or hard.
type rich struct {
	text  string
	spans []span
}

// span is text[start:end] of its rich, in one style; link is the target, or
// empty.
type span struct {
	start, end int
	style      style
	link       string
}

// spanList builds the spans of a rich, merging neighbours of equal look.
type spanList []span

func (l *spanList) add(start, end int, st style, link string) {
	if start >= end {
		return
	}
	if n := len(*l); n > 0 && (*l)[n-1].style == st && (*l)[n-1].link == link {
		(*l)[n-1].end = end
		return
	}
	*l = append(*l, span{start, end, st, link})
}

func plainText(s string) rich {
	if s == "" {
		return rich{}
	}
	return rich{text: s, spans: []span{{end: len(s)}}}
}

// spanAt is the index of the span that covers offset off.
func (r rich) spanAt(off int) int {
	return sort.Search(len(r.spans), func(i int) bool { return r.spans[i].end > off })
}

// slice is the content of text[from:to] without the white space around it.
func (r rich) slice(from, to int) rich {
	s := r.text[from:to]
	to -= len(s) - len(strings.TrimRightFunc(s, unicode.IsSpace))
	from += len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	if from >= to {
		return rich{}
	}
	out := rich{text: r.text[from:to]}
	for i := r.spanAt(from); i < len(r.spans) && r.spans[i].start < to; i++ {
		sp := r.spans[i]
		sp.start, sp.end = max(sp.start, from)-from, min(sp.end, to)-from
		out.spans = append(out.spans, sp)
	}
	return out
}

// richBuilder collects inline content, merging neighbours of equal look and
// keeping white space off the ends of lines.
type richBuilder struct {
	text  []byte
	spans spanList
}

// newRichBuilder returns a builder for a text of about size bytes.
func newRichBuilder(size int) *richBuilder {
	return &richBuilder{text: make([]byte, 0, size), spans: make(spanList, 0, 4)}
}

// add appends s. White space a link begins with goes before it.
func (b *richBuilder) add(s string, st style, link string) {
	if b.opens(link) && st&code == 0 {
		trimmed := strings.TrimLeft(s, " \t")
		if trimmed != s {
			b.add(" ", st, "")
		}
		s = trimmed
	}
	if n := len(b.text); st&code == 0 && (n == 0 || b.text[n-1] == '\n') {
		s = strings.TrimLeft(s, " \t")
	}
	if s == "" {
		return
	}
	from := len(b.text)
	b.text = append(b.text, s...)
	b.spans.add(from, len(b.text), st, link)
}

// opens reports whether link would be a new one.
func (b *richBuilder) opens(link string) bool {
	n := len(b.spans)
	return link != "" && (n == 0 || b.spans[n-1].link != link)
}

// newline ends a line. Two in a row leave one blank line, more say nothing
// more.
func (b *richBuilder) newline(st style, link string) {
	b.truncate(len(bytes.TrimRight(b.text, " \t")))
	n := len(b.text)
	if n == 0 || n > 1 && b.text[n-1] == '\n' && b.text[n-2] == '\n' {
		return
	}
	b.text = append(b.text, '\n')
	if b.opens(link) {
		link = ""
	}
	b.spans.add(n, n+1, st, link)
}

// truncate takes back all but the first n bytes.
func (b *richBuilder) truncate(n int) {
	b.text = b.text[:n]
	for i := len(b.spans) - 1; i >= 0 && b.spans[i].end > n; i-- {
		if b.spans[i].end = n; b.spans[i].start >= n {
			b.spans = b.spans[:i]
		}
	}
}

func (b *richBuilder) rich() rich {
	b.truncate(len(bytes.TrimRightFunc(b.text, unicode.IsSpace)))
	r := rich{text: string(b.text), spans: b.spans}
	if strings.TrimLeftFunc(r.text, unicode.IsSpace) != r.text {
		return r.slice(0, len(r.text))
	}
	return r
}
