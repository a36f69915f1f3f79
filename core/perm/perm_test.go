package perm

import (
	"fmt"
	"strings"
	"testing"

	"bellhop/core"
)

// TestEveryCombination holds Decide against the order of the levels, written out
// the other way round, for everything that the levels can say together.
func TestEveryCombination(t *testing.T) {
	says := []core.Action{"", core.ActionAllow, core.ActionAsk, core.ActionDeny}
	level := func(a core.Action) []core.Rule {
		if a == "" {
			return []core.Rule{{Tool: "other", Action: core.ActionDeny}}
		}
		return []core.Rule{{Tool: "other", Action: core.ActionDeny}, {Tool: "t*", Action: a}}
	}
	call := Call{Agent: "bot", Workspace: "/w", Tool: "thing", Args: `{"a":1}`, Role: core.Member}
	n := 0
	for _, mode := range []core.Mode{"", core.ModeDefault, core.ModeSmart, core.ModeBypass} {
		for i := range 256 {
			agent, binding, global := says[i%4], says[i/4%4], says[i/16%4]
			remembered, readOnly := i/64%2 == 1, i/128%2 == 1
			l := Levels{Mode: mode, Agent: level(agent), Binding: level(binding), Global: level(global)}
			c := call
			c.ReadOnly = readOnly
			if remembered {
				l.Remembered = []core.Remembered{Remember(c)}
			}
			want := Decision{Action: core.ActionAsk, Level: ByDefault}
			if readOnly {
				want.Action = core.ActionAllow
			}
			decide := func(by Level, a core.Action) {
				if a != "" {
					want.Action, want.Level = a, by
				}
			}
			if remembered {
				decide(ByRemembered, core.ActionAllow)
			}
			decide(ByGlobal, global)
			decide(ByBinding, binding)
			decide(ByAgent, agent)
			if mode == core.ModeBypass || mode == core.ModeSmart && readOnly {
				decide(ByMode, core.ActionAllow)
			}
			for _, over := range []struct {
				Level
				core.Action
			}{{ByGlobal, global}, {ByBinding, binding}, {ByAgent, agent}} {
				if over.Action == core.ActionDeny {
					decide(over.Level, core.ActionDeny)
				}
			}
			want.Always = want.Action == core.ActionAsk && want.Level == ByDefault
			got := Decide(l, c)
			if rules := got.Level == ByAgent || got.Level == ByBinding || got.Level == ByGlobal; rules != (got.Rule != core.Rule{}) || rules && got.Rule.Action != got.Action {
				t.Fatalf("mode %q, rules %q %q %q, remembered %v, read-only %v: %+v", mode, agent, binding, global, remembered, readOnly, got)
			}
			got.Rule = core.Rule{}
			if got != want {
				t.Fatalf("mode %q, rules %q %q %q, remembered %v, read-only %v: %+v, want %+v", mode, agent, binding, global, remembered, readOnly, got, want)
			}
			n++
		}
	}
	if n != 4*256 {
		t.Errorf("%d combinations", n)
	}
}

func TestFirstMatchCounts(t *testing.T) {
	rules := []core.Rule{
		{Tool: "write_file", Pattern: "notes/**", Action: core.ActionAllow},
		{Tool: "write_*", Pattern: "notes/secret.md", Action: core.ActionDeny},
		{Tool: "*", Pattern: "**/*.key", Action: core.ActionDeny},
		{Tool: "*", Action: core.ActionAsk},
	}
	for path, want := range map[string]core.Action{
		"notes/a.md":      core.ActionAllow,
		"notes/secret.md": core.ActionAllow,
		"other.md":        core.ActionAsk,
		"a/b.key":         core.ActionDeny,
	} {
		d := Decide(Levels{Agent: rules}, Call{Tool: "write_file", Args: fmt.Sprintf(`{"content":"","path":%q}`, path)})
		if d.Action != want {
			t.Errorf("%s: %q, want %q", path, d.Action, want)
		}
	}
}

func TestRolesOfRules(t *testing.T) {
	for _, c := range []struct {
		action core.Action
		rule   core.Role
		speaks []core.Role
	}{
		{core.ActionAllow, core.Stranger, []core.Role{core.Stranger, core.Member, core.Admin, core.Owner}},
		{core.ActionDeny, core.Stranger, []core.Role{core.Stranger, core.Member, core.Admin, core.Owner}},
		{core.ActionAllow, core.Member, []core.Role{core.Member, core.Admin, core.Owner}},
		{core.ActionAllow, core.Admin, []core.Role{core.Admin, core.Owner}},
		{core.ActionAllow, core.Owner, []core.Role{core.Owner}},
		{core.ActionAsk, core.Member, []core.Role{core.Stranger, core.Member}},
		{core.ActionAsk, core.Admin, []core.Role{core.Stranger, core.Member, core.Admin}},
		{core.ActionDeny, core.Member, []core.Role{core.Stranger, core.Member}},
		{core.ActionDeny, core.Owner, []core.Role{core.Stranger, core.Member, core.Admin, core.Owner}},
	} {
		var speaks []core.Role
		for role := core.Stranger; role <= core.Owner; role++ {
			d := Decide(Levels{Global: []core.Rule{{Tool: "t", Action: c.action, Role: c.rule}}}, Call{Tool: "t", Role: role})
			if d.Level == ByGlobal {
				speaks = append(speaks, role)
			}
		}
		if fmt.Sprint(speaks) != fmt.Sprint(c.speaks) {
			t.Errorf("%s with role %s speaks of %v, want %v", c.action, c.rule, speaks, c.speaks)
		}
	}
}

func TestRememberedIsLiteral(t *testing.T) {
	given := Call{Agent: "bot", Workspace: "/w", Tool: "exec", Args: `{"command":"rm *"}`}
	l := Levels{Remembered: []core.Remembered{Remember(given)}}
	for _, c := range []struct {
		call Call
		want core.Action
	}{
		{given, core.ActionAllow},
		{Call{Agent: "bot", Workspace: "/w", Tool: "exec", Args: `{"command":"rm x"}`}, core.ActionAsk},
		{Call{Agent: "bot", Workspace: "/w", Tool: "exec", Args: `{"command":"rm *","cwd":"/"}`}, core.ActionAsk},
		{Call{Agent: "bot", Workspace: "/v", Tool: "exec", Args: `{"command":"rm *"}`}, core.ActionAsk},
		{Call{Agent: "bot", Tool: "exec", Args: `{"command":"rm *"}`}, core.ActionAsk},
		{Call{Agent: "other", Workspace: "/w", Tool: "exec", Args: `{"command":"rm *"}`}, core.ActionAsk},
		{Call{Agent: "bot", Workspace: "/w", Tool: "shell", Args: `{"command":"rm *"}`}, core.ActionAsk},
	} {
		if got := Decide(l, c.call); got.Action != c.want {
			t.Errorf("%+v: %q, want %q", c.call, got.Action, c.want)
		}
	}
	if got := l.Remembered[0].Shown; got != "rm *" {
		t.Errorf("it is shown as %q", got)
	}
	d := Decide(Levels{Remembered: l.Remembered, Agent: []core.Rule{{Tool: "exec", Pattern: "rm *", Action: core.ActionAsk}}}, given)
	if d.Action != core.ActionAsk || d.Always {
		t.Errorf("a rule that asks gives way to what is remembered, or offers to remember it: %+v", d)
	}
}

func TestSmartMode(t *testing.T) {
	exec := func(line string) Call { return Call{Tool: "exec", Args: fmt.Sprintf(`{"command":%q}`, line)} }
	file := func(tool, path string) Call {
		return Call{Tool: tool, Workspace: "/w", Args: fmt.Sprintf(`{"path":%q}`, path)}
	}
	for _, c := range []Call{
		file("write_file", "a/b.txt"), file("edit_file", "/w/a.txt"), {Tool: "any", ReadOnly: true},
		exec("ls"), exec("ls -la | head -3"), exec("cat a.txt b.txt"), exec("find . -name '*.go' -exec wc -l {} +"), exec("mkdir -p a/b"),
		exec("touch x"), exec("cp -n a b"), exec("git status"), exec("git log --oneline -3"), exec("git branch"), exec("git branch --list 'a/*'"),
		exec("git diff HEAD~1 2>/dev/null"), exec("pwd && echo done"),
	} {
		if d := Decide(Levels{Mode: core.ModeSmart}, c); d.Action != core.ActionAllow || d.Level != ByMode {
			t.Errorf("%s %s: %+v", c.Tool, c.Args, d)
		}
	}
	for _, c := range []Call{
		file("write_file", "../a.txt"), file("write_file", "/etc/passwd"), file("write_file", "~/.bashrc"), file("edit_file", ".git/config"),
		file("write_file", "sub/.git/hooks/x"), file("write_file", "a/../.git/config"), file("delete_file", "a.txt"), {Tool: "write_file", Args: `{}`}, {Tool: "any"},
		exec("rm x"), exec("ls; rm x"), exec("cp a b"), exec("mv a b"), exec("find . -delete"), exec("find -delete"), exec("find . -fprint x"),
		exec("find . -exec rm {} +"), exec("find . -ok rm {} ;"), exec("git diff --output=x"), exec("git log --outp=x"), exec("git diff --ext-diff"),
		exec("git branch new"), exec("git branch -D main"), exec("git branch --list; git push"), exec("git checkout ."), exec("git diff $X"),
		exec("echo x > a"), exec("cat x | tee y"), exec("python x.py"), exec("npm install"), exec("go test ./..."), exec("mkdir x/.git"),
		exec("cp -n a .git/hooks/b"), exec("ls `rm x`"), exec("sudo ls"), exec("PATH=/tmp ls"), exec("git -c core.pager=x log"),
	} {
		if d := Decide(Levels{Mode: core.ModeSmart}, c); d.Action == core.ActionAllow {
			t.Errorf("%s %s is allowed: %+v", c.Tool, c.Args, d)
		}
	}
	d := Decide(Levels{Mode: core.ModeSmart, Global: []core.Rule{{Tool: "exec", Pattern: "ls *", Action: core.ActionDeny}}}, exec("ls"))
	if d.Action != core.ActionDeny {
		t.Errorf("a mode passes a deny: %+v", d)
	}
}

func TestHiddenTools(t *testing.T) {
	deny := core.Rule{Tool: "web_*", Action: core.ActionDeny}
	for name, c := range map[string]struct {
		levels [][]core.Rule
		want   bool
	}{
		"nothing":                 {nil, false},
		"denied":                  {[][]core.Rule{{deny}}, true},
		"denied at another level": {[][]core.Rule{{{Tool: "*", Action: core.ActionAllow}}, {deny}}, true},
		"another tool":            {[][]core.Rule{{{Tool: "exec", Action: core.ActionDeny}}}, false},
		"some calls":              {[][]core.Rule{{{Tool: "*", Pattern: "x", Action: core.ActionDeny}}}, false},
		"some calls, then all":    {[][]core.Rule{{{Tool: "*", Pattern: "x", Action: core.ActionDeny}, deny}}, true},
		"some people":             {[][]core.Rule{{{Tool: "*", Action: core.ActionDeny, Role: core.Member}}}, false},
		"some are allowed before": {[][]core.Rule{{{Tool: "*", Pattern: "x", Action: core.ActionAllow}, deny}}, false},
		"some are asked before":   {[][]core.Rule{{{Tool: "web_fetch", Action: core.ActionAsk, Role: core.Admin}, deny}}, false},
		"others allowed before":   {[][]core.Rule{{{Tool: "exec", Action: core.ActionAllow}, deny}}, true},
	} {
		if got := Hidden("web_fetch", c.levels...); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if d := Decide(Levels{Agent: at(c.levels, 0), Global: at(c.levels, 1), Mode: core.ModeBypass}, Call{Tool: "web_fetch", Args: `{"url":"https://a.example"}`, Role: core.Owner}); c.want && d.Action != core.ActionDeny {
			t.Errorf("%s: hidden, but %q", name, d.Action)
		}
	}
}

func at(levels [][]core.Rule, i int) []core.Rule {
	if i < len(levels) {
		return levels[i]
	}
	return nil
}

func TestLevelsOfAPlace(t *testing.T) {
	p := core.Policy{
		Rules:  []core.Rule{{Tool: "g"}},
		Agents: map[string][]core.Rule{"bot": {{Tool: "a"}}},
		Bindings: []core.Binding{
			{Place: "x:1", Rules: []core.Rule{{Tool: "b"}}, Mode: core.ModeSmart},
			{Place: "x:*", Mode: core.ModeBypass},
		},
	}
	for _, c := range []struct {
		agent string
		place core.Place
		mode  core.Mode
		want  string
	}{
		{"bot", core.Place{Adapter: "x", Channel: "1"}, "", "smart a b g"},
		{"bot", core.Place{Adapter: "x", Channel: "1", Topic: "t"}, core.ModeDefault, "default a b g"},
		{"bot", core.Place{Adapter: "x", Channel: "2"}, "", "bypass a - g"},
		{"new", core.Place{Adapter: "y", Channel: "2"}, "", " - - g"},
	} {
		l := Of(p, c.agent, c.place, c.mode, nil)
		name := func(rules []core.Rule) string {
			if len(rules) == 0 {
				return "-"
			}
			return rules[0].Tool
		}
		if got := fmt.Sprintf("%s %s %s %s", l.Mode, name(l.Agent), name(l.Binding), name(l.Global)); got != c.want {
			t.Errorf("%s at %s: %q, want %q", c.agent, c.place, got, c.want)
		}
	}
}

func TestReasons(t *testing.T) {
	for want, d := range map[string]Decision{
		"The mode of this conversation allows it.":                        {Action: core.ActionAllow, Level: ByMode},
		"A rule of this agent denies it.":                                 {Action: core.ActionDeny, Level: ByAgent},
		"A rule of this place wants it asked about.":                      {Action: core.ActionAsk, Level: ByBinding},
		"A rule for all agents allows it.":                                {Action: core.ActionAllow, Level: ByGlobal},
		"It was allowed for good.":                                        {Action: core.ActionAllow, Level: ByRemembered},
		"It changes nothing.":                                             {Action: core.ActionAllow, Level: ByDefault},
		"No rule allows it, and it may change something.":                 {Action: core.ActionAsk, Level: ByDefault},
		"No rule allows it: nobody can tell beforehand what it would do.": {Action: core.ActionAsk, Level: ByDefault, Vague: true},
	} {
		if got := d.Why(); got != want {
			t.Errorf("%+v: %q, want %q", d, got, want)
		}
	}
	want := "Permission denied: exec was not run, because a rule forbids this call. Do not try to do the same in another way. Say what you could not do."
	if got := (Decision{Action: core.ActionDeny, Level: ByGlobal, Rule: core.Rule{Tool: "exec"}}).Refusal("exec"); got != want {
		t.Errorf("%q", got)
	}
}

func TestClasses(t *testing.T) {
	exec := func(line string) Call { return Call{Tool: "exec", Args: fmt.Sprintf(`{"command":%q}`, line)} }
	for _, c := range []struct {
		a, b Call
		same bool
	}{
		{exec("make test"), exec("make all"), true},
		{exec("make | head"), exec("make -j4 all | head -3"), true},
		{exec("nohup make"), exec("make"), true},
		{exec("make"), exec("make | head"), false},
		{exec("make"), exec("sudo make"), false},
		{exec("sudo make"), exec("sudo make all"), false},
		{exec("make"), exec("PATH=/tmp make"), false},
		{exec("make"), exec("env PATH=/tmp make"), false},
		{exec("make"), exec("make > out"), false},
		{exec("make"), exec("./make"), false},
		{exec("git log"), exec("git -c core.pager=x log"), false},
		{exec("sh a.sh"), exec("sh b.sh"), false},
		{exec("$X a"), exec("$X b"), false},
		{exec("PATH=/tmp"), exec("PATH=/opt"), false},
		{Call{Tool: "note", Args: `{"a":1}`}, Call{Tool: "note", Args: `{"a":2}`}, true},
		{Call{Tool: "note"}, Call{Tool: "fire"}, false},
	} {
		if got := Class(c.a) == Class(c.b); got != c.same {
			t.Errorf("%s %s and %s: the same is %v", c.a.Tool, c.a.Args, c.b.Args, got)
		}
	}
}

func TestWhatIsRememberedIsShown(t *testing.T) {
	call := Call{Tool: "exec", Args: `{"command":"ls \u200b"}`}
	if got := Remember(call).Shown; got != `ls \u{200b}` {
		t.Errorf("%q", got)
	}
	call.Args = fmt.Sprintf(`{"command":%q}`, strings.Repeat("é", 300))
	if got := []rune(Remember(call).Shown); len(got) != maxShown || got[maxShown-1] != '…' {
		t.Errorf("%d characters", len(got))
	}
}
