package boltkv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"bellhop/store"
)

const (
	copies   = 320
	patience = time.Minute // with one copy, which takes milliseconds
)

// damageFile spoils the file's bytes in one of several ways.
func damageFile(file []byte, rng *rand.Rand) []byte {
	pageSize := os.Getpagesize()
	page := func() []byte {
		n := rng.IntN(len(file) / pageSize)
		return file[n*pageSize : (n+1)*pageSize]
	}
	switch rng.IntN(6) {
	case 0:
		clear(page())
	case 1:
		for p, i := page(), 0; i < len(p); i++ {
			p[i] = byte(rng.Uint32())
		}
	case 2:
		copy(page(), page())
	case 3:
		file[rng.IntN(len(file))] ^= 1 << rng.IntN(8)
	case 4:
		return file[:rng.IntN(len(file))]
	case 5: // a page's head: what it is, how many pairs it has, and where they are
		p := page()
		for range 4 {
			p[8+rng.IntN(32)] = byte(rng.Uint32())
		}
	}
	return file
}

// childDamage spoils copies of a store's file and uses them, from the number in
// its second argument on. It tells about each when it begins and when it ends.
func childDamage(dir string) error {
	debug.SetMaxStack(16 << 20) // of a cycle of pages; the default is 1 GB
	whole, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		return err
	}
	first, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	for i := first; i < copies; i++ {
		say("begin", i)
		spoilt := filepath.Join(dir, fmt.Sprint("copy", i))
		file := damageFile(bytes.Clone(whole), rand.New(rand.NewPCG(uint64(i), 1)))
		if err := errors.Join(os.Mkdir(spoilt, 0o700), os.WriteFile(filepath.Join(spoilt, fileName), file, 0o600)); err != nil {
			return err
		}
		switch err := use(spoilt); {
		case err == nil:
			say("clean", i)
		case errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrReopen):
			say("found", i, strconv.Quote(err.Error()))
		default:
			return err
		}
		if err := os.RemoveAll(spoilt); err != nil {
			return err
		}
	}
	return nil
}

// use reads everything there is, forwards and backwards, and writes.
func use(dir string) error {
	e, err := Open(dir, Options{noSync: true})
	if err != nil {
		return err
	}
	_, err = pairs(e)
	errs := []error{err, e.View(func(tx store.Tx) error {
		_, err := tx.ScanBack(nil, []byte{0xff}, 0)
		return err
	})}
	for i := range 3 {
		errs = append(errs, e.Update(context.Background(), func(tx store.Tx) error {
			var errs []error
			for j := range 10 {
				key := fmt.Appendf(nil, "%04d", 300*i+20*j)
				errs = append(errs, tx.Delete(key), tx.Put(append(key, 'x'), make([]byte, 3000)))
			}
			return errors.Join(errs...)
		}))
	}
	// Close may tell of the damage once more.
	return errors.Join(append(errs, e.Close())...)
}

// A damaged file is read without hanging and, but for what no process survives,
// without dying; whatever is found has a name.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	e, err := Open(dir, Options{noSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		err := e.Update(t.Context(), func(tx store.Tx) error {
			for j := range 10 {
				k := fmt.Appendf(nil, "%04d", 10*i+j)
				if err := tx.Put(k, bytes.Repeat(k, (i*j)%150)); err != nil {
					return err
				}
			}
			return tx.Delete(fmt.Appendf(nil, "%04d", 7*i))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	closeEngine(t, e)
	trimFile(t, filepath.Join(dir, fileName))

	count := map[string]int{}
	for next := 0; next < copies; {
		cmd, lines := child(t, "damage", dir, fmt.Sprint(next))
		watch := time.AfterFunc(patience, func() {
			t.Errorf("no copy is done for %v", patience)
			_ = cmd.Process.Kill()
		})
		for lines.Scan() {
			watch.Reset(patience)
			what, rest, _ := strings.Cut(lines.Text(), " ")
			switch what {
			case "begin":
				next++
			case "clean", "found":
				count[what]++
			default:
				t.Errorf("copy %d: %s %s", next-1, what, rest)
			}
		}
		if err := cmd.Wait(); err != nil {
			count["died"]++
			t.Logf("copy %d: %v", next-1, err)
		}
		watch.Stop()
	}
	t.Logf("%d damaged copies: %v", copies, count)
	if count["found"] < copies/10 || count["died"] > copies/20 {
		t.Errorf("of %d damaged copies: %v", copies, count)
	}
}

// trimFile cuts off the zeros that the file was grown by.
func trimFile(t *testing.T, path string) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := len(bytes.TrimRight(file, "\x00"))
	size := os.Getpagesize()
	if err := os.Truncate(path, int64((n+size-1)/size*size)); err != nil {
		t.Fatal(err)
	}
}

// childTruncate loses its file while it has it open.
func childTruncate(dir string) error {
	e, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	if err := e.Update(context.Background(), put("a", make([]byte, 1<<20))); err != nil {
		return err
	}
	if err := os.Truncate(filepath.Join(dir, fileName), 0); err != nil {
		return err
	}
	for range 2 {
		_, err := pairs(e)
		for _, err := range []error{err, e.Update(context.Background(), put("b", nil))} {
			if !errors.Is(err, store.ErrDamaged) || !errors.Is(err, store.ErrReopen) {
				return fmt.Errorf("want the store to be damaged, got %w", err)
			}
		}
	}
	if err := e.Close(); err != nil {
		return err
	}
	say("alive")
	return nil
}

// When the file vanishes from under the mapping, the process lives.
func TestTruncatedWhileOpen(t *testing.T) { childSays(t, "truncate", t.TempDir(), "alive") }
