package discord

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// testFeed knows a server with a text channel 10 that has the thread 11, a
// forum 20 with the post 21, a voice channel 30, and two roles.
func testFeed(s *server) *feed {
	a := s.adapter()
	f := &feed{Adapter: a, me: identity{user: meID, app: "1001"}, catchUp: catchUp{guilds: map[string]bool{}}}
	a.me = f.me
	f.see("GUILD_CREATE", `{"id":"1","channels":[
			{"id":"10","type":0,"name":"general","parent_id":"9"},{"id":"20","type":15,"name":"help"},{"id":"30","type":2,"name":"Voice"},{"id":"40","type":5,"name":"news"}],
		"threads":[{"id":"11","type":11,"parent_id":"10","name":"a thread"},{"id":"21","type":11,"parent_id":"20"}],
		"roles":[{"id":"71","name":"bellhop","tags":{"bot_id":"`+meID+`"}},{"id":"72","name":"staff"}]}`)
	return f
}

var testSession = &session{id: "s1"}

// see decodes one event.
func (f *feed) see(kind, data string) []core.Inbound {
	got, err := f.event(context.Background(), frame{session: testSession, seq: 7, kind: kind, data: []byte(data)})
	if err != nil {
		panic(err)
	}
	return got.events
}

// posted is a message of Ann's in a channel of the server, with more fields.
func posted(channel, id, content, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"id":%q,"channel_id":%q,"guild_id":"1","type":0,"content":%q,"timestamp":"2026-01-02T03:04:05.5+00:00",
		"author":{"id":%q,"username":"ann","global_name":"Ann"},"member":{"nick":"Annie"}%s}`, id, channel, content, annID, more)
}

func TestDecodeMessage(t *testing.T) {
	ann := core.Person{ID: "dc:" + annID, Name: "Annie"}
	at := time.Date(2026, 1, 2, 3, 4, 5, 5e8, time.UTC)
	const meMentioned = `"mentions":[{"id":"` + meID + `","username":"bellhop"}]`
	base := func(change func(in *core.Inbound)) []core.Inbound {
		in := core.Inbound{
			Key: "m/10/100", Kind: core.InMessage, Place: core.Place{Adapter: "dc", Channel: "10", Topic: "100"},
			From: ann, MessageID: "100", Text: "hello", Time: at, Unnamed: true,
		}
		change(&in)
		in.Unnamed = in.Unnamed && in.Kind == core.InMessage && in.Place.Topic == "100" // else it opens no thread
		return []core.Inbound{in}
	}
	same := func(*core.Inbound) {}
	tests := map[string]struct {
		kind, data string
		want       []core.Inbound
	}{
		"at top level": {"MESSAGE_CREATE", posted("10", "100", "hello", ""), base(same)},
		"mention":      {"MESSAGE_CREATE", posted("10", "100", "<@1000> hello", meMentioned), base(func(in *core.Inbound) { in.Mentioned = true })},
		"mention with a nick, in the middle": {"MESSAGE_CREATE", posted("10", "100", "well <@!1000> hello", meMentioned), base(func(in *core.Inbound) {
			in.Mentioned, in.Text = true, "well hello"
		})},
		"our role": {"MESSAGE_CREATE", posted("10", "100", "<@&71> hello", `"mention_roles":["71"]`), base(func(in *core.Inbound) { in.Mentioned = true })},
		"another role": {"MESSAGE_CREATE", posted("10", "100", "<@&72> hello", `"mention_roles":["72"]`), base(func(in *core.Inbound) {
			in.Others, in.Text = true, "@staff hello"
		})},
		"others, and what is shown for tags": {"MESSAGE_CREATE", posted("10", "100", "<@5> <@6> <#10> <#99> <:smile:1> <a:wave:2> </new:3> <@U1>",
			`"mentions":[{"id":"5","username":"bob","global_name":"Bob"},{"id":"6","username":"eve","member":{"nick":"Evie"}}]`), base(func(in *core.Inbound) {
			in.Others, in.Text = true, "@Bob @Evie #general <#99> :smile: :wave: /new <@U1>"
		})},
		"us and others": {"MESSAGE_CREATE", posted("10", "100", "<@1000> <@5> hello", `"mentions":[{"id":"1000"},{"id":"5","username":"bob"}]`), base(func(in *core.Inbound) {
			in.Mentioned, in.Text = true, "@bob hello"
		})},
		"nothing but us": {"MESSAGE_CREATE", posted("10", "100", " <@1000> ", meMentioned), base(func(in *core.Inbound) { in.Mentioned, in.Text = true, "" })},
		"in a thread": {"MESSAGE_CREATE", posted("11", "100", "hello", ""), base(func(in *core.Inbound) {
			in.Key, in.Place.Topic = "m/11/100", "11"
		})},
		"in a forum": {"MESSAGE_CREATE", posted("21", "21", "hello", ""), base(func(in *core.Inbound) {
			in.Key, in.Place.Channel, in.Place.Topic, in.MessageID = "m/21/21", "20", "21", "21"
		})},
		"news": {"MESSAGE_CREATE", posted("40", "100", "hello", ""), base(func(in *core.Inbound) { in.Key, in.Place.Channel = "m/40/100", "40" })},
		"where threads cannot be": {"MESSAGE_CREATE", posted("30", "100", "hello", ""), base(func(in *core.Inbound) {
			in.Key, in.Place.Channel = "m/30/100", "30"
		})},
		"direct": {"MESSAGE_CREATE", said(100, "hello"), base(func(in *core.Inbound) {
			in.Key, in.Place.Channel, in.Place.Topic, in.Direct, in.From.Name = "m/50/100", "50", "", true, "ann"
			in.Time = at.Truncate(time.Second)
		})},
		"a bot": {"MESSAGE_CREATE", strings.Replace(posted("10", "100", "hello", ""), `"username"`, `"bot":true,"username"`, 1), base(func(in *core.Inbound) { in.From.Bot = true })},
		"a webhook": {"MESSAGE_CREATE", posted("10", "100", "hello", `"webhook_id":"8"`), base(func(in *core.Inbound) {
			in.From = core.Person{Name: "Annie", Guest: true}
		})},
		"ourselves":          {"MESSAGE_CREATE", strings.Replace(posted("10", "100", "hello", ""), annID, meID, 1), nil},
		"our own edit":       {"MESSAGE_UPDATE", strings.Replace(posted("10", "100", "hello", `"edited_timestamp":"2026-01-02T03:05:00+00:00"`), annID, meID, 1), nil},
		"a sticker":          {"MESSAGE_CREATE", posted("10", "100", "", `"sticker_items":[{"name":"wave"}]`), base(func(in *core.Inbound) { in.Text = ":wave:" })},
		"somebody joined":    {"MESSAGE_CREATE", strings.Replace(posted("10", "100", "", ""), `"type":0`, `"type":7`, 1), []core.Inbound{{Key: "m/10/100", Kind: core.InIgnored, Place: core.Place{Adapter: "dc"}}}},
		"an unknown kind":    {"MESSAGE_CREATE", strings.Replace(posted("10", "100", "", ""), `"type":0`, `"type":99`, 1), []core.Inbound{{Key: "m/10/100", Kind: core.InIgnored, Place: core.Place{Adapter: "dc"}}}},
		"unknown components": {"MESSAGE_CREATE", posted("10", "100", "hello", `"components":[{"type":99,"x":[]}],"embeds":"?","mentions":7,"attachments":{}`), base(same)},
		"edit": {"MESSAGE_UPDATE", posted("10", "100", "hello", `"edited_timestamp":"2026-01-02T03:05:00+00:00"`), base(func(in *core.Inbound) {
			in.Key, in.Kind, in.Time = "e/10/100/2026-01-02T03:05:00+00:00", core.InEdit, time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC)
		})},
		"a preview came": {"MESSAGE_UPDATE", posted("10", "100", "hello", `"edited_timestamp":null`), []core.Inbound{{Key: testKey, Kind: core.InIgnored, Place: core.Place{Adapter: "dc"}}}},
		"reply to us": {"MESSAGE_CREATE", posted("10", "100", "hello", `"referenced_message":{"id":"90","channel_id":"10","content":"ours","author":{"id":"1000","username":"bellhop"}}`), base(func(in *core.Inbound) {
			in.Mentioned, in.ReplyTo, in.Quotes = true, "90", []core.Quote{{Author: "bellhop", Own: true, Text: "ours"}}
		})},
		"reply to another, with a ping": {"MESSAGE_CREATE", posted("10", "100", "hello", `"mentions":[{"id":"5","username":"bob"}],
			"referenced_message":{"id":"90","channel_id":"10","content":"hi <@5>","mentions":[{"id":"5","username":"bob"}],"author":{"id":"5","username":"bob"},
			"attachments":[{"id":"3","filename":"a.pdf","content_type":"application/pdf","size":4,"url":"https://cdn.discordapp.com/a"}]}`), base(func(in *core.Inbound) {
			in.Others, in.ReplyTo, in.Quotes = true, "90", []core.Quote{{Author: "bob", Text: "hi @bob"}}
			in.Files = []core.File{{Name: "a.pdf", MIME: "application/pdf", Size: 4, Ref: `{"c":"10","m":"90","a":"3","u":"https://cdn.discordapp.com/a"}`}}
		})},
		"reply to what is gone": {"MESSAGE_CREATE", posted("10", "100", "hello", `"referenced_message":null`), base(same)},
		"forward": {"MESSAGE_CREATE", posted("10", "100", "", `"message_snapshots":[{"message":{"content":"/new now","attachments":[{"id":"3","filename":"a.txt","url":"u"}]}}]`), base(func(in *core.Inbound) {
			in.Text, in.Unnamed, in.Quotes = "", false, []core.Quote{{Text: "/new now"}}
			in.Files = []core.File{{Name: "a.txt", Ref: `{"c":"10","m":"100","a":"3","u":"u"}`}}
		})},
		"files": {"MESSAGE_CREATE", posted("10", "100", "hello", `"attachments":[
			{"id":"3","filename":"a.jpg","content_type":"image/jpeg","size":9,"url":"u1"},
			{"id":"4","filename":"b.heic","content_type":"image/heic","size":9,"url":"u2","proxy_url":"https://media.discordapp.net/b.heic?ex=1"}]`), base(func(in *core.Inbound) {
			in.Files = []core.File{
				{Name: "a.jpg", MIME: "image/jpeg", Size: 9, Ref: `{"c":"10","m":"100","a":"3","u":"u1"}`},
				{Name: "b.heic.png", MIME: "image/png", Ref: `{"c":"10","m":"100","a":"4","u":"https://media.discordapp.net/b.heic?ex=1\u0026format=png"}`},
			}
		})},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := testFeed(newServer(t)).see(tt.kind, tt.data)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// testKey is that of the seventh event of the session s1.
const testKey = "s/e8bc163c82eee187/7"

func TestDecodeOther(t *testing.T) {
	place := core.Place{Adapter: "dc", Channel: "10", Topic: "100"}
	tests := map[string]struct {
		kind, data string
		want       []core.Inbound
	}{
		"delete": {"MESSAGE_DELETE", `{"id":"100","channel_id":"10","guild_id":"1"}`, []core.Inbound{
			{Key: "d/10/100", Kind: core.InDelete, Place: place, MessageID: "100", Time: born("100")},
		}},
		"delete several": {"MESSAGE_DELETE_BULK", `{"ids":["100","101"],"channel_id":"11","guild_id":"1"}`, []core.Inbound{
			{Key: "d/11/100", Kind: core.InDelete, Place: core.Place{Adapter: "dc", Channel: "10", Topic: "11"}, MessageID: "100", Time: born("100")},
			{Key: "d/11/101", Kind: core.InDelete, Place: core.Place{Adapter: "dc", Channel: "10", Topic: "11"}, MessageID: "101", Time: born("101")},
		}},
		"reaction": {"MESSAGE_REACTION_ADD", `{"user_id":"2000","channel_id":"10","message_id":"100","guild_id":"1","emoji":{"id":null,"name":"👍"},"member":{"nick":"Annie","user":{"id":"2000","username":"ann"}}}`, []core.Inbound{
			{Key: testKey, Kind: core.InReaction, Place: place, MessageID: "100", From: core.Person{ID: "dc:2000", Name: "Annie"}, Emoji: "👍", Time: born("100")},
		}},
		"reaction taken away": {"MESSAGE_REACTION_REMOVE", `{"user_id":"2000","channel_id":"50","message_id":"100","emoji":{"id":"4","name":"wave"}}`, []core.Inbound{
			{Key: testKey, Kind: core.InReaction, Place: core.Place{Adapter: "dc", Channel: "50"}, Direct: true, MessageID: "100", From: core.Person{ID: "dc:2000"}, Emoji: ":wave:", Removed: true, Time: born("100")},
		}},
		"our reaction": {"MESSAGE_REACTION_ADD", `{"user_id":"1000","channel_id":"10","message_id":"100","guild_id":"1","emoji":{"name":"👀"}}`, nil},
		"command": {"INTERACTION_CREATE", `{"id":"300","type":2,"token":"interaction-token","guild_id":"1","channel_id":"10","member":{"nick":"Annie","user":{"id":"2000","username":"ann"}},"data":{"name":"new","options":[{"name":"text","type":3,"value":"at once"}]}}`, []core.Inbound{
			{Key: "i/300", Kind: core.InMessage, Place: core.Place{Adapter: "dc", Channel: "10"}, From: core.Person{ID: "dc:2000", Name: "Annie"}, MessageID: "300", Text: "/new at once", Command: true, Mentioned: true, Time: born("300")},
		}},
		"command in a thread that is new to us": {"INTERACTION_CREATE", `{"id":"300","type":2,"guild_id":"1","channel_id":"12","channel":{"id":"12","type":12,"parent_id":"10"},"member":{"user":{"id":"2000","username":"ann"}},"data":{"name":"help"}}`, []core.Inbound{
			{Key: "i/300", Kind: core.InMessage, Place: core.Place{Adapter: "dc", Channel: "10", Topic: "12"}, From: core.Person{ID: "dc:2000", Name: "ann"}, MessageID: "300", Text: "/help", Command: true, Mentioned: true, Time: born("300")},
		}},
		"command in a direct conversation": {"INTERACTION_CREATE", `{"id":"300","type":2,"channel_id":"50","user":{"id":"2000","username":"ann"},"data":{"name":"help"}}`, []core.Inbound{
			{Key: "i/300", Kind: core.InMessage, Place: core.Place{Adapter: "dc", Channel: "50"}, Direct: true, From: core.Person{ID: "dc:2000", Name: "ann"}, MessageID: "300", Text: "/help", Command: true, Mentioned: true, Time: born("300")},
		}},
		"button": {"INTERACTION_CREATE", `{"id":"300","type":3,"guild_id":"1","channel_id":"11","member":{"user":{"id":"2000","username":"ann"}},"message":{"id":"200","channel_id":"11","components":[{"type":99}]},"data":{"custom_id":"ap:1:yes","component_type":2}}`, []core.Inbound{
			{Key: "i/300", Kind: core.InButton, Place: core.Place{Adapter: "dc", Channel: "10", Topic: "11"}, From: core.Person{ID: "dc:2000", Name: "ann"}, MessageID: "200", Button: "ap:1:yes", Time: born("300")},
		}},
		"button of an answer without a thread": {"INTERACTION_CREATE", `{"id":"300","type":3,"guild_id":"1","channel_id":"10","member":{"user":{"id":"2000"}},"message":{"id":"200","channel_id":"10","message_reference":{"message_id":"100"}},"data":{"custom_id":"x"}}`, []core.Inbound{
			{Key: "i/300", Kind: core.InButton, Place: place, From: core.Person{ID: "dc:2000"}, MessageID: "200", Button: "x", Time: born("300")},
		}},
		"a modal": {"INTERACTION_CREATE", `{"id":"300","type":5,"guild_id":"1","channel_id":"10","data":{"components":[{"type":18}]}}`, []core.Inbound{
			{Key: "i/300", Kind: core.InIgnored, Place: core.Place{Adapter: "dc"}},
		}},
		"an unreadable message": {"MESSAGE_CREATE", `{"id":"100","channel_id":"10","content":{}}`, []core.Inbound{
			{Key: "m/10/100", Kind: core.InUnreadable, Place: core.Place{Adapter: "dc"}, Raw: []byte(`{"id":"100","channel_id":"10","content":{}}`)},
		}},
		"an unreadable interaction": {"INTERACTION_CREATE", `{"id":7,"token":"interaction-token"}`, []core.Inbound{
			{Key: "x/6c4b8f4f0b5e2f0c", Kind: core.InUnreadable, Place: core.Place{Adapter: "dc"}, Raw: []byte(`{"id":7}`)},
		}},
		"of no interest": {"GUILD_MEMBER_UPDATE", `[]`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := testFeed(newServer(t)).see(tt.kind, tt.data)
			if len(got) == 1 && strings.HasPrefix(got[0].Key, "x/") {
				tt.want[0].Key = got[0].Key
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDirectory: threads and roles come and go.
func TestDirectory(t *testing.T) {
	f := testFeed(newServer(t))
	f.see("THREAD_CREATE", `{"id":"12","type":12,"parent_id":"10","guild_id":"1"}`)
	f.see("THREAD_LIST_SYNC", `{"guild_id":"1","threads":[{"id":"13","type":10,"parent_id":"40"}]}`)
	f.see("CHANNEL_UPDATE", `{"id":"10","type":0,"guild_id":"1","name":"lobby"}`)
	f.see("GUILD_ROLE_CREATE", `{"guild_id":"1","role":{"id":"73","name":"ours","tags":{"bot_id":"1000"}}}`)
	for id, want := range map[string]bool{"11": true, "12": true, "13": true, "10": false, "99": false, "": false} {
		if got := f.known.isThread(id); got != want {
			t.Errorf("isThread(%q) = %t", id, got)
		}
	}
	f.see("THREAD_DELETE", `{"id":"12"}`)
	if f.known.isThread("12") {
		t.Error("a deleted thread is still one")
	}
	if in := f.see("MESSAGE_CREATE", posted("10", "100", "<@&73> see <#10>", "")); !in[0].Mentioned || in[0].Text != "see #lobby" {
		t.Errorf("%+v", in)
	}
}

// TestUnknownChannel: where a message stands is asked for, once.
func TestUnknownChannel(t *testing.T) {
	s := newServer(t)
	s.answer = func(c call) answer {
		switch c.what {
		case "GET /channels/15":
			return ok(`{"id":"15","type":11,"parent_id":"10"}`)
		case "GET /channels/16":
			return no(403, 50001, "Missing Access")
		}
		return answer{}
	}
	f := testFeed(s)
	for _, tt := range []struct{ channel, want string }{{"15", "dc:10/15"}, {"15", "dc:10/15"}, {"16", "dc:16/100"}} {
		got, err := f.event(t.Context(), frame{session: testSession, kind: "MESSAGE_CREATE", data: []byte(posted(tt.channel, "100", "hello", ""))})
		if err != nil || got.events[0].Place.String() != tt.want {
			t.Errorf("%+v, %v; want %s", got.events, err, tt.want)
		}
	}
	if n := len(s.made("GET /channels/15")); n != 1 {
		t.Errorf("asked %d times", n)
	}
}
