package adaptertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
)

// discordLine is a client's end of a connection to the gateway.
type discordLine struct {
	*websocket.Conn
	t *testing.T
}

// connectDiscord connects and reads hello.
func connectDiscord(t *testing.T, d *Discord) discordLine {
	t.Helper()
	l := dialDiscord(t, d, "/?v=10&encoding=json")
	if got := l.next(); got != "10" {
		t.Fatalf("the gateway greets with %s", got)
	}
	return l
}

func dialDiscord(t *testing.T, d *Discord, path string) discordLine {
	t.Helper()
	dialer := websocket.Dialer{NetDialContext: d.Dial}
	conn, resp, err := dialer.DialContext(t.Context(), discordGateway+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	t.Cleanup(func() { conn.Close() })
	return discordLine{conn, t}
}

// send sends a packet.
func (l discordLine) send(op int, data string) {
	_ = l.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"op":%d,"d":%s}`, op, data)) // what is read next tells
}

// next is the next packet in short: its operation and its data, or its number,
// kind and text; or the code of the close.
func (l discordLine) next() string {
	l.t.Helper()
	if err := l.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		l.t.Fatal(err)
	}
	_, data, err := l.ReadMessage()
	if e, ok := errors.AsType[*websocket.CloseError](err); ok {
		return fmt.Sprint("close ", e.Code)
	}
	if err != nil {
		return "nothing"
	}
	var p struct {
		Op   int             `json:"op"`
		Seq  int             `json:"s"`
		Kind string          `json:"t"`
		Data json.RawMessage `json:"d"`
	}
	if err := json.Unmarshal(data, &p); err != nil {
		l.t.Fatal(err)
	}
	var m struct {
		Content string `json:"content"`
	}
	_ = json.Unmarshal(p.Data, &m) // many have none
	switch p.Op {
	case discordDispatch:
		return strings.TrimSpace(fmt.Sprint(p.Seq, " ", p.Kind, " ", m.Content))
	case discordInvalid:
		return fmt.Sprint("9 ", string(p.Data))
	}
	return fmt.Sprint(p.Op)
}

// wants checks the packets that come.
func (l discordLine) wants(want ...string) {
	l.t.Helper()
	var got []string
	for range want {
		got = append(got, l.next())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.t.Errorf("the gateway says otherwise:\n%s", diff)
	}
}

const discordWants = int(discordgo.IntentGuilds | discordgo.IntentGuildMessages | discordgo.IntentDirectMessages)

func discordIdentity(token string, intents int) string {
	return fmt.Sprintf(`{"token":%q,"intents":%d,"properties":{"os":"linux"}}`, token, intents)
}

// start begins a session.
func (l discordLine) start(intents int) {
	l.t.Helper()
	l.send(discordIdentify, discordIdentity(discordToken, intents))
	l.wants("1 READY", "2 GUILD_CREATE")
}

func discordResumption(d *Discord, seq int) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Sprintf(`{"token":%q,"session_id":%q,"seq":%d}`, discordToken, d.sessions[len(d.sessions)-1].id, seq)
}

func TestDiscordCloses(t *testing.T) {
	for _, c := range []struct {
		op   int
		data string
		want string
	}{
		{discordIdentify, discordIdentity("x", discordWants), "close 4004"},
		{discordIdentify, discordIdentity(discordToken, 1<<30), "close 4013"},
		{discordIdentify, discordIdentity(discordToken, 1<<15), "close 4014"},
		{discordIdentify, `{"token":"x"}`, "close 4002"},
		{discordIdentify, `7`, "close 4002"},
		{discordResumed, `{"token":"x","session_id":"x","seq":1}`, "close 4004"},
		{discordResumed, `{"token":"` + discordToken + `","session_id":"x","seq":1}`, "9 false"},
		{discordResumed, `{}`, "close 4002"},
		{discordPresence, `{}`, "close 4003"},
		{discordHeartbeat, `null`, "11"},
		{discordHeartbeat, `"x"`, "close 4002"},
		{99, `{}`, "close 4001"},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := connectDiscord(t, NewDiscord(DiscordOptions{NoContent: true}))
			defer l.Close()
			l.send(c.op, c.data)
			if got := l.next(); got != c.want {
				t.Errorf("%d %s: %s, want %s", c.op, c.data, got, c.want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		l := dialDiscord(t, NewDiscord(DiscordOptions{}), "/")
		defer l.Close()
		l.wants("10", "close 4012")
	})
	synctest.Test(t, func(t *testing.T) {
		l := connectDiscord(t, NewDiscord(DiscordOptions{}))
		defer l.Close()
		l.start(discordWants)
		l.send(discordIdentify, discordIdentity(discordToken, discordWants))
		l.wants("close 4005")
	})
}

// TestDiscordResume: a resume replays what came after the number it tells, and
// no session outlives a good-bye or a long absence.
func TestDiscordResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDiscord(DiscordOptions{})
		c, ann := d.Channel("talk"), d.User("Ann")
		l := connectDiscord(t, d)
		l.start(discordWants | discordContentIntent)
		c.Post(ann, DiscordPost{Text: "one"})
		l.wants("3 MESSAGE_CREATE one")
		l.send(discordHeartbeat, "3")
		l.wants("11")
		if n := d.Unacked(); n != 0 {
			t.Errorf("%d events are not confirmed", n)
		}
		d.Drop()
		c.Post(ann, DiscordPost{Text: "two"})
		if n := d.Unacked(); n != 1 {
			t.Errorf("%d events are not confirmed, want 1", n)
		}

		l = connectDiscord(t, d)
		l.send(discordResumed, discordResumption(d, 2))
		l.wants("3 MESSAGE_CREATE one", "4 MESSAGE_CREATE two", "5 RESUMED")
		d.Reconnect()
		l.wants("7")
		l.Close()

		l = connectDiscord(t, d)
		l.send(discordResumed, discordResumption(d, 9))
		l.wants("close 4007")

		for _, end := range []func(discordLine){
			func(l discordLine) {
				bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
				_ = l.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second)) // then it is gone
			},
			func(discordLine) { d.Drop(); time.Sleep(discordSessionLife) },
			func(discordLine) { d.Invalidate(false) },
			func(discordLine) { d.Close(4009) },
		} {
			time.Sleep(discordStartEvery)
			l := connectDiscord(t, d)
			l.start(discordWants)
			end(l)
			synctest.Wait()
			l.Close()
			l = connectDiscord(t, d)
			l.send(discordResumed, discordResumption(d, 2))
			l.wants("9 false")
			l.Close()
		}
	})
}

// TestDiscordStarts: two sessions begin five seconds apart.
func TestDiscordStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDiscord(DiscordOptions{})
		one, two := connectDiscord(t, d), connectDiscord(t, d)
		defer one.Close()
		defer two.Close()
		one.start(discordWants)
		two.send(discordIdentify, discordIdentity(discordToken, discordWants))
		two.wants("9 false")
		time.Sleep(discordStartEvery)
		two.start(discordWants)
		d.Channel("new")
		one.wants("3 CHANNEL_CREATE")
		two.wants("3 CHANNEL_CREATE")
		if got := string(discordDo(t, d, "GET gateway/bot", nil).body); !strings.Contains(got, `"remaining":998`) {
			t.Errorf("the starts of today: %s", got)
		}
	})
}

// TestDiscordSilence: who is not answered, and who does not ask.
func TestDiscordSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDiscord(DiscordOptions{})
		l := connectDiscord(t, d)
		l.start(discordWants)
		d.Silence()
		l.send(discordHeartbeat, "2")
		l.wants("nothing")
		l.Close()

		connectDiscord(t, d)
		time.Sleep(3 * discordInterval)
		synctest.Wait()
		if n := len(d.sockets); n != 0 {
			t.Errorf("%d connections without a heartbeat are open", n)
		}
	})
}

// TestDiscordContent: without the intent only some messages have their text.
func TestDiscordContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDiscord(DiscordOptions{NoContent: true})
		c, ann := d.Channel("talk"), d.User("Ann")
		l := connectDiscord(t, d)
		defer l.Close()
		l.start(discordWants)
		c.Post(ann, DiscordPost{Text: "secret"})
		c.Post(ann, DiscordPost{Text: "hey", Mention: []*DiscordUser{d.Me()}})
		d.Direct(ann).Post(ann, DiscordPost{Text: "hello"})
		l.wants("3 MESSAGE_CREATE", "4 MESSAGE_CREATE <@"+d.Me().ID+"> hey", "5 MESSAGE_CREATE hello")
		c.Unfurl(c.Post(d.Webhook("News"), DiscordPost{Text: "news"}))
		l.wants("6 MESSAGE_CREATE", "7 MESSAGE_UPDATE")
		c.React(ann, c.Shown()[0].ID, "👀")
		l.wants("nothing") // no intent
	})
}

// TestDiscordInteraction: an interaction waits three seconds for its
// acknowledgement, which then can be answered for a quarter of an hour.
func TestDiscordInteraction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDiscord(DiscordOptions{})
		c, ann := d.Channel("talk"), d.User("Ann")
		type m = map[string]any
		commands := "PUT applications/" + d.Me().ID + "/commands"
		if r := discordDo(t, d, commands, []any{m{"name": "help", "description": "x"}}); r.status != 200 {
			t.Fatalf("the commands: %s", r.body)
		}
		use := func() (callback, original string) {
			id := c.Slash(ann, "help", "")
			for token, r := range d.tokens {
				if r.id == id {
					return "POST interactions/" + id + "/" + token + "/callback", "PATCH webhooks/" + d.Me().ID + "/" + token + "/messages/@original"
				}
			}
			t.Fatal("no interaction")
			return "", ""
		}
		code := func(call string, body any, want int) {
			t.Helper()
			if r := discordDo(t, d, call, body); r.code != want || want == 0 && r.status >= 300 {
				t.Errorf("%s: HTTP %d, %s, want %d", call, r.status, r.body, want)
			}
		}
		callback, original := use()
		code(original, m{"content": "too soon"}, 10015)
		code(callback, m{"type": 6}, 50035)
		code(callback, m{"type": 5}, 0)
		code(callback, m{"type": 5}, 40060)
		code(original, m{"content": "answer"}, 0)
		if shown := c.Shown(); len(shown) != 1 || shown[0].Text != "answer" {
			t.Errorf("all see %+v", shown)
		}
		time.Sleep(discordAnswerTime + time.Second)
		code(original, m{"content": "too late"}, 50027)

		callback, original = use()
		code(callback, m{"type": 5, "data": m{"flags": 64}}, 0)
		code(original, m{"content": "for you"}, 0)
		if whispers := c.Whispers(ann); len(whispers) != 1 || whispers[0].Text != "for you" || len(c.Shown()) != 1 {
			t.Errorf("Ann sees %+v, all %+v", whispers, c.Shown())
		}

		callback, _ = use()
		time.Sleep(discordAckTime + time.Second)
		code(callback, m{"type": 5}, 10062)
	})
}
