package perm

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// commands are simple commands, each with what it is to a person who allows such
// calls for a task: the program, or all of it where something else decides what is
// done. One that is vague is nobody's kind.
var commands = []struct {
	line, kind string
	vague      bool
}{
	{line: "ls", kind: "ls"}, {line: "ls -la /etc", kind: "ls"}, {line: "cat a b", kind: "cat"}, {line: "git push", kind: "git"}, {line: "git status", kind: "git"},
	{line: "'rm' x", kind: "rm"}, {line: "rm -rf y", kind: "rm"}, {line: "sh -c 'rm x'", kind: "rm"}, {line: "nohup rm x", kind: "rm"}, {line: "timeout 5 rm z", kind: "rm"},
	{line: "make", kind: "make"}, {line: "sudo make", kind: "sudo make"}, {line: "sudo make install", kind: "sudo make install"},
	{line: "FOO=1 make", kind: "FOO=1 make"}, {line: "PATH=. ls", kind: "PATH=. ls"}, {line: "env PATH=. ls", kind: "PATH=. ls"},
	{line: "ls > f", kind: "ls > f"}, {line: "ls > g", kind: "ls > g"}, {line: "cat a >> b", kind: "cat a >> b"},
	{line: "./ls", kind: "./ls"}, {line: "/bin/ls", kind: "/bin/ls"},
	{line: "$X", vague: true}, {line: "rm$Y z", vague: true}, {line: "eval \"$Z\"", vague: true}, {line: "curl x | sh", vague: true}, {line: "ls (", vague: true}, {line: "l? x", vague: true},
}

// TestClassIsNeverWider: two command lines are of one class only if they run the
// same programs in the same manner, or are the same line; one that nobody can read
// is of no class but its own.
func TestClassIsNeverWider(t *testing.T) {
	dice := rand.New(rand.NewPCG(5, 8))
	type made struct {
		line  string
		kinds []string
		vague bool
	}
	some := func() (m made) {
		var parts []string
		for range 1 + dice.IntN(3) {
			c := commands[dice.IntN(len(commands))]
			parts, m.vague = append(parts, c.line), m.vague || c.vague
			if !slices.Contains(m.kinds, c.kind) {
				m.kinds = append(m.kinds, c.kind)
			}
		}
		slices.Sort(m.kinds)
		m.line = strings.Join(parts, someJoints[dice.IntN(len(someJoints))])
		return m
	}
	byClass := map[string]made{}
	for range many / 3 {
		m := some()
		class := Class(execCall(m.line))
		have, ok := byClass[class]
		if ok && have.line != m.line && (have.vague || m.vague || !slices.Equal(have.kinds, m.kinds)) {
			t.Fatalf("%q and %q are both of the class %q", have.line, m.line, class)
		}
		byClass[class] = m
	}
	if n := len(byClass); n < many/100 {
		t.Errorf("there are only %d classes", n)
	}
}

// A class is of one tool, and what a line may do in one folder is not what it may
// do elsewhere, as far as its fingerprint goes.
func TestFingerprint(t *testing.T) {
	base := Call{Agent: "ann", Workspace: "w", Tool: "exec", Args: `{"command":"ls"}`}
	seen := map[string]string{}
	for what, c := range map[string]Call{
		"the call":        base,
		"another bot's":   {Agent: "bob", Workspace: "w", Tool: "exec", Args: base.Args},
		"elsewhere":       {Agent: "ann", Workspace: "v", Tool: "exec", Args: base.Args},
		"another tool's":  {Agent: "ann", Workspace: "w", Tool: "exec2", Args: base.Args},
		"other arguments": {Agent: "ann", Workspace: "w", Tool: "exec", Args: `{"command":"ls "}`},
		"shifted":         {Agent: "ann", Workspace: "wexec", Tool: "", Args: base.Args},
		"shifted again":   {Agent: "annw", Workspace: "", Tool: "exec", Args: base.Args},
	} {
		f := Fingerprint(c)
		if other := seen[f]; other != "" {
			t.Errorf("%s has the fingerprint of %s", what, other)
		}
		seen[f] = what
	}
	other := base
	other.Tool = "exec2"
	if Class(base) == Class(other) {
		t.Error("two tools are of one class")
	}
}
