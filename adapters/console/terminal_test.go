package console

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"

	"github.com/google/go-cmp/cmp"
)

// tty is a person at a terminal who chats with a server.
type tty struct {
	t       *testing.T
	s       *server
	screen  *screen
	keys    *io.PipeWriter
	resized chan os.Signal
	done    chan error
}

// sit starts a chat at a terminal of 60 columns.
func sit(t *testing.T, s *server, o ClientOptions) *tty {
	in, keys := io.Pipe()
	p := &tty{t: t, s: s, screen: &screen{width: 60}, keys: keys, resized: make(chan os.Signal), done: make(chan error, 1)}
	size := func() (int, int) { return p.screen.width, 24 }
	conn := s.connect()
	ctx := s.ctx
	go func() {
		p.done <- chatLink(conn, in, o, func(l *link) error {
			return chatTerminal(ctx, l, p.screen, size, p.resized, o)
		})
	}()
	t.Cleanup(func() { hangUp(t, keys) })
	synctest.Wait()
	return p
}

func (p *tty) types(keys string) {
	p.t.Helper()
	write(p.t, p.keys, keys)
	synctest.Wait()
}

func (p *tty) sees(rows ...string) {
	p.t.Helper()
	synctest.Wait()
	if d := cmp.Diff(strings.Join(rows, "\n"), p.screen.String()); d != "" {
		p.t.Errorf("the screen differs:\n%s", d)
	}
}

// show sends a piece of post p1, whose speaker is called chief.
func (p *tty) show(kind core.OutKind, text string) {
	p.t.Helper()
	o := final("main", text)
	o.Kind, o.Edit = kind, "p1"
	if _, err := p.s.Send(p.t.Context(), o); err != nil {
		p.t.Error(err)
	}
	synctest.Wait()
}

func atTerminal(t *testing.T, test func(t *testing.T, s *server, p *tty)) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		s.run()
		test(t, s, sit(t, s, ClientOptions{}))
	})
}

func TestTerminalConversation(t *testing.T) {
	atTerminal(t, func(t *testing.T, s *server, p *tty) {
		p.sees("you>")
		p.types("helo\x1b[Dl\r")
		p.sees("you> hello", "you>")
		if got := s.inbound(); len(got) != 1 || got[0].Text != "hello" {
			t.Fatalf("accepted %v", got)
		}
		p.show(core.OutOpen, "…")
		p.sees("you> hello", "chief> …", "you>")
		p.types("and th")
		p.show(core.OutUpdate, "Hello, this is an answer that")
		p.sees("you> hello", "chief> Hello, this is an answer that", "you> and th")
		p.show(core.OutUpdate, "Hello, this is an answer that is longer than a row has room for")
		p.sees("you> hello",
			"chief> Hello, this is an answer that is longer than a row",
			"has room for", "you> and th")
		p.types("en?")
		p.show(core.OutFinal, "Hello, this is an answer that is longer than a row has room for it.\n\n- end\n")
		p.sees("you> hello",
			"chief> Hello, this is an answer that is longer than a row",
			"has room for it.", "", "- end", "you> and then?")
		p.types("\r")
		if got := s.inbound(); len(got) != 2 || got[1].Text != "and then?" {
			t.Errorf("accepted %v", got)
		}
		p.types("\r  \r") // says nothing
		if got := s.inbound(); len(got) != 2 {
			t.Errorf("accepted %v", got)
		}
	})
}

func TestTerminalEnterAmidAnAnswer(t *testing.T) {
	atTerminal(t, func(_ *testing.T, _ *server, p *tty) {
		p.show(core.OutUpdate, "one two")
		p.types("wait\r")
		p.show(core.OutUpdate, "one two three")
		p.show(core.OutFinal, "one two three four")
		p.sees("chief> one two", "you> wait", "chief> one two three four", "you>")
	})
}

// TestTerminalLongInput: what is typed takes more than a row while the answer
// grows.
func TestTerminalLongInput(t *testing.T) {
	atTerminal(t, func(_ *testing.T, _ *server, p *tty) {
		long := strings.Repeat("0123456789", 10)
		p.show(core.OutUpdate, "one")
		p.types(long)
		p.show(core.OutUpdate, "one two")
		p.show(core.OutFinal, "one two three")
		p.sees("chief> one two three", "you> "+long[:55], long[55:])
	})
}

func TestTerminalTwoColumnInput(t *testing.T) {
	atTerminal(t, func(t *testing.T, s *server, p *tty) {
		p.types("你好")
		p.show(core.OutFinal, "您好")
		p.types("\r")
		if got := s.inbound(); len(got) != 1 || got[0].Text != "你好" {
			t.Errorf("accepted %v", got)
		}
		p.sees("chief> 您好", "you> 你好", "you>")
	})
}

func TestTerminalHostileText(t *testing.T) {
	atTerminal(t, func(_ *testing.T, s *server, p *tty) {
		o := final("main", "\x1b[2J\x1b]0;pwned\x07\u009b31m\rx")
		o.Speaker.Name = "\x1b[31mroot\n"
		if _, err := s.Send(p.t.Context(), o); err != nil {
			p.t.Error(err)
		}
		p.sees("^[[31mroot> ^[[2J^[]0;pwned^G<U+009B>31m^Mx", "you>")
	})
}

func TestTerminalPaste(t *testing.T) {
	atTerminal(t, func(t *testing.T, s *server, p *tty) {
		p.types("see: \x1b[200~if x {\r\ty\x1b[2J\r}\x1b[201~")
		p.sees("you> see: if x {␤␉y[2J␤}")
		p.types("\r")
		if got := s.inbound(); len(got) != 1 || got[0].Text != "see: if x {\n\ty[2J\n}" {
			t.Errorf("accepted %v", got)
		}
	})
}

func TestTerminalHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		s.run()
		o := ClientOptions{HistoryFile: filepath.Join(t.TempDir(), "history")}
		p := sit(t, s, o)
		p.types("one\rtwo\r\x04")
		if err := <-p.done; err != nil {
			t.Fatal(err)
		}
		p = sit(t, s, o)
		p.types("dra\x1b[A")
		p.sees("you> two")
		p.types("\x1bOA")
		p.sees("you> one")
		p.types("\x1b[B\x1b[B")
		p.sees("you> dra")
	})
}

func TestTerminalHistoryTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		s.run()
		p := sit(t, s, ClientOptions{HistoryFile: "/dev/null/history"})
		p.types("a\rb\r")
		if n := strings.Count(p.screen.String(), "the history is not kept"); n != 1 {
			t.Errorf("said %d times", n)
		}
		if n := len(s.inbound()); n != 2 {
			t.Errorf("%d messages", n)
		}
	})
}

func TestTerminalTrouble(t *testing.T) {
	atTerminal(t, func(t *testing.T, s *server, p *tty) {
		s.mu.Lock()
		s.deny = []error{errors.New("disk full\x1b[1m"), errors.New("disk full\x1b[1m")}
		s.mu.Unlock()
		p.types("x\r")
		time.Sleep(time.Minute)
		p.sees("you> x", "(not accepted yet: disk full^[[1m)", "you>")
		if n := len(s.inbound()); n != 1 {
			t.Errorf("%d messages", n)
		}
		s.session("main")[0].reply(s.ctx, serverFrame{Error: &fault{Text: "no"}})
		p.sees("you> x", "(not accepted yet: disk full^[[1m)", "(refused: no)", "you>")
	})
}

func TestTerminalKeysThatLeave(t *testing.T) {
	for name, keys := range map[string]string{
		"Ctrl-D":                   "\x04",
		"Ctrl-C":                   "\x03",
		"Ctrl-C twice":             "typed\x03\x03",
		"Ctrl-C, Ctrl-D":           "typed\x03\x04",
		"a message, and at once":   "typed\r\x04",
		"Ctrl-C within the line":   "typed\x1b[D\x1b[D\x03\x03",
		"Ctrl-U, Ctrl-D":           "typed\x15\x04",
		"more keys that are waste": "\x04abc",
	} {
		t.Run(name, func(t *testing.T) {
			atTerminal(t, func(t *testing.T, _ *server, p *tty) {
				p.types(keys)
				if err := <-p.done; err != nil {
					t.Error(err)
				}
				if s := p.screen.String(); strings.Contains(s, "FAULT") {
					t.Error(s)
				}
			})
		})
	}
}

func TestTerminalCtrlCClearsTheLine(t *testing.T) {
	atTerminal(t, func(t *testing.T, s *server, p *tty) {
		p.types("never mind\x03")
		p.sees("you>")
		p.types("mind\x04\r")
		if got := s.inbound(); len(got) != 1 || got[0].Text != "mind" {
			t.Errorf("accepted %v", got)
		}
	})
}

// TestTerminalLeavesWhenAccepted: whoever leaves right after saying something
// waits until it is safe, but not for ever.
func TestTerminalLeavesWhenAccepted(t *testing.T) {
	for name, test := range map[string]struct {
		after func(s *server, p *tty)
		err   string
	}{
		"accepted":  {func(s *server, _ *tty) { s.run() }, ""},
		"never":     {func(*server, *tty) { time.Sleep(time.Minute) }, "the appliance does not answer; messages that may not have been accepted: 2"},
		"impatient": {func(_ *server, p *tty) { p.types("x"); p.types("\x03") }, "left at once; messages that may not have been accepted: 2"},
		"hung up":   {func(_ *server, p *tty) { hangUp(p.t, p.keys); time.Sleep(time.Minute) }, "the appliance does not answer; messages that may not have been accepted: 2"},
		"gone":      {func(s *server, _ *tty) { s.drop() }, "the appliance has closed the connection; messages that may not have been accepted: 2"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t)
				p := sit(t, s, ClientOptions{})
				p.types("one\rtwo\r\x04")
				select {
				case err := <-p.done:
					t.Fatalf("left: %v", err)
				default:
				}
				test.after(s, p)
				err := <-p.done
				if test.err == "" && err != nil || test.err != "" && (err == nil || err.Error() != test.err) {
					t.Errorf("got  %v\nwant %s", err, test.err)
				}
			})
		})
	}
}

// TestTerminalWhileTheSinkIsStuck: the line can be edited and left even if the
// appliance takes nothing.
func TestTerminalWhileTheSinkIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		p := sit(t, s, ClientOptions{})
		for range queued + 10 {
			p.types("again\r")
		}
		if !strings.Contains(p.screen.String(), "(the appliance does not take") {
			t.Error("nothing is said of what was not sent")
		}
		s.run()
		p.types("\x04")
		if err := <-p.done; err != nil {
			t.Error(err)
		}
	})
}

func TestTerminalResize(t *testing.T) {
	atTerminal(t, func(_ *testing.T, _ *server, p *tty) {
		p.show(core.OutUpdate, "one")
		p.screen.width = 50
		p.resized <- os.Interrupt
		p.show(core.OutFinal, strings.Repeat("word ", 12))
		rows := strings.Split(p.screen.String(), "\n")
		for _, row := range rows {
			if len(row) > 50 {
				p.t.Errorf("a row of %d columns: %q", len(row), row)
			}
		}
		if last := rows[len(rows)-1]; last != "you>" {
			p.t.Errorf("the last row is %q", last)
		}
	})
}

func TestTerminalSeesWhatWasPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		attached := make(chan core.Place, 2)
		s.attached = func(p core.Place) { attached <- p }
		s.run()
		p := sit(t, s, ClientOptions{})
		<-attached
		p.types("question\r\x04")
		if err := <-p.done; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := s.Send(t.Context(), final("main", "answer")); !errors.Is(err, core.ErrNotSent) {
			t.Fatalf("sent to nobody: %v", err)
		}
		p = sit(t, s, ClientOptions{})
		<-attached
		s.answer("answer")
		p.sees("chief> answer", "you>")
	})
}

// broken is a terminal that has gone away.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestTerminalThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		in, keys := io.Pipe()
		defer hangUp(t, keys)
		err := chatLink(s.connect(), in, ClientOptions{}, func(l *link) error {
			return chatTerminal(t.Context(), l, broken{}, func() (int, int) { return 80, 24 }, nil, ClientOptions{})
		})
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v", err)
		}
	})
}

func TestTerminalEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		ctx, cancel := context.WithCancel(s.ctx)
		s.ctx = ctx
		s.run()
		p := sit(t, s, ClientOptions{})
		cancel()
		if err := <-p.done; !errors.Is(err, context.Canceled) && err == nil {
			t.Errorf("got %v", err)
		}
	})
}
