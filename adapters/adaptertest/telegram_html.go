package adaptertest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// htmlTags are the tags of parse mode HTML.
var htmlTags = strings.Fields(`a b strong i em s strike del u ins tg-spoiler tg-emoji span pre code blockquote`)

// parseHTML reads the platform's parse mode HTML and returns the text without
// its markup. Its rules and its errors are those of the service's own parser:
// a closing tag closes the innermost open one and must name it, or nothing; a
// character reference that is not known stays as it is.
func parseHTML(s string) (string, error) {
	var text strings.Builder
	var open []string
	for i := 0; i < len(s); {
		switch {
		case s[i] == '&':
			r, n := charRef(s[i:])
			text.WriteString(r)
			i += n
		case s[i] != '<':
			text.WriteByte(s[i])
			i++
		case strings.HasPrefix(s[i:], "</"):
			if len(open) == 0 {
				return "", fmt.Errorf("unexpected end tag at byte offset %d", i)
			}
			last := open[len(open)-1]
			end := strings.IndexByte(s[i:], '>')
			if end < 0 {
				return "", fmt.Errorf("unclosed end tag at byte offset %d", i)
			}
			name := strings.ToLower(strings.TrimRight(s[i+2:i+end], " \t\r\n"))
			if strings.ContainsAny(name, " \t\r\n") {
				return "", fmt.Errorf("unclosed end tag at byte offset %d", i)
			}
			if name != "" && name != last {
				return "", fmt.Errorf(`unmatched end tag at byte offset %d, expected "</%s>", found "</%s>"`, i, last, name)
			}
			open = open[:len(open)-1]
			i += end + 1
		default:
			name, n, err := startTag(s, i)
			if err != nil {
				return "", err
			}
			open = append(open, name)
			i += n
		}
	}
	if len(open) > 0 {
		return "", fmt.Errorf(`can't find end tag corresponding to start tag "%s"`, open[len(open)-1])
	}
	return text.String(), nil
}

// startTag reads the start tag at byte offset at: its name and its length.
func startTag(s string, at int) (name string, n int, err error) {
	unclosed := fmt.Errorf("unclosed start tag at byte offset %d", at)
	i := at + 1
	for i < len(s) && !strings.ContainsRune(" \t\r\n>", rune(s[i])) {
		i++
	}
	if i == len(s) {
		return "", 0, unclosed
	}
	name = strings.ToLower(s[at+1 : i])
	if !slices.Contains(htmlTags, name) {
		return "", 0, fmt.Errorf(`unsupported start tag "%s" at byte offset %d`, name, at)
	}
	class := ""
	for {
		for i < len(s) && strings.ContainsRune(" \t\r\n", rune(s[i])) {
			i++
		}
		if i == len(s) {
			return "", 0, unclosed
		}
		if s[i] == '>' {
			break
		}
		begin := i
		for i < len(s) && !strings.ContainsRune(" \t\r\n=>/\"'", rune(s[i])) {
			i++
		}
		attr := s[begin:i]
		if attr == "" {
			return "", 0, fmt.Errorf(`empty attribute name in the tag "%s" at byte offset %d`, name, at)
		}
		if i == len(s) || s[i] != '=' {
			continue // an attribute without a value: expandable
		}
		i++
		value, m := attribute(s[i:])
		if m < 0 {
			return "", 0, unclosed
		}
		if m == 0 {
			return "", 0, fmt.Errorf("unexpected end of name token at byte offset %d", i)
		}
		i += m
		if attr == "class" {
			class = value
		}
	}
	if name == "span" && class != "tg-spoiler" {
		return "", 0, fmt.Errorf(`tag "span" must have class "tg-spoiler" at byte offset %d`, at)
	}
	return name, i + 1 - at, nil
}

// attribute reads an attribute's value at the start of s and its length;
// 0: it is no value, negative: it has no end.
func attribute(s string) (string, int) {
	if s == "" {
		return "", -1
	}
	if q := s[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(s[1:], q)
		if end < 0 {
			return "", -1
		}
		return s[1 : 1+end], end + 2
	}
	i := 0
	for i < len(s) && (isWord(s[i]) && s[i] != '_' || s[i] == '.' || s[i] == '-') {
		i++
	}
	if i == len(s) {
		return "", -1
	}
	if !strings.ContainsRune(" \t\r\n>", rune(s[i])) {
		return "", 0
	}
	return s[:i], i
}

// charRef reads a character reference at the start of s, which begins with an
// ampersand: its text and its length. What is none is the ampersand itself.
func charRef(s string) (string, int) {
	end := 1
	for end < len(s) && (isWord(s[end]) || s[end] == '#' && end == 1) {
		end++
	}
	name, n := s[1:end], end
	if end < len(s) && s[end] == ';' {
		n++
	}
	switch name {
	case "lt":
		return "<", n
	case "gt":
		return ">", n
	case "amp":
		return "&", n
	case "quot":
		return `"`, n
	}
	if num, ok := strings.CutPrefix(name, "#"); ok {
		base := 10
		if hex, ok := strings.CutPrefix(num, "x"); ok {
			num, base = hex, 16
		}
		if v, err := strconv.ParseUint(num, base, 32); err == nil && v > 0 && v < 0x10ffff && len(name) < 9 {
			return string(utf8.AppendRune(nil, rune(v))), n
		}
	}
	return "&", 1
}

// isWord reports whether c can be part of a name.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
