package console

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// answer sends a final for the newest message, as the bus would.
func (s *server) answer(text string) {
	s.t.Helper()
	got := s.inbound()
	o := final("main", text)
	o.Answers = []string{got[len(got)-1].MessageID}
	if _, err := s.Send(s.t.Context(), o); err != nil {
		s.t.Error(err)
	}
}

// echo is a sink that has every message answered by its text in capitals,
// after a preview.
func (s *server) echo() core.Sink {
	var answering sync.WaitGroup
	s.t.Cleanup(answering.Wait)
	return func(ctx context.Context, batch []core.Inbound) error {
		answering.Go(func() {
			for _, m := range batch {
				o := final(m.Place.Channel, strings.ToUpper(m.Text))
				o.Answers = []string{m.MessageID}
				preview := o
				preview.Kind, preview.Last = core.OutUpdate, false
				for _, o := range []core.Outbound{preview, final("main", "not for you"), o} {
					time.Sleep(time.Second)
					if _, err := s.Send(ctx, o); err != nil {
						s.t.Error(err)
					}
				}
			}
		})
		return s.sink(ctx, batch)
	}
}

func TestPipe(t *testing.T) {
	big := strings.Repeat("a", maxText)
	for name, test := range map[string]struct{ in, out, err string }{
		"nothing":          {"", "", ""},
		"blank lines":      {"\n \n\r\n", "", ""},
		"one line":         {"hello\n", "HELLO\n", ""},
		"no line end":      {"hello", "HELLO\n", ""},
		"lines":            {"one\n\ntwo\r\nthree\n", "ONE\nTWO\nTHREE\n", ""},
		"escape sequences": {"a\x1b[2jb\n", "A^[[2JB\n", ""},
		"1 MB":             {big + "\n", strings.ToUpper(big) + "\n", ""},
		"more":             {"x\n" + big + "b\n", "X\n", "line 2 of the input is longer than 1048576 bytes"},
		"not UTF-8":        {"x\n\xff\n", "X\n", "line 2 of the input is not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t)
				s.runWith(s.echo())
				var out strings.Builder
				err := Chat(t.Context(), s.connect(), strings.NewReader(test.in), &out, ClientOptions{})
				if out.String() != test.out {
					t.Errorf("got %.80q, want %.80q", out.String(), test.out)
				}
				if test.err == "" && err != nil || test.err != "" && (err == nil || err.Error() != test.err) {
					t.Errorf("got %v, want %v", err, test.err)
				}
			})
		})
	}
}

func TestPipeWaitsForEachOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		s.run()
		var out strings.Builder
		done := make(chan error, 1)
		conn := s.connect()
		go func() { done <- Chat(t.Context(), conn, strings.NewReader("one\ntwo\n"), &out, ClientOptions{}) }()
		synctest.Wait()
		if n := len(s.inbound()); n != 1 {
			t.Fatalf("%d messages were sent at once", n)
		}
		first := final("main", "part 1")
		first.Answers, first.Last = []string{s.inbound()[0].MessageID}, false
		if _, err := s.Send(t.Context(), first); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if n := len(s.inbound()); n != 1 {
			t.Fatalf("half an outcome was enough")
		}
		s.answer("part 2\n\n")
		synctest.Wait()
		s.answer("end")
		if err := <-done; err != nil || out.String() != "part 1\npart 2\nend\n" {
			t.Errorf("%v, %q", err, out.String())
		}
	})
}

func TestPipeEnds(t *testing.T) {
	for name, test := range map[string]struct {
		in  string
		end func(s *server, cancel func())
		err string
	}{
		"the appliance goes, nothing is owed": {"", func(s *server, _ func()) { s.drop() },
			"the appliance has closed the connection"},
		"the appliance goes, an answer is owed": {"one\ntwo\n", func(s *server, _ func()) { s.drop() },
			"the appliance has closed the connection: 1 message has no answer, and what follows it was not sent"},
		"the caller ends it": {"one\n", func(_ *server, cancel func()) { cancel() },
			"context canceled: 1 message has no answer, and what follows it was not sent"},
		"the message is refused": {"one\n", func(s *server, _ func()) {
			c := s.session("main")[0]
			c.reply(s.ctx, serverFrame{Error: &fault{Text: "no\x07"}})
		}, "line 1 of the input was refused: no^G"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t)
				s.run()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				in, typist := io.Pipe()
				defer hangUp(t, typist)
				done := make(chan error, 1)
				conn := s.connect()
				go func() { done <- Chat(ctx, conn, in, io.Discard, ClientOptions{}) }()
				if test.in != "" {
					write(t, typist, test.in)
				}
				synctest.Wait()
				test.end(s, cancel)
				if err := <-done; err == nil || err.Error() != test.err {
					t.Errorf("got  %v\nwant %s", err, test.err)
				}
			})
		})
	}
}

// drop closes all connections, as a process that ends does.
func (s *server) drop() {
	for _, c := range s.session("main") {
		hangUp(s.t, c.conn)
	}
}

func TestChatRefusesBadSessionNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		err := Chat(t.Context(), s.connect(), strings.NewReader(""), io.Discard, ClientOptions{Session: "a/b"})
		if err == nil || !strings.Contains(err.Error(), "not a session name") {
			t.Errorf("got %v", err)
		}
	})
}

func TestUnreadableServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		conn := s.connect()
		near, far := io.Pipe()
		defer hangUp(t, far)
		go func() {
			synctest.Wait()
			write(t, s.session("main")[0].conn, "nonsense\n")
		}()
		err := Chat(t.Context(), conn, near, io.Discard, ClientOptions{})
		if err == nil || !strings.Contains(err.Error(), "unreadable line") {
			t.Errorf("got %v", err)
		}
	})
}

// TestSlowReader: a client that does not read for a while misses previews and
// nothing else.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &link{frames: make(chan serverFrame, queued), quit: make(chan struct{})}
		s := start(t)
		l.conn = s.connect()
		received := make(chan struct{})
		go func() { defer close(received); l.receive() }()
		write(t, l.conn, `{"hello":{"session":"main"}}`+"\n")
		synctest.Wait()
		for range 3 * queued {
			o := final("main", "growing")
			o.Kind = core.OutUpdate
			if _, err := s.Send(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Send(t.Context(), final("main", "end")); err != nil {
			t.Fatal(err)
		}
		n := 0
		for f := range l.frames {
			if n++; f.Show.Kind == core.OutFinal {
				break
			}
		}
		if n != queued+1 {
			t.Errorf("%d frames", n)
		}
		hangUp(t, l.conn)
		<-received
		if !errors.Is(l.ended, io.ErrClosedPipe) {
			t.Errorf("ended with %v", l.ended)
		}
	})
}
