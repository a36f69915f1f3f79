package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bellhop/store"
)

// activity --follow tells what comes, once and in order, and goes on over a
// restart. While no appliance runs it waits, and keeps none from starting.
func TestActivityFollow(t *testing.T) {
	h := newHouse(t)
	p := h.run()
	h.direct.Say(h.owner, "q1")
	h.shows(h.direct, "a1.")
	in := h.start
	in.args = append([]string{"activity", "--follow"}, in.args[1:]...)
	f := launch(t, in)
	tells := func(event string, times int) {
		t.Helper()
		eventually(t, event, func() bool { return f.ended() || strings.Count(f.out.String(), event) >= times })
	}
	tells("run.done", 1)
	h.direct.Say(h.owner, "q2")
	tells("run.done", 2)
	if code := p.stop(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	eventually(t, "it to wait", func() bool { return f.ended() || strings.Contains(f.log.String(), "waiting for one") })
	withStore(t, filepath.Join(h.dir, "data"), func(*store.Store, store.Books) {}) // it does not hold it
	p = h.run()
	h.direct.Say(h.owner, "q3")
	h.shows(h.direct, "a3.")
	tells("run.done", 3)
	tells("post.delivered", 3)
	f.signal(syscall.SIGINT)
	if code := f.exit(); code != 0 {
		t.Errorf("exit code %d: %s", code, f.log.String())
	}
	if n := strings.Count(f.log.String(), "\n"); n != 1 {
		t.Errorf("it says %q, want one line", f.log.String())
	}
	_, all, _ := h.invoke("", "activity")
	if got := f.out.String(); got != all {
		t.Errorf("followed is\n%s\nand the log has\n%s", got, all)
	}
	p.stop()
}
