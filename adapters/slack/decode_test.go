package slack

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// world is what the decoders of the tests are told.
type world struct {
	people map[string]user
	kinds  map[string]kind
	topics map[spot]string
}

func (w world) person(id string) (user, bool) { u, ok := w.people[id]; return u, ok }
func (w world) kind(c string) (kind, bool)    { k, ok := w.kinds[c]; return k, ok }
func (w world) topic(s spot) (string, bool)   { t, ok := w.topics[s]; return t, ok }
func (w world) session(s spot) (p core.Place, ok bool) {
	if s.ts == "1700000000.000900" {
		return core.Place{Adapter: "slack", Channel: s.channel}, true
	}
	return p, false
}

var everybody = world{
	people: map[string]user{
		"UANN": {name: "Ann", zone: "Europe/Vienna"}, "UBOB": {name: "Bob"}, "UGUEST": {name: "Gus", guest: true}, "UROB": {name: "Rob", bot: true},
	},
	kinds:  map[string]kind{"C1": named, "D1": direct, "G1": several},
	topics: map[spot]string{{"C1", "1700000000.000500"}: "1700000000.000100"},
}

func testDecoder() *decoder {
	return &decoder{
		adapter: "slack", me: identity{user: "UBOT", bot: "BBOT", name: "bellhop", team: "T1"},
		commands: []core.Command{{Name: "new"}, {Name: "help"}, {Name: "stop"}}, slash: "/bellhop", told: everybody,
	}
}

func decodeFrame(t *testing.T, raw string) core.Inbound {
	t.Helper()
	var f frame
	if err := json.Unmarshal([]byte(raw), &f); err != nil {
		t.Fatal(err)
	}
	d := testDecoder()
	in := d.payload(f)
	if len(d.missing) > 0 {
		t.Errorf("lacks %v", d.missing)
	}
	return in
}

const ts = "1700000000.000300"

// inMessage is what a message of Ann in channel C1 gives by default.
func inMessage(change func(in *core.Inbound)) core.Inbound {
	in := core.Inbound{
		Key: "m/T1/C1/" + ts, Kind: core.InMessage, Place: core.Place{Adapter: "slack", Channel: "C1", Topic: ts},
		From: core.Person{ID: "slack:UANN", Name: "Ann", Zone: "Europe/Vienna"}, MessageID: ts, Time: time.Unix(1700000000, 300_000).UTC(),
	}
	change(&in)
	in.Unnamed = in.Kind == core.InMessage && in.Place.Topic != ""
	return in
}

func TestDecodeMessages(t *testing.T) {
	skipped := core.Inbound{Key: "e/A1/Ev1", Kind: core.InIgnored}
	const root = "1700000000.000100"
	tests := map[string]struct {
		event string
		want  core.Inbound
	}{
		"in a channel": {said(ts, " as it was "), inMessage(func(in *core.Inbound) { in.Text = " as it was " })},
		"mentioned": {said(ts, "<@UBOT> hello"), inMessage(func(in *core.Inbound) {
			in.Text, in.Mentioned = "hello", true
		})},
		"the other signal": {event("app_mention", ts, "<@UBOT> hello", `"user":"UANN"`), inMessage(func(in *core.Inbound) {
			in.Text, in.Mentioned = "hello", true
		})},
		"in a thread": {said(ts, "x", `"thread_ts":"`+root+`"`), inMessage(func(in *core.Inbound) {
			in.Text, in.Place.Topic = "x", root
		})},
		"in a thread of ours": {said(ts, "x", `"thread_ts":"`+root+`","parent_user_id":"UBOT"`), inMessage(func(in *core.Inbound) {
			in.Text, in.Place.Topic, in.Mentioned = "x", root, true
		})},
		"to Bob in a thread of ours": {said(ts, "<@UBOB> x", `"thread_ts":"`+root+`","parent_user_id":"UBOT"`), inMessage(func(in *core.Inbound) {
			in.Text, in.Place.Topic, in.Others = "@Bob x", root, true
		})},
		"shown in the channel as well": {said(ts, "x", `"subtype":"thread_broadcast","thread_ts":"`+root+`"`), inMessage(func(in *core.Inbound) {
			in.Text, in.Place.Topic = "x", root
		})},
		"direct": {`{"type":"message","channel":"D1","channel_type":"im","user":"UANN","text":"x","ts":"` + ts + `"}`, inMessage(func(in *core.Inbound) {
			in.Key, in.Place.Channel, in.Place.Topic, in.Direct, in.Text = "m/T1/D1/"+ts, "D1", "", true, "x"
		})},
		"a thread beside": {`{"type":"message","channel":"D1","user":"UANN","text":"x","ts":"` + ts + `","thread_ts":"` + root + `"}`, inMessage(func(in *core.Inbound) {
			in.Key, in.Place.Channel, in.Place.Topic, in.Direct, in.Text = "m/T1/D1/"+ts, "D1", root, true, "x"
		})},
		"the root of one": {`{"type":"message","channel":"D1","user":"UANN","text":"x","ts":"` + ts + `","thread_ts":"` + ts + `"}`, inMessage(func(in *core.Inbound) {
			in.Key, in.Place.Channel, in.Place.Topic, in.Direct, in.Text = "m/T1/D1/"+ts, "D1", "", true, "x"
		})},
		"a group without a name": {`{"type":"message","channel":"G1","channel_type":"mpim","user":"UANN","text":"x","ts":"` + ts + `"}`, inMessage(func(in *core.Inbound) {
			in.Key, in.Place.Channel, in.Place.Topic, in.Text = "m/T1/G1/"+ts, "G1", "", "x"
		})},
		"a bare command":  {said(ts, "<@UBOT> New"), inMessage(func(in *core.Inbound) { in.Text, in.Mentioned, in.Command = "/new", true, true })},
		"a command":       {said(ts, "<@UBOT> /new topic"), inMessage(func(in *core.Inbound) { in.Text, in.Mentioned, in.Command = "/new topic", true, true })},
		"a banged one":    {said(ts, "<@UBOT> !new topic"), inMessage(func(in *core.Inbound) { in.Text, in.Mentioned = "!new topic", true })},
		"no command":      {said(ts, "<@UBOT> new topic"), inMessage(func(in *core.Inbound) { in.Text, in.Mentioned = "new topic", true })},
		"to nobody":       {said(ts, "stop"), inMessage(func(in *core.Inbound) { in.Text = "stop" })},
		"another person":  {said(ts, "<@UBOB> and <!subteam^S1|@ops>"), inMessage(func(in *core.Inbound) { in.Text, in.Others = "@Bob and @ops", true })},
		"nothing but us":  {said(ts, "<@UBOT>"), inMessage(func(in *core.Inbound) { in.Mentioned = true })},
		"NUL is removed":  {said(ts, "a\x00b"), inMessage(func(in *core.Inbound) { in.Text = "ab" })},
		"our own":         {said(ts, "x", `"bot_id":"BBOT"`), skipped},
		"ours as another": {event("message", ts, "x", `"subtype":"bot_message","bot_id":"BBOT","username":"Chief"`), skipped},
		"another program": {event("message", ts, "x", `"subtype":"bot_message","bot_id":"B2","username":"CI","channel_type":"channel"`), inMessage(func(in *core.Inbound) {
			in.Text, in.From = "x", core.Person{ID: "slack:B2", Name: "CI", Bot: true}
		})},
		"a program's user": {event("message", ts, "x", `"user":"UROB","bot_id":"B2","channel_type":"channel"`), inMessage(func(in *core.Inbound) {
			in.Text, in.From = "x", core.Person{ID: "slack:UROB", Name: "Rob", Bot: true}
		})},
		"a guest": {event("message", ts, "x", `"user":"UGUEST"`), inMessage(func(in *core.Inbound) {
			in.Text, in.From = "x", core.Person{ID: "slack:UGUEST", Name: "Gus", Guest: true}
		})},
		"of a connected workspace": {said(ts, "x", `"user_team":"T9"`), inMessage(func(in *core.Inbound) { in.Text, in.From.Guest = "x", true })},
		"of nobody": {event("message", ts, "x", `"username":"?"`), inMessage(func(in *core.Inbound) {
			in.Text, in.From = "x", core.Person{Name: "?", Guest: true}
		})},
		"a join":                {said(ts, "<@UANN> has joined", `"subtype":"channel_join"`), skipped},
		"a huddle":              {said(ts, "", `"subtype":"huddle_thread"`), skipped},
		"a kind from next year": {said(ts, "x", `"subtype":"hologram"`), skipped},
		"files": {said(ts, "", `"subtype":"file_share","files":[
			{"id":"F1","name":"q3.pdf","mimetype":"application/pdf","size":9,"url_private":"https://files.slack.com/q3.pdf"},
			{"id":"F2","title":"elsewhere","file_access":"check_file_info"},
			{"id":"F3","is_external":true,"url_private":"https://drive.test/x"}, {"id":"F4","mode":"tombstone"}, 17,
			{"id":"F5","name":"a.heic","mimetype":"image/heic","size":5,"url_private":"https://files.slack.com/a","thumb_1024":"https://files.slack.com/t"}]`),
			inMessage(func(in *core.Inbound) {
				in.Files = []core.File{
					{Name: "q3.pdf", MIME: "application/pdf", Size: 9, Ref: "F1 https://files.slack.com/q3.pdf"},
					{Name: "elsewhere", Ref: "F2"},
					{Name: "a.heic.jpg", MIME: "image/jpeg", Ref: "F5 https://files.slack.com/t"},
				}
			})},
		"shared": {said(ts, "see", `"attachments":[{"is_share":true,"author_id":"UBOT","author_name":"Bellhop","text":"I &lt;said&gt;"},
			{"is_msg_unfurl":true,"author_name":"Bob","text":"","files":[{"id":"F1","name":"x.txt","url_private":"https://files.slack.com/x"}]},
			{"title":"a web page","text":"not a message"}]`),
			inMessage(func(in *core.Inbound) {
				in.Text = "see"
				in.Quotes = []core.Quote{{Author: "Bellhop", Own: true, Text: "I <said>"}, {Author: "Bob", Text: "[x.txt]"}}
				in.Files = []core.File{{Name: "x.txt", Ref: "F1 https://files.slack.com/x"}}
			})},
		"fields of other types": {said(ts, "x", `"files":"none","attachments":{},"username":5,"blocks":7,"edited":true,"bot_profile":[],"metadata":1`),
			inMessage(func(in *core.Inbound) { in.Text = "x" })},
		"an edit": {`{"type":"message","subtype":"message_changed","channel":"C1","channel_type":"channel","message":{"type":"message","user":"UANN","text":"better",
			"ts":"` + ts + `","edited":{"user":"UANN","ts":"1700000060.000000"}}}`, inMessage(func(in *core.Inbound) {
			in.Key, in.Kind, in.Text, in.Time = "e/A1/Ev1", core.InEdit, "better", time.Unix(1700000060, 0).UTC()
		})},
		"an unfurl": {`{"type":"message","subtype":"message_changed","channel":"C1","message":{"user":"UANN","text":"same","ts":"` + ts + `"}}`, inMessage(func(in *core.Inbound) {
			in.Key, in.Kind, in.Text = "e/A1/Ev1", core.InEdit, "same"
		})},
		"an edit of ours": {`{"type":"message","subtype":"message_changed","channel":"C1","message":{"bot_id":"BBOT","text":"x","ts":"` + ts + `"}}`, skipped},
		"a deletion": {`{"type":"message","subtype":"message_deleted","channel":"C1","channel_type":"channel","deleted_ts":"` + ts + `","previous_message":{"user":"UANN","thread_ts":"` + root + `"}}`,
			core.Inbound{Key: "e/A1/Ev1", Kind: core.InDelete, Place: core.Place{Adapter: "slack", Channel: "C1", Topic: root}, MessageID: ts, Time: time.Unix(1700000000, 300_000).UTC()}},
		"a deleted root": {`{"type":"message","subtype":"message_changed","channel":"C1","message":{"subtype":"tombstone","user":"USLACKBOT","text":"gone","ts":"` + ts + `"},"previous_message":{"user":"UANN"}}`,
			core.Inbound{Key: "e/A1/Ev1", Kind: core.InDelete, Place: core.Place{Adapter: "slack", Channel: "C1", Topic: ts}, MessageID: ts, Time: time.Unix(1700000000, 300_000).UTC()}},
		"a mark": {`{"type":"reaction_added","user":"UANN","reaction":"+1::skin-tone-3","item":{"type":"message","channel":"C1","ts":"1700000000.000500"},"event_ts":"1700000009.000000"}`,
			core.Inbound{Key: "e/A1/Ev1", Kind: core.InReaction, Place: core.Place{Adapter: "slack", Channel: "C1", Topic: root}, From: core.Person{ID: "slack:UANN", Name: "Ann", Zone: "Europe/Vienna"},
				MessageID: "1700000000.000500", Emoji: "👍", Time: time.Unix(1700000009, 0).UTC()}},
		"a mark taken away": {`{"type":"reaction_removed","user":"UANN","reaction":"partyparrot","item":{"type":"message","channel":"C1","ts":"1700000000.000500"}}`,
			core.Inbound{Key: "e/A1/Ev1", Kind: core.InReaction, Place: core.Place{Adapter: "slack", Channel: "C1", Topic: root}, From: core.Person{ID: "slack:UANN", Name: "Ann", Zone: "Europe/Vienna"},
				MessageID: "1700000000.000500", Emoji: ":partyparrot:", Removed: true}},
		"our own mark": {`{"type":"reaction_added","user":"UBOT","reaction":"eyes","item":{"type":"message","channel":"C1","ts":"1.1"}}`, skipped},
		"a stop": {`{"type":"agent_session_stopped","user":"UANN","channel":"C1","thread_ts":"` + root + `","streaming_message_ts":[],"event_ts":"1700000009.000000"}`,
			core.Inbound{Key: "e/A1/Ev1", Kind: core.InMessage, Place: core.Place{Adapter: "slack", Channel: "C1", Topic: root}, From: core.Person{ID: "slack:UANN", Name: "Ann", Zone: "Europe/Vienna"},
				Text: "/stop", Mentioned: true, Command: true, Time: time.Unix(1700000009, 0).UTC()}},
		"a title": {`{"type":"agent_session_title_changed","user":"UANN","channel":"C1","thread_ts":"` + root + `","title":"Mine","previous_title":"Ours","event_ts":"1700000009.000000"}`,
			core.Inbound{Key: "e/A1/Ev1", Kind: core.InNamed, Place: core.Place{Adapter: "slack", Channel: "C1", Topic: root}, From: core.Person{ID: "slack:UANN", Name: "Ann", Zone: "Europe/Vienna"},
				Text: "Mine", Time: time.Unix(1700000009, 0).UTC()}},
		"a title of nothing": {`{"type":"agent_session_title_changed","title":"Mine"}`, core.Inbound{Key: "e/A1/Ev1", Kind: core.InUnreadable, Raw: json.RawMessage(`{"title":"Mine","type":"agent_session_title_changed"}`)}},
		"a stop where a status is shown": {`{"type":"agent_session_stopped","user":"UANN","channel":"D1","thread_ts":"1700000000.000900"}`,
			core.Inbound{Key: "e/A1/Ev1", Kind: core.InMessage, Place: core.Place{Adapter: "slack", Channel: "D1"}, Direct: true, From: core.Person{ID: "slack:UANN", Name: "Ann", Zone: "Europe/Vienna"},
				Text: "/stop", Mentioned: true, Command: true}},
		"a look at the app": {`{"type":"app_home_opened","user":"UANN","tab":"messages"}`, skipped},
		"we came":           {`{"type":"member_joined_channel","user":"UBOT","channel":"C1"}`, skipped},
		"a member":          {`{"type":"member_joined_channel","user":"UBOB","channel":"C1","inviter":"UANN"}`, skipped},
		"we are let in": {`{"type":"member_joined_channel","user":"UBOT","channel":"C1","channel_type":"C","inviter":"UANN","event_ts":"1700000009.000000"}`,
			core.Inbound{Key: "e/A1/Ev1", Kind: core.InAdded, Place: core.Place{Adapter: "slack", Channel: "C1"}, From: core.Person{ID: "slack:UANN", Name: "Ann", Zone: "Europe/Vienna"},
				Text: "@bellhop", Time: time.Unix(1700000009, 0).UTC()}},
		"an event of next year":  {`{"type":"dream","text":"x"}`, skipped},
		"text of another type":   {`{"type":"message","channel":"C1","user":"UANN","ts":"` + ts + `","text":17}`, core.Inbound{Key: "e/A1/Ev1", Kind: core.InUnreadable, Raw: json.RawMessage(`{"channel":"C1","text":17,"ts":"` + ts + `","type":"message","user":"UANN"}`)}},
		"thread of another type": {`{"type":"message","channel":"C1","text":"x","thread_ts":17}`, core.Inbound{Key: "e/A1/Ev1", Kind: core.InUnreadable, Raw: json.RawMessage(`{"channel":"C1","text":"x","thread_ts":17,"type":"message"}`)}},
		"no channel":             {`{"type":"message"}`, core.Inbound{Key: "e/A1/Ev1", Kind: core.InUnreadable, Raw: json.RawMessage(`{"type":"message"}`)}},
		"not even":               {`"x"`, core.Inbound{Key: "e/A1/Ev1", Kind: core.InUnreadable, Raw: json.RawMessage(`"x"`)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, decodeFrame(t, envelope("1", tt.event))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeInteractions(t *testing.T) {
	ann := core.Person{ID: "slack:UANN", Name: "Ann", Zone: "Europe/Vienna"}
	at := core.Place{Adapter: "slack", Channel: "C1", Topic: "1700000000.000100"}
	const message = `"user":{"id":"UANN"},"channel":{"id":"C1","name":"ops"},"message":{"user":"UBOB","text":"it &amp; is","ts":"1700000000.000500","thread_ts":"1700000000.000100",
		"files":[{"id":"F1","name":"x","url_private":"https://files.slack.com/x"}]},"response_url":"https://hooks","trigger_id":"t","token":"t"`
	command := func(change func(in *core.Inbound)) core.Inbound {
		in := core.Inbound{Key: "v/E1", Kind: core.InMessage, Place: core.Place{Adapter: "slack", Channel: "C1"}, From: ann, Mentioned: true, Command: true}
		change(&in)
		return in
	}
	slash := func(name, text, channel, channelName string) string {
		return `"slash_commands","payload":{"command":"` + name + `","text":"` + text + `","channel_id":"` + channel + `","channel_name":"` + channelName + `","user_id":"UANN","user_name":"ann","is_enterprise_install":"false","token":"t"}`
	}
	tests := map[string]struct {
		frame string
		want  core.Inbound
	}{
		"command":                {slash("/bellhop", "new a &lt;b&gt;", "C1", "ops"), command(func(in *core.Inbound) { in.Text = "/new a <b>" })},
		"with a slash":           {slash("/BELLHOP", " /new", "C1", "ops"), command(func(in *core.Inbound) { in.Text = "/new" })},
		"nothing":                {slash("/bellhop", "", "C1", "ops"), command(func(in *core.Inbound) { in.Text = "/help" })},
		"something else":         {slash("/bellhop", "newer", "C1", "ops"), command(func(in *core.Inbound) { in.Text = "/help" })},
		"short":                  {slash("/new", "topic", "C1", "ops"), command(func(in *core.Inbound) { in.Text = "/new topic" })},
		"in a direct message":    {slash("/new", "", "D1", "directmessage"), command(func(in *core.Inbound) { in.Text, in.Place.Channel, in.Direct = "/new", "D1", true })},
		"command without person": {`"slash_commands","payload":{"command":"/new","channel_id":"C1","token":"secret"}`, core.Inbound{Key: "v/E1", Kind: core.InUnreadable, Raw: json.RawMessage(`{"channel_id":"C1","command":"/new"}`)}},
		"button": {`"interactive","payload":{"type":"block_actions",` + message + `,"actions":[{"action_id":"other"},{"action_id":"b:ap/7/allow","action_ts":"1700000009.000000"}]}`,
			core.Inbound{Key: "v/E1", Kind: core.InButton, Place: at, From: ann, MessageID: "1700000000.000500", Button: "ap/7/allow", Time: time.Unix(1700000009, 0).UTC()}},
		"button without its message": {`"interactive","payload":{"type":"block_actions","user":{"id":"UANN"},"channel":{"id":"D1","name":"directmessage"},"container":{"message_ts":"1700000000.000500","channel_id":"D1"},"actions":[{"action_id":"b:x"}]}`,
			core.Inbound{Key: "v/E1", Kind: core.InButton, Place: core.Place{Adapter: "slack", Channel: "D1"}, Direct: true, From: ann, MessageID: "1700000000.000500", Button: "x"}},
		"another's button": {`"interactive","payload":{"type":"block_actions",` + message + `,"actions":[{"action_id":"other"}]}`, core.Inbound{Key: "v/E1", Kind: core.InIgnored}},
		"stop":             {`"interactive","payload":{"type":"message_action","callback_id":"stop_thread",` + message + `}`, command(func(in *core.Inbound) { in.Text, in.Place = "/stop", at })},
		"fork":             {`"interactive","payload":{"type":"message_action","callback_id":"fork_message",` + message + `}`, command(func(in *core.Inbound) { in.Text, in.Place, in.ReplyTo = "/fork", at, "1700000000.000500" })},
		"ask": {`"interactive","payload":{"type":"message_action","callback_id":"ask_about_message",` + message + `}`, command(func(in *core.Inbound) {
			in.Text, in.Place, in.Command = "Please look at this message.", at, false
			in.Quotes = []core.Quote{{Author: "Bob", Text: "it & is"}}
			in.Files = []core.File{{Name: "x", Ref: "F1 https://files.slack.com/x"}}
		})},
		"another shortcut":         {`"interactive","payload":{"type":"message_action","callback_id":"zap",` + message + `}`, core.Inbound{Key: "v/E1", Kind: core.InIgnored}},
		"a view":                   {`"interactive","payload":{"type":"view_submission","user":5}`, core.Inbound{Key: "v/E1", Kind: core.InIgnored}},
		"an envelope of next year": {`"dreams","payload":[1]`, core.Inbound{Key: "v/E1", Kind: core.InIgnored}},
		"about us":                 {`"events_api","payload":{"type":"app_rate_limited","team_id":"T1"}`, core.Inbound{Key: "v/E1", Kind: core.InIgnored}},
		"no payload":               {`"interactive"`, core.Inbound{Key: "v/E1", Kind: core.InUnreadable, Raw: json.RawMessage(`""`)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := decodeFrame(t, `{"envelope_id":"E1","type":`+tt.frame+`}`)
			if tt.want.Time.IsZero() && got.Kind == core.InMessage {
				if time.Since(got.Time) > time.Minute {
					t.Errorf("time %s", got.Time)
				}
				got.Time = time.Time{}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDecodeLacks: what must be known is told apart from what would be nice.
func TestDecodeLacks(t *testing.T) {
	d := testDecoder()
	d.told = world{}
	in := d.event("k", json.RawMessage(event("app_mention", ts, "<@UBOB> <@UBOT>", `"user":"UANN"`)))
	want := []lookup{{channel: "C1", must: true}, {person: "UBOB"}, {person: "UANN", must: true}}
	if diff := cmp.Diff(want, d.missing, cmp.AllowUnexported(lookup{}, spot{})); diff != "" {
		t.Error(diff)
	}
	if !in.From.Guest || in.Text != "@UBOB" {
		t.Errorf("without knowing anybody: %+v", in)
	}
}

func TestLargeTextPasses(t *testing.T) {
	text := strings.Repeat("ж", 300_000)
	if in := decodeFrame(t, envelope("1", said(ts, text))); in.Text != text {
		t.Errorf("got %d bytes of %d", len(in.Text), len(text))
	}
}

func TestRead(t *testing.T) {
	tests := map[string]struct {
		text string
		want speech
	}{
		"plain":                {"hello", speech{text: "hello"}},
		"space is the writers": {" a\n ", speech{text: " a\n "}},
		"named at the end":     {"hello <@UBOT>", speech{text: "hello", mentioned: true}},
		"named in the middle":  {"well <@UBOT> do it", speech{text: "well do it", mentioned: true}},
		"with a label":         {"<@UBOT|bellhop>, go", speech{text: ", go", mentioned: true}},
		"twice":                {"<@UBOT> a <@UBOT> b", speech{text: "a b", mentioned: true}},
		"on a line of its own": {"a\n<@UBOT>\nb", speech{text: "a\nb", mentioned: true}},
		"another and us":       {"<@UBOB|robert> <@UBOT>", speech{text: "@robert", mentioned: true, others: true}},
		"nobody knows":         {"<@UBOB>", speech{text: "@Bob", others: true}},
		"channels":             {"<#C1|ops> <#C2> <#C3|>", speech{text: "#ops #C2 #C3"}},
		"everybody":            {"<!here> <!channel|@channel> <!everyone>", speech{text: "@here @channel @everyone"}},
		"a group":              {"<!subteam^S1|@ops> <!subteam^S2>", speech{text: "@ops @S2", others: true}},
		"a date":               {"<!date^1700000000^{date}|14 Nov>", speech{text: "14 Nov"}},
		"links":                {"<https://x.y/?a=1&amp;b=2> <https://x.y|x.y> <https://x.y|why &gt;>", speech{text: "https://x.y/?a=1&b=2 https://x.y [why >](https://x.y)"}},
		"mail and phones":      {"<mailto:a@b.c|a@b.c> <tel:+431|+431>", speech{text: "a@b.c +431"}},
		"escapes":              {"a &lt; b &amp;&amp; c &gt; d &amp;lt;", speech{text: "a < b && c > d &lt;"}},
		"typed, not meant":     {"&lt;@UBOT&gt;", speech{text: "<@UBOT>"}},
		"code":                 {"`a &lt; b` ```x\ny```", speech{text: "`a < b` ```x\ny```"}},
		"no end":               {"a < b <@UBOT", speech{text: "a < b <@UBOT"}},
		"one in another":       {"<a <@UBOT> b", speech{text: "<a b", mentioned: true}},
		"nothing":              {"<> <|x>", speech{text: "<> <x>"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, testDecoder().read(tt.text), cmp.AllowUnexported(speech{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
