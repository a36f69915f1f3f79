package boltkv

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"bellhop/store"
)

// The writers of the child. Each stores its numbers in order, every number as
// two pairs in one Update with the same Seq as value; every seventh Update
// fails after it has written.
const writers = 8

func numberKey(kind string, writer, n int) string { return fmt.Sprintf("%s/%d/%06d", kind, writer, n) }

func fails(n int) bool { return n%7 == 0 }

// childWrite writes, and prints what has been acknowledged, until it is killed.
func childWrite(dir string) error {
	e, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	stored, err := pairs(e)
	if err != nil {
		return err
	}
	say("open")
	failed := make(chan error)
	for w := range writers {
		go func() { failed <- writeNumbers(e, w, stored) }()
	}
	return <-failed
}

func writeNumbers(e *Engine, w int, stored map[string]string) error {
	for n := 1; ; n++ {
		if _, ok := stored[numberKey("a", w, n)]; ok {
			continue
		}
		var seq uint64
		err := e.Update(context.Background(), func(tx store.Tx) error {
			var err error
			if seq, err = tx.Seq(); err != nil {
				return err
			}
			for _, kind := range []string{"a", "b"} {
				if err := tx.Put([]byte(numberKey(kind, w, n)), fmt.Append(nil, seq)); err != nil {
					return err
				}
			}
			if fails(n) {
				return context.Canceled
			}
			return nil
		})
		if errors.Is(err, context.Canceled) {
			continue
		}
		if err != nil {
			return err
		}
		say(w, n, seq)
	}
}

// A process that is killed at any instant loses nothing that it acknowledged,
// and leaves nothing half done.
func TestKill(t *testing.T) {
	const kills = 32
	dir := t.TempDir()
	acked := map[string]string{}
	var maxSeq uint64
	for round := range kills {
		cmd, lines := child(t, "write", dir)
		kill := func() { _ = cmd.Process.Kill() } // it may be gone, by its own fault
		if round%4 == 3 {
			// While it starts, too.
			time.AfterFunc(rand.N(40*time.Millisecond), kill)
		}
		before := maxSeq
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "error") {
				t.Error(lines.Text())
			}
			if lines.Text() == "open" {
				time.AfterFunc(rand.N(150*time.Millisecond), kill)
				continue
			}
			var w, n int
			var seq uint64
			if _, err := fmt.Sscan(lines.Text(), &w, &n, &seq); err != nil {
				t.Fatalf("the child says %q: %v", lines.Text(), err)
			}
			if seq <= before {
				t.Errorf("Seq gave %d again: %d had been committed before the restart", seq, before)
			}
			acked[numberKey("a", w, n)] = fmt.Sprint(seq)
			maxSeq = max(maxSeq, seq)
		}
		_ = cmd.Wait() // it was killed
		checkNumbers(t, dir, acked)
	}
	t.Logf("%d acknowledged over %d kills", len(acked), kills)
}

func checkNumbers(t *testing.T, dir string, acked map[string]string) {
	t.Helper()
	e := open(t, dir)
	stored, err := pairs(e)
	if err != nil {
		t.Fatal(err)
	}
	closeEngine(t, e)
	for k, seq := range acked {
		if stored[k] != seq {
			t.Errorf("lost: %s was acknowledged with %s, and is %q", k, seq, stored[k])
		}
	}
	found := 0
	for w := range writers {
		var last uint64
		for n := 1; ; n++ {
			a, ok := stored[numberKey("a", w, n)]
			if !ok && fails(n) {
				continue
			}
			if b := stored[numberKey("b", w, n)]; a != b {
				t.Errorf("half of an Update: %q and %q of number %d of writer %d", a, b, n, w)
			}
			if !ok {
				break
			}
			found += 2
			var seq uint64
			if _, err := fmt.Sscan(a, &seq); err != nil || seq <= last || fails(n) {
				t.Errorf("number %d of writer %d has Seq %s, after %d", n, w, a, last)
			}
			last = seq
		}
	}
	if found != len(stored) {
		t.Errorf("%d pairs are stored, %d of them in order", len(stored), found)
	}
}
