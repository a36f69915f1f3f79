package adaptertest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
)

// discordSocket is one connection to the gateway, guarded by Discord.mu.
type discordSocket struct {
	conn    *websocket.Conn
	address string          // where a session may be resumed
	session *discordSession // nil: not identified
	frames  [][]byte        // to be written
	deaf    bool            // half-open: nothing gets through either way
	silent  bool            // heartbeats are not acknowledged
	code    int             // to close it with, once the frames are written; 0: not
	gone    chan struct{}
}

// Dial connects to the gateway without a network.
func (d *Discord) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	d.mu.Lock()
	f := d.faults.take("connect")
	d.notify()
	d.mu.Unlock()
	switch f.Net {
	case NetRefuse:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case NetHang, NetStall:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	client, server := net.Pipe()
	go d.accept(server, f.Fault)
	return client, nil
}

// accept serves one connection.
func (d *Discord) accept(conn net.Conn, f Fault) {
	defer func() { _ = conn.Close() }()
	buf := bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn))
	r, err := http.ReadRequest(buf.Reader)
	if err != nil || f.Net != NetFine {
		return // the client has gone, or is cut off
	}
	w := &pipeWriter{conn: conn, buf: buf, header: http.Header{}}
	if f.Status > 0 {
		f.page().serve(w, r)
		return
	}
	d.connect(w, r)
}

// connect serves a connection to the gateway until it ends.
func (d *Discord) connect(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // the client was told
	}
	k := &discordSocket{conn: ws, address: discordAddress(r.Host, discordResume), gone: make(chan struct{})}
	k.frames = append(k.frames, encode(map[string]any{"op": discordHello, "s": nil, "t": nil,
		"d": map[string]any{"heartbeat_interval": discordInterval.Milliseconds()}}))
	if q := r.URL.Query(); q.Get("v") != "10" || q.Get("encoding") != "json" {
		k.code = 4012
	}
	d.mu.Lock()
	d.sockets = append(d.sockets, k)
	d.notify()
	d.mu.Unlock()
	go d.read(k)
	d.write(k)
	_ = ws.Close()
	<-k.gone
}

// write sends a socket's frames until it ends.
func (d *Discord) write(k *discordSocket) {
	for {
		d.mu.Lock()
		var frame []byte
		code, changed := k.code, d.changed
		if k.deaf {
			code = 0
		} else if len(k.frames) > 0 {
			frame, k.frames = k.frames[0], k.frames[1:]
		}
		d.mu.Unlock()
		switch end := time.Now().Add(writeTimeout); {
		case frame != nil:
			if k.conn.SetWriteDeadline(end) != nil || k.conn.WriteMessage(websocket.TextMessage, frame) != nil {
				return
			}
		case code != 0:
			_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), end) // it ends in any case
			return
		default:
			select {
			case <-changed:
			case <-k.gone:
				return
			}
		}
	}
}

// read takes what a client sends until it ends. One whose heart has stopped is
// cut off.
func (d *Discord) read(k *discordSocket) {
	defer close(k.gone)
	for {
		err := k.conn.SetReadDeadline(time.Now().Add(2 * discordInterval))
		var data []byte
		if err == nil {
			_, data, err = k.conn.ReadMessage()
		}
		d.mu.Lock()
		if err != nil {
			d.lose(k, err)
			d.mu.Unlock()
			return
		}
		if !k.deaf && k.code == 0 {
			if code := d.packet(k, data); code != 0 {
				k.code = code
			}
			d.notify()
		}
		d.mu.Unlock()
	}
}

// lose forgets a socket. A client that says 1000 or 1001 ends its session.
// Called with mu held.
func (d *Discord) lose(k *discordSocket, err error) {
	d.sockets = slices.DeleteFunc(d.sockets, func(other *discordSocket) bool { return other == k })
	if s := k.session; s != nil {
		s.socket, s.left, k.session = nil, time.Now(), nil
		e, closed := errors.AsType[*websocket.CloseError](err)
		s.over = s.over || closed && !k.deaf && (e.Code == websocket.CloseNormalClosure || e.Code == websocket.CloseGoingAway)
	}
	d.notify()
}

// packet does what a client asks for; the code closes the connection. Called
// with mu held.
func (d *Discord) packet(k *discordSocket, data []byte) (code int) {
	var p struct {
		Op   *int            `json:"op"`
		Data json.RawMessage `json:"d"`
	}
	if json.Unmarshal(data, &p) != nil || p.Op == nil {
		return 4002
	}
	switch *p.Op {
	case discordHeartbeat:
		return d.beat(k, p.Data)
	case discordIdentify:
		return d.identify(k, p.Data)
	case discordResumed:
		var r struct {
			Token   string `json:"token"`
			Session string `json:"session_id"`
			Seq     *int64 `json:"seq"`
		}
		switch {
		case json.Unmarshal(p.Data, &r) != nil || r.Seq == nil:
			return 4002
		case d.revoked || r.Token != discordToken:
			return 4004
		case k.session != nil:
			return 4005
		}
		d.resume(k, r.Session, *r.Seq)
		return 0
	case discordPresence:
		if k.session == nil {
			return 4003
		}
		return 0
	}
	return 4001
}

// beat takes a heartbeat, which tells the last event that the client has.
func (d *Discord) beat(k *discordSocket, data json.RawMessage) (code int) {
	var seq *int64
	if json.Unmarshal(data, &seq) != nil {
		return 4002
	}
	if s := k.session; s != nil && seq != nil {
		if *seq > int64(len(s.events)) {
			return 4007
		}
		s.acked = max(s.acked, *seq)
	}
	if !k.silent {
		k.frames = append(k.frames, encode(map[string]any{"op": discordAck}))
	}
	return 0
}

// identify begins a session.
func (d *Discord) identify(k *discordSocket, data json.RawMessage) (code int) {
	var i struct {
		Token      string            `json:"token"`
		Intents    *int              `json:"intents"`
		Properties map[string]string `json:"properties"`
	}
	switch {
	case json.Unmarshal(data, &i) != nil || i.Intents == nil || i.Properties["os"] == "":
		return 4002
	case d.revoked || i.Token != discordToken:
		return 4004
	case k.session != nil:
		return 4005
	case *i.Intents&^discordAllIntents != 0:
		return 4013
	case *i.Intents&discordContentIntent != 0 && d.opt.NoContent:
		return 4014
	}
	if n := len(d.identified); n > 0 && time.Since(d.identified[n-1]) < discordStartEvery {
		k.frames = append(k.frames, discordInvalidFrame(false))
		return 0
	}
	d.begin(k, *i.Intents)
	return 0
}

// Close closes the connections with a code. Those after which a session cannot
// be resumed end it.
func (d *Discord) Close(code int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range d.sockets {
		k.code = code
		if s := k.session; s != nil && slices.Contains([]int{1000, 1001, 4004, 4007, 4009}, code) {
			s.over = true
		}
	}
	d.notify()
}

// Reconnect asks the clients to connect anew.
func (d *Discord) Reconnect() {
	d.Packet(string(encode(map[string]any{"op": discordReconnect, "d": nil})))
}

// Invalidate tells the clients that their session is invalid, though they may
// try to resume it.
func (d *Discord) Invalidate(resumable bool) {
	d.mu.Lock()
	for _, s := range d.sessions {
		s.over = s.over || !resumable
	}
	d.mu.Unlock()
	d.Packet(string(discordInvalidFrame(resumable)))
}

// Drop breaks the connections.
func (d *Discord) Drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range slices.Clone(d.sockets) {
		d.lose(k, net.ErrClosed)
		_ = k.conn.NetConn().Close()
	}
}

// HalfOpen makes the connections deaf and dumb: neither side hears of it.
func (d *Discord) HalfOpen() { d.each(func(k *discordSocket) { k.deaf = true }) }

// Silence leaves heartbeats without an answer, on the connections of now.
func (d *Discord) Silence() { d.each(func(k *discordSocket) { k.silent = true }) }

func (d *Discord) each(do func(*discordSocket)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range d.sockets {
		do(k)
	}
	d.notify()
}
