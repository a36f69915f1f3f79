// Package tools is what all tools have in common: the set that a bot may use,
// a constructor that makes a tool of a Go function, the repair of arguments
// that a model wrote badly, and the cap on what a tool may say. It imports core
// and jsonrepair and starts no goroutine. Each kind of tool is a package below
// this one.
package tools

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"bellhop/core"
)

// Set is tools, sorted by name.
type Set []core.Tool

// NewSet sorts the tools. Two of one name are an error, and so is a name that
// not all providers take.
func NewSet(tools ...core.Tool) (Set, error) {
	s := slices.SortedFunc(slices.Values(tools), func(a, b core.Tool) int {
		return cmp.Compare(a.Spec().Name, b.Spec().Name)
	})
	for i, t := range s {
		name := t.Spec().Name
		if !valid(name) {
			return nil, fmt.Errorf("tool %q: a name is 1 to 64 letters, digits, underscores and dashes", name)
		}
		if i > 0 && s[i-1].Spec().Name == name {
			return nil, fmt.Errorf("tool %s: there are two of this name", name)
		}
	}
	return s, nil
}

func valid(name string) bool {
	return name != "" && len(name) <= 64 && strings.IndexFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-')
	}) < 0
}

// Specs describes the tools that the bot may use, sorted by name.
func (s Set) Specs(bot core.Bot) []core.ToolSpec {
	var specs []core.ToolSpec
	for _, t := range s {
		if spec := t.Spec(); may(bot, spec) {
			specs = append(specs, spec)
		}
	}
	return specs
}

// may reports whether the bot may use the tool.
func may(bot core.Bot, tool core.ToolSpec) bool {
	return bot.May(tool.Name) && (tool.ReadOnly || !bot.ReadOnly)
}

// Find is the tool of that name, if the bot may use it. The error is for the
// model to read: it lists the tools that there are.
func (s Set) Find(bot core.Bot, name string) (core.Tool, error) {
	i, ok := slices.BinarySearchFunc(s, name, func(t core.Tool, name string) int {
		return cmp.Compare(t.Spec().Name, name)
	})
	if ok && may(bot, s[i].Spec()) {
		return s[i], nil
	}
	var names []string
	for _, spec := range s.Specs(bot) {
		names = append(names, spec.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no tool %q, nor any other", name)
	}
	return nil, fmt.Errorf("there is no tool %q; available: %s", name, strings.Join(names, ", "))
}

// MaxOutput is the most characters of a tool's output that a model reads,
// whatever the tool's own limit. Source: architecture D-9.
const MaxOutput = 100_000

// Cap cuts text in the middle when it has more than most characters, so that
// its beginning and its end stay, and says how much is missing. The result has
// at most that many. A most of 0 or less, or above MaxOutput, means MaxOutput.
func Cap(text string, most int) string {
	if most <= 0 || most > MaxOutput {
		most = MaxOutput
	}
	if len(text) <= most {
		return text
	}
	n := utf8.RuneCountInString(text)
	if n <= most {
		return text
	}
	note := func(missing int) string { return fmt.Sprintf("\n[… %d characters left out …]\n", missing) }
	keep := most - utf8.RuneCountInString(note(n))
	if keep < 2 {
		return text[:offset(text, most)]
	}
	head := offset(text, keep-keep/2)
	tail := head + offset(text[head:], n-keep)
	return text[:head] + note(n-keep) + text[tail:]
}

// offset is where the character with index n begins in s.
func offset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
