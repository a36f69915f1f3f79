package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A full disk delays everything and loses nothing, and the owner hears of it.
func TestFullDisk(t *testing.T) {
	h := newHouse(t)
	data := filepath.Join(h.dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", data, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(data, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	p := h.run()
	h.direct.Say(h.owner, "q1")
	h.shows(h.direct, "a1.")
	filler := fill(t, data)

	const warning = "⚠ I cannot store"
	told := func() (n int) {
		for _, s := range own(h.direct) {
			n += strings.Count(s.Text, warning)
		}
		return n
	}
	asked := 1
	for ; told() == 0; asked++ { // the store has some room of its own
		if asked == 100 {
			t.Fatalf("the disk is full and nobody is told:\n%s", tail(p.log.String()))
		}
		h.direct.Say(h.owner, fmt.Sprintf("q%d %s", asked+1, strings.Repeat("long ", 700)))
		answer := fmt.Sprintf("a%d.", asked+1)
		eventually(t, "an answer or a warning", func() bool {
			return told() > 0 || strings.Contains(h.tg.String(), answer)
		})
	}
	eventually(t, "a message that is not acknowledged", func() bool {
		if h.tg.Unconfirmed() > 0 {
			return true
		}
		asked++
		h.direct.Say(h.owner, fmt.Sprintf("q%d %s", asked, strings.Repeat("long ", 700)))
		return false
	})
	if p.ended() {
		t.Fatalf("the process ended:\n%s", tail(p.log.String()))
	}

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	h.shows(h.direct, fmt.Sprintf("a%d.", asked))
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	answers := map[string]int{}
	for _, s := range own(h.direct) {
		for _, found := range answered.FindAllString(s.Text, -1) {
			answers[found]++
		}
	}
	for n := range asked {
		if got := answers[fmt.Sprintf("a%d", n+1)]; got != 1 {
			t.Errorf("q%d has %d answers", n+1, got)
		}
	}
	if n := told(); n != 1 {
		t.Errorf("the owner was told %d times, want once", n)
	}
}

// fill leaves no room on the disk of the folder and returns what takes it.
func fill(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return f.Name()
}
