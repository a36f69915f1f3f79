package adaptertest

import (
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
	"github.com/slack-go/slack"
)

// line is one socket of a test.
type line struct {
	*websocket.Conn
	envelopes chan envelope // closed with the socket
	pings     atomic.Int32
}

// envelope is what comes over a socket.
type envelope struct {
	Type        string `json:"type"`
	ID          string `json:"envelope_id"`
	Attempt     int    `json:"retry_attempt"`
	Retry       string `json:"retry_reason"`
	Reason      string `json:"reason"`
	Connections int    `json:"num_connections"`
	Payload     struct {
		Type    string `json:"type"`
		EventID string `json:"event_id"`
		Command string `json:"command"`
		Event   struct {
			Type    string `json:"type"`
			Subtype string `json:"subtype"`
			Text    string `json:"text"`
			TS      string `json:"ts"`
		} `json:"event"`
	} `json:"payload"`
}

// dial opens a socket as an app does, and has read its hello.
func dial(t *testing.T, s *Slack) *line {
	t.Helper()
	rep := slackCall(t, s, "apps.connections.open", nil)
	d := websocket.Dialer{NetDialContext: s.Dial}
	conn, resp, err := d.DialContext(t.Context(), rep["url"].(string), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	l := &line{Conn: conn, envelopes: make(chan envelope, 100)}
	conn.SetPingHandler(func(string) error { l.pings.Add(1); return nil })
	go func() {
		defer close(l.envelopes)
		for {
			var e envelope
			if conn.ReadJSON(&e) != nil {
				return
			}
			l.envelopes <- e
		}
	}()
	if e := l.next(t); e.Type != "hello" && e.Type != "disconnect" {
		t.Fatalf("the first frame is %+v", e)
	}
	return l
}

// next is the next envelope; the zero one, if none comes.
func (l *line) next(t *testing.T) envelope {
	t.Helper()
	synctest.Wait()
	select {
	case e := <-l.envelopes:
		return e
	default:
		return envelope{}
	}
}

// hangUp breaks the connection.
func (l *line) hangUp() { _ = l.Close() }

func (l *line) ack(t *testing.T, id string) {
	t.Helper()
	if err := l.WriteJSON(map[string]any{"envelope_id": id}); err != nil {
		t.Error(err)
	}
	synctest.Wait()
}

// slackCall calls a method with JSON parameters and the token that it needs.
func slackCall(t *testing.T, s *Slack, method string, p map[string]any) map[string]any {
	t.Helper()
	token := s.BotToken()
	if method == "apps.connections.open" {
		token = s.AppToken()
	}
	resp := slackPost(t, s, method, token, p)
	defer resp.Body.Close()
	var rep map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&rep); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return rep
}

// TestSlackRetries: what is not acknowledged comes again after three seconds,
// a minute and five minutes, and then no more.
func TestSlackRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlack(SlackOptions{})
		ann := s.User("Ann")
		dm := s.Direct(ann)
		l := dial(t, s)
		defer l.hangUp()
		dm.Say(ann, "hi")
		first := l.next(t)
		if first.Type != "events_api" || first.Payload.Event.Text != "hi" || first.Attempt != 0 {
			t.Fatalf("%+v", first)
		}
		for i, after := range []time.Duration{3 * time.Second, time.Minute, 5 * time.Minute} {
			time.Sleep(after - time.Millisecond)
			if e := l.next(t); e.Type != "" {
				t.Errorf("too early: %+v", e)
			}
			time.Sleep(time.Millisecond)
			if e := l.next(t); e.Attempt != i+1 || e.Retry != "timeout" || e.ID == first.ID || e.Payload.EventID != first.Payload.EventID {
				t.Errorf("retry %d is %+v", i+1, e)
			}
		}
		time.Sleep(time.Hour)
		if e := l.next(t); e.Type != "" || s.Unacked() != 0 {
			t.Errorf("after the last attempt: %+v, %d held", e, s.Unacked())
		}
	})
}

// TestSlackSockets: a closed socket's events come over another at once, as
// they were.
func TestSlackSockets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlack(SlackOptions{})
		ann := s.User("Ann")
		dm := s.Direct(ann)
		a, b := dial(t, s), dial(t, s)
		defer b.hangUp()
		for range 4 {
			dm.Say(ann, "hi")
		}
		ids := map[string]bool{}
		for _, l := range []*line{a, b, a, b} {
			e := l.next(t)
			if ids[e.ID] || e.ID == "" {
				t.Errorf("the sockets do not share: %+v", e)
			}
			ids[e.ID] = true
			if l == b {
				b.ack(t, e.ID)
			}
		}
		if s.Unacked() != 2 || len(s.Acks()) != 2 || s.Sockets() != 2 {
			t.Errorf("%d held, acks %+v", s.Unacked(), s.Acks())
		}
		a.hangUp()
		for range 2 {
			e := b.next(t)
			if !ids[e.ID] || e.Attempt != 0 {
				t.Errorf("again: %+v", e)
			}
			b.ack(t, e.ID)
		}
		if s.Unacked() != 0 {
			t.Errorf("%d held", s.Unacked())
		}
	})
}

// TestSlackLost: what nobody is there for is not kept for ever.
func TestSlackLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlack(SlackOptions{})
		ann := s.User("Ann")
		dm := s.Direct(ann)
		dm.Say(ann, "lost")
		time.Sleep(6*time.Minute + 6*time.Second)
		dm.Say(ann, "found")
		l := dial(t, s)
		defer l.hangUp()
		if e := l.next(t); e.Payload.Event.Text != "found" {
			t.Errorf("%+v", e)
		}
	})
}

func TestSlackHalfOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlack(SlackOptions{})
		ann := s.User("Ann")
		dm := s.Direct(ann)
		l := dial(t, s)
		time.Sleep(time.Minute)
		synctest.Wait() // a ping may be due at this very moment
		if n := l.pings.Swap(0); n < 5 {
			t.Errorf("%d pings in a minute", n)
		}
		s.HalfOpen()
		dm.Say(ann, "hi")
		time.Sleep(time.Minute)
		if e := l.next(t); e.Type != "" || l.pings.Load() > 0 {
			t.Errorf("%d pings and %+v over a dead line", l.pings.Load(), e)
		}
		l.hangUp()
		l = dial(t, s)
		defer l.hangUp()
		if e := l.next(t); e.Payload.Event.Text != "hi" {
			t.Errorf("%+v", e)
		}
	})
}

func TestSlackDisconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlack(SlackOptions{})
		ann := s.User("Ann")
		dm := s.Direct(ann)
		for reason, after := range map[string]time.Duration{"warning": 10 * time.Second, "refresh_requested": 0} {
			old := dial(t, s)
			s.Disconnect(reason)
			if e := old.next(t); e.Type != "disconnect" || e.Reason != reason {
				t.Errorf("%+v", e)
			}
			fresh := dial(t, s)
			dm.Say(ann, "hi")
			if e := fresh.next(t); e.Payload.Event.Text != "hi" {
				t.Errorf("the socket that stays gets %+v", e)
			} else {
				fresh.ack(t, e.ID)
			}
			time.Sleep(after)
			synctest.Wait()
			if _, open := <-old.envelopes; open {
				t.Errorf("%s: the old socket got more", reason)
			}
			fresh.hangUp()
			old.hangUp()
			synctest.Wait()
		}
		var all []*line
		for range maxSockets {
			all = append(all, dial(t, s))
		}
		one := dial(t, s)
		if _, open := <-one.envelopes; open || s.Sockets() != maxSockets {
			t.Errorf("%d sockets", s.Sockets())
		}
		for _, l := range append(all, one) {
			l.hangUp()
		}
	})
}

// TestSlackMention: a mention has two signals, in either order, with ids of
// their own.
func TestSlackMention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlack(SlackOptions{})
		ann := s.User("Ann")
		c := s.Channel("talk", ann)
		l := dial(t, s)
		defer l.hangUp()
		var got []string
		for range 2 {
			ts := c.Mention(ann, "you & <me>, see https://example.org/a")
			one, two := l.next(t), l.next(t)
			if one.Payload.Event.TS != ts || two.Payload.Event.TS != ts || one.Payload.EventID == two.Payload.EventID {
				t.Errorf("two signals are %+v and %+v", one, two)
			}
			if want := "<@" + s.Me().ID + "> you &amp; &lt;me&gt;, see <https://example.org/a>"; one.Payload.Event.Text != want {
				t.Errorf("the text is %q, want %q", one.Payload.Event.Text, want)
			}
			got = append(got, one.Payload.Event.Type, two.Payload.Event.Type)
		}
		if diff := cmp.Diff([]string{"app_mention", "message", "message", "app_mention"}, got); diff != "" {
			t.Error(diff)
		}
		c.Slash(ann, "/bellhop", "help")
		slash := l.next(t)
		if slash.Type != "slash_commands" || slash.Payload.Command != "/bellhop" {
			t.Errorf("%+v", slash)
		}
		time.Sleep(3 * time.Second)
		for e := l.next(t); e.Type != ""; e = l.next(t) {
			if e.Type == "slash_commands" {
				t.Error("a slash command came again")
			}
		}
	})
}

// TestSlackGo: the library that adapters use understands the fake, over a
// network too.
func TestSlackGo(t *testing.T) {
	s := NewSlack(SlackOptions{})
	ann := s.User("Ann")
	dm := s.Direct(ann)
	api := slack.New(s.BotToken(), slack.OptionAPIURL(s.Serve(t)), slack.OptionAppLevelToken(s.AppToken()))
	if auth, err := api.AuthTestContext(t.Context()); err != nil || auth.UserID != s.Me().ID {
		t.Errorf("%+v, %v", auth, err)
	}
	_, ts, err := api.PostMessageContext(t.Context(), dm.ID(), slack.MsgOptionBlocks(slack.NewMarkdownBlock("", "**hello** <@"+ann.ID+">")),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "out", EventPayload: map[string]any{"id": "k1"}}))
	if err != nil {
		t.Fatal(err)
	}
	h, err := api.GetConversationHistoryContext(t.Context(), &slack.GetConversationHistoryParameters{ChannelID: dm.ID(), IncludeAllMetadata: true})
	if err != nil || len(h.Messages) != 1 || h.Messages[0].Timestamp != ts || h.Messages[0].Metadata.EventPayload["id"] != "k1" {
		t.Errorf("%+v, %v", h, err)
	}
	if sh := dm.Shown(); len(sh) != 1 || sh[0].Text != "hello @Ann" || !cmp.Equal(sh[0].Pings, []string{ann.ID}) {
		t.Errorf("%+v", sh)
	}
	_, url, err := api.StartSocketModeContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	_ = conn.Close()
	_, resp, err = websocket.DefaultDialer.DialContext(t.Context(), url, nil)
	if err == nil {
		t.Fatal("a ticket is good for two")
	}
	if resp.Body.Close(); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a used ticket: %s", resp.Status)
	}
	if _, err := api.GetUserInfoContext(context.WithoutCancel(t.Context()), ann.ID); err != nil {
		t.Error(err)
	}
}
