package boltkv

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"bellhop/store"
	"bellhop/store/storetest"
)

func TestEngine(t *testing.T) {
	storetest.RunEngine(t, func(t *testing.T) func() storetest.Engine {
		dir := filepath.Join(t.TempDir(), "store")
		return func() storetest.Engine {
			e, err := Open(dir, Options{noSync: true})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
	})
}

func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "store")
	closeEngine(t, open(t, dir))
	for name, want := range map[string]fs.FileMode{"": fs.ModeDir | 0o700, fileName: 0o600, lockName: 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode() != want {
			t.Errorf("%q: %v, %v, want mode %v", name, info.Mode(), err, want)
		}
	}
	if entries, err := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

// A creation that was cut short leaves nothing that counts.
func TestUnfinishedCreation(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName+".new"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := open(t, dir)
	defer closeEngine(t, e)
	if err := e.Update(t.Context(), put("a", nil)); err != nil {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	whole := t.TempDir()
	e := open(t, whole)
	if err := e.Update(t.Context(), put("a", make([]byte, 1<<20))); err != nil {
		t.Fatal(err)
	}
	closeEngine(t, e)
	file, err := os.ReadFile(filepath.Join(whole, fileName))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"text":      []byte("this is no database, though it is a file with some text in it\n"),
		"zeros":     make([]byte, 1<<16),
		"truncated": file[:1<<18],
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, fileName), content, 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 { // a refusal lets go of the lock
				if _, err := Open(dir, Options{}); !errors.Is(err, store.ErrDamaged) {
					t.Errorf("Open = %v, want %v", err, store.ErrDamaged)
				}
			}
		})
	}
	t.Run("a file for a folder", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, Options{}); err == nil || errors.Is(err, store.ErrDamaged) {
			t.Errorf("Open = %v", err)
		}
	})
}
