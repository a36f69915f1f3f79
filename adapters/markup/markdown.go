package markup

import (
	"bytes"
	"strconv"
	"strings"
)

// markdown writes a document back as Markdown that parses into the same
// document: what Split makes its pieces of.
func markdown(doc []block) string {
	var w mdWriter
	w.blocks(doc, false)
	return string(w.out)
}

type mdWriter struct {
	out    []byte
	prefix []byte // of every further line, from the containers around it
}

// blocks writes bs; tight says that they stand in a list without blank lines.
func (w *mdWriter) blocks(bs []block, tight bool) {
	lists := 0 // in a row, so far
	for i, b := range bs {
		if i > 0 {
			if !tight || !canFollowLine(bs[i-1], b) {
				w.newline()
			}
			w.newline()
		}
		switch b := b.(type) {
		case paragraph:
			w.inline(b.rich, inParagraph)
		case heading:
			w.out = append(w.out, strings.Repeat("#", b.level)...)
			w.out = append(w.out, ' ')
			w.inline(b.rich, inHeading)
		case rule:
			w.out = append(w.out, "***"...)
		case fence:
			w.fence(b)
		case *table:
			w.table(b)
		case quote:
			w.out = append(w.out, "> "...)
			w.within("> ", func() { w.blocks(b.blocks, false) })
		case *list:
			w.list(b, lists)
			lists++
			continue
		}
		lists = 0
	}
}

// canFollowLine reports whether next is still read as a block of its own on
// the line after prev.
func canFollowLine(prev, next block) bool {
	switch prev.(type) {
	case heading, rule, fence:
		return true
	case paragraph:
		switch next := next.(type) {
		case heading, fence, quote:
			return true
		case *list:
			// Of the numbered lists, only one from 1 on interrupts a paragraph.
			return !next.ordered || next.start == 1
		}
	}
	return false
}

func (w *mdWriter) newline() {
	w.out = bytes.TrimRight(w.out, " ")
	w.out = append(w.out, '\n')
	w.out = append(w.out, w.prefix...)
}

func (w *mdWriter) within(prefix string, write func()) {
	n := len(w.prefix)
	w.prefix = append(w.prefix, prefix...)
	write()
	w.prefix = w.prefix[:n]
}

// list writes l, the nth list in a row at its depth. Neighbours differ in
// their marker, else they would be read as one list.
func (w *mdWriter) list(l *list, nth int) {
	for i, it := range l.items {
		if i > 0 {
			if !l.tight {
				w.newline()
			}
			w.newline()
		}
		marker := [...]string{"- ", "+ "}[nth%2]
		if l.ordered {
			marker = strconv.Itoa(l.start+i) + [...]string{". ", ") "}[nth%2]
		}
		w.out = append(w.out, marker...)
		switch it.task {
		case openTask:
			w.out = append(w.out, "[ ] "...)
		case doneTask:
			w.out = append(w.out, "[x] "...)
		}
		w.within(strings.Repeat(" ", len(marker)), func() {
			if len(it.blocks) == 0 || it.task != noTask && !isParagraph(it.blocks[0]) {
				// An item of nothing but its marker has strange rules of its
				// own, and a box must begin a paragraph.
				w.out = append(w.out, "&nbsp;"...)
				if len(it.blocks) > 0 {
					w.newline()
					w.newline()
				}
			}
			w.blocks(it.blocks, l.tight)
		})
	}
}

func isParagraph(b block) bool {
	_, ok := b.(paragraph)
	return ok
}

func (w *mdWriter) fence(f fence) {
	char := "`"
	if strings.Contains(f.info, "`") {
		char = "~"
	}
	mark := strings.Repeat(char, max(3, longestRun(f.code, char[0])+1))
	w.out = append(w.out, mark...)
	if strings.HasPrefix(f.info, char) {
		w.out = append(w.out, ' ')
	}
	w.out = append(w.out, f.info...)
	for line := range strings.SplitSeq(f.code, "\n") {
		w.newline()
		w.out = append(w.out, line...)
	}
	w.newline()
	w.out = append(w.out, mark...)
}

func (w *mdWriter) table(t *table) {
	for i, row := range t.rows {
		if i > 0 {
			w.newline()
		}
		for _, cell := range row {
			w.out = append(w.out, "| "...)
			w.inline(cell, inTable)
			w.out = append(w.out, ' ')
		}
		w.out = append(w.out, '|')
		if i > 0 {
			continue
		}
		w.newline()
		for _, a := range t.align {
			w.out = append(w.out, [...]string{alignLeft: "| --- ", alignCenter: "| :-: ", alignRight: "| --: "}[a]...)
		}
		w.out = append(w.out, '|')
	}
}

func longestRun(s string, c byte) int {
	longest, n := 0, 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}
