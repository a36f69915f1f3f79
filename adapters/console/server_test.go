package console

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"bellhop/core"
)

// server is an Adapter and what its sink got.
type server struct {
	*Adapter
	t   *testing.T
	ctx context.Context

	mu   sync.Mutex
	got  []core.Inbound
	deny []error // what the sink answers to the next batches
}

// start makes an Adapter in a synctest bubble; it is not running yet. All that
// the test starts has ended when the test has.
func start(t *testing.T) *server {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	s := &server{t: t, ctx: ctx, Adapter: New(Options{Name: "console", User: "you"})}
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return s
}

func (s *server) run() { s.runWith(s.sink) }

func (s *server) runWith(sink core.Sink) {
	done := make(chan error, 1)
	go func() { done <- s.Run(s.ctx, sink) }()
	s.t.Cleanup(func() {
		if err := <-done; err != nil {
			s.t.Errorf("Run: %v", err)
		}
	})
}

func (s *server) sink(_ context.Context, batch []core.Inbound) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.deny) > 0 {
		err := s.deny[0]
		s.deny = s.deny[1:]
		return err
	}
	s.got = append(s.got, batch...)
	return nil
}

func (s *server) inbound() []core.Inbound {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got
}

// connect is the client's end of a connection that is being served.
func (s *server) connect() net.Conn {
	near, far := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Serve(s.ctx, far) }()
	s.t.Cleanup(func() {
		hangUp(s.t, near)
		if err := <-done; err != nil {
			s.t.Errorf("Serve: %v", err)
		}
	})
	return near
}

// raw speaks the protocol by hand.
type raw struct {
	t     *testing.T
	conn  net.Conn
	lines *bufio.Reader
}

func (s *server) raw(session string) *raw {
	conn := s.connect()
	r := &raw{s.t, conn, bufio.NewReader(conn)}
	if session != "" {
		r.write(fmt.Sprintf(`{"hello":{"session":%q}}`, session))
	}
	synctest.Wait()
	return r
}

func (r *raw) write(line string) {
	r.t.Helper()
	if _, err := fmt.Fprintln(r.conn, line); err != nil {
		r.t.Fatal(err)
	}
}

func (r *raw) read() string {
	r.t.Helper()
	line, err := r.lines.ReadString('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func (r *raw) want(line string) {
	r.t.Helper()
	if got := r.read(); got != line {
		r.t.Errorf("got  %s\nwant %s", got, line)
	}
}

func final(session, text string) core.Outbound {
	return core.Outbound{
		Kind:    core.OutFinal,
		Place:   core.Place{Adapter: "console", Channel: session},
		Text:    text,
		Speaker: core.Speaker{Name: "chief"},
		Answers: []string{"a1"},
		Last:    true,
	}
}

func write(t *testing.T, w io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Error(err)
	}
}

func hangUp(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
