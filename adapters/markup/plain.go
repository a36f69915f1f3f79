package markup

import "strings"

// plain writes text without markup.
type plain struct{}

func (plain) inline(dst []byte, r rich) []byte {
	for i, sp := range r.spans {
		dst = append(dst, r.text[sp.start:sp.end]...)
		if sp.link != "" && (i+1 == len(r.spans) || r.spans[i+1].link != sp.link) {
			dst = appendTarget(dst, r, i)
		}
	}
	return dst
}

func (p plain) heading(dst []byte, h heading) []byte {
	return p.inline(dst, h.rich)
}

func (plain) pre(dst []byte, _, code string) []byte { return append(dst, code...) }

func (plain) quoteMark(dst []byte, _ bool) []byte { return dst }

// appendTarget appends " (target)" of the link that ends with span last,
// unless its text says the same.
func appendTarget(dst []byte, r rich, last int) []byte {
	target, first := r.spans[last].link, last
	for first > 0 && r.spans[first-1].link == target {
		first--
	}
	label := r.text[r.spans[first].start:r.spans[last].end]
	if label == target || label == strings.TrimPrefix(target, "mailto:") {
		return dst
	}
	dst = append(dst, " ("...)
	dst = append(dst, target...)
	return append(dst, ')')
}
