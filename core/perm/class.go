package perm

import (
	"slices"
	"strings"
)

// Class is the calls that count as the same kind of thing for the rest of a run,
// once a person has allowed or refused one: of commands those that run the same
// programs in the same manner, where that can be known, of other tools every call.
// What runs with other rights or assignments, runs a script, or writes a file is a
// kind of its own.
func Class(c Call) string {
	s := read(c)
	switch {
	case s.vague:
		return c.Tool + " " + hash(c.Args)
	case len(s.runs) > 0:
		runs := slices.Clone(s.runs)
		slices.Sort(runs)
		return c.Tool + " " + strings.Join(slices.Compact(runs), " ")
	}
	return c.Tool
}

// Fingerprint is of the call and nothing else: what a person has allowed is what
// has it.
func Fingerprint(c Call) string {
	return hash(strings.Join([]string{c.Agent, c.Workspace, c.Tool, c.Args}, "\x00"))
}
