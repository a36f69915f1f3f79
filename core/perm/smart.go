package perm

import "bellhop/core"

// smart is what a thread in smart mode lets bots do without asking, beside tools
// that change nothing. It is of two kinds: what changes nothing, and what can be
// taken back because it makes something new in the workspace or is an edit of a
// file there.
//
//   - write_file and edit_file in the workspace, except in .git, whose files say
//     which programs git runs
//   - ls, cat, head, tail, wc, diff, echo, pwd, file, stat, du
//   - find, unless it deletes, writes, or runs a command that is not listed
//   - mkdir and touch; cp and mv with -n, which overwrite nothing
//   - git status, log, diff, show and the lists of git branch, unless they write a
//     file or run a program
//
// Programs that run whatever they are given (interpreters, package managers,
// build tools) are not on it, since nobody can say what they change.
var smart = smartRules()

func smartRules() []core.Rule {
	var rules []core.Rule
	add := func(action core.Action, tool string, patterns ...string) {
		for _, p := range patterns {
			rules = append(rules, core.Rule{Tool: tool, Pattern: p, Action: action})
		}
	}
	for _, tool := range []string{"write_file", "edit_file"} {
		add(core.ActionAsk, tool, "**/.git/**")
		add(core.ActionAllow, tool, "**")
	}
	add(core.ActionAsk, "exec", "find *-delete*", "find *-fprint*", "find *-fls*", "git *--ou*", "git *--ext*", "git *--textconv*",
		"mkdir *.git*", "touch *.git*", "cp *.git*", "mv *.git*")
	add(core.ActionAllow, "exec", "ls *", "cat *", "head *", "tail *", "wc *", "diff *", "echo *", "pwd", "file *", "stat *", "du *", "find *",
		"mkdir *", "touch *", "cp -n *", "mv -n *",
		"git status *", "git log *", "git diff *", "git show *",
		"git branch", "git branch -a", "git branch -r", "git branch -v", "git branch -vv", "git branch --list *")
	return rules
}
