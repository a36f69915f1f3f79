package adaptertest

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
)

// socketPath is where sockets connect, on any host.
const socketPath = "/link/"

// What the service does with a socket.
const (
	maxSockets   = 10
	pingEvery    = 10 * time.Second
	writeTimeout = 30 * time.Second // a client that reads nothing is dropped
	warningTime  = 10 * time.Second // from the warning to the end
	maxResponse  = 20 << 10         // bytes of an acknowledgement: longer ones are dropped
)

// slackSocket is one connection of Socket Mode, guarded by Slack.mu.
type slackSocket struct {
	conn    *websocket.Conn
	frames  []slackFrame // to be written
	deaf    bool         // half-open: nothing gets through either way
	leaving bool         // a disconnect was sent: it gets no new events if there is another
	end     time.Time    // when it is closed; zero: not
	gone    chan struct{}
}

// slackFrame is a frame, and the event that it brings, if any.
type slackFrame struct {
	data  []byte
	event *slackEvent
}

// Dial connects a socket without a network: a websocket.Dialer's
// NetDialContext. The address is not looked at.
func (s *Slack) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	f := s.faults.take("connect")
	s.notify()
	s.mu.Unlock()
	switch f.Net {
	case NetFine:
	case NetHang, NetStall:
		<-ctx.Done()
		return nil, ctx.Err()
	default:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	client, server := net.Pipe()
	go s.accept(server, f.Fault)
	return client, nil
}

// accept serves one connection.
func (s *Slack) accept(conn net.Conn, f Fault) {
	defer func() { _ = conn.Close() }()
	buf := bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn))
	r, err := http.ReadRequest(buf.Reader)
	if err != nil {
		return // the client has gone
	}
	w := &pipeWriter{conn: conn, buf: buf, header: http.Header{}}
	if f.Status > 0 {
		f.page().serve(w, r)
		return
	}
	s.ServeHTTP(w, r)
}

// pipeWriter answers a request over a connection that can be taken over.
type pipeWriter struct {
	conn   net.Conn
	buf    *bufio.ReadWriter
	header http.Header
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) {
	r := http.Response{StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: w.header, Close: true}
	_ = r.Write(w.buf) // to a buffer
}

func (w *pipeWriter) Write(b []byte) (int, error) {
	n, err := w.buf.Write(b)
	if err == nil {
		err = w.buf.Flush()
	}
	return n, err
}

// Hijack implements http.Hijacker.
func (w *pipeWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) { return w.conn, w.buf, nil }

// connect serves a socket until it ends.
func (s *Slack) connect(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	ticket := r.URL.Query().Get("ticket")
	ok := s.tickets[ticket]
	delete(s.tickets, ticket)
	s.mu.Unlock()
	if !ok {
		http.Error(w, "bad ticket", http.StatusForbidden)
		return
	}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // the client was told
	}
	defer func() { _ = conn.Close() }()
	k := &slackSocket{conn: conn, gone: make(chan struct{})}
	s.mu.Lock()
	if len(s.sockets) >= maxSockets {
		k.leave("too_many_websockets")
	} else {
		s.sockets = append(s.sockets, k)
		k.frames = append(k.frames, slackFrame{data: encode(map[string]any{"type": "hello", "num_connections": len(s.sockets),
			"connection_info": map[string]any{"app_id": slackApp},
			"debug_info":      map[string]any{"host": "applink-1", "build_number": 1, "approximate_connection_time": 18060}})})
	}
	s.notify()
	s.mu.Unlock()
	go s.read(k)
	s.write(k)
	_ = conn.Close()
	<-k.gone
}

// leave sends a disconnect, and ends the socket when its reason says.
func (k *slackSocket) leave(reason string) {
	k.frames = append(k.frames, slackFrame{data: encode(map[string]any{"type": "disconnect", "reason": reason,
		"debug_info": map[string]any{"host": "applink-1"}})})
	k.leaving, k.end = true, time.Now()
	if reason == "warning" {
		k.end = k.end.Add(warningTime)
	}
}

// drop forgets a socket: what it got and did not acknowledge is sent again at
// once. Called with mu held.
func (s *Slack) drop(k *slackSocket) {
	s.sockets = slices.DeleteFunc(s.sockets, func(other *slackSocket) bool { return other == k })
	for _, e := range s.events {
		if e.socket == k {
			e.socket = nil
		}
	}
	s.notify()
}

// write sends a socket's frames and pings until it ends.
func (s *Slack) write(k *slackSocket) {
	ping := time.Now().Add(pingEvery)
	for {
		s.mu.Lock()
		wake := s.dispatch()
		var frame []byte
		over := !k.end.IsZero() && !time.Now().Before(k.end)
		if len(k.frames) > 0 && !k.deaf {
			frame = k.frames[0].data
			if e := k.frames[0].event; e != nil {
				e.written = time.Now()
			}
			k.frames = k.frames[1:]
		} else if over {
			s.drop(k)
		}
		if !k.end.IsZero() {
			wake = earlier(wake, k.end)
		}
		deaf, changed := k.deaf, s.changed
		s.mu.Unlock()

		now := time.Now()
		var err error
		switch {
		case frame != nil:
			if err = k.conn.SetWriteDeadline(now.Add(writeTimeout)); err == nil {
				err = k.conn.WriteMessage(websocket.TextMessage, frame)
			}
		case over:
			_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), now.Add(time.Second))
			return
		case !now.Before(ping):
			ping = now.Add(pingEvery)
			if !deaf {
				err = k.conn.WriteControl(websocket.PingMessage, []byte("Ping from applink-1"), now.Add(writeTimeout))
			}
		default:
			timer := time.NewTimer(earlier(wake, ping).Sub(now))
			select {
			case <-changed:
			case <-timer.C:
			case <-k.gone:
				err = net.ErrClosed
			}
			timer.Stop()
		}
		if err != nil {
			s.mu.Lock()
			s.drop(k)
			s.mu.Unlock()
			return
		}
	}
}

// earlier is the earlier of two times, of which the first may be zero: never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// read takes a socket's acknowledgements until it ends.
func (s *Slack) read(k *slackSocket) {
	defer close(k.gone)
	answer := k.conn.PingHandler()
	k.conn.SetPingHandler(func(data string) error {
		s.mu.Lock()
		deaf := k.deaf
		s.mu.Unlock()
		if deaf {
			return nil
		}
		return answer(data)
	})
	for {
		kind, frame, err := k.conn.ReadMessage()
		s.mu.Lock()
		if err != nil {
			s.drop(k)
			s.mu.Unlock()
			return
		}
		if kind == websocket.TextMessage && !k.deaf && len(frame) < maxResponse {
			s.ack(frame)
		}
		s.mu.Unlock()
	}
}

// SlackAck is an acknowledgement.
type SlackAck struct {
	Envelope string
	Payload  string // JSON; empty: none
	Time     time.Time
	After    time.Duration // since the envelope was written
}

// ack takes an acknowledgement, from whichever socket it comes. Called with mu
// held.
func (s *Slack) ack(frame []byte) {
	var a struct {
		Envelope string          `json:"envelope_id"`
		Payload  json.RawMessage `json:"payload"`
	}
	if json.Unmarshal(frame, &a) != nil {
		return
	}
	ack, e := SlackAck{Envelope: a.Envelope, Payload: string(a.Payload), Time: time.Now()}, s.sent[a.Envelope]
	if e != nil {
		ack.After = ack.Time.Sub(e.written)
	}
	s.acks = append(s.acks, ack)
	if e != nil && !e.acked {
		e.acked = true
		s.events = slices.DeleteFunc(s.events, func(other *slackEvent) bool { return other == e })
		s.done = append(s.done, e)
	}
	s.notify()
}

// Acks lists the acknowledgements so far.
func (s *Slack) Acks() []SlackAck {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.acks)
}

// Sockets is how many sockets are connected.
func (s *Slack) Sockets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

// Disconnect asks the sockets to go: "warning" ten seconds before they are
// closed, "refresh_requested" and "link_disabled" at once.
func (s *Slack) Disconnect(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.sockets {
		k.leave(reason)
	}
	s.notify()
}

// HalfOpen makes the sockets that are connected deaf and dumb: neither side
// hears of it.
func (s *Slack) HalfOpen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.sockets {
		k.deaf = true
	}
	s.notify()
}

// Drop breaks the connections of all sockets.
func (s *Slack) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range slices.Clone(s.sockets) {
		s.drop(k)
		_ = k.conn.NetConn().Close()
	}
}
