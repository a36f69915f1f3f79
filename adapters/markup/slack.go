package markup

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of one Slack message. A markdown block holds 12,000 characters, all
// blocks of a message about 13,000 once Slack has translated them; tables hold
// 10,000 characters in all their cells; the text beside the blocks 40,000.
const (
	slackRunes = 11_000
	slackCells = 9_500
	slackText  = 38_000
)

// Slack is the Target of one Slack message. A piece that fits can be sent
// either way, as a markdown block or as mrkdwn text.
func Slack() Target {
	return Target{Max: slackRunes, Measure: func(piece string) int {
		doc := parse(piece)
		inTables := cells(doc)
		long := inTables > slackCells
		// A character becomes at most five, except in the padding of tables.
		if inTables > 0 || len(piece) > slackText/5 {
			long = long || utf8.RuneCountInString(slackMrkdwn(doc)) > slackText
		}
		n := utf8.RuneCountInString(slackBlock(doc))
		if long {
			return max(n, slackRunes+1)
		}
		return n
	}}
}

// cells counts the characters in the tables of a document.
func cells(doc []block) int {
	n := 0
	for _, b := range doc {
		switch b := b.(type) {
		case *table:
			for _, row := range b.rows {
				for _, cell := range row {
					n += utf8.RuneCountInString(cell.text)
				}
			}
		case quote:
			n += cells(b.blocks)
		case *list:
			for _, it := range b.items {
				n += cells(it.blocks)
			}
		}
	}
	return n
}

// SlackMarkdown renders one Markdown piece for a markdown block. Nothing in it
// mentions anybody, whatever the piece says: what looks like a mention is
// shown as it was written.
func SlackMarkdown(md string) string { return slackBlock(parse(md)) }

// slackBlock writes a document, which it makes harmless.
func slackBlock(doc []block) string {
	rewrite(doc, slackRich, func(f fence) fence { return fence{slackInfo().FindString(language(f.info)), inCode(f.code)} })
	return escapedMention().ReplaceAllString(markdown(doc), "&lt;$1")
}

// SlackText renders one Markdown piece as mrkdwn, for the text beside the
// blocks, and for when Slack refuses those. It mentions nobody either.
func SlackText(md string) string { return slackMrkdwn(parse(md)) }

// SlackStream makes Markdown that is still growing harmless without rendering
// it: of a text that begins another, the result begins the other's.
func SlackStream(md string) string {
	return growingMention().ReplaceAllString(strings.TrimRight(clean(md), "<"), "<"+joiner+"$1")
}

// joiner is a character that nobody sees and that ends what Slack takes for a
// mention. Code needs it: no escape is read there.
const joiner = "\u2060"

var (
	// Between the writer's backslash and Slack's own reading of "<" nobody
	// knows which comes first; an entity is safe either way.
	escapedMention = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\<([!@#])`) })
	growingMention = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<([!@#])`) })
	// In code only what Slack would really read: "<!DOCTYPE" must stay whole.
	// One after a backslash would be taken for the writer's.
	codeMention = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`<(!(channel|here|everyone|group|subteam|date)|[@#][A-Za-z0-9])|\\<[!@#]`)
	})
)

func inCode(s string) string {
	if strings.IndexByte(s, '<') < 0 {
		return s
	}
	return codeMention().ReplaceAllStringFunc(s, func(m string) string {
		at := strings.IndexByte(m, '<') + 1
		return m[:at] + joiner + m[at:]
	})
}

// rewrite changes the texts and the code of a document in place. lines: the text
// may have more than one.
func rewrite(doc []block, text func(r rich, lines bool) rich, code func(fence) fence) {
	for i, b := range doc {
		switch b := b.(type) {
		case paragraph:
			doc[i] = paragraph{text(b.rich, true)}
		case heading:
			doc[i] = heading{b.level, text(b.rich, false)}
		case fence:
			doc[i] = code(b)
		case *table:
			for _, row := range b.rows {
				for j := range row {
					row[j] = text(row[j], false)
				}
			}
		case quote:
			rewrite(b.blocks, text, code)
		case *list:
			for _, it := range b.items {
				rewrite(it.blocks, text, code)
			}
		}
	}
}

var slackInfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w+#.-]*`) })

// slackRich is r with links only to the web and harmless code. Slack shows no
// "<br>", so a line ends only where Markdown has lines, and none is blank.
func slackRich(r rich, lines bool) rich {
	b := newRichBuilder(len(r.text))
	add := func(s string, st style, link string) {
		if st&code != 0 {
			b.add(inCode(s), st, link)
			return
		}
		for i, line := range strings.Split(s, "\n") {
			switch {
			case i > 0 && lines && !strings.HasSuffix(string(b.text[max(0, len(b.text)-1):]), "\n"):
				b.newline(st, link)
			case i > 0 && !lines:
				b.add(" ", st, link)
			}
			b.add(line, st, link)
		}
	}
	webLinks(r, add)
	return b.rich()
}

// webLinks calls add for each span of r. A link that no client should follow
// is text, and its target stands behind it.
func webLinks(r rich, add func(s string, st style, link string)) {
	for i, sp := range r.spans {
		link := webLink(sp.link)
		add(r.text[sp.start:sp.end], sp.style, link)
		if link == "" && sp.link != "" && (i+1 == len(r.spans) || r.spans[i+1].link != sp.link) {
			add(string(appendTarget(nil, r, i)), 0, "")
		}
	}
}

// inTarget replaces what would end a link's target early, or hide a mention in
// it.
var inTarget = strings.NewReplacer("<", "%3C", ">", "%3E", "(", "%28", ")", "%29", "|", "%7C", "\\", "%5C", " ", "%20", "\t", "%09", "\n", "")

// webLink is target if it leads to the web or to a mailbox, else empty.
func webLink(target string) string {
	scheme, _, _ := strings.Cut(target, ":")
	if strings.EqualFold(scheme, "tg") || !canFollow(target) {
		return ""
	}
	return inTarget.Replace(target)
}

// slackMrkdwn writes Slack's own notation, in which nothing can be escaped but
// "&", "<" and ">".
func slackMrkdwn(doc []block) string {
	var b strings.Builder
	quoted := false
	for i, line := range strings.Split(layout(doc, mrkdwn{}), "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		begins := strings.Contains(line, beginQuote)
		quoted = quoted || begins
		ends := strings.Contains(line, endQuote)
		if quoted {
			b.WriteString("> ")
		}
		b.WriteString(quoteMarks.Replace(line))
		quoted = quoted && !ends
	}
	return b.String()
}

// Marks around a quote until its lines are known; clean leaves none in a text.
const (
	beginQuote = "\x02"
	endQuote   = "\x03"
)

var quoteMarks = strings.NewReplacer(beginQuote, "", endQuote, "")

// mrkdwn is the dialect of Slack's text fields.
type mrkdwn struct{}

func (mrkdwn) inline(dst []byte, r rich) []byte { return appendMrkdwn(dst, r, 0) }

func (mrkdwn) heading(dst []byte, h heading) []byte { return appendMrkdwn(dst, h.rich, bold) }

func (mrkdwn) pre(dst []byte, _, code string) []byte {
	dst = append(dst, "```\n"...)
	dst = appendEscaped(dst, strings.ReplaceAll(code, "```", "`"+joiner+"``"), false)
	return append(dst, "\n```"...)
}

func (mrkdwn) quoteMark(dst []byte, open bool) []byte {
	if open {
		return append(dst, beginQuote...)
	}
	return append(dst, endQuote...)
}

func appendMrkdwn(dst []byte, r rich, always style) []byte {
	b := newRichBuilder(len(r.text))
	webLinks(r, func(s string, st style, link string) {
		if link != "" || strings.ContainsRune(s, '`') {
			st &^= code
		}
		b.add(s, st|always, link)
	})
	r = b.rich()
	nesting{
		link: func(target string, open bool) {
			if !open {
				dst = append(dst, '>')
				return
			}
			dst = append(dst, '<')
			dst = appendEscaped(dst, target, false)
			dst = append(dst, '|')
		},
		mark: func(s style, _ bool) {
			dst = append(dst, map[style]byte{bold: '*', italic: '_', strike: '~'}[s])
		},
		text: func(sp span) {
			s := r.text[sp.start:sp.end]
			if sp.link != "" {
				s = strings.ReplaceAll(s, "\n", " ")
			}
			if sp.style&code == 0 {
				dst = appendEscaped(dst, s, false)
				return
			}
			dst = append(dst, '`')
			dst = appendEscaped(dst, s, false)
			dst = append(dst, '`')
		},
	}.walk(r.spans)
	return dst
}
