package discord

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// speech is a message's text and what it says about whom it is for.
type speech struct {
	text      string // without our own name
	mentioned bool   // names us, or pings us by replying
	others    bool   // names people or roles besides us
}

// tag is how Discord writes what clients show otherwise: people, roles,
// channels, custom emoji, commands.
var tag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<(@&|@!?|#|a?:)([^<>@#:/\s]+)(?::(\d+))?>|</([^<>:]+):\d+>`)
})

// speech reads a message's text.
func (f *feed) speech(m *message) speech {
	s := speech{others: len(m.Roles.v) > 0}
	for _, u := range m.Mentions.v {
		if u.ID == f.me.user {
			s.mentioned = true
		} else {
			s.others = true
		}
	}
	s.text = f.render(m, f.me.user, &s.mentioned)
	return s
}

// plain is a message's text as a quote has it: with everybody's name.
func (a *Adapter) plain(m *message) string {
	var mentioned bool
	return a.render(m, "", &mentioned)
}

// render writes a message's text as people see it. Mentions of the user me,
// and of the role that came with us, are taken out and set mentioned.
func (a *Adapter) render(m *message, me string, mentioned *bool) string {
	content := m.Content
	if content == "" {
		for _, st := range m.Stickers.v {
			content += ":" + st.Name + ":"
		}
	}
	var out strings.Builder
	pos := 0
	for _, at := range tag().FindAllStringSubmatchIndex(content, -1) {
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return content[at[2*n]:at[2*n+1]]
		}
		shown, ours := a.show(m, group(1), group(2), group(4))
		switch {
		case me != "" && (ours || strings.HasPrefix(group(1), "@") && group(2) == me):
			*mentioned = true
			out.WriteString(content[pos:at[0]])
			pos = at[1]
			// One of the two spaces that would meet goes along.
			before, _ := utf8.DecodeLastRuneInString(out.String())
			after, size := utf8.DecodeRuneInString(content[pos:])
			if size > 0 && unicode.IsSpace(after) && (out.Len() == 0 || unicode.IsSpace(before)) {
				pos += size
			}
		case shown != "":
			out.WriteString(content[pos:at[0]])
			out.WriteString(shown)
			pos = at[1]
		}
	}
	if pos == 0 {
		return clean(content)
	}
	out.WriteString(content[pos:])
	return clean(strings.TrimSpace(out.String()))
}

// show is what people see for a tag, empty if that is not known. ours says
// that it is the role that came with us.
func (a *Adapter) show(m *message, sigil, name, command string) (shown string, ours bool) {
	switch sigil {
	case "":
		return "/" + command, false
	case "@", "@!":
		i := slices.IndexFunc(m.Mentions.v, func(u mentioned) bool { return u.ID == name })
		if i < 0 {
			return "", false
		}
		u := m.Mentions.v[i]
		return "@" + cmp.Or(u.Member.v.Nick, u.Global, u.Name), false
	case "@&":
		r, ok := a.known.role(name)
		if !ok {
			return "", false
		}
		return "@" + r.name, r.ours
	case "#":
		c, ok := a.known.find(name)
		if !ok || c.name == "" {
			return "", false
		}
		return "#" + c.name, false
	}
	return ":" + name + ":", false
}
