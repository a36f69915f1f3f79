package console

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/term"

	"bellhop/core"
)

// DefaultSession is the session that Chat opens unless it is told otherwise.
const DefaultSession = "main"

// ClientOptions configures Chat.
type ClientOptions struct {
	Session     string // empty: DefaultSession
	HistoryFile string // the lines entered at a terminal; empty: none are kept
}

// Chat is the terminal's half of the console. It opens a session over conn,
// closes conn when it returns, and returns when the person leaves, the
// appliance goes, or ctx ends.
//
// If in and out are both a terminal, it edits lines and shows answers as they
// grow; nil means that the person left and everything they said was accepted.
// Else every line of in is a message, sent when the one before it has its
// outcome, and out gets the outcomes and nothing else; nil means that all
// lines have been answered.
//
// Chat does not close in, and a read from it may still be waiting when Chat
// has returned; what that read gets is lost.
func Chat(ctx context.Context, conn net.Conn, in io.Reader, out io.Writer, o ClientOptions) error {
	return chatLink(conn, in, o, func(l *link) error {
		if in, out, ok := terminal(in, out); ok {
			return chatRaw(ctx, l, in, out, o)
		}
		return chatPipe(ctx, l, out)
	})
}

// chatLink opens a session, has chat use it, and ends what moves its data.
func chatLink(conn net.Conn, in io.Reader, o ClientOptions, chat func(*link) error) error {
	l := &link{
		conn:   conn,
		frames: make(chan serverFrame, queued),
		out:    make(chan clientFrame, queued),
		input:  make(chan []byte),
		quit:   make(chan struct{}),
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer func() { _ = conn.Close() }()
	defer close(l.quit)

	session := cmp.Or(o.Session, DefaultSession)
	if err := checkSession(session); err != nil {
		return err
	}
	if err := l.send(clientFrame{Hello: &hello{session}}); err != nil {
		return err
	}
	running.Go(l.receive)
	running.Go(l.transmit)
	go l.read(in) // cannot be waited for: nothing ends a read from a terminal
	return chat(l)
}

// terminal reports whether both are one.
func terminal(in io.Reader, out io.Writer) (i, o *os.File, ok bool) {
	i, _ = in.(*os.File)
	o, _ = out.(*os.File)
	ok = i != nil && o != nil && term.IsTerminal(int(i.Fd())) && term.IsTerminal(int(o.Fd()))
	return i, o, ok
}

// queued is how many frames wait in either direction while the other side is
// slow.
const queued = 64

// link is the client's connection and input, as channels that one goroutine
// can select on.
type link struct {
	conn   net.Conn
	frames chan serverFrame // closed when the connection has ended
	ended  error            // why; to be read after that
	out    chan clientFrame
	input  chan []byte   // from the person; closed at the end of input
	quit   chan struct{} // closed when nobody selects any more
}

// receive reads frames until the connection ends. Previews are dropped while
// the reader is slow, so that the appliance need not wait for it.
func (l *link) receive() {
	defer close(l.frames)
	r := bufio.NewReader(l.conn)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			l.ended = err
			return
		}
		var f serverFrame
		if err := json.Unmarshal(line, &f); err != nil {
			l.ended = fmt.Errorf("unreadable line from the appliance: %w", err)
			return
		}
		select {
		case l.frames <- f:
			continue
		default:
		}
		if f.Show != nil && f.Show.Kind == core.OutUpdate {
			continue
		}
		select {
		case l.frames <- f:
		case <-l.quit:
			return
		}
	}
}

// transmit writes frames until the client quits. A failure shows in receive.
func (l *link) transmit() {
	w := json.NewEncoder(l.conn)
	for {
		select {
		case f := <-l.out:
			if w.Encode(f) != nil {
				_ = l.conn.Close()
				return
			}
		case <-l.quit:
			return
		}
	}
}

// read passes on what the person types.
func (l *link) read(in io.Reader) {
	defer close(l.input)
	for {
		p := make([]byte, 4096)
		n, err := in.Read(p)
		if n > 0 {
			select {
			case l.input <- p[:n]:
			case <-l.quit:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// send does not wait.
func (l *link) send(f clientFrame) error {
	select {
	case l.out <- f:
		return nil
	default:
		return errors.New("the appliance does not take any messages now; this one was not sent")
	}
}

// say sends a message and returns its id.
func (l *link) say(text string) (string, error) {
	if len(text) > maxText {
		return "", fmt.Errorf("the message has %d bytes; %d is the most", len(text), maxText)
	}
	s := newSay(text)
	return s.ID, l.send(clientFrame{Say: &s})
}

// gone is the error for a connection that has ended. It is called after frames
// was closed.
func (l *link) gone() error {
	if errors.Is(l.ended, io.EOF) {
		return errors.New("the appliance has closed the connection")
	}
	return fmt.Errorf("the connection to the appliance broke: %w", l.ended)
}
