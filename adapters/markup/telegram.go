package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// telegram writes the HTML of the Bot API. There, code and pre hold no other
// entity and lie in none but a quote, and links do not nest.
type telegram struct{}

func (telegram) inline(dst []byte, r rich) []byte {
	return appendHTML(dst, r, 0)
}

func (telegram) heading(dst []byte, h heading) []byte {
	return appendHTML(dst, h.rich, bold)
}

func (telegram) pre(dst []byte, info, code string) []byte {
	dst = append(dst, "<pre>"...)
	lang := language(info)
	if lang != "" {
		dst = append(dst, `<code class="language-`...)
		dst = appendEscaped(dst, lang, true)
		dst = append(dst, `">`...)
	}
	dst = appendEscaped(dst, code, false)
	if lang != "" {
		dst = append(dst, "</code>"...)
	}
	return append(dst, "</pre>"...)
}

func (telegram) quoteMark(dst []byte, open bool) []byte {
	if open {
		return append(dst, "<blockquote>"...)
	}
	return append(dst, "</blockquote>"...)
}

// language is the first word of a fence's info string.
func language(info string) string {
	lang, _, _ := strings.Cut(strings.TrimSpace(unescape(info)), " ")
	return lang
}

// appendHTML appends r with always set as well as its own styles.
func appendHTML(dst []byte, r rich, always style) []byte {
	r = forTelegram(r, always)
	nesting{
		link: func(target string, open bool) {
			if !open {
				dst = append(dst, "</a>"...)
				return
			}
			dst = append(dst, `<a href="`...)
			dst = appendEscaped(dst, target, true)
			dst = append(dst, `">`...)
		},
		mark: func(s style, open bool) {
			dst = append(dst, '<')
			if !open {
				dst = append(dst, '/')
			}
			switch s {
			case bold:
				dst = append(dst, 'b')
			case italic:
				dst = append(dst, 'i')
			case strike:
				dst = append(dst, 's')
			}
			dst = append(dst, '>')
		},
		text: func(sp span) {
			if sp.style&code == 0 {
				dst = appendEscaped(dst, r.text[sp.start:sp.end], false)
				return
			}
			dst = append(dst, "<code>"...)
			dst = appendEscaped(dst, r.text[sp.start:sp.end], false)
			dst = append(dst, "</code>"...)
		},
	}.walk(r.spans)
	return dst
}

// forTelegram is r as Telegram can show it: code without other styles, no
// code in links, links only where a client follows them, and handles as code
// so that nobody is pinged.
func forTelegram(r rich, always style) rich {
	if always == 0 && len(r.spans) == 1 && r.spans[0].style&code == 0 && r.spans[0].link == "" && strings.IndexByte(r.text, '@') < 0 {
		return r
	}
	b := newRichBuilder(len(r.text))
	for i, sp := range r.spans {
		st, link := sp.style|always, sp.link
		if !canFollow(link) {
			link = ""
		}
		switch {
		case link != "":
			st &^= code
		case st&code != 0:
			st = code
		}
		b.add(r.text[sp.start:sp.end], st, link)
		if link != sp.link && (i+1 == len(r.spans) || r.spans[i+1].link != sp.link) {
			b.add(string(appendTarget(nil, r, i)), always, "")
		}
	}
	r = rich{text: string(b.text), spans: b.spans}
	if strings.IndexByte(r.text, '@') >= 0 {
		r.spans = markHandles(r)
	}
	return r
}

// canFollow reports whether Telegram clients open links to target.
func canFollow(target string) bool {
	scheme, rest, ok := strings.Cut(target, ":")
	if !ok || rest == "" {
		return false
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "tg":
		return strings.HasPrefix(rest, "//") && len(rest) > 2
	case "mailto":
		return true
	}
	return false
}

// A handle has 4 to 32 characters. Longer ones are none, but it does no harm
// to show them as code, too.
const minHandle = 4

// nextHandle finds the next @handle in s from offset i, or returns -1. One
// within a bare URL is part of that link.
func nextHandle(s string, i int) (from, to int) {
	for ; i < len(s); i++ {
		at := strings.IndexByte(s[i:], '@')
		if at < 0 {
			break
		}
		i += at
		end := i + 1
		for end < len(s) && isHandleByte(s[end]) {
			end++
		}
		if end-i-1 >= minHandle && isLetter(s[i+1]) && !afterWord(s[:i]) && !inURL(s[:i]) {
			return i, end
		}
	}
	return -1, -1
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isHandleByte(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c == '_' }

func afterWord(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func inURL(before string) bool {
	before = before[max(0, len(before)-1024):]
	return strings.Contains(before[strings.LastIndexAny(before, " \n\t")+1:], "://")
}

// markHandles is r.spans with every handle outside links as code.
func markHandles(r rich) []span {
	var out spanList
	from, to := nextHandle(r.text, 0)
	for _, sp := range r.spans {
		at := sp.start
		for at < sp.end && from >= 0 && from < sp.end {
			if sp.link != "" {
				out.add(at, min(to, sp.end), sp.style, sp.link)
			} else {
				out.add(at, max(at, from), sp.style, "")
				out.add(max(at, from), min(to, sp.end), code, "")
			}
			at = min(to, sp.end)
			if to > sp.end {
				break // the rest of the handle is in the next span
			}
			from, to = nextHandle(r.text, to)
		}
		out.add(at, sp.end, sp.style, sp.link)
	}
	return out
}

var htmlEscapes = [256]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&quot;"}

// appendEscaped appends s with the characters escaped that HTML gives a
// meaning, quotation marks only in an attribute.
func appendEscaped(dst []byte, s string, attribute bool) []byte {
	from := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; htmlEscapes[c] != "" && (c != '"' || attribute) {
			dst = append(dst, s[from:i]...)
			dst = append(dst, htmlEscapes[c]...)
			from = i + 1
		}
	}
	return append(dst, s[from:]...)
}
