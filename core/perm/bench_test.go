package perm

import (
	"strings"
	"testing"
)

func BenchmarkDecide(b *testing.B) {
	l := Levels{Agent: allow("ls *", "cat *", "git status *", "git log *", "head *"), Global: deny("rm *", "sudo *", "git push *", "curl * | sh")}
	for name, line := range map[string]string{
		"plain": "git status",
		"pipe":  "git log --oneline | head -3 && ls",
		"many":  strings.Repeat("ls;", maxCalls),
		"long":  "ls " + strings.Repeat("$a ", maxCommand/4),
	} {
		c := execCall(line)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Decide(l, c)
			}
		})
	}
}
