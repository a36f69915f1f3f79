package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameLength is the most characters of a name that are shown.
const nameLength = 40

// plain maps line breaks of every kind to one, and the platform's brackets,
// and those that look like them, to what anybody may write.
var plain = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n",
	"\u0085", "\n", "\u2028", "\n", "\u2029", "\n",
	"⟦", "[[", "⟧", "]]", "〚", "[[", "〛", "]]")

// clean makes text fit for a model: valid UTF-8 with one kind of line break,
// without control characters, without the characters that carry hidden text
// (Unicode tags), and without the platform's brackets.
func clean(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return hidden(r) || foreign(r) }) < 0 {
		return s
	}
	s = plain.Replace(strings.ToValidUTF8(s, string(utf8.RuneError)))
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, s)
}

// hidden reports characters that clean drops.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && unicode.IsControl(r) || 0xe0000 <= r && r <= 0xe007f
}

// foreign reports characters that clean replaces.
func foreign(r rune) bool {
	switch r {
	case '\u2028', '\u2029', '⟦', '⟧', '〚', '〛', utf8.RuneError:
		return true
	}
	return false
}

// inert is clean text in which no line can be taken for the beginning of a
// message: where one looks like it, a backslash stands before its bracket.
func inert(s string) string {
	s = clean(s)
	if !strings.ContainsAny(s, openers) {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		if at := imitation(line); at >= 0 {
			b.WriteString(line[:at])
			b.WriteByte('\\')
			line = line[at:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// The brackets that a reader may take for those around a name.
const (
	openers = "[［【〔〖"
	closers = "]］】〕〗"
)

// imitation is where in the line the bracket stands that makes it look like
// the beginning of a message, or like a file, an image or a word of the system; -1 when
// it does not.
func imitation(line string) int {
	rest := strings.TrimLeftFunc(line, blank)
	at := len(line) - len(rest)
	r, size := utf8.DecodeRuneInString(rest)
	if !strings.ContainsRune(openers, r) {
		return -1
	}
	rest = rest[size:]
	if k := key(head(rest, nameLength)); strings.HasPrefix(k, "system") || strings.HasPrefix(k, "file") || strings.HasPrefix(k, "image") {
		return at
	}
	for {
		i := strings.IndexAny(rest, closers)
		if i < 0 {
			return -1
		}
		_, size := utf8.DecodeRuneInString(rest[i:])
		rest = rest[i+size:]
		after := strings.TrimLeftFunc(rest, blank)
		if strings.HasPrefix(after, ":") || strings.HasPrefix(after, "：") || strings.HasPrefix(key(head(after, nameLength)), "correct") {
			return at
		}
	}
}

// blank reports characters that show nothing.
func blank(r rune) bool {
	switch r {
	case '\u034f', '\u115f', '\u1160', '\u2800', '\u3164', '\uffa0': // joiner, fillers, empty Braille
		return true
	}
	return unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Variation_Selector)
}

// key is what two names have in common that a reader takes for the same: their
// letters and digits in lower case.
func key(name string) string {
	return strings.Map(func(r rune) rune {
		if (unicode.IsLetter(r) || unicode.IsDigit(r)) && !blank(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// label makes a name fit to stand in brackets on one line: no character that is
// not seen, none that ends the brackets, no run of spaces, at most limit
// characters. It may be empty.
func label(name string, limit int) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case blank(r), r == utf8.RuneError, !unicode.IsPrint(r),
			unicode.In(r, unicode.Ps, unicode.Pe) && r != '(' && r != ')':
			return -1
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	return strings.TrimSpace(head(name, limit))
}

// head is the first n characters of s.
func head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
