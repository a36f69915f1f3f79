package markup

// nesting walks the spans of a rich in a way every nested notation can
// follow: a link holds its styles, styles close in the reverse of their
// order, and a style that goes on longer opens first.
type nesting struct {
	// link opens (or closes) a link around the spans it covers.
	link func(target string, open bool)
	// mark opens (or closes) one style.
	mark func(s style, open bool)
	// text is called for each span in order.
	text func(sp span)
}

func (n nesting) walk(spans []span) {
	var open []style // innermost last
	var on style
	closeTo := func(k int) {
		for len(open) > k {
			s := open[len(open)-1]
			open = open[:len(open)-1]
			on &^= s
			n.mark(s, false)
		}
	}
	link := ""
	for i, sp := range spans {
		if sp.link != link {
			closeTo(0)
			if link != "" {
				n.link(link, false)
			}
			if link = sp.link; link != "" {
				n.link(link, true)
			}
		}
		for k, s := range open {
			if sp.style&s == 0 {
				closeTo(k)
				break
			}
		}
		for missing := sp.style &^ on &^ code; missing != 0; {
			s := longest(spans[i:], missing)
			missing &^= s
			on |= s
			open = append(open, s)
			n.mark(s, true)
		}
		n.text(sp)
	}
	closeTo(0)
	if link != "" {
		n.link(link, false)
	}
}

// longest is the style among those missing that covers the most of the spans
// from the first on, within its link.
func longest(spans []span, missing style) style {
	if missing&(missing-1) == 0 {
		return missing
	}
	for _, sp := range spans[1:] {
		if sp.link != spans[0].link || missing&sp.style == 0 {
			break
		}
		missing &= sp.style
	}
	return missing & -missing
}
