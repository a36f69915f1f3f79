package discord

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// TestCatchUp: after a session that could not be resumed, what was missed is
// read back, where something was.
func TestCatchUp(t *testing.T) {
	guild := func(general, quiet, extra string) string {
		return fmt.Sprintf(`{"id":"1","channels":[{"id":"10","type":0,"last_message_id":%q},{"id":"12","type":0,"last_message_id":%q}],
			"threads":[{"id":"11","type":11,"parent_id":"10","last_message_id":"300"}%s]}`, general, quiet, extra)
	}
	inBubble(t, func(t *testing.T, s *server, a *Adapter) {
		page := func(from, to int, channel string) answer {
			var ms []string
			for i := to; i >= from; i-- { // newest first, as Discord has them
				ms = append(ms, strings.Replace(posted(channel, fmt.Sprint(i), fmt.Sprint("missed ", i), ""), `"guild_id":"1",`, "", 1))
			}
			return ok("[" + strings.Join(ms, ",") + "]")
		}
		s.answers(map[string][]answer{
			"GET /channels/10/messages?after=501&limit=100": {{status: 500}, page(502, 601, "10")},
			"GET /channels/10/messages?after=601&limit=100": {page(602, 602, "10")},
			"GET /channels/13/messages?after=501&limit=100": {page(603, 603, "13")},
			"GET /channels/14/messages?after=501&limit=100": {no(403, 50001, "Missing Access")},
			"GET /channels/21/messages?after=501&limit=100": {page(550, 550, "21")},
			"GET /channels/50/messages?after=400&limit=100": {ok("[" + said(401, "missed directly") + "]")},
		})
		s.script = func(n int, g *socket) {
			g.begin()
			if n == 1 {
				g.event(2, "GUILD_CREATE", guild("100", "200", ""))
				g.event(3, "GUILD_CREATE", `{"id":"3","channels":[{"id":"20","type":15,"last_message_id":"90"}]}`)
				g.event(4, "MESSAGE_CREATE", said(400, "direct"))
				g.event(5, "MESSAGE_CREATE", posted("10", "501", "live", ""))
				time.Sleep(10 * time.Second)
				g.say(`{"op":9,"d":false}`)
				g.stay()
				return
			}
			g.event(2, "GUILD_CREATE", guild("602", "200", `,{"id":"13","type":11,"parent_id":"10","last_message_id":"603"},{"id":"14","type":11,"parent_id":"10","last_message_id":"604"},{"id":"15","type":11,"parent_id":"10","last_message_id":"90"}`))
			g.event(3, "GUILD_CREATE", `{"id":"2","channels":[{"id":"80","type":0,"last_message_id":"900"}]}`) // new to us
			g.event(4, "GUILD_CREATE", `{"id":"3","channels":[{"id":"20","type":15,"last_message_id":"550"}],"threads":[{"id":"21","type":11,"parent_id":"20","last_message_id":"550"}]}`)
			g.event(5, "MESSAGE_CREATE", posted("10", "605", "live again", ""))
			g.stay()
		}
		var in inbox
		a.cursors = in.cursors
		stop := run(t, a, in.sink)
		pass(2 * time.Minute)
		want := map[string][]string{"dc:50": {"direct", "missed directly"}, "dc:10": {"live"}, "dc:10/13": {"missed 603"}, "dc:20/21": {"missed 550"}}
		for i := 502; i <= 602; i++ {
			want["dc:10"] = append(want["dc:10"], fmt.Sprint("missed ", i))
		}
		want["dc:10"] = append(want["dc:10"], "live again")
		got := map[string][]string{}
		for _, e := range in.events {
			if e.Place.Topic == e.MessageID {
				e.Place.Topic = ""
			}
			got[e.Place.String()] = append(got[e.Place.String()], e.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("heard (-want +got):\n%s", diff)
		}
		for _, e := range in.events {
			if e.Text == "missed 502" && (e.Key != "m/10/502" || e.Place.String() != "dc:10/502" || e.Direct) {
				t.Errorf("a missed message is %+v", e)
			}
			if e.Text == "missed directly" && !e.Direct {
				t.Errorf("a missed direct message is %+v", e)
			}
		}
		if n := len(s.made("GET /channels/")); n != 7 {
			t.Errorf("%d reads: %q", n, s.whats())
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestInteractions(t *testing.T) {
	const callback = "POST /interactions/%d/interaction-token/callback"
	command := func(id int, name string) string {
		return fmt.Sprintf(`{"id":"%d","type":2,"token":"interaction-token","channel_id":"50","user":{"id":"2000","username":"ann"},"data":{"name":%q}}`, id, name)
	}
	const original = "PATCH /webhooks/1001/interaction-token/messages/@original"
	reply := func(key string, id int) core.Outbound {
		return core.Outbound{Key: key, Kind: core.OutFinal, Place: dm, Text: "answer " + key, Answers: []string{fmt.Sprint(id)}, After: idAt(time.Now()), Last: true}
	}
	inBubble(t, func(t *testing.T, s *server, a *Adapter) {
		s.answer = func(c call) answer {
			switch {
			case c.what == fmt.Sprintf(callback, 303):
				return no(404, 10062, "Unknown interaction")
			case c.what == original && strings.Contains(c.body, "answer k4"):
				return no(404, 10015, "Unknown Webhook")
			case c.what == original:
				return ok(`{"id":"8888"}`)
			}
			return answer{}
		}
		s.script = func(_ int, g *socket) {
			g.begin()
			g.event(2, "INTERACTION_CREATE", command(300, "new"))
			g.event(3, "INTERACTION_CREATE", command(301, "help"))
			g.event(4, "INTERACTION_CREATE", `{"id":"302","type":3,"token":"interaction-token","channel_id":"50","user":{"id":"2000"},"message":{"id":"60"},"data":{"custom_id":"y"}}`)
			g.event(5, "INTERACTION_CREATE", command(303, "new"))
			g.event(6, "INTERACTION_CREATE", command(304, "new"))
			g.event(7, "INTERACTION_CREATE", command(305, "new"))
			g.stay()
		}
		var in inbox
		first := true
		stop := run(t, a, func(ctx context.Context, batch []core.Inbound) error {
			if first {
				first = false
				if n := len(s.made("POST /interactions")); n > 0 {
					t.Errorf("%d acknowledged before they were durable", n)
				}
				return errors.New("the disk is full")
			}
			return in.sink(ctx, batch)
		})
		pass(2 * time.Second)
		for id, want := range map[int]string{300: `{"type":5}`, 301: `{"type":5,"data":{"tts":false,"content":"","components":null,"embeds":null,"flags":64}}`, 302: `{"type":6}`} {
			cs := s.made(fmt.Sprintf(callback, id))
			if len(cs) != 1 || strings.TrimSpace(cs[0].body) != want || cs[0].header.Get("Authorization") != "" {
				t.Errorf("interaction %d is acknowledged by %+v", id, cs)
			}
		}
		for _, tt := range []struct {
			o    core.Outbound
			id   string
			what string
		}{
			{reply("k0", 300), "8888", original},
			{reply("k0", 300), "8888", original},                      // again
			{reply("k0b", 300), "7777", "POST /channels/50/messages"}, // its second piece
			{reply("k3", 303), "7777", "POST /channels/50/messages"},  // Discord did not take the acknowledgement
			{reply("k4", 304), "7777", "POST /channels/50/messages"},  // the person has dismissed it
			{reply("k9", 309), "7777", "POST /channels/50/messages"},  // no command
		} {
			before := len(s.made(tt.what))
			r, err := a.Send(t.Context(), tt.o)
			if err != nil || r.ID != tt.id || len(s.made(tt.what)) != before+1 {
				t.Errorf("%s: %v, %v, calls %q", tt.o.Key, r, err, s.whats()[len(s.whats())-2:])
			}
		}
		if r, err := a.resolve(t.Context(), reply("k0", 300)); err != nil || r.ID != "8888" {
			t.Errorf("resolve: %v, %v", r, err)
		}
		pass(14 * time.Minute)
		if r, err := a.Send(t.Context(), reply("k5", 305)); err != nil || r.ID != "7777" {
			t.Errorf("too late: %v, %v", r, err)
		}
		s.secret()
		wants(t, &in, stop, "/new", "/help", "", "/new", "/new", "/new")
	})
}

func TestPublish(t *testing.T) {
	const list, put = "GET /applications/1001/commands", "PUT /applications/1001/commands"
	option := `"options":[{"type":3,"name":"text","description":"what follows the command"}],"contexts":[0,1]`
	tests := map[string]struct {
		have string
		puts int
	}{
		"none yet":   {`[]`, 1},
		"another":    {`[{"id":"5","name":"new","description":"old words","type":1,` + option + `}]`, 1},
		"up to date": {`[{"id":"5","version":"9","name":"new","description":"start afresh","type":1,` + option + `}]`, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *server, a *Adapter) {
				s.answers(map[string][]answer{list: {{status: 503}, ok(tt.have)}})
				stop := run(t, a, new(inbox).sink)
				pass(time.Minute)
				cs := s.made(put)
				if len(cs) != tt.puts {
					t.Fatalf("published %d times: %q", len(cs), s.whats())
				}
				want := `[{"name":"new","description":"start afresh","type":1,` + option + `}]`
				if tt.puts > 0 {
					if diff := cmp.Diff(want, strings.TrimSpace(cs[0].body)); diff != "" {
						t.Error(diff)
					}
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestInvite(t *testing.T) {
	const want = "https://discord.com/oauth2/authorize?client_id=123&permissions=309237746752&scope=bot+applications.commands"
	if got := Invite("123"); got != want {
		t.Errorf("Invite = %s", got)
	}
}
