package adaptertest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// slackPost sends JSON parameters to a method.
func slackPost(t *testing.T, s *Slack, method, token string, p map[string]any) *http.Response {
	t.Helper()
	resp, err := slackSend(t.Context(), s, method, token, "application/json; charset=utf-8", string(encode(p)))
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func slackSend(ctx context.Context, s *Slack, method, token, kind, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://slack.test/api/"+method, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", kind)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return s.Client().Do(req)
}

// said is the word of a refusal; empty: there was none.
func said(rep map[string]any) string {
	word, _ := rep["error"].(string)
	return word
}

func TestSlackRefuses(t *testing.T) {
	s := NewSlack(SlackOptions{Lacks: []string{"files:write"}})
	ann, bob, other := s.User("Ann"), s.User("Bob"), s.Bot("other")
	dm, talk := s.Direct(ann), s.Channel("talk", ann)
	shut, old, far := s.Channel("shut"), s.Channel("old"), s.Channel("far")
	shut.Shut("restricted_action_read_only_channel")
	old.Archive(ann)
	far.Leave()
	secret := s.Private("secret")
	secret.Leave()
	asked := dm.Say(ann, "hello")
	root := talk.Say(ann, "root")
	reply := talk.Reply(bob, root, "reply")
	gone := talk.Say(ann, "gone")
	talk.Delete(gone)
	type m = map[string]any
	mine := slackCall(t, s, "chat.postMessage", m{"channel": dm.ID(), "text": "mine"})["ts"]
	blocks := func(list ...m) string { return string(encode(list)) }
	text := func(n int) string { return strings.Repeat("ü", n) }
	button := func(id, label, value string) m {
		return m{"type": "button", "action_id": id, "text": m{"type": "plain_text", "text": label}, "value": value}
	}
	meta := func(n int) string {
		return string(encode(m{"event_type": "x", "event_payload": m{"key": strings.Repeat("x", n)}}))
	}
	for _, c := range []struct {
		method string
		p      m
		want   string
	}{
		{"auth.test", nil, ""},
		{"chat.teleport", nil, "unknown_method"},
		{"chat.postMessage", m{"text": "x"}, "channel_not_found"},
		{"chat.postMessage", m{"channel": "C9", "text": "x"}, "channel_not_found"},
		{"chat.postMessage", m{"channel": secret.ID(), "text": "x"}, "channel_not_found"},
		{"chat.postMessage", m{"channel": far.ID(), "text": "x"}, "not_in_channel"},
		{"chat.postMessage", m{"channel": old.ID(), "text": "x"}, "is_archived"},
		{"chat.postMessage", m{"channel": shut.ID(), "text": "x"}, "restricted_action_read_only_channel"},
		{"chat.postMessage", m{"channel": bob.ID, "text": "to a person"}, ""},
		{"chat.postMessage", m{"channel": dm.ID()}, "no_text"},
		{"chat.postMessage", m{"channel": dm.ID(), "text": " \n "}, "no_text"},
		{"chat.postMessage", m{"channel": dm.ID(), "text": text(40_000)}, ""},
		{"chat.postMessage", m{"channel": dm.ID(), "text": text(40_001)}, "msg_too_long"},
		{"chat.postMessage", m{"channel": dm.ID(), "markdown_text": text(12_000)}, ""},
		{"chat.postMessage", m{"channel": dm.ID(), "markdown_text": text(12_001)}, "msg_too_long"},
		{"chat.postMessage", m{"channel": dm.ID(), "markdown_text": "x", "text": "x"}, "markdown_text_conflict"},
		{"chat.postMessage", m{"channel": dm.ID(), "text": "x", "thread_ts": asked}, ""},
		{"chat.postMessage", m{"channel": dm.ID(), "text": "x", "thread_ts": root}, "thread_not_found"},
		{"chat.postMessage", m{"channel": talk.ID(), "text": "x", "thread_ts": reply}, "cannot_reply_to_message"},
		{"chat.postMessage", m{"channel": talk.ID(), "text": "falls out", "thread_ts": gone}, ""},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": "nonsense"}, "invalid_blocks_format"},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "hologram"})}, "invalid_blocks"},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "markdown", "text": ""})}, "invalid_blocks"},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "markdown", "text": text(12_000)})}, ""},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "markdown", "text": text(7_000)}, m{"type": "markdown", "text": text(7_000)})}, "msg_blocks_too_long"},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "section", "text": m{"type": "mrkdwn", "text": text(3_000)}})}, ""},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "section", "text": m{"type": "mrkdwn", "text": text(3_001)}})}, "invalid_blocks"},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "section"})}, "invalid_blocks"},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "header", "text": m{"type": "plain_text", "text": text(151)}})}, "invalid_blocks"},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "divider", "block_id": "a"}, m{"type": "divider", "block_id": "a"})}, "invalid_blocks"},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": "[" + strings.Repeat(`{"type":"divider"},`, 50) + `{"type":"divider"}]`}, "invalid_blocks"},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "actions", "elements": []m{button("a", "Yes", "1"), button("b", "No", "2")}})}, ""},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "actions", "elements": []m{button("a", "Yes", "1"), button("a", "No", "2")}})}, "invalid_blocks"},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "actions", "elements": []m{button("a", text(76), "1")}})}, "invalid_blocks"},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "actions", "elements": []m{button("a", "Yes", text(2001))}})}, "invalid_blocks"},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "table", "rows": [][]m{{{"type": "raw_text", "text": text(10_001)}}}})}, "invalid_blocks"},
		{"chat.postMessage", m{"channel": dm.ID(), "blocks": blocks(m{"type": "table", "rows": [][]m{{{"type": "raw_number", "text": "7"}}}})}, "invalid_blocks"},
		{"chat.postMessage", m{"channel": dm.ID(), "text": "x", "metadata": meta(10)}, ""},
		{"chat.postMessage", m{"channel": dm.ID(), "text": "x", "metadata": `{"event_type":"x"}`}, "invalid_metadata_format"},
		{"chat.postMessage", m{"channel": dm.ID(), "text": "x", "metadata": meta(20 << 10)}, "metadata_too_large"},
		{"chat.postMessage", m{"channel": dm.ID(), "text": "x", "file_ids": []string{"F9"}}, "file_not_found"},
		{"chat.update", m{"channel": dm.ID(), "ts": mine, "text": "new"}, ""},
		{"chat.update", m{"channel": dm.ID(), "ts": mine, "text": "new"}, ""},
		{"chat.update", m{"channel": dm.ID(), "ts": mine}, "no_text"},
		{"chat.update", m{"channel": dm.ID(), "ts": asked, "text": "new"}, "cant_update_message"},
		{"chat.update", m{"channel": dm.ID(), "ts": "1.000001", "text": "new"}, "message_not_found"},
		{"chat.update", m{"channel": bob.ID, "ts": mine, "text": "new"}, "channel_not_found"},
		{"chat.delete", m{"channel": dm.ID(), "ts": asked}, "cant_delete_message"},
		{"chat.delete", m{"channel": dm.ID(), "ts": mine}, ""},
		{"chat.delete", m{"channel": dm.ID(), "ts": mine}, "message_not_found"},
		{"chat.postEphemeral", m{"channel": talk.ID(), "user": ann.ID, "text": "psst"}, ""},
		{"chat.postEphemeral", m{"channel": talk.ID(), "user": other.ID, "text": "psst"}, "user_not_in_channel"},
		{"assistant.threads.setStatus", m{"channel_id": talk.ID(), "thread_ts": root, "status": "thinks"}, ""},
		{"assistant.threads.setStatus", m{"channel_id": talk.ID(), "status": "thinks"}, "thread_not_found"},
		{"agents.sessions.setStatus", m{"channel_id": talk.ID(), "thread_ts": root, "status": "processing"}, ""},
		{"agents.sessions.setStatus", m{"channel_id": talk.ID(), "thread_ts": root, "status": "pondering"}, "invalid_status"},
		{"conversations.info", m{"channel": far.ID()}, ""},
		{"conversations.info", m{"channel": secret.ID()}, "channel_not_found"},
		{"conversations.history", m{"channel": far.ID()}, "not_in_channel"},
		{"conversations.history", m{"channel": talk.ID(), "oldest": "yesterday"}, "invalid_ts_oldest"},
		{"conversations.history", m{"channel": talk.ID(), "cursor": "x"}, "invalid_cursor"},
		{"conversations.history", m{"channel": talk.ID(), "limit": 1001}, "invalid_limit"},
		{"conversations.replies", m{"channel": talk.ID(), "ts": "1.000001"}, "thread_not_found"},
		{"conversations.members", m{"channel": talk.ID()}, ""},
		{"conversations.list", m{"types": "public_channel,im"}, ""},
		{"conversations.list", m{"types": "rooms"}, "invalid_types"},
		{"users.conversations", nil, ""},
		{"conversations.open", m{"users": other.ID}, "cannot_dm_bot"},
		{"conversations.open", m{"users": "U9"}, "user_not_found"},
		{"conversations.open", m{"users": bob.ID}, ""},
		{"conversations.join", m{"channel": far.ID()}, ""},
		{"conversations.join", m{"channel": dm.ID()}, "method_not_supported_for_channel_type"},
		{"users.info", m{"user": ann.ID}, ""},
		{"users.info", m{"user": "U9"}, "user_not_found"},
		{"reactions.add", m{"channel": dm.ID(), "timestamp": asked, "name": "eyes"}, ""},
		{"reactions.add", m{"channel": dm.ID(), "timestamp": asked, "name": "eyes"}, "already_reacted"},
		{"reactions.add", m{"channel": dm.ID(), "timestamp": asked, "name": "👀"}, "invalid_name"},
		{"reactions.add", m{"channel": dm.ID(), "timestamp": "1.000001", "name": "eyes"}, "message_not_found"},
		{"reactions.remove", m{"channel": dm.ID(), "timestamp": asked, "name": "eyes"}, ""},
		{"reactions.remove", m{"channel": dm.ID(), "timestamp": asked, "name": "eyes"}, "no_reaction"},
		{"files.info", m{"file": "F9"}, "file_not_found"},
		{"files.getUploadURLExternal", m{"filename": "a", "length": 1}, "missing_scope"},
		{"views.open", m{"trigger_id": "x", "view": m{"type": "modal"}}, "invalid_trigger_id"},
	} {
		if got := said(slackCall(t, s, c.method, c.p)); got != c.want {
			t.Errorf("%s %.120s\n got %q\nwant %q", c.method, encode(c.p), got, c.want)
		}
	}
	if got := talk.Shown(); got[len(got)-1].Text != "falls out" {
		t.Errorf("%+v", got)
	}
	if w := s.Whispers(); len(w) != 1 || w[0] != (SlackWhisper{talk.ID(), "", ann.ID, "psst"}) {
		t.Errorf("%+v", w)
	}
	if got := talk.Thread(root); got.Status() != "thinks" || got.Session() != "processing" {
		t.Errorf("%q, %q", got.Status(), got.Session())
	}
}

func TestSlackTokens(t *testing.T) {
	s := NewSlack(SlackOptions{})
	for _, c := range []struct{ method, token, kind, body, want string }{
		{"auth.test", "", "application/json", `{}`, "not_authed"},
		{"auth.test", "", "application/json", `{"token":"` + s.BotToken() + `"}`, "not_authed"},
		{"auth.test", "", "application/x-www-form-urlencoded", url.Values{"token": {s.BotToken()}}.Encode(), ""},
		{"auth.test", "xoxb-other", "application/json", `{}`, "invalid_auth"},
		{"auth.test", s.AppToken(), "application/json", `{}`, "not_allowed_token_type"},
		{"apps.connections.open", s.BotToken(), "application/json", ``, "not_allowed_token_type"},
		{"apps.connections.open", s.AppToken(), "application/json", ``, ""},
		{"auth.test", s.BotToken(), "application/json", `{`, "invalid_json"},
		{"chat.postMessage", s.BotToken(), "application/x-www-form-urlencoded", "text=%ff", "invalid_form_data"},
	} {
		resp, err := slackSend(t.Context(), s, c.method, c.token, c.kind, c.body)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || c.want == "" && !bytes.Contains(b, []byte(`"ok":true`)) || !bytes.Contains(b, []byte(c.want)) {
			t.Errorf("%s with %q: %s, %v; want %q", c.method, c.body, b, err, c.want)
		}
	}
	s.Revoke()
	if got := said(slackCall(t, s, "auth.test", nil)) + " " + said(slackCall(t, s, "apps.connections.open", nil)); got != "account_inactive invalid_auth" {
		t.Error(got)
	}
}

// TestSlackRender: what a person sees of each form, and whom it calls.
func TestSlackRender(t *testing.T) {
	s := NewSlack(SlackOptions{})
	ann := s.User("Ann")
	dm, talk := s.Direct(ann), s.Channel("talk")
	mention := "<@" + ann.ID + ">"
	for _, c := range []struct {
		field, in, want string
		pings           []string
	}{
		{"text", "*bold* _slanted_ ~gone~ `code *x*` 2*3*4", "bold slanted gone code *x* 2*3*4", nil},
		{"text", "a & b < c &amp; &lt;d&gt; &copy;", "a & b < c & <d> &copy;", nil},
		{"text", "<https://x.org/a?b&amp;c|label> <https://x.org>", "label https://x.org", nil},
		{"text", mention + " <!here> <#" + talk.ID() + ">", "@Ann @here #talk", []string{ann.ID, "here"}},
		{"text", "&lt;!here&gt; <nobody> <@U9>", "<!here> <nobody> @unknown", nil},
		{"text", "> quoted\n```pre *x*```", "quoted\npre *x*", nil},
		{"markdown_text", "# Head\n\n**bold** *slanted* ~~gone~~ `code`\n\n- one\n- two", "Head\nbold slanted gone code\n\none\ntwo", nil},
		{"markdown_text", "<b>tag</b> a < b & c &lt;d&gt; \\*star\\*", "<b>tag</b> a < b & c <d> *star*", nil},
		{"markdown_text", "<div>\nblock\n</div>", "<div>\nblock\n</div>", nil},
		{"markdown_text", mention + " `" + mention + "` &lt;!here&gt; <!channel>", "@Ann " + mention + " <!here> @channel", []string{ann.ID, "channel"}},
		{"markdown_text", "```go\nx &lt; y <!here>\n```", "x &lt; y <!here>", nil},
		{"markdown_text", "[label](https://x.org) ![alt](https://x.org/y.png)", "label alt", nil},
		{"markdown_text", "| a | b |\n|---|---|\n| 1 | 2 |", "a\nb\n\n1\n2", nil},
		{"blocks", `[{"type":"header","text":{"type":"plain_text","text":"Head"}},{"type":"section","text":{"type":"mrkdwn","text":"*b* ` + mention + `"},"fields":[{"type":"plain_text","text":"*f*"}]}]`, "Head\nb @Ann\n*f*", []string{ann.ID}},
		{"blocks", `[{"type":"context","elements":[{"type":"mrkdwn","text":"_small_"}]},{"type":"divider"},{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Yes"}}]}]`, "small", nil},
		{"blocks", `[{"type":"table","rows":[[{"type":"raw_text","text":"a"},{"type":"raw_text","text":"b"}],[null,{"type":"raw_text","text":"c"}]]}]`, "a | b\n | c", nil},
		{"blocks", `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"a <b> "},{"type":"user","user_id":"` + ann.ID + `"},{"type":"broadcast","range":"here"},{"type":"emoji","name":"eyes"},{"type":"link","url":"https://x.org"}]},{"type":"rich_text_list","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"one"}]},{"type":"rich_text_section","elements":[{"type":"text","text":"two"}]}]}]}]`, "a <b> @Ann@here:eyes:https://x.org\none\ntwo", []string{ann.ID, "here"}},
	} {
		rep := slackCall(t, s, "chat.postMessage", map[string]any{"channel": dm.ID(), c.field: c.in})
		if said(rep) != "" {
			t.Errorf("%s: %v", c.in, rep)
			continue
		}
		got := dm.Shown()[len(dm.Shown())-1]
		if got.Text = strings.ReplaceAll(got.Text, "\n\n\n", "\n\n"); got.Text != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.in, got.Text, c.want)
		}
		if diff := cmp.Diff(c.pings, got.Pings); diff != "" {
			t.Errorf("%s calls otherwise:\n%s", c.in, diff)
		}
	}
}

// TestSlackStream: a stream grows for five minutes, and then it is a message
// like others.
func TestSlackStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlack(SlackOptions{})
		ann := s.User("Ann")
		talk := s.Channel("talk", ann)
		root := talk.Say(ann, "hi")
		thread := talk.Thread(root)
		type m = map[string]any
		start := func(p m) map[string]any {
			p["channel"] = talk.ID()
			return slackCall(t, s, "chat.startStream", p)
		}
		for want, p := range map[string]m{
			"invalid_arguments":         {},
			"missing_recipient_team_id": {"thread_ts": root, "recipient_user_id": ann.ID},
			"missing_recipient_user_id": {"thread_ts": root, "recipient_team_id": ann.Team},
			"user_not_found":            {"thread_ts": root, "recipient_user_id": "U9", "recipient_team_id": ann.Team},
			"thread_not_found":          {"thread_ts": "1.000001", "recipient_user_id": ann.ID, "recipient_team_id": ann.Team},
		} {
			if got := said(start(p)); got != want {
				t.Errorf("%v: %q, want %q", p, got, want)
			}
		}
		ts := start(m{"thread_ts": root, "recipient_user_id": ann.ID, "recipient_team_id": ann.Team})["ts"].(string)
		call := func(method string, p m) string {
			p["channel"], p["ts"] = talk.ID(), ts
			return said(slackCall(t, s, method, p))
		}
		for _, c := range []struct {
			method string
			p      m
			want   string
		}{
			{"chat.appendStream", m{}, "no_text"},
			{"chat.appendStream", m{"markdown_text": strings.Repeat("x", 12_001)}, "msg_too_long"},
			{"chat.appendStream", m{"markdown_text": "one **tw"}, ""},
			{"chat.appendStream", m{"chunks": []m{{"type": "markdown_text", "text": "o**"}, {"type": "task_update", "id": "1", "title": "look", "status": "complete"}}}, ""},
			{"chat.appendStream", m{"chunks": []m{{"type": "hologram"}}}, "invalid_chunks"},
			{"chat.update", m{"text": "new"}, "streaming_state_conflict"},
			{"chat.stopStream", m{"metadata": `{"event_type":"out","event_payload":{"key":"k1"}}`, "blocks": []m{{"type": "divider"}}}, ""},
			{"chat.appendStream", m{"markdown_text": "three"}, "message_not_in_streaming_state"},
			{"chat.stopStream", m{}, "message_not_in_streaming_state"},
		} {
			if got := call(c.method, c.p); got != c.want {
				t.Errorf("%s %.80s: %q, want %q", c.method, encode(c.p), got, c.want)
			}
		}
		if got := thread.Shown()[0]; got.Text != "one two" || got.ID != ts || !cmp.Equal(thread.Tasks(ts), []string{"1 complete look"}) {
			t.Errorf("%+v, %q", got, thread.Tasks(ts))
		}
		if got := call("chat.update", m{"text": "all new"}); got != "" || thread.Shown()[0].Text != "all new" {
			t.Errorf("%q, %+v", got, thread.Shown())
		}
		ts = start(m{"thread_ts": root, "recipient_user_id": ann.ID, "recipient_team_id": ann.Team, "markdown_text": "old"})["ts"].(string)
		time.Sleep(streamLife - time.Second)
		alive := call("chat.appendStream", m{"markdown_text": "er"})
		time.Sleep(time.Second)
		if got := call("chat.appendStream", m{"markdown_text": "est"}); alive != "" || got != "message_not_in_streaming_state" {
			t.Errorf("%q, then %q", alive, got)
		}
		if got := call("chat.update", m{"markdown_text": "older and done"}); got != "" || thread.Shown()[1].Text != "older and done" {
			t.Errorf("%q, %+v", got, thread.Shown())
		}
		ts = start(m{"thread_ts": root, "recipient_user_id": ann.ID, "recipient_team_id": ann.Team})["ts"].(string)
		s.EndStreams()
		if got := call("chat.stopStream", m{}); got != "message_not_in_streaming_state" {
			t.Error(got)
		}
	})
}

// TestSlackPages: bounds, cursors, and what a thread and a history consist of.
func TestSlackPages(t *testing.T) {
	s := NewSlack(SlackOptions{})
	ann := s.User("Ann")
	talk := s.Channel("talk", ann)
	var all []string
	for range 5 {
		all = append(all, talk.Say(ann, "m"))
	}
	root := all[1]
	var replies []string
	for range 3 {
		replies = append(replies, talk.Reply(ann, root, "r"))
	}
	shout := talk.Thread(root).Post(ann, SlackPost{Text: "to all", Broadcast: true})
	talk.Delete(all[0])
	talk.Delete(root) // a tombstone: it has replies
	read := func(method string, p map[string]any) (list []string, next string) {
		t.Helper()
		p["channel"] = talk.ID()
		rep := slackCall(t, s, method, p)
		for _, m := range rep["messages"].([]any) {
			list = append(list, m.(map[string]any)["ts"].(string))
		}
		return list, rep["response_metadata"].(map[string]any)["next_cursor"].(string)
	}
	type m = map[string]any
	for _, c := range []struct {
		method string
		p      m
		want   []string
	}{
		{"conversations.history", m{}, []string{shout, all[4], all[3], all[2], root}},
		{"conversations.history", m{"oldest": all[2]}, []string{shout, all[4], all[3]}},
		{"conversations.history", m{"oldest": all[2], "latest": all[4], "inclusive": true}, []string{all[4], all[3], all[2]}},
		{"conversations.history", m{"latest": all[3]}, []string{all[2], root}},
		{"conversations.replies", m{"ts": root}, append([]string{root}, append(replies, shout)...)},
		{"conversations.replies", m{"ts": root, "oldest": replies[1]}, []string{root, replies[2], shout}},
		{"conversations.replies", m{"ts": all[3]}, []string{all[3]}},
		{"conversations.replies", m{"ts": replies[0]}, []string{replies[0]}},
	} {
		got, _ := read(c.method, c.p)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %v:\n%s", c.method, c.p, diff)
		}
	}
	got, next := read("conversations.replies", m{"ts": root, "limit": 2})
	more, last := read("conversations.replies", m{"ts": root, "limit": 2, "cursor": next})
	if diff := cmp.Diff(append([]string{root}, append(replies, shout)...), append(got, more...)); diff != "" || next == "" || last != "" {
		t.Errorf("page by page, %q, then %q:\n%s", next, last, diff)
	}
}
