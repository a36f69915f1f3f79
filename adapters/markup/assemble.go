package markup

// part is a leaf, or what a piece holds of it.
type part struct {
	block  block
	within []*container
}

// assemble builds the document of one piece, from one position to another,
// with the containers around it opened again.
func assemble(leaves []leaf, from, to position) []block {
	var parts []part
	for i := from.leaf; i <= to.leaf && i < len(leaves); i++ {
		l := &leaves[i]
		start, end := 0, l.size()
		if i == from.leaf {
			start = from.off
		}
		if i == to.leaf {
			end = to.off
		}
		if start < end {
			parts = append(parts, part{l.slice(start, end), l.within})
		}
	}
	return assembler{from}.blocks(parts, 0)
}

type assembler struct{ from position }

// blocks builds what stands at one depth of containers.
func (a assembler) blocks(parts []part, depth int) []block {
	var out []block
	for len(parts) > 0 {
		if len(parts[0].within) == depth {
			if !isEmpty(parts[0].block) {
				out = append(out, parts[0].block)
			}
			parts = parts[1:]
			continue
		}
		c := parts[0].within[depth]
		n := run(parts, depth)
		if c.isQuote() {
			out = append(out, quote{a.blocks(parts[:n], depth+1)})
		} else {
			out = append(out, a.list(c.list, parts[:n], depth+1)...)
		}
		parts = parts[n:]
	}
	return out
}

// list builds a list from its items at depth. An item that goes on from the
// piece before has shown its marker there: what it begins with comes before
// the list, and only lists in it remain, in an item without marker.
func (a assembler) list(whole *list, parts []part, depth int) []block {
	var lead []block
	l := &list{ordered: whole.ordered, tight: whole.tight}
	for len(parts) > 0 {
		c := parts[0].within[depth]
		n := run(parts, depth)
		it := item{task: whole.items[c.item].task, blocks: a.blocks(parts[:n], depth+1)}
		parts = parts[n:]
		if a.goesOn(c) {
			it.task = noTask
			for len(it.blocks) > 0 && !it.bare() {
				lead = append(lead, it.blocks[0])
				it.blocks = it.blocks[1:]
			}
			if len(it.blocks) == 0 {
				continue
			}
		}
		if len(l.items) == 0 {
			l.start = whole.start + c.item
		}
		l.items = append(l.items, it)
	}
	if len(l.items) > 0 {
		lead = append(lead, l)
	}
	return lead
}

// goesOn reports whether c began in an earlier piece.
func (a assembler) goesOn(c *container) bool {
	return c.shown || a.from.leaf > c.first || a.from.leaf == c.first && a.from.off > 0
}

// run is the number of parts that stand in the same container as the first.
func run(parts []part, depth int) int {
	n := 1
	for n < len(parts) && len(parts[n].within) > depth && parts[n].within[depth] == parts[0].within[depth] {
		n++
	}
	return n
}

// isEmpty reports whether b only stands for an empty list item.
func isEmpty(b block) bool {
	p, ok := b.(paragraph)
	return ok && p.text == ""
}
