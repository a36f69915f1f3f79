package adaptertest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// SlackOptions describe the app. The zero value is an app with all its scopes.
type SlackOptions struct {
	Name  string   // default "Bellhop"
	Lacks []string // scopes that it was not granted: "files:read"
}

// The identities of the app under test, and the tokens it was given.
const (
	slackTeam     = "T0HOTEL001"
	slackElse     = "T0ELSE0001" // the workspace that connected people are from
	slackApp      = "A0BELLHOP1"
	slackSecret   = "not-for-your-eyes"
	slackBotToken = "xoxb-1-2-" + slackSecret
	slackAppToken = "xapp-1-" + slackApp + "-3-" + slackSecret
)

// Slack is a strict fake of one Slack workspace with one installed app: the
// Web API, Socket Mode, the conversations and the people in them. It is safe
// for concurrent use. It starts two goroutines for each socket, which end when
// the socket does. Used inside a synctest bubble, it must be made there.
//
// Where Slack's own documents are silent it does what was reported of it; what
// neither tells, it refuses.
type Slack struct {
	opt SlackOptions
	me  *SlackUser

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at every change
	revoked  bool
	users    map[string]*SlackUser
	rooms    map[string]*slackRoom
	files    map[string]*slackFile
	pages    map[string]string // Markdown that was rendered
	sessions map[string]string // status by channel and thread
	statuses map[string]string // of assistant.threads.setStatus
	titles   map[string]string // of sessions and assistant's threads
	whispers []SlackWhisper
	button   slackElement // of the app, as it was shown last
	views    []string
	triggers map[string]time.Time // when each trigger_id was made
	lastTS   int64                // microseconds
	ids      int                  // numbers what needs an id
	faults   faults
	calls    []Call

	tickets map[string]bool // for sockets, each good for one
	sockets []*slackSocket  // open, oldest first
	turn    int             // whose turn it is to get an event
	events  []*slackEvent   // not acknowledged, oldest first
	done    []*slackEvent   // acknowledged
	sent    map[string]*slackEvent
	acks    []SlackAck
	swap    bool // app_mention comes before the message
}

// SlackWhisper is an ephemeral message.
type SlackWhisper struct {
	Channel, Thread string
	To              string // user id
	Text            string
}

// NewSlack makes a workspace with the app, and nobody else in it.
func NewSlack(o SlackOptions) *Slack {
	if o.Name == "" {
		o.Name = "Bellhop"
	}
	s := &Slack{
		opt:      o,
		changed:  make(chan struct{}),
		users:    map[string]*SlackUser{},
		rooms:    map[string]*slackRoom{},
		files:    map[string]*slackFile{},
		pages:    map[string]string{},
		sessions: map[string]string{},
		statuses: map[string]string{},
		titles:   map[string]string{},
		triggers: map[string]time.Time{},
		tickets:  map[string]bool{},
		sent:     map[string]*slackEvent{},
	}
	s.me = &SlackUser{ID: "U0BELLHOP1", Name: o.Name, Team: slackTeam, Bot: "B0BELLHOP1", App: slackApp}
	s.users[s.me.ID] = s.me
	return s
}

// BotToken is the token of the Web API.
func (s *Slack) BotToken() string { return slackBotToken }

// AppToken is the token of Socket Mode.
func (s *Slack) AppToken() string { return slackAppToken }

// Me is the app's user.
func (s *Slack) Me() *SlackUser { return s.me }

// Client returns an HTTP client whose requests, to whatever host, the fake
// answers in the caller's goroutine, without connections.
func (s *Slack) Client() *http.Client { return &http.Client{Transport: transport{s.answer}} }

// Serve answers on a loopback address until the test ends, sockets included,
// and returns the base URL of the methods.
func (s *Slack) Serve(tb testing.TB) string {
	server := httptest.NewServer(s)
	tb.Cleanup(func() {
		s.Drop()
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + "/api/"
}

// ServeHTTP implements http.Handler.
func (s *Slack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == socketPath {
		s.connect(w, r)
		return
	}
	s.answer(r).serve(w, r)
}

// Lose takes a scope from the app, as somebody does who installs it anew.
func (s *Slack) Lose(scope string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opt.Lacks = append(s.opt.Lacks, scope)
}

// Revoke uninstalls the app: its sockets close, its tokens are worthless.
func (s *Slack) Revoke() {
	s.mu.Lock()
	s.revoked = true
	s.mu.Unlock()
	s.Disconnect("link_disabled")
}

// notify wakes who waits for a change. Called with mu held.
func (s *Slack) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Wait blocks until cond holds. cond is tried again after each change of the
// fake, without its lock, so it may call the observing methods. It fails the
// test when what was waited for does not happen.
func (s *Slack) Wait(tb testing.TB, what string, cond func() bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if cond() {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			tb.Fatalf("waited in vain for %s\n%s", what, s)
		}
	}
}

// id makes an identifier. Called with mu held.
func (s *Slack) id(kind string) string {
	s.ids++
	return fmt.Sprintf("%s%08d", kind, s.ids)
}

// stamp makes the ts of a message: later than all others. Called with mu held.
func (s *Slack) stamp() string {
	s.lastTS = max(s.lastTS+1, time.Now().UnixMicro())
	return fmt.Sprintf("%010d.%06d", s.lastTS/1e6, s.lastTS%1e6)
}

// Whispers lists the ephemeral messages so far.
func (s *Slack) Whispers() []SlackWhisper {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.whispers)
}

// Views lists the views that were opened, as they were sent.
func (s *Slack) Views() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.views)
}
