package markup

import "strings"

// simplify gives up form for what is left of leaf i from off on, so that its
// smallest part may fit a piece: first what is special to its block, then
// links longer than most, then the containers around it, at last all styles.
// It reports whether there was anything to give up; if so the rest of the
// leaf starts anew at offset zero.
func (l *leaf) simplify(i, off, most int) bool {
	if off > 0 {
		l.markShown(i)
	}
	l.cuts = nil
	switch b := l.block.(type) {
	case heading:
		l.block = paragraph{b.slice(off, len(b.text))}
	case fence:
		b.code = trimCode(b.code[off:])
		l.block = b
		if b.info == "" {
			l.block = paragraph{unframed(b.code)}
		} else {
			l.block = fence{code: b.code}
		}
	case *table:
		l.block = paragraph{b.unframed(off)}
	case rule:
		if len(l.within) == 0 {
			return false
		}
		l.block = paragraph{plainText(ruleText)}
	case paragraph:
		rest := b.slice(off, len(b.text))
		unlinked, long := rest.withoutLong(most)
		switch {
		case long:
			rest = unlinked
		case len(l.within) > 0:
			rest = l.pull(i, rest)
		case len(rest.spans) > 1 || len(rest.spans) == 1 && rest.spans[0] != (span{end: len(rest.text)}):
			rest = plainText(string(plain{}.inline(nil, rest)))
		default:
			return false
		}
		l.block = paragraph{rest}
	}
	return true
}

// markShown notes that the markers of the items that begin with leaf i need
// not be shown again.
func (l *leaf) markShown(i int) {
	for _, c := range l.within {
		c.shown = c.shown || c.first == i
	}
}

// pull takes the leaf out of its containers. The markers that have not been
// shown become text.
func (l *leaf) pull(i int, r rich) rich {
	var b richBuilder
	for _, c := range l.within {
		if c.isItem() && c.first == i && !c.shown && !c.list.items[c.item].bare() {
			b.add(c.list.marker(c.item)+" ", 0, "")
		}
	}
	for _, sp := range r.spans {
		b.add(r.text[sp.start:sp.end], sp.style, sp.link)
	}
	l.markShown(i)
	l.within = nil
	return b.rich()
}

// withoutLong is r with every link longer than most as text and target, and
// whether there was one.
func (r rich) withoutLong(most int) (rich, bool) {
	var b richBuilder
	found := false
	for i := 0; i < len(r.spans); {
		last := i
		for last+1 < len(r.spans) && r.spans[last+1].link == r.spans[i].link {
			last++
		}
		link := r.spans[i].link
		long := link != "" && r.spans[last].end-r.spans[i].start+len(link) > most
		found = found || long
		if long {
			link = ""
		}
		for _, sp := range r.spans[i : last+1] {
			b.add(r.text[sp.start:sp.end], sp.style, link)
		}
		if long {
			b.add(string(appendTarget(nil, r, last)), 0, "")
		}
		i = last + 1
	}
	return b.rich(), found
}

// unframed is code as text, line by line.
func unframed(code string) rich {
	var b richBuilder
	for line := range strings.SplitSeq(code, "\n") {
		b.add(line, 0, "")
		b.newline(0, "")
	}
	return b.rich()
}

// unframed is the table as text from row off on, the header included only if
// it has not been shown.
func (t *table) unframed(off int) rich {
	rows := t.rows
	if off > 0 {
		rows = rows[off+1:]
	}
	var b richBuilder
	for _, row := range rows {
		for _, cell := range row {
			if s := cellText(cell); s != "" {
				b.add(s+"  ", 0, "")
			}
		}
		b.newline(0, "")
	}
	return b.rich()
}
