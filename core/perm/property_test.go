package perm

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bellhop/core"
)

var (
	someTools    = []string{"exec", "write_file", "web_fetch", "github__issue"}
	someGlobs    = append([]string{"*", "exec", "write_*", "*__*"}, someTools...)
	somePatterns = []string{"", "*", "ls *", "git *", "git push*", "rm *", "make && make install", "sudo *", "a/**", "**", "*.md", "a.example", "* | sh"}
	someLines    = []string{"ls", "git push", "git status", "rm x", "make", "make install", "sudo make", "FOO=1 make", "sh -c 'rm x'", "$X", "git $X", "ls > f", "ls 'x"}
	someJoints   = []string{"; ", " && ", " || ", " | ", " & ", "\n"}
)

func drawRules(t *rapid.T, name string) []core.Rule {
	return rapid.SliceOfN(rapid.Custom(drawRule), 0, 5).Draw(t, name)
}

func drawRule(t *rapid.T) core.Rule {
	return core.Rule{
		Tool:    rapid.SampledFrom(someGlobs).Draw(t, "tool"),
		Pattern: rapid.SampledFrom(somePatterns).Draw(t, "pattern"),
		Action:  rapid.SampledFrom([]core.Action{core.ActionAllow, core.ActionAsk, core.ActionDeny}).Draw(t, "action"),
		Role:    rapid.SampledFrom([]core.Role{core.Stranger, core.Member, core.Admin, core.Owner}).Draw(t, "role"),
	}
}

func drawLine(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(someLines), 1, 4).Draw(t, "commands"), rapid.SampledFrom(someJoints).Draw(t, "joint"))
}

func execCall(line string) Call {
	args, _ := json.Marshal(map[string]string{"command": line})
	return Call{Agent: "bot", Tool: "exec", Args: string(args), Role: core.Member}
}

func drawCall(t *rapid.T) Call {
	c := execCall(drawLine(t))
	switch c.Tool = rapid.SampledFrom(someTools).Draw(t, "called"); c.Tool {
	case "write_file":
		c.Args = `{"path":"` + rapid.SampledFrom([]string{"a/b", "x.md", "../x", "/etc/passwd"}).Draw(t, "path") + `"}`
	case "web_fetch":
		c.Args = `{"url":"` + rapid.SampledFrom([]string{"https://a.example/x", "https://b.example", "x"}).Draw(t, "url") + `"}`
	}
	c.ReadOnly = rapid.Bool().Draw(t, "read-only")
	c.Role = rapid.SampledFrom([]core.Role{core.Stranger, core.Member, core.Admin, core.Owner}).Draw(t, "asks")
	return c
}

func drawLevels(t *rapid.T, c Call) Levels {
	l := Levels{
		Mode:  rapid.SampledFrom([]core.Mode{"", core.ModeDefault, core.ModeSmart, core.ModeBypass}).Draw(t, "mode"),
		Agent: drawRules(t, "agent"), Binding: drawRules(t, "binding"), Global: drawRules(t, "global"),
	}
	if rapid.Bool().Draw(t, "remembered") {
		l.Remembered = []core.Remembered{Remember(c)}
	}
	return l
}

// strictness orders actions.
func strictness(a core.Action) int {
	return slices.Index([]core.Action{core.ActionAllow, core.ActionAsk, core.ActionDeny}, a)
}

// TestADenyNeverLoosens adds a rule that denies anywhere in anything.
func TestADenyNeverLoosens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCall(t)
		l := drawLevels(t, c)
		before := Decide(l, c)
		rule := drawRule(t)
		rule.Action = core.ActionDeny
		list := rapid.SampledFrom([]*[]core.Rule{&l.Agent, &l.Binding, &l.Global}).Draw(t, "where")
		*list = slices.Insert(slices.Clone(*list), rapid.IntRange(0, len(*list)).Draw(t, "at"), rule)
		if after := Decide(l, c); strictness(after.Action) < strictness(before.Action) {
			t.Fatalf("%s %s was %+v and is %+v with %+v", c.Tool, c.Args, before, after, rule)
		}
	})
}

// TestACommandMoreNeverLoosens joins a command to a line, before or after it or
// around it: what is said of the whole is no laxer than what is said of either,
// where the rules do not name the very line.
func TestACommandMoreNeverLoosens(t *testing.T) {
	wraps := []func(a, b string) string{
		func(a, b string) string { return a + "; " + b },
		func(a, b string) string { return b + " && " + a },
		func(a, b string) string { return a + " | " + b },
		func(a, b string) string { return "(" + b + "\n" + a + ")" },
		func(a, b string) string { return "{ " + a + "; } || " + b },
		func(a, b string) string { return "if " + a + "; then " + b + "; fi" },
		func(a, b string) string { return "echo $(" + b + ") && " + a },
	}
	rapid.Check(t, func(t *rapid.T) {
		known := rapid.SampledFrom(someLines[:8]).Draw(t, "known")
		other := rapid.SampledFrom([]string{"zap x", "rm -rf x", "env zap", "sh -c 'zap x'", "find . -exec zap {} +", "$X", "./ls", "ls > f"}).Draw(t, "other")
		wrap := wraps[rapid.IntRange(0, len(wraps)-1).Draw(t, "wrap")]
		l := Levels{Agent: drawRules(t, "agent"), Binding: drawRules(t, "binding"), Global: drawRules(t, "global")}
		for _, list := range [][]core.Rule{l.Agent, l.Binding, l.Global} {
			for i := range list { // a rule that allows everything, or this line, allows it
				if list[i].Action == core.ActionAllow && (list[i].Pattern == "" || list[i].Pattern == "*" || list[i].Pattern == "rm *" || list[i].Pattern == "**") {
					list[i].Pattern = "ls *"
				}
			}
		}
		if d := Decide(l, execCall(wrap(known, other))); d.Action == core.ActionAllow {
			t.Fatalf("%q is allowed: %+v", wrap(known, other), d)
		}
		single, both := Decide(l, execCall(other)), Decide(l, execCall(known+"; "+other))
		if single.Action == core.ActionDeny && both.Action != core.ActionDeny {
			t.Fatalf("%q is denied, %q is %+v", other, known+"; "+other, both)
		}
	})
}

// FuzzShell reads any command line. Nothing panics; the same line is read the
// same way twice; and no rule allows a line with a command that it does not name.
func FuzzShell(f *testing.F) {
	for _, line := range someLines {
		f.Add(line)
		for _, joint := range someJoints {
			f.Add(line + joint + "zap x")
		}
	}
	for _, line := range tricks {
		f.Add(line)
	}
	rules := allow("ls *", "cat *", "git *", "echo *", "find *", "env *", "sh *", "sudo *", "xargs *")
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > maxCommand {
			return
		}
		s := shell(line)
		for _, u := range s.units {
			u.allowed(line)
			u.struck(line)
		}
		if again := shell(line); len(again.units) != len(s.units) || again.vague != s.vague {
			t.Errorf("%q: %d parts, then %d", line, len(s.units), len(again.units))
		}
		for _, joint := range []string{"\n", "; ", " | "} {
			more := line + joint + "zap x"
			f, ok := parse(more)
			if !ok || len(f.Stmts) == 0 || line == "" {
				continue
			}
			if last := shell(more); !last.vague && holdsCommand(last, "zap x") && verdict(more, rules...) == core.ActionAllow {
				t.Errorf("%q is allowed", more)
			}
		}
		if verdict(line, deny("*")...) != core.ActionDeny {
			t.Errorf("%q passes a rule that denies everything", line)
		}
	})
}

// holdsCommand reports whether a part of the line is the command.
func holdsCommand(s subject, command string) bool {
	return slices.ContainsFunc(s.units, func(u unit) bool { return !u.idle && u.allowed(command) })
}

// FuzzDecide makes rules and a call of any text. Nothing panics, the decision is
// one of three and is the same twice.
func FuzzDecide(f *testing.F) {
	f.Add("exec", "git *", `{"command":"git status; rm x"}`, "exec", uint8(0))
	f.Add("write_*", "**/{a,b}", `{"path":"../x/a"}`, "write_file", uint8(1))
	f.Add("*", "https://*.a.example/*", `{"url":"http://u@a.example:80/../x"}`, "web_fetch", uint8(2))
	f.Add("*__*", `[`, `{`, "github__issue", uint8(7))
	f.Fuzz(func(t *testing.T, glob, pattern, args, tool string, n uint8) {
		if len(args)+len(pattern)+len(glob) > 4096 {
			return
		}
		actions := []core.Action{core.ActionAllow, core.ActionAsk, core.ActionDeny}
		rules := []core.Rule{{Tool: glob, Pattern: pattern, Action: actions[n%3], Role: core.Role(n / 3 % 4)}, {Tool: "*", Pattern: glob, Action: actions[n/12%3]}}
		c := Call{Tool: tool, Args: args, Workspace: "/w", Role: core.Role(n / 36 % 4), ReadOnly: n%2 == 0}
		l := Levels{Mode: []core.Mode{"", core.ModeSmart, core.ModeBypass}[n%3], Agent: rules[:1], Global: rules[1:]}
		d := Decide(l, c)
		if !slices.Contains(actions, d.Action) || d.Level == "" || d.Why() == "" {
			t.Errorf("%+v", d)
		}
		if again := Decide(l, c); again != d {
			t.Errorf("%+v, then %+v", d, again)
		}
		Hidden(tool, rules)
	})
}
