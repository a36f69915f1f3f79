package slack

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// speech is a message's text and what it says about whom it is for.
type speech struct {
	text      string // without our own name
	mentioned bool   // names us
	others    bool   // names people or groups besides us
}

// read turns Slack's notation into text as a person would type it. Styles and
// code stay: they are nearly Markdown.
func (d *decoder) read(mrkdwn string) speech {
	var s speech
	var t words
	for rest := clean(mrkdwn); rest != ""; {
		open := strings.IndexByte(rest, '<')
		if open < 0 {
			t.add(entities.Replace(rest))
			break
		}
		t.add(entities.Replace(rest[:open]))
		rest = rest[open:]
		end := strings.IndexAny(rest[1:], "<>") + 1
		if end == 0 || rest[end] == '<' {
			end = max(end, 1)
			t.add(entities.Replace(rest[:end]))
			rest = rest[end:]
			continue
		}
		inner, label, _ := strings.Cut(entities.Replace(rest[1:end]), "|")
		rest = rest[end+1:]
		if id, ok := strings.CutPrefix(inner, "@"); ok && id == d.me.user && id != "" {
			s.mentioned = true
			rest = t.cut(rest)
			continue
		}
		text, person := d.token(inner, label)
		s.others = s.others || person
		t.add(text)
	}
	s.text = t.text()
	return s
}

// entities are the only characters that Slack escapes.
var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// token is what stands between angle brackets, as text, and whether it names
// people other than us. Label is how Slack shows it, if it says.
func (d *decoder) token(inner, label string) (text string, people bool) {
	switch {
	case inner == "":
		return "<" + label + ">", false
	case inner[0] == '@' && len(inner) > 1:
		return "@" + cmp.Or(label, d.name(inner[1:])), true
	case inner[0] == '#':
		return "#" + cmp.Or(label, inner[1:]), false
	case strings.HasPrefix(inner, "!subteam^"):
		return "@" + strings.TrimPrefix(cmp.Or(label, inner[len("!subteam^"):]), "@"), true
	case strings.HasPrefix(inner, "!date^"):
		return cmp.Or(label, inner), false
	case inner[0] == '!':
		return "@" + strings.TrimPrefix(cmp.Or(label, inner[1:]), "@"), false
	}
	link := inner
	for _, scheme := range []string{"mailto:", "tel:"} {
		link = strings.TrimPrefix(link, scheme)
	}
	_, bare, _ := strings.Cut(link, "://")
	if label == "" || label == link || label == bare || link != inner {
		return link, false
	}
	return "[" + label + "](" + inner + ")", false
}

// words collects a text of which names are taken out.
type words struct {
	b       strings.Builder
	touched bool
}

func (t *words) add(s string) { t.b.WriteString(s) }

// cut takes out a name before rest, with one of the two spaces that would
// meet, and returns what follows.
func (t *words) cut(rest string) string {
	t.touched = true
	before, _ := utf8.DecodeLastRuneInString(t.b.String())
	after, n := utf8.DecodeRuneInString(rest)
	if n > 0 && unicode.IsSpace(after) && (t.b.Len() == 0 || unicode.IsSpace(before)) {
		return rest[n:]
	}
	return rest
}

// text is what is left. Space at the ends of a text that nothing was cut from
// is the writer's.
func (t *words) text() string {
	if t.touched {
		return strings.TrimSpace(t.b.String())
	}
	return t.b.String()
}
