package markup

import (
	"strconv"
	"strings"
)

// dialect is how one platform writes what is inside a block. The arrangement
// of blocks, lists and tables is the same for all and belongs to layout.
type dialect interface {
	// inline appends the text of a paragraph.
	inline(dst []byte, r rich) []byte
	// heading appends the text of a heading.
	heading(dst []byte, h heading) []byte
	// pre appends monospaced text; info is a fence's info string.
	pre(dst []byte, info, code string) []byte
	// quoteMark appends what stands before (open) or after a quote. Quotes
	// within quotes are not marked.
	quoteMark(dst []byte, open bool) []byte
}

// ruleText is a thematic break.
const ruleText = "———"

// layout writes a document: a blank line between blocks, list items with
// marker and indentation, tables aligned in monospace.
func layout(doc []block, d dialect) string {
	p := printer{d: d, out: make([]byte, 0, 4<<10)} // holds most messages
	p.blocks(doc, 2)
	return string(p.out)
}

type printer struct {
	d      dialect
	out    []byte
	indent []byte
	midway bool // a list marker stands before the next block on its line
	quoted bool
}

// blocks prints bs with gap newlines between them.
func (p *printer) blocks(bs []block, gap int) {
	for i, b := range bs {
		if i > 0 {
			p.newline(gap)
		}
		p.block(b)
	}
}

func (p *printer) newline(n int) {
	for range n {
		p.out = append(p.out, '\n')
	}
}

func (p *printer) block(b block) {
	switch b := b.(type) {
	case paragraph:
		p.begin()
		p.out = p.d.inline(p.out, b.indented(p.indent))
	case heading:
		p.begin()
		p.out = p.d.heading(p.out, heading{b.level, b.indented(p.indent)})
	case rule:
		p.begin()
		p.out = append(p.out, ruleText...)
	case fence:
		p.beginLine()
		p.out = p.d.pre(p.out, b.info, b.code)
	case *table:
		p.beginLine()
		p.out = p.d.pre(p.out, "", b.monospace())
	case quote:
		p.quote(b)
	case *list:
		p.list(b)
	}
}

// begin starts a block of text, on the line of its list marker if there is
// one.
func (p *printer) begin() {
	if p.midway {
		p.out = append(p.out, ' ')
		p.midway = false
		return
	}
	p.out = append(p.out, p.indent...)
}

// beginLine starts a block that needs a line of its own and no indentation.
func (p *printer) beginLine() {
	if p.midway {
		p.newline(1)
		p.midway = false
	}
}

func (p *printer) quote(q quote) {
	p.beginLine()
	if p.quoted {
		p.blocks(q.blocks, 2)
		return
	}
	p.quoted = true
	p.out = p.d.quoteMark(p.out, true)
	p.blocks(q.blocks, 2)
	p.out = p.d.quoteMark(p.out, false)
	p.quoted = false
}

func (p *printer) list(l *list) {
	gap := 2
	if l.tight {
		gap = 1
	}
	p.beginLine()
	for i, it := range l.items {
		if i > 0 {
			p.newline(gap)
		}
		if !it.bare() {
			p.out = append(p.out, p.indent...)
			p.out = append(p.out, l.marker(i)...)
			p.midway = true
		}
		n := len(p.indent)
		p.indent = append(p.indent, "  "...)
		p.blocks(it.blocks, gap)
		p.indent = p.indent[:n]
		p.midway = false
	}
}

// marker is what stands before item i: a bullet or a number, and a box if the
// item is a task.
func (l *list) marker(i int) string {
	box := [...]string{noTask: "", openTask: "☐", doneTask: "☑"}[l.items[i].task]
	switch {
	case !l.ordered && box != "":
		return box
	case !l.ordered:
		return "•"
	case box != "":
		box = " " + box
	}
	return strconv.Itoa(l.start+i) + "." + box
}

// indented is r with indent at the start of every line but the first.
func (r rich) indented(indent []byte) rich {
	if len(indent) == 0 || strings.IndexByte(r.text, '\n') < 0 {
		return r
	}
	var out rich
	var b strings.Builder
	for _, sp := range r.spans {
		start := b.Len()
		for i := sp.start; i < sp.end; i++ {
			b.WriteByte(r.text[i])
			if r.text[i] == '\n' && r.text[i+1] != '\n' {
				b.Write(indent)
			}
		}
		out.spans = append(out.spans, span{start, b.Len(), sp.style, sp.link})
	}
	out.text = b.String()
	return out
}
