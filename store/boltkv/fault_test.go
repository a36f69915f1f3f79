package boltkv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"bellhop/store"
)

// fill stores values until that fails, and returns how many there are and why
// there are no more.
func fill(e *Engine) (int, error) {
	for n := range 10_000 {
		if err := e.Update(context.Background(), put(fmt.Sprintf("%06d", n), make([]byte, 100_000))); err != nil {
			return n, err
		}
	}
	return 0, errors.New("there is no end to it")
}

// wantUsable checks an engine that has filled its disk with n values and has
// room again.
func wantUsable(e *Engine, n int) error {
	for range 3 {
		if err := e.Update(context.Background(), put("after", make([]byte, 10_000))); err != nil {
			return fmt.Errorf("write with room again: %w", err)
		}
	}
	all, err := pairs(e)
	if err == nil && len(all) != n+1 {
		err = fmt.Errorf("%d pairs are stored, want %d", len(all), n+1)
	}
	return err
}

func TestDiskFull(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("cannot mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(disk, "store")
	e := open(t, dir)
	n, err := fill(e)
	if !errors.Is(err, store.ErrNoSpace) {
		t.Fatalf("after %d values, Update = %v", n, err)
	}
	for range 3 {
		if err := e.Update(t.Context(), put("x", make([]byte, 200_000))); !errors.Is(err, store.ErrNoSpace) {
			t.Errorf("Update on a full disk = %v", err)
		}
		if all, err := pairs(e); len(all) != n || err != nil {
			t.Errorf("a full disk shows %d pairs, %v, want %d", len(all), err, n)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := wantUsable(e, n); err != nil {
		t.Error(err)
	}
	closeEngine(t, e)
	e = open(t, dir)
	if err := wantUsable(e, n); err != nil {
		t.Errorf("after opening it again: %v", err)
	}
	closeEngine(t, e)
}

// childLimit meets its own limit on the size of files.
func childLimit(dir string) error {
	signal.Ignore(syscall.SIGXFSZ) // which would end the process
	e, err := Open(dir, Options{noSync: true})
	if err != nil {
		return err
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	// First where the file must grow, then where its grown part is written.
	for _, size := range []uint64{1 << 20, 20 << 20} {
		low := syscall.Rlimit{Cur: size, Max: limit.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &low); err != nil {
			return err
		}
		n, err := fill(e)
		if !errors.Is(err, store.ErrNoSpace) {
			return fmt.Errorf("after %d values: %w", n, err)
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		if err := wantUsable(e, n); err != nil {
			return err
		}
	}
	if err := e.Close(); err != nil {
		return err
	}
	say("usable")
	return nil
}

func TestFileTooLarge(t *testing.T) { childSays(t, "limit", t.TempDir(), "usable") }

// When a sync fails, what the disk holds is unknown: no more writes until the
// store is opened again. The failure is made by putting another file behind
// bbolt's descriptor: /dev/null takes every write and syncs none.
func TestSyncFails(t *testing.T) {
	dir := t.TempDir()
	var file *os.File
	e, err := Open(dir, Options{openFile: func(name string, flag int, perm fs.FileMode) (f *os.File, err error) {
		f, err = os.OpenFile(name, flag, perm)
		file = f
		return f, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Update(t.Context(), put("a", nil)); err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	disk, err := syscall.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	// The disk is well again after the first failure, which changes nothing.
	for _, fd := range []int{int(null.Fd()), disk, disk} {
		if err := syscall.Dup3(fd, int(file.Fd()), syscall.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		if err := e.Update(t.Context(), put("b", nil)); !errors.Is(err, store.ErrReopen) {
			t.Errorf("Update = %v, want %v", err, store.ErrReopen)
		}
		if all, err := pairs(e); len(all) != 1 || err != nil {
			t.Errorf("reading gives %v, %v", all, err)
		}
	}
	closeEngine(t, e)
	if err := syscall.Close(disk); err != nil {
		t.Fatal(err)
	}
	e = open(t, dir)
	defer closeEngine(t, e)
	if err := e.Update(t.Context(), put("c", nil)); err != nil {
		t.Error(err)
	}
	if all, err := pairs(e); len(all) != 2 || err != nil {
		t.Errorf("after opening it again, reading gives %v, %v", all, err)
	}
}

// A commit whose last sync fails may have taken effect; this is how it is told.
func TestReached(t *testing.T) {
	b, err := openFile(filepath.Join(t.TempDir(), fileName), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	var id int
	err = b.Commit(func(stx store.Tx) error {
		t := stx.(*tx)
		id = t.btx.ID()
		return t.Put([]byte("a"), nil)
	})
	if err != nil || !b.reached(id) || b.reached(id+1) {
		t.Errorf("Commit = %v; reached(%d) = %v, reached(%d) = %v", err, id, b.reached(id), id+1, b.reached(id+1))
	}
}
