package perm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bellhop/core"
)

// TestAgainstShells makes command lines and has real shells run them, with
// programs that do nothing but note that they were called: whatever a shell makes
// of a line, it calls the program zap neither in a line that rules allow which do
// not name it, nor in one that is wholly known and passes a rule that denies it.
func TestAgainstShells(t *testing.T) {
	house := newShellHouse(t)
	allowed := allow("ls *", "git *", "echo *", "env *", "sh *", "xargs *", "find *", "command *", "eval *", "timeout *", "trap *", "export *", "X=* *")
	denied := deny("zap *")
	for _, name := range house.shells { // else nothing below says anything
		if house.run(t, name, "ls; git status") || !house.run(t, name, "ls | zap x") || !house.run(t, name, "$X") {
			t.Fatalf("%s does not call what it should", name)
		}
	}
	const runs = 150
	seed := rand.Uint64()
	g := &grammar{rand.New(rand.NewPCG(seed, 0))}
	var ran, byAllow, zapped int
	for range 100 * runs {
		line := g.list(3)
		s := shell(line)
		passes := !s.vague && verdict(line, denied...) != core.ActionDeny
		may := verdict(line, allowed...) == core.ActionAllow
		if strings.Contains(line, "\x00") || !may && (!passes || !strings.Contains(strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(line), "zap")) && g.n(40) > 0 {
			continue // nothing to find, most likely
		}
		for _, name := range house.shells {
			called := house.run(t, name, line)
			ran++
			if !called {
				continue
			}
			zapped++
			if may {
				t.Errorf("seed %d: %s calls zap in %q, which is allowed", seed, name, line)
			}
			if passes {
				t.Errorf("seed %d: %s calls zap in %q, which is not denied", seed, name, line)
			}
		}
		if may {
			byAllow++
		}
		if ran > runs {
			break
		}
	}
	t.Logf("%d runs, %d lines allowed, zap called in %d", ran, byAllow, zapped)
}

// shellHouse is a folder of programs.
type shellHouse struct {
	bin, work, log string
	shells         []string
}

func newShellHouse(t *testing.T) *shellHouse {
	t.Helper()
	dir := t.TempDir()
	h := &shellHouse{bin: filepath.Join(dir, "bin"), work: filepath.Join(dir, "work"), log: filepath.Join(dir, "log")}
	for _, d := range []string{h.bin, h.work} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	for name, text := range map[string]string{"zap": "echo zap >> " + h.log, "ls": ":", "git": ":"} {
		if err := os.WriteFile(filepath.Join(h.bin, name), []byte("#!"+sh+"\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sh", "bash", "dash", "busybox", "env", "xargs", "find", "nohup", "timeout", "nice"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if err := os.Symlink(path, filepath.Join(h.bin, name)); err != nil {
			t.Fatal(err)
		}
		if name == "sh" || name == "bash" || name == "dash" {
			h.shells = append(h.shells, name)
		}
	}
	return h
}

// run reports whether the shell calls zap.
func (h *shellHouse) run(t *testing.T, shell, line string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(h.bin, shell), "-c", line)
	cmd.Dir = h.work
	cmd.Env = []string{"PATH=" + h.bin, "X=zap x", "Y=z", "HOME=" + h.bin}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed && !errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		t.Fatalf("%s -c %q: %v\n%s", shell, line, err, out)
	}
	_, err = os.Stat(h.log)
	if err == nil {
		if err := os.Remove(h.log); err != nil {
			t.Fatal(err)
		}
	}
	return err == nil
}

// grammar makes command lines that are mostly ones.
type grammar struct{ *rand.Rand }

func (g *grammar) n(n int) int { return g.IntN(n) }

func (g *grammar) of(choices ...string) string { return choices[g.n(len(choices))] }

func (g *grammar) list(depth int) string {
	var s strings.Builder
	s.WriteString(g.command(depth))
	for range g.n(3) {
		s.WriteString(g.of("; ", " && ", " || ", " | ", "\n", ";", "|") + g.command(depth))
	}
	return s.String()
}

func (g *grammar) command(depth int) string {
	if depth == 0 {
		return g.simple(0)
	}
	switch g.n(14) {
	case 0:
		return "(" + g.list(depth-1) + ")"
	case 1:
		return "{ " + g.list(depth-1) + "; }"
	case 2:
		return "if " + g.list(depth-1) + "; then " + g.list(depth-1) + "; fi"
	case 3:
		return "case a in " + g.of("a", "*", "b") + ") " + g.list(depth-1) + " ;; esac"
	case 4:
		return "! " + g.command(depth-1)
	case 5:
		return "for f in " + g.word(depth-1) + "; do " + g.list(depth-1) + "; done"
	case 6:
		return "f() { " + g.list(depth-1) + "; }; f"
	case 7:
		return "cat <<E\n" + g.word(depth-1) + "\nE\n" + g.simple(depth-1)
	}
	return g.simple(depth)
}

func (g *grammar) simple(depth int) string {
	var s strings.Builder
	if g.n(8) == 0 {
		s.WriteString(g.of("X=", "PATH=", "A=", "LS=") + g.word(depth) + g.of(" ", "; "))
	}
	for range g.n(3) {
		s.WriteString(g.of("env ", "env X=1 ", "env -i ", "command ", "exec ", "nohup ", "timeout 2 ", "nice -n 1 ", "xargs ", "xargs -I{} ", "time ", "builtin ", "env -u A ", "eval ", "busybox "))
	}
	switch g.n(10) {
	case 0:
		s.WriteString(g.of("sh -c ", "bash -c ", "eval ", "sh -ec ") + "'" + strings.ReplaceAll(g.list(max(0, depth-1)), "'", `'\''`) + "'")
	case 1:
		s.WriteString(g.of("sh -c ", "eval ", "trap ") + `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(g.list(max(0, depth-1))) + `"` + g.of("", " EXIT"))
	case 2:
		s.WriteString("find . -maxdepth 0 " + g.of("-exec ", "-execdir ") + g.name() + " {} " + g.of(`\;`, "+", "';'"))
	default:
		s.WriteString(g.name())
		for range g.n(3) {
			s.WriteString(" " + g.word(depth))
		}
	}
	if g.n(10) == 0 {
		s.WriteString(g.of(" > out", " 2>&1", " >/dev/null", " < /dev/null", " >> out", " &> out", " >| out"))
	}
	return s.String()
}

func (g *grammar) name() string {
	if g.n(3) > 0 {
		return g.of("ls", "git", "echo", "export", "alias", ":", "printf")
	}
	return g.of("zap", "z''ap", `z\ap`, `"zap"`, "$X", "${Y}ap", "za?", "$(echo zap)", "`echo zap`", "${Z:-zap}", "$'zap'", "{zap,x}", "./zap", "ls\\\n", "~/zap", "git$Z", "l''s")
}

func (g *grammar) word(depth int) string {
	if depth > 0 && g.n(4) == 0 {
		return fmt.Sprintf(g.of("$(%s)", "\"$(%s)\"", "<(%s)", "${Z:-$(%s)}", "$((1$(%s)))", "`%s`", "x$(%s)y", "$(echo $(%s))"), g.list(depth-1))
	}
	return g.of("x", "a b", "'a b'", `"$X"`, "$X", "*", "-c", "zap", "'zap x'", `"zap"`, "status", "ls=zap", "-- zap", "#", "a#b", "'", `\;`, "; zap", "{a,b}", "~", "${X}", "${W:=zap}", "$(", "`", "-v 'a[$(zap)]'", "'a[$(zap)]'")
}
