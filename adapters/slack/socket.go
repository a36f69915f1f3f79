package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

const (
	// deafAfter is how long a socket may be silent: Slack pings it several times
	// as often, and so do we.
	deafAfter = 75 * time.Second
	// pingEvery keeps routers from forgetting an idle connection.
	pingEvery = 25 * time.Second
	// helloTimeout bounds the way from dialling to Slack's first word.
	helloTimeout = 20 * time.Second
	// ackTimeout bounds the writing of an acknowledgement.
	ackTimeout = 5 * time.Second
	// linger is how long a socket that Slack is about to close is still heard
	// once the next one is open.
	linger = 10 * time.Second
	// maxFrame bounds a frame; Slack's are far below it.
	maxFrame = 16 << 20
)

// socket is one Socket Mode connection. One goroutine listens, one minds it;
// only the intake writes to it, besides pings.
type socket struct {
	conn  *websocket.Conn
	alive func()
	since time.Time
	first []byte // a first word that was no greeting

	talks   atomic.Bool   // something has come after the greeting
	leaving chan struct{} // closed when Slack has said that it will close it
	reason  string        // why, once leaving is closed
	ended   chan struct{} // closed when nothing more can come
	err     error         // why, once ended is closed
	retired chan struct{} // closed when it is to end soon
	retire  func()
}

// open asks for a socket, dials it and waits for its greeting. Every error is
// an *apiError.
func (a *Adapter) open(ctx context.Context) (*socket, error) {
	var ticket struct {
		URL string `json:"url"`
	}
	const method = "apps.connections.open"
	if err := a.api.do(ctx, method, nil, true, &ticket); err != nil {
		return nil, err
	}
	u, err := url.Parse(ticket.URL)
	if err != nil || u.Scheme != "wss" && u.Scheme != "ws" {
		return nil, &apiError{method: method, text: "no address of a socket"}
	}
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: helloTimeout}
	if a.dial != nil {
		dialer.NetDialContext, dialer.Proxy = a.dial, nil
	}
	conn, resp, err := dialer.DialContext(ctx, ticket.URL, nil)
	if resp != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		text := "socket: " + a.api.reason(err)
		if resp != nil {
			text = fmt.Sprintf("socket: HTTP %d", resp.StatusCode)
		}
		return nil, &apiError{method: method, text: text, ended: ctx.Err()}
	}
	s := &socket{
		conn: conn, alive: a.alive, since: time.Now(),
		leaving: make(chan struct{}), ended: make(chan struct{}), retired: make(chan struct{}),
	}
	s.retire = sync.OnceFunc(func() { close(s.retired) })
	if err := s.greet(ctx); err != nil {
		_ = conn.Close()
		return nil, &apiError{method: "socket", text: a.api.redact(err.Error()), ended: ctx.Err()}
	}
	a.greeted()
	return s, nil
}

// greet waits for Slack's first word.
func (s *socket) greet(ctx context.Context) error {
	deadline, _ := ctx.Deadline()
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	s.conn.SetReadLimit(maxFrame)
	_ = s.conn.SetReadDeadline(deadline)
	_, data, err := s.conn.ReadMessage()
	if err != nil {
		return err
	}
	var f frame
	_ = json.Unmarshal(data, &f)
	switch f.Type {
	case "disconnect":
		return fmt.Errorf("closed by Slack: %s", f.Reason.v)
	case "hello":
	default:
		s.first = data
	}
	return nil
}

// listen hands on envelopes until the socket ends.
func (s *socket) listen(ctx context.Context, out chan<- delivery) {
	defer close(s.ended)
	sign := func() {
		s.talks.Store(true)
		s.alive()
		_ = s.conn.SetReadDeadline(time.Now().Add(deafAfter))
	}
	s.conn.SetPongHandler(func(string) error { sign(); return nil })
	s.conn.SetPingHandler(func(data string) error {
		sign()
		_ = s.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(ackTimeout))
		return nil
	})
	for data := s.first; ; {
		if data != nil && !s.take(ctx, data, out) {
			s.err = ctx.Err()
			return
		}
		_ = s.conn.SetReadDeadline(time.Now().Add(deafAfter))
		if _, data, s.err = s.conn.ReadMessage(); s.err != nil {
			return
		}
		sign()
	}
}

// take reads one frame. It reports false when ctx has ended.
func (s *socket) take(ctx context.Context, data []byte, out chan<- delivery) bool {
	var f frame
	if err := json.Unmarshal(data, &f); err != nil {
		var id struct {
			Envelope loose[string] `json:"envelope_id"`
		}
		_ = json.Unmarshal(data, &id)
		f = frame{Type: unreadableFrame, Envelope: id.Envelope.v, Payload: data}
	}
	switch {
	case f.Type == "disconnect":
		select {
		case <-s.leaving:
		default:
			s.reason = f.Reason.v
			close(s.leaving)
		}
	case f.Envelope != "":
		select {
		case out <- delivery{frame: f, from: s, at: time.Now()}:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// mind keeps the socket in use until it has ended, and closes it.
func (s *socket) mind(ctx context.Context) {
	defer func() { _ = s.conn.Close() }()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	var late <-chan time.Time
	for retired := s.retired; ; {
		select {
		case <-ping.C:
			_ = s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(ackTimeout))
		case <-retired:
			retired, late = nil, time.After(linger)
		case <-late:
			return
		case <-s.ended:
			return
		case <-ctx.Done():
			return
		}
	}
}

// ack tells Slack that an envelope is ours; payload is what a person sees at
// once, nil for nothing. One that does not arrive comes again.
func (s *socket) ack(envelope string, payload any) error {
	_ = s.conn.SetWriteDeadline(time.Now().Add(ackTimeout))
	return s.conn.WriteJSON(struct {
		Envelope string `json:"envelope_id"`
		Payload  any    `json:"payload,omitempty"`
	}{envelope, payload})
}
