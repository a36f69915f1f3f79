package perm

import "strings"

// unknown stands in a text for what only the shell will know. No text that a
// person or a model has written holds it.
const unknown = '\x00'

// like reports whether the pattern matches the whole text. In a pattern, *
// stands for any characters, ? for one, and a backslash takes the meaning of the
// character that follows it; a " *" at the end stands for nothing, too, so that
// "ls *" matches "ls". Only * matches what is unknown.
func like(pattern, text string) bool {
	special := strings.IndexAny(pattern, `*?\`)
	if special < 0 {
		return pattern == text
	}
	if !strings.HasPrefix(text, strings.TrimSuffix(pattern[:special], " ")) {
		return false // most rules end here
	}
	if head, ok := strings.CutSuffix(pattern, " *"); ok && !strings.HasSuffix(head, `\`) && match(tokens(head), []rune(text)) {
		return true
	}
	return match(tokens(pattern), []rune(text))
}

// mayBeLike reports whether the pattern can match the text, whatever the unknown
// in it will be.
func mayBeLike(pattern, text string) bool {
	if strings.ContainsRune(text, unknown) {
		return meet(tokens(pattern), []rune(text))
	}
	return like(pattern, text)
}

// token is one element of a pattern.
type token struct {
	r         rune
	many, one bool // * and ?
}

func (t token) takes(r rune) bool { return t.one && r != unknown || !t.one && !t.many && t.r == r }

func tokens(pattern string) []token {
	var out []token
	escaped := false
	for _, r := range pattern {
		switch {
		case escaped:
			out, escaped = append(out, token{r: r}), false
		case r == '\\':
			escaped = true
		case r == '*' && len(out) > 0 && out[len(out)-1].many:
		default:
			out = append(out, token{r: r, many: r == '*', one: r == '?'})
		}
	}
	if escaped {
		out = append(out, token{r: '\\'})
	}
	return out
}

// literal is the beginning of the pattern that stands for itself.
func literal(pattern string) string {
	var b strings.Builder
	for _, t := range tokens(pattern) {
		if t.many || t.one {
			break
		}
		b.WriteRune(t.r)
	}
	return b.String()
}

// openEnded reports whether the pattern ends in a *.
func openEnded(pattern string) bool {
	t := tokens(pattern)
	return len(t) > 0 && t[len(t)-1].many
}

// match takes time in proportion to the product of the lengths, at most.
func match(p []token, text []rune) bool {
	i, star, from := 0, -1, 0
	for j := 0; j < len(text); {
		switch {
		case i < len(p) && p[i].many:
			star, from = i, j
			i++
		case i < len(p) && p[i].takes(text[j]):
			i++
			j++
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i].many {
		i++
	}
	return i == len(p)
}

// meet reports whether some text without unknowns matches both.
func meet(p []token, text []rune) bool {
	row := make([]bool, len(text)+1) // row[j]: p[:i] and text[:j] meet
	next := make([]bool, len(text)+1)
	for i := 0; i <= len(p); i++ {
		for j := range next {
			switch {
			case i == 0 && j == 0:
				next[j] = true
			case i > 0 && p[i-1].many && row[j], j > 0 && text[j-1] == unknown && next[j-1]:
				next[j] = true
			case i > 0 && j > 0 && p[i-1].many:
				next[j] = next[j-1]
			case i > 0 && j > 0 && text[j-1] == unknown:
				next[j] = row[j]
			default:
				next[j] = i > 0 && j > 0 && row[j-1] && p[i-1].takes(text[j-1])
			}
		}
		row, next = next, row
	}
	return row[len(text)]
}
