package markup

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// leaf is a block without blocks in it, with the containers it stands in, the
// outermost first. Split cuts between leaves and, at its cuts, within them.
type leaf struct {
	block  block
	within []*container
	cuts   []cut // computed when first needed
}

// container is an open quote, list or list item. A list stands directly
// around its items.
type container struct {
	list  *list // of a list, and of each of its items
	item  int   // which item, or -1
	first int   // the first leaf in it
	shown bool  // its marker is already part of a leaf's text
}

// isQuote and isItem tell containers apart; what is neither is a list.
func (c *container) isQuote() bool { return c.list == nil }
func (c *container) isItem() bool  { return c.list != nil && c.item >= 0 }

// leavesOf flattens a document.
func leavesOf(doc []block) []leaf {
	var leaves []leaf
	var walk func(bs []block, within []*container)
	walk = func(bs []block, within []*container) {
		enter := func(c *container) []*container {
			c.first = len(leaves)
			return append(slices.Clip(within), c)
		}
		for _, b := range bs {
			switch b := b.(type) {
			case quote:
				walk(b.blocks, enter(&container{}))
			case *list:
				outer := within
				within = enter(&container{list: b, item: -1})
				for i, it := range b.items {
					in := enter(&container{list: b, item: i})
					if walk(it.blocks, in); len(it.blocks) == 0 {
						leaves = append(leaves, leaf{block: paragraph{}, within: in})
					}
				}
				within = outer
			default:
				leaves = append(leaves, leaf{block: b, within: within})
			}
		}
	}
	walk(doc, nil)
	return leaves
}

// size is how far offsets into the leaf go: bytes of text, or rows of a
// table. What cannot be cut has size one.
func (l *leaf) size() int {
	switch b := l.block.(type) {
	case paragraph:
		return max(1, len(b.text))
	case heading:
		return len(b.text)
	case fence:
		return len(b.code)
	case *table:
		return max(1, len(b.rows)-1)
	}
	return 1
}

// weight estimates what the leaf measures: its bytes, with some for markup.
func (l *leaf) weight() int {
	switch b := l.block.(type) {
	case paragraph:
		return b.weight()
	case heading:
		return b.weight()
	case *table:
		n := 0
		for _, row := range b.rows {
			for _, cell := range row {
				n += cell.weight()
			}
		}
		return n
	}
	return l.size() + 2
}

func (r rich) weight() int {
	n := len(r.text) + 2
	link := ""
	for _, sp := range r.spans {
		if sp.link != link {
			link = sp.link
			n += len(link) + 2
		}
	}
	return n
}

// slice is the part of the leaf's block between two offsets.
func (l *leaf) slice(from, to int) block {
	if from == 0 && to == l.size() {
		return l.block
	}
	switch b := l.block.(type) {
	case paragraph:
		return paragraph{b.slice(from, to)}
	case heading:
		return heading{b.level, b.slice(from, to)}
	case fence:
		return fence{b.info, trimCode(b.code[from:to])}
	case *table:
		part := &table{align: b.align, rows: [][]rich{b.rows[0]}}
		part.rows = append(part.rows, b.rows[from+1:to+1]...)
		return part
	}
	return l.block
}

// level says how good a place to cut is; higher is better.
type level uint8

const (
	atRune level = iota // within a grapheme cluster longer than a message
	atGrapheme
	atWord
	atSentence
	atLine
)

// cut is an offset at which a leaf may end one piece and start the next.
type cut struct {
	off   int
	level level
}

// cutsAfter are the places after off where the leaf can be cut, in order, the
// last one at its end. A grapheme cluster of more than giant bytes may be cut
// anywhere.
func (l *leaf) cutsAfter(off, giant int) []cut {
	if l.cuts == nil {
		switch b := l.block.(type) {
		case paragraph:
			l.cuts = withoutLinks(textCuts(b.text, giant), b.spans)
		case heading:
			l.cuts = withoutLinks(textCuts(b.text, giant), b.spans)
		case fence:
			l.cuts = textCuts(b.code, giant)
		case *table:
			for row := 1; row < l.size(); row++ {
				l.cuts = append(l.cuts, cut{row, atLine})
			}
		}
		l.cuts = append(l.cuts, cut{l.size(), atLine})
	}
	return l.cuts[sort.Search(len(l.cuts), func(i int) bool { return l.cuts[i].off > off }):]
}

// end is the position of a cut in leaf i.
func (l *leaf) end(i int, c cut) position {
	if c.off == l.size() {
		return position{i + 1, 0}
	}
	return position{i, c.off}
}

// textCuts finds the cuts inside s. None stands before white space, so that
// between any two of them there is something to see; one between lines stands
// before the indentation, which belongs to the second.
func textCuts(s string, giant int) []cut {
	cuts := make([]cut, 0, len(s)/4)
	level, line := atGrapheme, 0 // of the white space before off
	ended, seen := false, false  // a sentence, and anything at all
	for off, state := 0, -1; off < len(s); {
		var size int
		size, state = clusterLen(s[off:], state)
		r, n := utf8.DecodeRuneInString(s[off:])
		if unicode.IsSpace(r) && n == size {
			off += size
			switch {
			case r == '\n':
				level, line = atLine, off
			case ended:
				level = max(level, atSentence)
			default:
				level = max(level, atWord)
			}
			continue
		}
		if seen {
			at := off
			if level == atLine {
				at = line
			}
			cuts = append(cuts, cut{at, level})
		}
		if size > giant {
			for i := range s[off : off+size] {
				if i > 0 {
					cuts = append(cuts, cut{off + i, atRune})
				}
			}
		}
		level, seen = atGrapheme, true
		switch {
		case strings.ContainsRune("。！？", r):
			level = atSentence // which no space follows
		case !strings.ContainsRune(`"')]’”»`, r):
			ended = strings.ContainsRune(".!?…", r)
		}
		off += size
	}
	return cuts
}

// clusterLen is the length of the first grapheme cluster of s; state is what
// the call for the cluster before returned, or -1.
func clusterLen(s string, state int) (size, next int) {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1, -1
	}
	cluster, _, _, next := uniseg.FirstGraphemeClusterInString(s, state)
	return len(cluster), next
}

// withoutLinks removes the cuts inside links: half a link has no target.
func withoutLinks(cuts []cut, spans []span) []cut {
	i := 0
	return slices.DeleteFunc(cuts, func(c cut) bool {
		for spans[i].end < c.off {
			i++
		}
		return spans[i].link != "" && spans[i].start < c.off &&
			(c.off < spans[i].end || i+1 < len(spans) && spans[i+1].link == spans[i].link)
	})
}
