package history

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The constants of BM25: how soon further occurrences count less, and how much
// the length of a text matters. Source: the usual ones of the literature.
const (
	saturation = 1.2
	lengthWise = 0.75
)

// rank puts the hits in order, the best first; of two that are as good, the
// newer one.
func (s *search) rank() {
	having := make([]int, len(s.terms))
	for _, h := range s.hits {
		for i, n := range h.times {
			if n > 0 {
				having[i]++
			}
		}
	}
	average := float64(s.words) / float64(max(s.read, 1))
	for i := range s.hits {
		h := &s.hits[i]
		for t, n := range h.times {
			rare := math.Log1p((float64(s.read-having[t]) + 0.5) / (float64(having[t]) + 0.5))
			often := float64(n)
			h.weight += rare * often * (saturation + 1) / (often + saturation*(1-lengthWise+lengthWise*float64(h.words)/average))
		}
	}
	slices.SortFunc(s.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.id.Seq(), a.id.Seq()))
	})
}

// terms are the words of a query, each once.
func terms(query string) []string {
	var out []string
	eachWord(query, func(word string, _ int) {
		if len(out) < maxTerms && !slices.Contains(out, word) {
			out = append(out, word)
		}
	})
	return out
}

// eachWord calls f for every word of the text, in lower case, with where it
// begins. A word is letters and digits; where a script has no spaces between
// words, each character is one.
func eachWord(text string, f func(word string, at int)) {
	start := -1
	end := func(at int) {
		if start >= 0 {
			f(strings.ToLower(text[start:at]), start)
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			end(i)
			f(string(r), i)
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r) && start >= 0:
			if start < 0 {
				start = i
			}
		default:
			end(i)
		}
	}
	end(len(text))
}

// around is the part of a text, of at most excerptLength characters, in which a
// match stands.
func around(text string, match int) string {
	if utf8.RuneCountInString(text) <= excerptLength {
		return text
	}
	from := match
	for range excerptLength / 4 {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	part := []rune(text[from:])
	out := string(part[:min(len(part), excerptLength)])
	if from > 0 {
		out = "…" + out
	}
	if len(part) > excerptLength {
		out += "…"
	}
	return out
}
