package adaptertest

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// The gateway's operations.
const (
	discordDispatch  = 0
	discordHeartbeat = 1
	discordIdentify  = 2
	discordPresence  = 3
	discordResumed   = 6
	discordReconnect = 7
	discordInvalid   = 9
	discordHello     = 10
	discordAck       = 11
)

// What the gateway keeps to.
const (
	discordInterval    = 41250 * time.Millisecond // between heartbeats
	discordSessionLife = 3 * time.Minute          // of a session without a connection
	discordStarts      = 1000                     // sessions a day
	discordStartEvery  = 5 * time.Second
)

// The intents, by the event; in a direct conversation the second one.
var discordIntents = map[string][2]int{
	"CHANNEL_CREATE":          {1 << 0, 1 << 0},
	"THREAD_CREATE":           {1 << 0, 1 << 0},
	"THREAD_UPDATE":           {1 << 0, 1 << 0},
	"MESSAGE_CREATE":          {1 << 9, 1 << 12},
	"MESSAGE_UPDATE":          {1 << 9, 1 << 12},
	"MESSAGE_DELETE":          {1 << 9, 1 << 12},
	"MESSAGE_REACTION_ADD":    {1 << 10, 1 << 13},
	"MESSAGE_REACTION_REMOVE": {1 << 10, 1 << 13},
}

const (
	discordContentIntent = 1 << 15
	discordAllIntents    = 1<<17 - 1 | 1<<20 | 1<<21 | 1<<24 | 1<<25
)

// discordEvent is something that has happened.
type discordEvent struct {
	kind string
	data map[string]any
	chat *DiscordChat
}

// discordSession is what a client has begun and may resume, guarded by
// Discord.mu.
type discordSession struct {
	id      string
	intents int
	events  []discordSent
	acked   int64 // newest event that the client says it has
	socket  *discordSocket
	left    time.Time // when the socket was lost
	over    bool      // it cannot be resumed
}

// discordSent is an event that was told to a session, by its number from 1 on.
type discordSent struct {
	seq   int64
	frame []byte
}

// live reports whether a session can still be resumed.
func (s *discordSession) live() bool {
	return !s.over && (s.socket != nil || time.Since(s.left) < discordSessionLife)
}

// push tells a session of an event.
func (s *discordSession) push(kind string, data any) {
	seq := int64(len(s.events)) + 1
	frame := encode(map[string]any{"op": discordDispatch, "s": seq, "t": kind, "d": data})
	s.events = append(s.events, discordSent{seq, frame})
	if s.socket != nil {
		s.socket.frames = append(s.socket.frames, frame)
	}
}

// tell tells all sessions what has happened. Called with mu held.
func (d *Discord) tell(kind string, c *DiscordChat, data map[string]any) {
	e := discordEvent{kind, data, c}
	d.history = append(d.history, e)
	d.publish(e)
}

// publish tells the sessions of an event that want to know, and may. Called
// with mu held.
func (d *Discord) publish(e discordEvent) {
	defer d.notify()
	if e.chat != nil && (e.chat.hidden || e.chat.parent != nil && e.chat.parent.hidden) {
		return
	}
	for _, s := range d.sessions {
		intent, known := discordIntents[e.kind]
		want := intent[0]
		if e.chat != nil && e.chat.with != nil {
			want = intent[1]
		}
		if s.over || known && s.intents&want == 0 {
			continue
		}
		data := e.data
		if d.blanks(s, e) {
			data = maps.Clone(data)
			data["content"], data["attachments"], data["components"] = "", []any{}, []any{}
		}
		s.push(e.kind, data)
	}
}

// blanks reports whether a session may not know what a message says: what is
// neither ours, nor calls us, nor is between one person and us.
func (d *Discord) blanks(s *discordSession, e discordEvent) bool {
	if s.intents&discordContentIntent != 0 || e.data["content"] == nil || e.chat == nil || e.chat.with != nil {
		return false
	}
	author, _ := e.data["author"].(map[string]any)
	called, _ := e.data["mentions"].([]map[string]any)
	ours := func(u map[string]any) bool { return u["id"] == d.me.ID }
	return !ours(author) && !slices.ContainsFunc(called, ours)
}

// Raw tells of an event of any kind.
func (d *Discord) Raw(kind, data string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var fields map[string]any
	if err := json.Unmarshal([]byte(data), &fields); err != nil {
		panic(err)
	}
	d.tell(kind, nil, fields)
}

// Packet sends the connections a packet of any kind.
func (d *Discord) Packet(packet string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range d.sockets {
		k.frames = append(k.frames, []byte(packet))
	}
	d.notify()
}

// Redeliver tells again all that has happened, under new numbers, as the
// gateway does when it is in trouble.
func (d *Discord) Redeliver() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.history {
		d.publish(e)
	}
}

// Online reports whether a client is connected and has a session.
func (d *Discord) Online() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.current()
	return s != nil && s.socket != nil
}

// Unacked is how many events of the last session the client has not confirmed:
// a heartbeat and a resume tell the number of the last one that it has.
func (d *Discord) Unacked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.current()
	if s == nil {
		return 0
	}
	return len(s.events) - int(s.acked)
}

// current is the session that began last and can still be resumed; nil: none.
// Called with mu held.
func (d *Discord) current() *discordSession {
	for _, s := range slices.Backward(d.sessions) {
		if s.live() {
			return s
		}
	}
	return nil
}

func (d *Discord) gatewayBot(c *discordCall) (any, *discordError) {
	d.identified = slices.DeleteFunc(d.identified, func(t time.Time) bool { return time.Since(t) >= 24*time.Hour })
	var reset time.Duration
	if len(d.identified) > 0 {
		reset = time.Until(d.identified[0].Add(24 * time.Hour))
	}
	return map[string]any{"url": discordAddress(c.host, discordGateway), "shards": 1, "session_start_limit": map[string]any{"total": discordStarts,
		"remaining": discordStarts - len(d.identified), "reset_after": reset.Milliseconds(), "max_concurrency": 1}}, nil
}

// begin opens a session for a client that has identified itself. Called with
// mu held.
func (d *Discord) begin(k *discordSocket, intents int) {
	if !d.opt.Eager {
		d.identified = append(d.identified, time.Now())
	}
	s := &discordSession{id: "session" + d.id(), intents: intents, socket: k}
	k.session = s
	d.sessions = append(d.sessions, s)
	s.push("READY", map[string]any{"v": 10, "user": d.me.json(), "session_id": s.id, "resume_gateway_url": k.address,
		"guilds":      []any{map[string]any{"id": d.guild, "unavailable": true}},
		"application": map[string]any{"id": d.me.ID, "flags": 1 << 19}})
	var channels, threads []any
	for _, c := range slices.SortedFunc(maps.Values(d.chats), func(a, b *DiscordChat) int {
		return cmp.Compare(discordNumber(a.id), discordNumber(b.id))
	}) {
		switch {
		case c.hidden, c.with != nil, c.archived, c.parent != nil && c.parent.hidden:
		case c.kind == discordThread:
			threads = append(threads, c.json(d))
		default:
			channels = append(channels, c.json(d))
		}
	}
	s.push("GUILD_CREATE", map[string]any{"id": d.guild, "name": "Hotel", "unavailable": false, "channels": channels, "threads": threads,
		"roles":   []any{map[string]any{"id": d.guild, "name": "@everyone"}},
		"members": []any{map[string]any{"user": d.me.json(), "nick": nil, "roles": []any{}}}})
}

// resume goes on with a session, or refuses that. Called with mu held.
func (d *Discord) resume(k *discordSocket, id string, seq int64) {
	i := slices.IndexFunc(d.sessions, func(s *discordSession) bool { return s.id == id })
	if i < 0 || !d.sessions[i].live() {
		k.frames = append(k.frames, discordInvalidFrame(false))
		return
	}
	s := d.sessions[i]
	if seq < 0 || seq > int64(len(s.events)) {
		s.over = true
		k.code = 4007
		return
	}
	if s.socket != nil {
		s.socket.session = nil
		s.socket.code = 4000
	}
	s.socket, k.session = k, s
	s.acked = max(s.acked, seq)
	for _, e := range s.events[seq:] {
		k.frames = append(k.frames, e.frame)
	}
	s.push("RESUMED", map[string]any{})
}

func discordInvalidFrame(resumable bool) []byte {
	return encode(map[string]any{"op": discordInvalid, "d": resumable})
}
