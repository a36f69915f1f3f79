package adaptertest

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// told is what the app was told of last.
func told(t *testing.T, s *Slack) (kind string, payload map[string]any) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.events[len(s.events)-1]
	if err := json.Unmarshal(e.payload, &payload); err != nil {
		t.Fatal(err)
	}
	return e.kind, payload
}

// field finds a value in nested objects and lists.
func field(v any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			v = x[0].(map[string]any)[key]
		default:
			return nil
		}
	}
	return v
}

// TestSlackPeople: what the app is told of what people do.
func TestSlackPeople(t *testing.T) {
	s := NewSlack(SlackOptions{})
	ann, gus := s.User("Ann"), s.Stranger("Gus")
	talk, dm := s.Channel("talk", ann), s.Direct(ann)
	type m = map[string]any
	root := talk.Say(ann, "root")
	asked := slackCall(t, s, "chat.postMessage", m{"channel": talk.ID(), "thread_ts": root, "text": "sure?", "blocks": []m{
		{"type": "actions", "block_id": "ask", "elements": []m{{"type": "button", "action_id": "yes", "value": "1", "text": m{"type": "plain_text", "text": "Yes"}}}}}})["ts"].(string)
	thread := talk.Thread(root)
	for _, c := range []struct {
		what string
		do   func()
		kind string
		want map[string]any // by path
	}{
		{"our own message", func() {}, "events_api", m{
			"team_id": slackTeam, "api_app_id": slackApp, "type": "event_callback", "event.bot_id": s.Me().Bot, "event.user": s.Me().ID,
			"event.thread_ts": root, "event.parent_user_id": ann.ID, "event.channel_type": "channel"}},
		{"a direct message", func() { dm.Say(ann, "hi") }, "events_api", m{
			"event.type": "message", "event.channel_type": "im", "event.text": "hi", "event.team": slackTeam, "event.subtype": nil, "is_ext_shared_channel": false}},
		{"somebody from elsewhere", func() { talk.Say(gus, "hi") }, "events_api", m{
			"team_id": slackElse, "event.user_team": slackElse, "is_ext_shared_channel": true}},
		{"an edit", func() { talk.Edit(root, "new & better") }, "events_api", m{
			"event.subtype": "message_changed", "event.message.text": "new &amp; better", "event.message.ts": root, "event.previous_message.text": "root",
			"event.message.edited.user": ann.ID, "event.message.thread_ts": root}},
		{"an unfurl", func() { talk.Unfurl(root, "Title") }, "events_api", m{
			"event.subtype": "message_changed", "event.message.text": "new &amp; better", "event.previous_message.text": "new &amp; better", "event.message.attachments.title": "Title"}},
		{"a mark", func() { talk.React(ann, root, "eyes") }, "events_api", m{
			"event.type": "reaction_added", "event.reaction": "eyes", "event.item.ts": root, "event.user": ann.ID}},
		{"no mark any more", func() { talk.Unreact(ann, root, "eyes") }, "events_api", m{"event.type": "reaction_removed"}},
		{"a press", func() { thread.Press(ann, asked, "yes") }, "interactive", m{
			"type": "block_actions", "actions.action_id": "yes", "actions.value": "1", "actions.block_id": "ask", "user.id": ann.ID,
			"message.ts": asked, "message.thread_ts": root, "channel.id": talk.ID(), "container.thread_ts": root}},
		{"a shortcut", func() { thread.Shortcut(ann, asked, "stop_thread") }, "interactive", m{
			"type": "message_action", "callback_id": "stop_thread", "message_ts": asked}},
		{"a slash command", func() { dm.Slash(ann, "/bellhop", "new <idea>") }, "slash_commands", m{
			"command": "/bellhop", "text": "new &lt;idea&gt;", "channel_name": "directmessage", "is_enterprise_install": "false"}},
		{"a stop", func() { thread.Stop(ann) }, "events_api", m{
			"event.type": "agent_session_stopped", "event.thread_ts": root, "event.user": ann.ID}},
		{"a broadcast", func() { thread.Post(ann, SlackPost{Text: "to all", Broadcast: true}) }, "events_api", m{"event.subtype": "thread_broadcast"}},
		{"a newcomer", func() { talk.Join(s.User("New")) }, "events_api", m{"event.subtype": "channel_join"}},
		{"a deleted root", func() { talk.Delete(root) }, "events_api", m{
			"event.subtype": "message_changed", "event.message.subtype": "tombstone", "event.previous_message.ts": root, "event.deleted_ts": nil}},
		{"a deleted reply", func() { thread.Delete(asked) }, "events_api", m{
			"event.subtype": "message_deleted", "event.deleted_ts": asked, "event.previous_message.thread_ts": root}},
		{"an archived channel", func() { talk.Archive(ann) }, "events_api", m{"event.type": "channel_archive"}},
	} {
		c.do()
		kind, payload := told(t, s)
		if kind != c.kind {
			t.Errorf("%s is told as %s, want %s", c.what, kind, c.kind)
		}
		for path, want := range c.want {
			if got := field(payload, path); !cmp.Equal(got, want) {
				t.Errorf("%s: %s is %v, want %v", c.what, path, got, want)
			}
		}
	}
	far := s.Channel("far")
	far.Leave()
	before := s.Unacked()
	far.Say(ann, "unheard")
	dm.Post(ann, SlackPost{Text: "unheard", Silent: true})
	if s.Unacked() != before {
		t.Error("we are told of what we cannot hear")
	}
}

// TestSlackOnly: either signal of a mention may be the only one.
func TestSlackOnly(t *testing.T) {
	s := NewSlack(SlackOptions{})
	ann := s.User("Ann")
	talk := s.Channel("talk", ann)
	for _, only := range []string{"message", "app_mention"} {
		before := s.Unacked()
		talk.Post(ann, SlackPost{Text: "hi", Mention: []*SlackUser{s.Me()}, Only: only})
		if _, e := told(t, s); field(e, "event.type") != only || s.Unacked() != before+1 {
			t.Errorf("%d signals, the last is %v", s.Unacked()-before, e)
		}
	}
}

// TestSlackView: a view is opened by what somebody has just done, once.
func TestSlackView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlack(SlackOptions{})
		ann := s.User("Ann")
		open := func(wait time.Duration) (first, second string) {
			s.Direct(ann).Slash(ann, "/bellhop", "")
			_, p := told(t, s)
			time.Sleep(wait)
			view := map[string]any{"trigger_id": p["trigger_id"], "view": map[string]any{"type": "modal"}}
			return said(slackCall(t, s, "views.open", view)), said(slackCall(t, s, "views.open", view))
		}
		if first, second := open(time.Second); first != "" || second != "invalid_trigger_id" || len(s.Views()) != 1 {
			t.Errorf("%q, %q", first, second)
		}
		if first, _ := open(time.Minute); first != "expired_trigger_id" {
			t.Error(first)
		}
	})
}

// TestSlackString is a golden dump of what people see.
func TestSlackString(t *testing.T) {
	s := NewSlack(SlackOptions{})
	ann, bob := s.User("Ann"), s.User("Bob")
	talk := s.Channel("talk", ann, bob)
	typo := talk.Say(ann, "tpyo")
	talk.Edit(typo, "typo")
	root := talk.Mention(ann, "two\nlines")
	slackCall(t, s, "chat.postMessage", map[string]any{"channel": talk.ID(), "thread_ts": root, "markdown_text": "**one**\n\ntwo", "username": "Chief"})
	lost := talk.Say(bob, "lost")
	talk.Reply(ann, lost, "what was it?")
	talk.Delete(lost)
	talk.Delete(talk.Say(bob, "gone"))
	talk.Join(s.User("New"))
	s.Direct(bob).Post(bob, SlackPost{Text: "from elsewhere", Forward: ann})
	s.Direct(bob).Say(bob, "hi")
	want := `== channel C00000003 talk
Ann: typo (edited)
Ann: @Bellhop two
	lines
	Chief: one
		two
nobody: This message was deleted.
	Ann: what was it?
== im D00000034 Bob
Bob: from elsewhere
Bob: hi
`
	if diff := cmp.Diff(want, strings.ReplaceAll(s.String(), "\n\t\t\n", "\n")); diff != "" {
		t.Error(diff)
	}
	thread := talk.Thread(root).Shown()
	if len(thread) != 1 || thread[0].From != "Chief" || !thread[0].Own || thread[0].Topic != root {
		t.Errorf("%+v", thread)
	}
}

// TestSlackWait: a wait ends when its condition holds, not later.
func TestSlackWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlack(SlackOptions{})
		ann := s.User("Ann")
		dm := s.Direct(ann)
		start := time.Now()
		go func() {
			time.Sleep(time.Second)
			dm.Say(ann, "one")
			time.Sleep(time.Second)
			dm.Say(ann, "two")
		}()
		s.Wait(t, "two messages", func() bool { return len(dm.Shown()) == 2 })
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}
