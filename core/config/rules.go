package config

import (
	"bellhop/core"
	"bellhop/core/perm"
)

// Rule says what is done about some uses of tools. The first that matches
// counts, in each list of its own.
type Rule struct {
	Tool    string `toml:"tool"`           // glob over the tool's name; no default
	Pattern string `toml:"pattern"`        // glob over the command, path, URL or arguments; default "": any
	Action  string `toml:"action"`         // allow, ask, deny; no default
	Role    string `toml:"role,omitempty"` // owner, admin, member: allow speaks of these and higher ones, ask and deny of these and lower ones; default "": of everybody
}

// Core is the rule as the other packages know it.
func (r Rule) Core() core.Rule {
	out := core.Rule{Tool: r.Tool, Pattern: r.Pattern, Action: core.Action(r.Action)}
	if r.Role != "" {
		_ = out.Role.UnmarshalText([]byte(r.Role)) // checked when it was read
	}
	return out
}

// rules reads the rules of a level, in the order of the file.
func (t *table) rules() []Rule {
	var out []Rule
	for _, t := range t.array("rules") {
		r := Rule{Tool: t.needed("tool", `a glob over the names of tools, such as "exec" or "github__*"`), Pattern: t.str("pattern", "")}
		if t.needed("action", "allow, ask or deny") != "" {
			r.Action = t.oneOf("action", "", "allow", "ask", "deny")
		}
		if t.str("role", "") != "" {
			r.Role = t.oneOf("role", "", "owner", "admin", "member")
		}
		if r.Tool != "" {
			if err := perm.Check(r.Core()); err != nil {
				t.fail("pattern", "%s %s", t.quoted("pattern"), err)
			}
		}
		out = append(out, r)
		t.done()
	}
	return out
}

// needed is a string that must be there and not be empty.
func (t *table) needed(key, what string) string {
	s, ok := t.text(key)
	if s == "" && (ok || !t.has(key)) {
		t.fail(key, "is missing: want %s", what)
	}
	return s
}
