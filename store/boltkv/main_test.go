package boltkv

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"bellhop/store"
)

// childEnv names what the test binary does instead of the tests when it runs as
// a child; its folder is the first argument.
const childEnv = "BOLTKV_TEST_CHILD"

var children = map[string]func(dir string) error{
	"hold":     childHold,
	"write":    childWrite,
	"damage":   childDamage,
	"limit":    childLimit,
	"truncate": childTruncate,
}

func TestMain(m *testing.M) {
	if run := children[os.Getenv(childEnv)]; run != nil {
		if err := run(os.Args[1]); err != nil {
			say("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// say is how a child tells something to its parent. A line is one write, which a
// pipe keeps whole, and for longer than its writer lives.
func say(words ...any) { _, _ = fmt.Fprintln(os.Stdout, words...) }

// child runs the test binary as the named child and returns its output, line by
// line. When the test ends the child is killed.
func child(t *testing.T, name, dir string, args ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{dir}, args...)...)
	cmd.Env = append(os.Environ(), childEnv+"="+name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// childSays runs a child to its end; it must succeed with the one line.
func childSays(t *testing.T, name, dir, want string) {
	t.Helper()
	cmd, lines := child(t, name, dir)
	lines.Scan()
	got := lines.Text()
	if err := cmd.Wait(); err != nil || got != want {
		t.Errorf("child %s: %v, and it says %q, want %q", name, err, got, want)
	}
}

func open(t testing.TB, dir string) *Engine {
	t.Helper()
	e, err := Open(dir, Options{Who: "bellhop test"})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func closeEngine(t testing.TB, e *Engine) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// put is a closure that stores one pair.
func put(key string, value []byte) func(store.Tx) error {
	return func(tx store.Tx) error { return tx.Put([]byte(key), value) }
}

// pairs is everything in the store.
func pairs(e *Engine) (map[string]string, error) {
	all := map[string]string{}
	err := e.View(func(tx store.Tx) error {
		kvs, err := tx.Scan(nil, []byte{0xff}, 0)
		for _, kv := range kvs {
			all[string(kv.Key)] = string(kv.Value)
		}
		return err
	})
	return all, err
}
