package discord

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// The gateway's operations.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
	opUnreadable     = -1 // ours: what is no packet
)

const (
	// closeResumable ends a connection and keeps its session, which 1000 and
	// 1001 would end.
	closeResumable = 4000

	dialTimeout  = 15 * time.Second // until Hello
	writeTimeout = 10 * time.Second
	byeTimeout   = 500 * time.Millisecond

	// maxPacket bounds a packet; the largest are those about a big server.
	maxPacket = 64 << 20
)

// session is what a resume needs.
type session struct {
	id    string
	url   string
	seen  int64        // newest event that the feed was given; the gateway's
	taken atomic.Int64 // newest event that the sink has, with all before it
}

// packet is one of the gateway's.
type packet struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Kind string          `json:"t"`
}

// frame is one event for the feed.
type frame struct {
	session *session
	seq     int64
	kind    string
	data    json.RawMessage
}

// connection is one websocket. One goroutine reads, and one writes after the
// opening.
type connection struct {
	ws       *websocket.Conn
	interval time.Duration           // between two heartbeats
	now      chan struct{}           // of capacity 1: a heartbeat is asked for
	session  atomic.Pointer[session] // whose sequence a heartbeat tells
	owed     atomic.Bool             // a heartbeat was not acknowledged yet
	busy     atomic.Bool             // nothing is read, because the feed is full
}

// dialer reaches the gateway in the way that c reaches the API.
func dialer(c *http.Client) *websocket.Dialer {
	d := &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: dialTimeout}
	if t, ok := c.Transport.(*http.Transport); ok {
		d.Proxy, d.NetDialContext, d.TLSClientConfig = t.Proxy, t.DialContext, t.TLSClientConfig
	}
	return d
}

// hello reads the first packet.
func (c *connection) hello() error {
	c.ws.SetReadLimit(maxPacket)
	c.interval = dialTimeout * 2 / 5 // read waits five halves of it
	p, err := c.read()
	if err != nil {
		return closing(err)
	}
	var hello struct {
		Interval int64 `json:"heartbeat_interval"` // milliseconds
	}
	if err := json.Unmarshal(p.Data, &hello); err != nil || p.Op != opHello || hello.Interval <= 0 || hello.Interval > 1e7 {
		return &ended{why: fmt.Sprintf("operation %d came before Hello", p.Op)}
	}
	c.interval = time.Duration(hello.Interval) * time.Millisecond
	return nil
}

// read reads one packet. A connection that brings nothing, not even an answer
// to a heartbeat, for longer than two heartbeats is dead.
func (c *connection) read() (packet, error) {
	if err := c.ws.SetReadDeadline(time.Now().Add(c.interval * 5 / 2)); err != nil {
		return packet{}, err
	}
	_, data, err := c.ws.ReadMessage()
	if err != nil {
		return packet{}, err
	}
	var p packet
	if !parse(data, &p) {
		p = packet{Op: opUnreadable} // another connection would get the same
	}
	return p, nil
}

// send writes one packet.
func (c *connection) send(packet any) error {
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(packet); err != nil {
		return err
	}
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	return c.ws.WriteMessage(websocket.TextMessage, out.Bytes())
}

// beat sends heartbeats until done is closed, or the connection is found to be
// dead, which it then closes.
func (c *connection) beat(done <-chan struct{}) {
	t := time.NewTimer(rand.N(c.interval)) // not all at once after an outage
	defer t.Stop()
	for {
		select {
		case <-done:
			return
		case <-c.now:
		case <-t.C:
			if c.owed.Load() && !c.busy.Load() {
				c.hangUp(closeResumable)
				return
			}
			c.owed.Store(true)
			t.Reset(c.interval)
		}
		var seq *int64
		if s := c.session.Load(); s != nil {
			seq = new(s.taken.Load())
		}
		err := c.send(struct {
			Op   int    `json:"op"`
			Data *int64 `json:"d"`
		}{opHeartbeat, seq})
		if err != nil {
			_ = c.ws.Close() // it is broken already
			return
		}
	}
}

// hangUp closes the connection, saying why if the other side still listens.
// It is safe to call from any goroutine.
func (c *connection) hangUp(code int) {
	bye := websocket.FormatCloseMessage(code, "")
	_ = c.ws.WriteControl(websocket.CloseMessage, bye, time.Now().Add(byeTimeout)) // it is closed in any case
	_ = c.ws.Close()
}

// parseReady reads READY.
func parseReady(p packet) (*session, identity, error) {
	var ready struct {
		Session string `json:"session_id"`
		Resume  string `json:"resume_gateway_url"`
		User    struct {
			ID string `json:"id"`
		} `json:"user"`
		Application struct {
			ID string `json:"id"`
		} `json:"application"`
	}
	if err := json.Unmarshal(p.Data, &ready); err != nil || ready.Session == "" || ready.User.ID == "" {
		return nil, identity{}, fmt.Errorf("READY says neither session nor user")
	}
	me := identity{user: ready.User.ID, app: ready.Application.ID}
	if me.app == "" {
		me.app = me.user
	}
	s := &session{id: ready.Session}
	if ready.Resume != "" {
		s.url = trimSlash(ready.Resume) + "/"
	}
	return s, me, nil
}
