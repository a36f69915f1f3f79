package config

import (
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// locate returns the line of every key, table header and array element of a
// TOML document, by full key ("agents.chief.model", "bindings[1].place").
//
// The TOML library reports the names of keys but not where they stand, so this
// walks the text once more. It expects a document that the library has
// accepted; on any other it returns something harmless.
func locate(src string) map[string]int {
	l := &locator{src: strings.TrimPrefix(src, "\ufeff"), line: 1, lines: map[string]int{}, elements: map[string]int{}}
	l.document()
	return l.lines
}

type locator struct {
	src      string
	pos      int
	line     int // of pos
	lines    map[string]int
	elements map[string]int // number of [[headers]] seen, by the array's key
}

func (l *locator) document() {
	table := ""
	for l.skip(" \t\r\n"); l.pos < len(l.src); l.skip(" \t\r\n") {
		switch {
		case l.take("[["):
			line, parts := l.line, l.key()
			l.take("]]")
			if len(parts) == 0 {
				continue
			}
			last := len(parts) - 1
			array := join(l.enter("", parts[:last], line), parts[last])
			l.mark(array, line)
			table = element(array, l.elements[array])
			l.elements[array]++
			l.mark(table, line)
		case l.take("["):
			line := l.line
			table = l.enter("", l.key(), line)
			l.take("]")
		default:
			if !l.pair(table) {
				return
			}
		}
	}
}

// pair reads `key = value`. It returns false when there is none.
func (l *locator) pair(table string) bool {
	line, parts := l.line, l.key()
	if len(parts) == 0 || !l.take("=") {
		return false
	}
	key := l.enter(table, parts, line)
	l.skip(" \t")
	l.value(key)
	return true
}

// enter marks table.parts[0], table.parts[0].parts[1], … and returns the last.
// A name that is an array of tables stands for its latest element.
func (l *locator) enter(table string, parts []string, line int) string {
	for _, part := range parts {
		table = join(table, part)
		if n := l.elements[table]; n > 0 {
			table = element(table, n-1)
		}
		l.mark(table, line)
	}
	return table
}

func (l *locator) mark(key string, line int) {
	if _, seen := l.lines[key]; !seen {
		l.lines[key] = line
	}
}

// key reads a bare, quoted or dotted key and the space after it.
func (l *locator) key() []string {
	var parts []string
	for {
		l.skip(" \t")
		start := l.pos
		if l.peek('"') || l.peek('\'') {
			l.text()
			parts = append(parts, unquote(l.src[start:l.pos]))
		} else {
			l.until(" \t\r\n.=[]{},#\"'")
			if l.pos == start {
				return parts
			}
			parts = append(parts, l.src[start:l.pos])
		}
		l.skip(" \t")
		if !l.take(".") {
			return parts
		}
	}
}

func (l *locator) value(key string) {
	switch {
	case l.peek('"'), l.peek('\''):
		l.text()
	case l.take("["):
		for i := 0; ; i++ {
			if l.skip(" \t\r\n,"); l.pos == len(l.src) || l.take("]") {
				return
			}
			at := l.pos
			l.mark(element(key, i), l.line)
			l.value(element(key, i))
			if l.pos == at {
				return
			}
		}
	case l.take("{"):
		for {
			if l.skip(" \t\r\n,"); l.pos == len(l.src) || l.take("}") || !l.pair(key) {
				return
			}
		}
	default:
		l.until(",]}#\r\n")
	}
}

// text reads a string of any of the four kinds.
func (l *locator) text() {
	quote := l.src[l.pos : l.pos+1]
	end := quote
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(l.src[l.pos:], triple) {
		end = triple
	}
	l.forward(len(end))
	for l.pos < len(l.src) && !l.take(end) {
		if quote == `"` && l.peek('\\') {
			l.forward(1)
		}
		l.forward(1)
	}
	// A multi-line string may end in up to two quotes of its own.
	for len(end) == 3 && l.take(quote) {
	}
}

// skip passes over any of the characters, and over comments.
func (l *locator) skip(chars string) {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '#':
			l.until("\n")
		case strings.IndexByte(chars, c) >= 0:
			l.forward(1)
		default:
			return
		}
	}
}

func (l *locator) until(chars string) {
	for l.pos < len(l.src) && strings.IndexByte(chars, l.src[l.pos]) < 0 {
		l.forward(1)
	}
}

func (l *locator) take(token string) bool {
	if !strings.HasPrefix(l.src[l.pos:], token) {
		return false
	}
	l.forward(len(token))
	return true
}

func (l *locator) peek(c byte) bool { return l.pos < len(l.src) && l.src[l.pos] == c }

func (l *locator) forward(n int) {
	for ; n > 0 && l.pos < len(l.src); n-- {
		if l.src[l.pos] == '\n' {
			l.line++
		}
		l.pos++
	}
}

// unquote returns the text of a quoted key, leaving escapes to the library.
func unquote(quoted string) string {
	var doc struct{ V string }
	if _, err := toml.Decode("V = "+quoted, &doc); err != nil {
		return quoted
	}
	return doc.V
}

// join returns the full key of name in table, quoted where TOML asks for it.
func join(table, name string) string {
	name = toml.Key{name}.String()
	if table == "" {
		return name
	}
	return table + "." + name
}

func element(array string, i int) string { return array + "[" + strconv.Itoa(i) + "]" }
