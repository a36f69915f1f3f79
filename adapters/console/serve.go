package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"bellhop/core"
)

const (
	// maxLine holds a message of maxText bytes at JSON's worst, six for one.
	maxLine = 6*maxText + 4096
	// writeTimeout is how long a client may take no bytes before it is dropped.
	writeTimeout = 10 * time.Second
	// A message that the sink refused is offered again after a pause that
	// doubles from firstPause to lastPause.
	firstPause = 100 * time.Millisecond
	lastPause  = 10 * time.Second
)

// client is one attached terminal.
type client struct {
	conn    net.Conn
	session string        // empty until it has said hello
	turn    chan struct{} // holds a token while somebody writes
	over    chan struct{} // closed when the Run that serves it has returned
}

// write sends one frame and may wait for other writers, until ctx ends. After
// nil the other end of the connection has the line. After an error it has not
// and never will: the connection is closed, as half a line may be in it.
func (c *client) write(ctx context.Context, f serverFrame) error {
	line, err := json.Marshal(f)
	if err != nil {
		return err
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err = c.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err == nil {
		_, err = c.conn.Write(append(line, '\n'))
	}
	if err != nil {
		_ = c.conn.Close()
	}
	return err
}

// Serve talks to one client until it goes or ctx ends, and closes conn. Any
// number of calls may be active, before Run too: what the clients say waits
// for it. A message that was read is offered to the sink until it is durable,
// even if the client has gone by then; when Run returns first, or ctx ends,
// the connection is closed without an ack. The error is nil unless the client
// broke the protocol beyond repair.
func (a *Adapter) Serve(ctx context.Context, conn net.Conn) error {
	hangUp := func() { _ = conn.Close() }
	defer hangUp()
	defer context.AfterFunc(ctx, hangUp)()

	a.mu.Lock()
	c := &client{conn: conn, turn: make(chan struct{}, 1), over: a.over}
	a.mu.Unlock()
	defer a.detach(c)
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if bad := a.take(ctx, c, lines.Bytes()); bad != nil {
			c.reply(ctx, serverFrame{Error: bad})
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		err := fmt.Errorf("a line is longer than %d bytes", maxLine)
		c.reply(ctx, serverFrame{Error: &fault{Text: err.Error()}})
		return err
	}
	return nil
}

// reply writes to a client that is being served. A failure needs no word of
// its own: it has closed the connection, and reading ends.
func (c *client) reply(ctx context.Context, f serverFrame) {
	_ = c.write(ctx, f)
}

// take does what a line asks, or says why it cannot.
func (a *Adapter) take(ctx context.Context, c *client, line []byte) *fault {
	var f clientFrame
	if err := json.Unmarshal(line, &f); err != nil {
		return &fault{Text: "not a line of this protocol: " + err.Error()}
	}
	var id string
	if f.Say != nil {
		id = f.Say.ID
	}
	switch err := f.check(); {
	case err != nil:
		return &fault{ID: id, Text: err.Error()}
	case f.Hello != nil && c.session != "":
		return &fault{Text: "the session is open already"}
	case f.Hello != nil:
		c.session = f.Hello.Session
		a.attach(c)
		a.attached(a.place(c.session))
	case c.session == "":
		return &fault{ID: id, Text: "say hello first"}
	case strings.TrimSpace(f.Say.Text) == "":
		return &fault{ID: id, Text: "the message is empty"}
	default:
		a.accept(ctx, c, *f.Say)
	}
	return nil
}

func (a *Adapter) place(session string) core.Place {
	return core.Place{Adapter: a.name, Channel: session}
}

// errOver says that a message has not become durable and will not.
var errOver = errors.New("the adapter does not run any more")

// accept offers the message to the sink until it is durable, and hangs up if
// it will not be.
func (a *Adapter) accept(ctx context.Context, c *client, s say) {
	m := core.Inbound{
		Key:       c.session + "/" + s.ID,
		Kind:      core.InMessage,
		Place:     a.place(c.session),
		Direct:    true,
		From:      a.person,
		MessageID: s.ID,
		Text:      s.Text,
		Command:   isCommand(s.Text),
		Time:      s.Time,
	}
	if m.Time.IsZero() {
		m.Time = time.Now()
	}
	told := ""
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := a.offer(ctx, c.over, m)
		switch {
		case err == nil:
			c.reply(ctx, serverFrame{Ack: &ack{ID: s.ID}})
			return
		case errors.Is(err, errOver):
			_ = c.conn.Close()
			return
		}
		if told != err.Error() {
			told = err.Error()
			a.log.WarnContext(ctx, "message not accepted, trying again", "place", m.Place, "err", err)
			c.reply(ctx, serverFrame{Trouble: &fault{ID: s.ID, Text: told}})
		}
		select {
		case <-time.After(pause):
		case <-c.over:
		case <-ctx.Done():
		}
	}
}

// offer waits for Run to take the message and for the sink's word on it.
func (a *Adapter) offer(ctx context.Context, over <-chan struct{}, m core.Inbound) error {
	result := make(chan error, 1)
	select {
	case a.offers <- offer{m, result}:
	case <-over:
		return errOver
	case <-ctx.Done():
		return errOver
	}
	select {
	case err := <-result: // comes before Run returns
		return err
	case <-ctx.Done():
		return errOver
	}
}

func isCommand(text string) bool {
	if len(text) < 2 || text[0] != '/' {
		return false
	}
	letter := text[1] | 0x20
	return 'a' <= letter && letter <= 'z'
}
