package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/BurntSushi/toml"
)

// Error is one fault of a configuration: where it stands and what is wrong.
// It never carries a secret: values are quoted as the file writes them, before
// variables are expanded, and the values of secret keys are not quoted at all.
type Error struct {
	File    string // as given to Load, or the .env file beside it
	Line    int    // starting at 1; 0 when the fault has no line, such as a missing top-level key
	Key     string // full dotted key, array elements counted from 0; may be empty
	Msg     string
	Nearest string // what was probably meant; empty when nothing is close
}

// Error returns one line: file:line: key: message; did you mean "nearest"?
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Msg)
	if e.Nearest != "" {
		fmt.Fprintf(&b, "; did you mean %q?", e.Nearest)
	}
	return oneLine(b.String())
}

// oneLine keeps an odd file name or a message of the TOML library from
// breaking the promise of one error a line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

// joined returns the errors in the order of the file, one a line, or nil.
func joined(errs []*Error) error {
	slices.SortStableFunc(errs, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Key, b.Key))
	})
	plain := make([]error, len(errs))
	for i, e := range errs {
		plain[i] = e
	}
	return errors.Join(plain...)
}

// syntaxError translates an error of the TOML parser.
func syntaxError(file, src string, err error) *Error {
	out := &Error{File: file, Msg: err.Error()}
	if pe, ok := errors.AsType[toml.ParseError](err); ok {
		out.Line, out.Msg = pe.Position.Line, withoutValues(pe.Message)
		// LastKey is the last key that was complete, which may be a line above the fault.
		if lines := strings.Split(src, "\n"); out.Line >= 1 && out.Line <= len(lines) {
			last := pe.LastKey[strings.LastIndexByte(pe.LastKey, '.')+1:]
			if last != "" && strings.Contains(lines[out.Line-1], last) {
				out.Key = pe.LastKey
			}
		}
	}
	return out
}

var quotedText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'`) })

// withoutValues blanks what a parser message quotes, since an unquoted token in
// the file would end there. Single characters and the names of keys stay.
func withoutValues(msg string) string {
	if strings.HasPrefix(msg, "Key '") {
		return msg
	}
	return quotedText().ReplaceAllStringFunc(msg, func(quoted string) string {
		if len(quoted) <= len(`'\n'`) {
			return quoted
		}
		return quoted[:1] + "…" + quoted[:1]
	})
}

// nearest returns the candidate that word is probably a slip of: at most one
// edit in three letters away, and three in all. It returns "" when none is that close.
func nearest(word string, candidates []string) string {
	limit, found := min(3, max(1, len(word)/3)), ""
	off := func(c string) int { return max(len(c)-len(word), len(word)-len(c)) } // of two that are as near, letters were swapped
	for _, c := range slices.SortedFunc(slices.Values(candidates), func(a, b string) int { return cmp.Or(cmp.Compare(off(a), off(b)), cmp.Compare(a, b)) }) {
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < limit || d == limit && found == "" {
			limit, found = d, c
		}
	}
	return found
}

// distance counts insertions, deletions, replacements and swaps of neighbours
// (optimal string alignment). A length that no typing slip has counts as far.
func distance(a, b string) int {
	const longest = 64
	s, t := []rune(a), []rune(b)
	if len(s) > longest || len(t) > longest {
		return math.MaxInt
	}
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := range s {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range t {
			replace := last[j]
			if s[i] != t[j] {
				replace++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, replace)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(t)]
}
