package console

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"bellhop/core"

	"github.com/google/go-cmp/cmp"
)

// openPTY is a terminal and its other end.
func openPTY(t *testing.T) (person, terminal *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { person.Close() })
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { terminal.Close() })
	return person, terminal
}

func settings(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	s, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

// expect reads from the terminal's other end up to the text.
func expect(t *testing.T, r *bufio.Reader, text string) {
	t.Helper()
	var got strings.Builder
	for !strings.HasSuffix(got.String(), text) {
		b, err := r.ReadByte()
		if err != nil {
			t.Fatalf("no %q in %q: %v", text, got.String(), err)
		}
		got.WriteByte(b)
	}
}

func TestChatAtARealTerminal(t *testing.T) {
	person, terminal := openPTY(t)
	before := settings(t, terminal)
	s := start(t)
	accepted := make(chan struct{}, 1)
	s.runWith(func(ctx context.Context, batch []core.Inbound) error {
		defer func() { accepted <- struct{}{} }()
		return s.sink(ctx, batch)
	})
	conn := s.connect()
	done := make(chan error, 1)
	go func() { done <- Chat(t.Context(), conn, terminal, terminal, ClientOptions{}) }()

	screen := bufio.NewReader(person)
	expect(t, screen, "you> ")
	if d := cmp.Diff(before, settings(t, terminal)); d == "" {
		t.Error("the terminal is not in raw mode")
	}
	write(t, person, "hello\r")
	<-accepted
	s.answer("HELLO")
	expect(t, screen, "chief> HELLO")
	expect(t, screen, "you> ")
	write(t, person, "\x04")
	expect(t, screen, "\r\n")
	if err := <-done; err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(before, settings(t, terminal)); d != "" {
		t.Errorf("the terminal is left in raw mode:\n%s", d)
	}
}

func TestTerminalIsRestoredAfterAPanic(t *testing.T) {
	_, terminal := openPTY(t)
	before := settings(t, terminal)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("nothing has panicked")
			}
		}()
		var none context.Context
		_ = chatRaw(none, &link{}, terminal, terminal, ClientOptions{})
	}()
	if d := cmp.Diff(before, settings(t, terminal)); d != "" {
		t.Errorf("the terminal is left in raw mode:\n%s", d)
	}
}
