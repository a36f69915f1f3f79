package prompt

import (
	"fmt"
	"unicode/utf8"
)

// overhead is what a message costs beside its text, in tokens: role, name and
// framing. An estimate.
const overhead = 12

// Tokens estimates how many tokens a model makes of s: one for 4 bytes of
// ASCII, two for 3 characters of any other script.
func Tokens(s string) int {
	var w weight
	for _, r := range s {
		w.add(r)
	}
	return w.tokens()
}

// weight sums characters in twelfths of a token.
type weight int

func (w *weight) add(r rune) {
	if r < utf8.RuneSelf {
		*w += 3
	} else {
		*w += 8
	}
}

func (w weight) tokens() int { return (int(w) + 11) / 12 }

// clip cuts s in the middle when it is longer than limit tokens, and says how
// much is missing. The note stands within a line: what follows it can never
// become the start of one, where it might pass for a speaker's name. A limit of
// 0 or less is none.
func clip(s string, limit int) string {
	if limit <= 0 || Tokens(s) <= limit {
		return s
	}
	var w weight
	head := 0
	for i, r := range s {
		if w.add(r); w.tokens() > limit/2 {
			head = i
			break
		}
	}
	w = 0
	tail := len(s)
	for tail > head {
		r, size := utf8.DecodeLastRuneInString(s[:tail])
		if w.add(r); w.tokens() > limit/2 {
			break
		}
		tail -= size
	}
	return fmt.Sprintf("%s ⟦%d characters left out⟧ %s", s[:head], utf8.RuneCountInString(s[head:tail]), s[tail:])
}
