package boltkv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// childHold opens the store and holds it until it is killed.
func childHold(dir string) error {
	if _, err := Open(dir, Options{Who: "bellhop run"}); err != nil {
		return err
	}
	say("open")
	select {}
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	holder, lines := child(t, "hold", dir)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("the child says %q, %v", lines.Text(), lines.Err())
	}
	_, err := Open(dir, Options{Who: "bellhop trace"})
	locked, ok := errors.AsType[*LockedError](err)
	if !ok {
		t.Fatalf("Open = %v, want a LockedError", err)
	}
	want := fmt.Sprintf("store %s is in use by bellhop run (pid %d); stop it first, or use its control socket", dir, holder.Process.Pid)
	if locked.Error() != want {
		t.Errorf("the error says\n%s\nwant\n%s", locked, want)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // it was killed
	// The text of the dead is still there, its lock is not.
	if text, err := os.ReadFile(filepath.Join(dir, lockName)); len(text) == 0 || err != nil {
		t.Errorf("the lock file says %q, %v", text, err)
	}
	closeEngine(t, open(t, dir))
}

func TestLockedByThisProcess(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	_, err := Open(dir, Options{})
	locked, ok := errors.AsType[*LockedError](err)
	if want := fmt.Sprintf("bellhop test (pid %d)", os.Getpid()); !ok || locked.Holder != want || locked.Path != dir {
		t.Errorf("Open = %v, want it to name %q", err, want)
	}
	closeEngine(t, e)
	e, err = Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, lockName)); string(text) != fmt.Sprintf("pid %d\n", os.Getpid()) {
		t.Errorf("the lock file says %q, %v", text, err)
	}
	closeEngine(t, e)
}

// Another program may have bbolt's own lock.
func TestLockedByAnotherProgram(t *testing.T) {
	dir := t.TempDir()
	closeEngine(t, open(t, dir))
	f, err := os.Open(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	if err := flock(f); err != nil {
		t.Fatal(err)
	}
	_, err = Open(dir, Options{})
	if locked, ok := errors.AsType[*LockedError](err); !ok || locked.Path != dir || locked.Holder != "" {
		t.Errorf("Open = %v, want a LockedError", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	closeEngine(t, open(t, dir))
}
