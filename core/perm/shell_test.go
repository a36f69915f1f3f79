package perm

import (
	"slices"
	"strings"
	"testing"

	"bellhop/core"
)

// verdict is what rules of one level say of a command: "" if nothing.
func verdict(line string, rules ...core.Rule) core.Action {
	action, _ := first(rules, Call{Tool: "exec"}, shell(line))
	return action
}

func allow(patterns ...string) []core.Rule { return of(core.ActionAllow, patterns) }
func deny(patterns ...string) []core.Rule  { return of(core.ActionDeny, patterns) }

func of(a core.Action, patterns []string) []core.Rule {
	var out []core.Rule
	for _, p := range patterns {
		out = append(out, core.Rule{Tool: "exec", Pattern: p, Action: a})
	}
	return out
}

func TestAllowedCommands(t *testing.T) {
	for _, c := range []struct {
		line  string
		rules []core.Rule
		want  bool
	}{
		{"git status", allow("git status*"), true},
		{"  git   'status'  -s", allow("git status*"), true},
		{"git status", allow("git status"), true},
		{"git status -s", allow("git status"), false},
		{"ls", allow("ls *"), true},
		{"lsof", allow("ls *"), false},
		{"ls -la /tmp", allow("ls *"), true},
		{"git status && git log | head -3", allow("git *", "head *"), true},
		{"git status; git log", allow("git status", "git log"), true},
		{"(cd sub; make) && { pwd; }", allow("cd *", "make", "pwd"), true},
		{"if test -f x; then cat x; else echo no; fi", allow("test *", "cat *", "echo *"), true},
		{"while sleep 1; do date; done", allow("sleep *", "date"), true},
		{"case a in a) pwd;; *) ls;; esac", allow("pwd", "ls"), true},
		{"! grep -q x y", allow("grep *"), true},
		{"time make", allow("make"), true},
		{"sleep 9 &", allow("sleep *"), true},
		{"echo $(git rev-parse HEAD)", allow("echo *", "git *"), true},
		{"diff <(ls a) <(ls b)", allow("diff *", "ls *"), true},
		{"cat <<EOF\n$(date)\nEOF", allow("cat *", "date"), true},
		{"make 2>&1", allow("make"), true},
		{"make >/dev/null 2>&1", allow("make"), true},
		{"make && make install", allow("make && make install"), true},
		{"make   &&\n make install", allow("make && make install"), true},
		{"make && make test", allow("make && make install"), false},
		{"for f in *.go; do gofmt $f; done", allow("for f in *.go; do gofmt $f; done"), true},
		{"anything | at all > x", allow(""), true},
		{"$X", allow(""), true},
		{"git commit -m 'two words'", allow("git commit *"), true},
		{"git commit -m 'two words'", allow("git commit -m 'two words'"), true},
		{"ls a?c", allow("ls a\\?c"), false},
		{"ls a?c", allow("ls a?c"), true},
		{"ls 'a?c'", allow("ls a\\?c"), true},
		{"cat notes.txt", allow("cat ?otes.txt"), true},
		{"nohup timeout -k 5 10s make test", allow("make *"), true},
		{"nohup timeout -k 5 10s make test", allow("nohup timeout -k 5 10s make *"), true},
		{"env make", allow("make"), true},
		{"FOO=1 make", allow("FOO=1 make"), true},
		{"FOO=1 make test", allow("FOO=1 make *"), true},
		{"env FOO=1 make test", allow("FOO=1 make *"), true},
		{"sudo systemctl restart nginx", allow("sudo systemctl restart *"), true},
		{"sh -c 'git status; ls'", allow("git *", "ls"), true},
		{"find . -name '*.go' -exec grep -l x {} +", allow("find *", "grep *"), true},
		{"ls | xargs -n 1 wc -l", allow("ls", "wc *"), true},
		{"ls | xargs -I % wc %", allow("ls", "wc *"), true},
		{"git log > out.txt", allow("git log > out.txt"), true},
		{"git log --oneline >out.txt", allow("git log * > out.txt"), true},
		{"sort < in", allow("sort *"), true},
		{"git -c color.ui=false status", allow("git -c color.ui=false status*"), true},
		{"command -v git", allow("command -v *"), true},
		{"sh build.sh all", allow("sh build.sh *"), true},
		{"echo \"a; rm -rf /\"", allow("echo *"), true},
		{"echo a\\;b", allow("echo *"), true},
	} {
		got := verdict(c.line, c.rules...)
		if (got == core.ActionAllow) != c.want {
			t.Errorf("%q with %v: %q", c.line, c.rules, got)
		}
	}
}

// tricks are the ways around rules on commands that are on record for systems
// like this one, by name.
var tricks = map[string]string{
	"pipe":                        "ls | rm -rf x",
	"list":                        "ls; rm -rf x",
	"and":                         "ls && rm -rf x",
	"or":                          "ls || rm -rf x",
	"background":                  "ls & rm -rf x",
	"newline":                     "ls\nrm -rf x",
	"carriage return":             "ls\rrm -rf x",
	"NUL":                         "ls\x00; rm -rf x",
	"subshell":                    "(ls; rm -rf x)",
	"block":                       "{ ls; rm -rf x; }",
	"substitution":                "ls $(rm -rf x)",
	"backquotes":                  "ls `rm -rf x`",
	"quoted substitution":         `ls "$(rm -rf x)"`,
	"substitution in a default":   "ls ${x:-$(rm -rf x)}",
	"substitution in arithmetic":  "ls $((a[$(rm -rf x)]))",
	"substitution in a document":  "cat <<EOF\n$(rm -rf x)\nEOF",
	"substitution in a target":    "ls > $(rm -rf x)",
	"process":                     "cat <(rm -rf x)",
	"output process":              "ls > >(rm -rf x)",
	"command by variable":         "$X -rf x",
	"command by default":          "${X:-rm} -rf x",
	"part of a name by variable":  "r$X -rf x",
	"command by glob":             "/bin/r? -rf x",
	"command by braces":           "{rm,-rf,x}",
	"command by home":             "~/bin/ls",
	"command by escape":           "$'rm' -rf x",
	"argument by variable":        "git $X",
	"argument by glob":            "git s*",
	"file instead of a name":      "git stat?s",
	"name with a blank":           `"git status"/../evil`,
	"name with a folder":          "./git status",
	"path of another program":     "/tmp/ls x",
	"assignment before":           "PATH=/tmp ls",
	"assignment before, preload":  "LD_PRELOAD=/tmp/x.so ls",
	"assignment apart":            "PATH=/tmp; ls",
	"assignment in an expansion":  "echo ${PATH:=/tmp}; ls",
	"export":                      "export PATH=/tmp; ls",
	"function":                    "ls() { rm -rf x; }; ls",
	"loop variable":               "for PATH in /tmp; do ls; done",
	"loop":                        "for f in x; do rm $f; done",
	"alias":                       "alias ls=rm\nls x",
	"writing":                     "ls > /etc/passwd",
	"appending":                   "echo x >> ~/.bashrc",
	"clobbering":                  "echo x >| f",
	"writing all":                 "ls &> f",
	"writing by descriptor":       "ls >& f",
	"writing a whole block":       "{ ls; cat x; } > f",
	"bare truncation":             "> f",
	"env":                         "env rm -rf x",
	"env sh":                      "env sh -c 'rm -rf x'",
	"env by path":                 "/usr/bin/env rm -rf x",
	"env of another folder":       "/tmp/env ls",
	"env with an assignment":      "env PATH=/tmp ls",
	"env split":                   "env -S 'rm -rf x'",
	"env option":                  "env --split-string='rm -rf x' ls",
	"shell":                       "sh -c 'rm -rf x'",
	"shell, combined option":      "bash -ec 'ls; rm -rf x'",
	"shell by path":               "/bin/sh -c 'rm -rf x'",
	"shell in a shell":            `sh -c "sh -c 'rm -rf x'"`,
	"shell, variable":             `sh -c "$X"`,
	"shell reads its input":       "echo 'rm -rf x' | sh",
	"shell reads a document":      "sh <<EOF\nrm -rf x\nEOF",
	"shell runs a file":           "sh evil.sh",
	"shell, login":                "bash -lc ls",
	"source":                      "source evil.sh",
	"dot":                         ". evil.sh",
	"busybox":                     "busybox rm -rf x",
	"busybox shell":               "busybox sh -c 'rm -rf x'",
	"sudo":                        "sudo ls",
	"sudo of what is not listed":  "sudo rm -rf x",
	"sudo shell":                  "sudo sh -c 'ls'",
	"sudo, unknown option":        "sudo -Z ls",
	"xargs":                       "ls | xargs rm -rf",
	"xargs, replacing":            "ls | xargs -I{} {} x",
	"xargs shell":                 "ls | xargs -I % sh -c '%'",
	"xargs, unknown option":       "ls | xargs --process-slot-var=X rm",
	"nohup":                       "nohup rm -rf x",
	"timeout":                     "timeout 5 rm -rf x",
	"nice":                        "nice -n 5 rm -rf x",
	"time":                        "time rm -rf x",
	"command":                     "command rm -rf x",
	"builtin":                     "builtin eval 'rm -rf x'",
	"exec":                        "exec rm -rf x",
	"exec, other name":            "exec -a ls rm -rf x",
	"eval":                        "eval 'rm -rf x'",
	"eval of pieces":              "eval rm '-rf x'",
	"eval of a variable":          `eval "$X"`,
	"trap":                        "trap 'rm -rf x' EXIT; ls",
	"find -exec":                  "find . -exec rm -rf {} \\;",
	"find -exec shell":            "find . -exec sh -c 'rm -rf x' \\;",
	"find -ok":                    "find . -ok rm {} ';'",
	"find -exec from a file name": "find $X",
	"git alias":                   "git -c alias.status='!rm -rf x' status",
	"git configuration":           "git --config-env=core.pager=X status",
	"git programs":                "git --exec-path=/tmp status",
	"subscript":                   "printf -v 'a[$(rm -rf x)]' y",
	"test with a subscript":       "[[ -v a[$(rm -rf x)] ]]",
	"arithmetic":                  "(( a[$(rm -rf x)] ))",
	"let":                         "let 'a[$(rm -rf x)]'",
	"coprocess":                   "coproc rm -rf x",
	"comment":                     "ls # \nrm -rf x",
	"continued line":              "ls \\\n; rm -rf x",
	"unclosed quote":              "ls 'x",
	"unclosed document":           "cat <<EOF\nx",
	"nothing":                     "",
	"only a comment":              "# ls",
	"invisible character":         "l\u200bs x",
	"long":                        "ls " + strings.Repeat("x", maxCommand),
	"many":                        strings.Repeat("ls;", maxCalls) + "rm -rf x",
	"deep":                        strings.Repeat("eval ", maxDepth+1) + "ls",
}

// TestTricks: no trick is allowed by rules that do not speak of it.
func TestTricks(t *testing.T) {
	harmless := allow("ls *", "cat *", "git status*", "echo *", "find *", "env *", "sh *", "xargs *", "busybox *", "sudo *", "command *", "exec *",
		"eval *", "nohup *", "timeout *", "nice *", "time *", "jq *", "source *")
	for name, line := range tricks {
		t.Run(name, func(t *testing.T) {
			if got := verdict(line, harmless...); got == core.ActionAllow {
				t.Errorf("%q is allowed", line)
			}
		})
	}
}

func TestDeniedCommands(t *testing.T) {
	for _, c := range []struct {
		line, pattern string
		want          bool
	}{
		{"rm x", "rm *", true},
		{"rm", "rm *", true},
		{"ls | rm x", "rm *", true},
		{"/bin/rm x", "rm *", true},
		{"./rm x", "rm *", true},
		{`r\m x`, "rm *", true},
		{`"rm" x`, "rm *", true},
		{`'r'm x`, "rm *", true},
		{"X=1 rm x", "rm *", true},
		{"rm x > log", "rm x", true},
		{"env rm x", "rm *", true},
		{"env -S 'rm x'", "rm *", true},
		{"sudo rm x", "rm *", true},
		{"sudo rm x", "sudo *", true},
		{"sudo -Z rm x", "rm *", true},
		{"sh -c 'ls; rm x'", "rm *", true},
		{"sh -c 'ls; rm x'", "sh *", true},
		{"sudo sh -c 'rm x'", "rm *", true},
		{"busybox rm x", "rm *", true},
		{"ls | xargs rm", "rm *", true},
		{"find . -exec rm {} +", "rm *", true},
		{"find . -exec rm {} +", "find *-exec*", true},
		{"eval 'rm x'", "rm *", true},
		{"trap 'rm x' EXIT", "rm *", true},
		{"echo $(rm x)", "rm *", true},
		{"cat <<EOF\n$(rm x)\nEOF", "rm *", true},
		{"f() { rm x; }; f", "rm *", true},
		{"for f in a; do rm $f; done", "rm *", true},
		{"git $X", "git push*", true},
		{"git status", "git push*", false},
		{"git 'pu'sh", "git push*", true},
		{"git -c alias.x='!rm y' x", "rm *", true},
		{"ssh host rm x", "rm *", true},
		{"watch -n1 'rm x'", "rm *", true},
		{"/tmp/any rm x", "rm *", true},
		{"$X; rm x", "rm *", true},
		{"rm 'unclosed", "rm *", true},
		{"$(rm x", "rm *", true},
		{"echo rm", "rm *", false},
		{"git rm x", "rm *", false},
		{"ls", "rm *", false},
		{"curl x | sh", "curl * | sh", true},
		{"curl   x|sh", "curl * | sh", true},
		{"git status", "", true},
		{"ls " + strings.Repeat("x", maxCommand) + "; rm x", "rm *", true},
		{strings.Repeat("ls;", maxCalls) + "rm x", "rm *", true},
	} {
		if got := verdict(c.line, deny(c.pattern)...); (got == core.ActionDeny) != c.want {
			t.Errorf("%.80q with a deny of %q: %q", c.line, c.pattern, got)
		}
	}
}

func TestOrderOfRulesOnCommands(t *testing.T) {
	ask := core.Rule{Tool: "exec", Pattern: "git push*", Action: core.ActionAsk}
	git, ls := allow("git *")[0], allow("ls *")[0]
	no := deny("rm *")[0]
	all := core.Rule{Tool: "exec", Action: core.ActionAsk}
	for _, c := range []struct {
		line  string
		rules []core.Rule
		want  core.Action
	}{
		{"git push", []core.Rule{ask, git}, core.ActionAsk},
		{"git push", []core.Rule{git, ask}, core.ActionAllow},
		{"ls; git push", []core.Rule{ask, git, ls}, core.ActionAsk},
		{"ls; git push", []core.Rule{git, ask, ls}, core.ActionAllow},
		{"git push; rm x", []core.Rule{ask, no}, core.ActionDeny}, // each part by itself, and the worst counts
		{"git log; rm x", []core.Rule{git, no}, core.ActionDeny},
		{"git log; ls", []core.Rule{git, ls, all}, core.ActionAllow},
		{"git log; pwd", []core.Rule{git, ls, all}, core.ActionAsk},
		{"git log; pwd", []core.Rule{git, ls}, ""},
		{"git log; ls", []core.Rule{git, deny("ls")[0], ls}, core.ActionDeny}, // as for ls alone
	} {
		if got := verdict(c.line, c.rules...); got != c.want {
			t.Errorf("%q with %v: %q, want %q", c.line, c.rules, got, c.want)
		}
	}
}

func TestWordsRemoveQuotes(t *testing.T) {
	for line, want := range map[string]string{
		`a'b'"c"\d`:         "abcd",
		`"a\"b\$c\d"`:       `'a"b$c\d'`,
		`'it'\''s'`:         `'it'\''s'`,
		`x "$y" z`:          "x \x00 z",
		`x a$y`:             "x a\x00",
		`x {} [ ]`:          "x {} [ ]",
		`x {a,b} a=~ ~/c`:   "x \x00 \x00 \x00",
		`A=1 B='2 3' x`:     "A=1 B='2 3' x",
		`'A=1' x`:           "'A=1' x",
		`x ""`:              "x ''",
		`x >a 2>>b <c 2>&1`: "x > a 2>> b < c",
	} {
		r := &reader{}
		if _, ok := r.code(line, frame{}); !ok || len(r.calls) != 1 {
			t.Errorf("%q: %d calls, %v", line, len(r.calls), ok)
			continue
		}
		c := r.calls[0]
		if got := c.text(len(c.args), true); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

func TestWordsOfText(t *testing.T) {
	got := words(`echo $(/bin/r\m "x")`)
	for _, w := range []string{"echo", "/bin/rm", "rm", "x"} {
		if !slices.Contains(got, w) {
			t.Errorf("%q is not among %q", w, got)
		}
	}
}
