package perm

import (
	"path"
	"slices"
	"strings"
)

// call is a simple command: the assignments before it, its words, its
// redirections.
type call struct {
	frame
	args []word
	fed  bool // further words come from elsewhere, as for xargs

	outer []call // the commands that run it, outermost first
	shut  int    // so many of them up to the first that changes what it may do: an allow must name one of these; 0: none does
	upto  int    // words that an allow must spell out
	blind bool   // it may run other commands that are somewhere in its words
	free  bool   // it is nothing in itself: what it runs stands in other calls
}

// name is the command's name; empty: there is none, or nobody can know it.
func (c *call) name() string {
	if len(c.args) == 0 || !c.args[0].sure {
		return ""
	}
	return c.args[0].text
}

// kind is what commands have in common that do the same sort of thing: the name,
// or all of it where something else decides what is done.
func (c *call) kind() string {
	if len(c.env)+len(c.writes)+c.shut+c.upto > 0 || c.name() == "" {
		all := append(slices.Clone(c.outer), *c)
		return all[0].text(len(all[0].args), true)
	}
	return c.name()
}

// text is the command with its first words, or all of it and its redirections.
func (c *call) text(words int, tail bool) string {
	parts := slices.Clone(c.env)
	for i, w := range c.args[:words] {
		t := quoted(w.text)
		if i == 0 && strings.Contains(t, "=") && !strings.HasPrefix(t, "'") {
			t = "'" + t + "'" // else it reads as an assignment
		}
		parts = append(parts, t)
	}
	if tail && c.fed {
		parts = append(parts, string(unknown))
	}
	if tail {
		parts = append(parts, c.tail...)
	}
	return strings.Join(parts, " ")
}

// form is one way to write a command.
type form struct {
	text   string
	spelt  string   // how a pattern must begin, to the letter
	writes []string // what it must hold, to the letter
}

// forms are the ways to write the command of which an allow must match one. What
// is around it can be left out if that changes nothing of what is run; where the
// pattern has it, or an assignment, it must spell it out up to the command itself.
func (c *call) forms() []form {
	var out []form
	all := append(slices.Clone(c.outer), *c)
	for i := range all {
		if c.shut > 0 && i >= c.shut {
			break
		}
		o := &all[i]
		spell := c.upto
		if spell == 0 && (len(o.env) > 0 || i < len(c.outer)) {
			spell = 1
		}
		if spell = min(spell, len(c.args)); spell > 0 {
			spell += len(o.args) - len(c.args) // the outer ones end with the words of c
		}
		f := form{text: o.text(len(o.args), true), writes: c.writes}
		if spell > 0 || len(o.args) == 0 {
			f.spelt = o.text(spell, false)
		}
		out = append(out, f)
	}
	return out
}

func (f form) allowedBy(pattern string) bool {
	if strings.ContainsRune(f.spelt, unknown) || !strings.HasPrefix(literal(pattern), f.spelt) {
		return false
	}
	for _, w := range f.writes {
		if !strings.Contains(pattern, w) {
			return false
		}
	}
	known, _, vague := strings.Cut(f.text, string(unknown))
	if vague { // the * at the end covers all of it
		return openEnded(pattern) && like(pattern, known)
	}
	return like(pattern, f.text)
}

// unit is what rules see of the command.
func (c *call) unit() unit {
	var forms []form
	if !c.free {
		forms = c.forms()
	}
	texts := c.texts()
	var hidden []string
	if c.blind {
		hidden = words(texts[len(texts)-1])
	}
	return unit{
		allowed: func(pattern string) bool {
			return c.free || slices.ContainsFunc(forms, func(f form) bool { return f.allowedBy(pattern) })
		},
		struck: func(pattern string) strike {
			switch {
			case slices.ContainsFunc(texts, func(t string) bool { return like(pattern, t) }):
				return hits
			case slices.ContainsFunc(texts, func(t string) bool { return mayBeLike(pattern, t) }), namesOne(pattern, hidden):
				return mayHit
			}
			return misses
		},
		idle: c.free,
	}
}

// texts is the command, and what is around it, in all the ways in which somebody
// may write a pattern that forbids it.
func (c *call) texts() []string {
	var out []string
	for _, o := range append(slices.Clone(c.outer), *c) {
		bare := o
		bare.env, bare.tail = nil, nil
		out = append(out, o.text(len(o.args), true), bare.text(len(o.args), true))
		if len(o.args) == 0 {
			continue
		}
		plain := make([]string, len(o.args))
		for i, w := range o.args {
			plain[i] = w.text
		}
		if o.fed {
			plain = append(plain, string(unknown))
		}
		out = append(out, strings.Join(plain, " "))
		plain[0] = path.Base(plain[0])
		out = append(out, strings.Join(plain, " "))
	}
	return out
}
