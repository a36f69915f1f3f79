package discord

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
)

const (
	// intents are the events that we ask for. Message content is privileged:
	// without it a follow-up in a thread has no text.
	intents = discordgo.IntentGuilds |
		discordgo.IntentGuildMessages |
		discordgo.IntentGuildMessageReactions |
		discordgo.IntentDirectMessages |
		discordgo.IntentDirectMessageReactions |
		discordgo.IntentMessageContent

	gatewayQuery = "?v=10&encoding=json"

	// A bot may identify 1,000 times a day; then Discord takes its token away.
	// The last few stay unused. Two must be identifyEvery apart.
	identifyReserve = 10
	identifyEvery   = 5 * time.Second

	// maxDials is how often the address of a session is tried before the
	// session is given up.
	maxDials = 3
)

// What only a person can help with, by the code that closes the connection.
var fatalCodes = map[int]string{
	4004: "check the token",
	4010: "it was told of a shard that does not exist, which is a fault of this program",
	4011: "the bot is in too many servers for one connection: remove it from some",
	4012: "it no longer speaks this version of the gateway: update this program",
	4013: "it does not know what it was asked for: update this program",
	4014: "enable Message Content Intent in the developer portal (Bot, Privileged Gateway Intents), or, once the bot serves 10,000 people, apply for it there",
}

// Codes after which the session cannot be resumed.
var sessionCodes = map[int]bool{
	4003: true, // not authenticated
	4007: true, // invalid sequence
	4009: true, // session timed out
}

// gateway keeps a connection to the gateway, in one goroutine.
type gateway struct {
	*Adapter
	feed   chan<- frame
	ready  chan<- identity // takes the first one
	dialer *websocket.Dialer

	session    *session // nil: there is none to resume
	dials      int      // in a row to the session's address, without success
	identified time.Time
}

// ended says how a connection came to its end.
type ended struct {
	why   string
	wait  time.Duration // at least that long before the next
	fatal string        // what a person must do; empty: it may be tried again
	lost  bool          // the session with it
}

func (e *ended) Error() string { return e.why }

// run connects until ctx ends or an error that is fatal, which it returns.
func (g *gateway) run(ctx context.Context) error {
	var pause backoff
	var down time.Time // since when there is no session
	told := false
	for {
		started := time.Now()
		greeted, err := g.connect(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if greeted {
			down, told = time.Now(), false
		} else if down.IsZero() {
			down = started
		}
		lived := greeted && time.Since(started) > identifyEvery
		if lived {
			pause = 0
		}
		e := g.verdict(err)
		if e.fatal != "" {
			return g.fatal(e.why, e.fatal)
		}
		if e.lost {
			g.session = nil
		}
		g.log.Warn("discord's gateway is gone", "why", e.why, "resumes", g.session != nil)
		if time.Since(down) >= troubleAfter {
			text := "Discord's gateway is gone: " + e.why
			g.trouble(text)
			if !told {
				told = true
				g.log.Error("discord is in trouble", "trouble", text, "since", down)
			}
		}
		wait := e.wait
		if !lived || wait > 0 {
			wait = max(wait, jitter(pause.next()))
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// verdict is what the end of a connection, or the failure to get one, means.
func (g *gateway) verdict(err error) *ended {
	if e, ok := errors.AsType[*ended](err); ok {
		return e
	}
	e, ok := errors.AsType[*apiError](err)
	switch {
	case !ok:
		return &ended{why: g.api.reason(err)}
	case e.answered && e.status == http.StatusUnauthorized:
		return &ended{why: e.text, fatal: fatalCodes[4004]}
	}
	return &ended{why: e.Error(), wait: e.retryAfter}
}

// connect is the life of one connection. greeted says that Discord has taken
// up the session; the error says how the connection ended.
func (g *gateway) connect(ctx context.Context) (greeted bool, err error) {
	address, err := g.address(ctx)
	if err != nil {
		return false, err
	}
	ws, resp, err := g.dialer.DialContext(ctx, address, http.Header{"User-Agent": {userAgent}})
	if resp != nil && resp.Body != nil {
		resp.Body.Close()
	}
	if err != nil {
		if g.dials++; g.dials >= maxDials {
			g.session = nil
		}
		return false, fmt.Errorf("connect: %w", err)
	}
	g.dials = 0
	c := &connection{ws: ws, now: make(chan struct{}, 1)}
	gone := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(gone)
		c.hangUp(websocket.CloseNormalClosure)
	})
	defer func() {
		_ = ws.Close() // nothing is lost by it any more
		if !stop() {
			<-gone
		}
	}()

	if err := c.hello(); err != nil {
		return false, err
	}
	if err := c.send(g.opening()); err != nil {
		return false, err
	}
	c.session.Store(g.session)
	done := make(chan struct{})
	beats := make(chan struct{})
	go func() {
		defer close(beats)
		c.beat(done)
	}()
	defer func() {
		close(done)
		_ = ws.Close()
		<-beats
	}()
	for {
		f, err := c.read()
		if err != nil {
			return greeted, closing(err)
		}
		now, err := g.take(ctx, c, f)
		greeted = greeted || now
		if err != nil {
			return greeted, err
		}
		g.alive(greeted)
	}
}

// address is where to connect: where the session says, else where Discord
// wants new ones.
func (g *gateway) address(ctx context.Context) (string, error) {
	if g.session != nil && g.session.url != "" {
		return g.session.url + gatewayQuery, nil
	}
	if err := sleep(ctx, time.Until(g.identified.Add(identifyEvery))); err != nil {
		return "", err
	}
	var answer discordgo.GatewayBotResponse
	if err := g.api.call(ctx, http.MethodGet, "gateway/bot", nil, &answer); err != nil {
		return "", err
	}
	limit := answer.SessionStartLimit
	if g.session == nil && limit.Total > 0 && limit.Remaining <= min(identifyReserve, limit.Total/2) {
		wait := time.Duration(limit.ResetAfter) * time.Millisecond
		text := fmt.Sprintf("only %d of %d new sessions are left for today, waiting for more", limit.Remaining, limit.Total)
		g.trouble("Discord: " + text)
		return "", &ended{why: text, wait: wait}
	}
	if answer.Shards > 1 {
		g.log.Warn("discord would rather have several connections", "shards", answer.Shards)
	}
	return answer.URL + "/" + gatewayQuery, nil
}

// opening is what is sent first: to resume the session, or to begin one.
func (g *gateway) opening() any {
	type packet struct {
		Op   int `json:"op"`
		Data any `json:"d"`
	}
	if s := g.session; s != nil {
		return packet{opResume, map[string]any{"token": g.api.identify(), "session_id": s.id, "seq": s.taken.Load()}}
	}
	g.identified = time.Now()
	return packet{opIdentify, map[string]any{
		"token":      g.api.identify(),
		"intents":    intents,
		"properties": map[string]string{"os": "linux", "browser": "bellhop", "device": "bellhop"},
	}}
}

// take does what a packet asks for. greeted says that it begins or goes on
// with a session; an error ends the connection.
func (g *gateway) take(ctx context.Context, c *connection, p packet) (greeted bool, err error) {
	switch p.Op {
	case opHeartbeat:
		select {
		case c.now <- struct{}{}:
		default:
		}
	case opHeartbeatAck:
		c.owed.Store(false)
	case opReconnect:
		c.hangUp(closeResumable)
		return false, &ended{why: "it asked to connect anew"}
	case opInvalidSession:
		c.hangUp(closeResumable)
		wait := time.Second + rand.N(4*time.Second) // as Discord asks
		return false, &ended{why: "the session is invalid", wait: wait, lost: string(p.Data) != "true"}
	case opDispatch:
		return g.dispatch(ctx, c, p)
	}
	return false, nil
}

// dispatch hands an event on, unless it is a replay of one that has been.
func (g *gateway) dispatch(ctx context.Context, c *connection, p packet) (greeted bool, err error) {
	switch p.Kind {
	case "READY":
		s, me, err := parseReady(p)
		if err != nil {
			return false, &ended{why: err.Error(), wait: firstPause, lost: true}
		}
		g.log.Info("discord has begun a session", "user", me.user)
		s.taken.Store(p.Seq) // there is nothing in it for the sink
		g.session = s
		c.session.Store(s)
		g.mu.Lock()
		g.me = me
		g.mu.Unlock()
		select {
		case g.ready <- me:
		default:
		}
		greeted = true
	case "RESUMED":
		g.log.Info("discord has resumed the session")
		greeted = true
	}
	s := g.session
	if s == nil || p.Seq <= s.seen {
		return greeted, nil
	}
	s.seen = p.Seq
	f := frame{session: s, seq: p.Seq, kind: p.Kind, data: p.Data}
	select {
	case g.feed <- f:
		return greeted, nil
	default:
	}
	// The sink is slow. Until it has caught up nothing is read, and that
	// heartbeats are not acknowledged says nothing.
	c.busy.Store(true)
	defer func() {
		c.owed.Store(false) // the acknowledgement may be in what is read next
		c.busy.Store(false)
	}()
	select {
	case g.feed <- f:
		return greeted, nil
	case <-ctx.Done():
		return greeted, ctx.Err()
	}
}

// closing is what the end of reading means.
func closing(err error) error {
	e, ok := errors.AsType[*websocket.CloseError](err)
	if !ok {
		return err
	}
	why := fmt.Sprintf("%d %s", e.Code, e.Text)
	return &ended{why: why, fatal: fatalCodes[e.Code], lost: sessionCodes[e.Code]}
}
