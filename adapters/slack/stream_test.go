package slack

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// streaming is an adapter for which Slack streams, after Ann has spoken.
func streaming(replies map[string][]reply) (*office, *Adapter) {
	all := map[string][]reply{
		"chat.startStream": {ok(`"ts":"1700000100.000100","channel":"C1"`)}, "chat.appendStream": {ok("")}, "chat.stopStream": {ok("")},
		"agents.sessions.setStatus": {ok("")},
	}
	maps.Copy(all, replies)
	o := script(all)
	a := adapter(o, io.Discard)
	a.me = identity{user: "UBOT", bot: "BBOT", team: "T1"}
	a.rooms.heard([]core.Inbound{{Kind: core.InMessage, Place: thread, MessageID: thread.Topic, From: core.Person{ID: "slack:UANN"}, Mentioned: true}})
	return o, a
}

// post is the life of a post: its open, its previews and its final.
func post(t *testing.T, a *Adapter, previews []string, final string) (opened core.Receipt, errs []error) {
	t.Helper()
	o := core.Outbound{Key: "p1/0", Kind: core.OutOpen, Place: thread, Text: "…"}
	opened, err := a.Send(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Edit, o.Kind = opened.ID, core.OutUpdate
	for _, o.Text = range previews {
		_, err := a.Send(t.Context(), o)
		errs = append(errs, err)
	}
	o.Kind, o.Text, o.Last = core.OutFinal, final, true
	r, err := a.Send(t.Context(), o)
	if err != nil || r.ID != opened.ID {
		t.Errorf("final: %v, %v", r, err)
	}
	return opened, append(errs, err)
}

func appended(o *office) (texts []string) {
	for _, c := range o.calls("chat.appendStream") {
		texts = append(texts, c.params.Get("markdown_text"))
	}
	return texts
}

func TestStream(t *testing.T) {
	o, a := streaming(nil)
	post(t, a, []string{"The", "The ans", "The ans", "The", "The answer <!here> <", "The answer <!here> <b"}, "The answer is 42.")
	if diff := cmp.Diff([]string{"The", " ans", "wer <\u2060!here> ", "<b"}, appended(o)); diff != "" {
		t.Error(diff)
	}
	want := []string{"chat.startStream", "chat.appendStream", "chat.appendStream", "chat.appendStream", "chat.appendStream", "chat.stopStream", "chat.update"}
	if diff := cmp.Diff(want, o.methods()); diff != "" {
		t.Error(diff)
	}
	start := map[string]string{"channel": "C1", "thread_ts": thread.Topic, "recipient_user_id": "UANN", "recipient_team_id": "T1"}
	if diff := cmp.Diff(start, values(o.calls("chat.startStream")[0])); diff != "" {
		t.Error(diff)
	}
	update := o.calls("chat.update")[0].params
	if update.Get("ts") != "1700000100.000100" || !strings.Contains(update.Get("blocks"), "The answer is 42.") || !strings.Contains(update.Get("metadata"), "p1/0") {
		t.Errorf("final: %v", update)
	}
}

// A text that begins anew is no stream any more.
func TestStreamThatBeginsAnew(t *testing.T) {
	o, a := streaming(nil)
	post(t, a, []string{"Let me see.", "It is", "It is op"}, "It is open.")
	want := []string{"chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update", "chat.update", "chat.update"}
	if diff := cmp.Diff(want, o.methods()); diff != "" {
		t.Error(diff)
	}
}

// What is being done is a task of the stream, where Slack has tasks.
func TestStreamTask(t *testing.T) {
	for _, refusal := range []string{"", "invalid_chunks", "no_text"} {
		t.Run(refusal, func(t *testing.T) {
			replies := map[string][]reply{}
			if refusal != "" {
				replies["chat.appendStream"] = []reply{no(refusal), ok("")}
			}
			o, a := streaming(replies)
			open := core.Outbound{Key: "p1/0", Kind: core.OutOpen, Place: thread, Text: "…"}
			opened, err := a.Send(t.Context(), open)
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range [][2]string{{"", "Looking…"}, {"a", "Looking…"}, {"a b", "Reading…"}, {"a b", "Reading…"}, {"a b", ""}, {"a b c", ""}} {
				if _, err := a.Send(t.Context(), core.Outbound{Key: "p1/0", Kind: core.OutUpdate, Place: thread, Edit: opened.ID, Text: u[0], Status: u[1]}); err != nil {
					t.Errorf("%q: %v", u, err)
				}
			}
			var got []string
			for _, c := range o.calls("chat.appendStream") {
				got = append(got, c.params.Get("chunks")+c.params.Get("markdown_text"))
			}
			task := func(title, status string) string {
				return `[{"id":"work","status":"` + status + `","title":"` + title + `","type":"task_update"}`
			}
			want := []string{task("Looking…", "in_progress") + "]", "a", task("Reading…", "in_progress") + `,{"text":" b","type":"markdown_text"}]`,
				task("Reading…", "complete") + "]", " c"}
			if refusal != "" {
				want = []string{want[0], "a", " b", " c"}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStreamThatFails(t *testing.T) {
	tests := map[string]struct {
		replies map[string][]reply
		want    []string
		fails   int // which preview does; -1: none
	}{
		"Slack has ended it": {
			map[string][]reply{"chat.appendStream": {ok(""), no("message_not_in_streaming_state")}},
			[]string{"chat.startStream", "chat.appendStream", "chat.appendStream", "chat.update", "chat.update", "chat.update"}, -1,
		},
		"an answer is lost": {
			map[string][]reply{"chat.appendStream": {htmlPage(502)}},
			[]string{"chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update", "chat.update", "chat.update"}, 0,
		},
		"too fast": {
			map[string][]reply{"chat.appendStream": {tooManyCalls(3), ok("")}},
			[]string{"chat.startStream", "chat.appendStream", "chat.appendStream", "chat.appendStream", "chat.stopStream", "chat.update"}, 0,
		},
		"no room": {
			map[string][]reply{"chat.appendStream": {ok(""), no("msg_too_long")}},
			[]string{"chat.startStream", "chat.appendStream", "chat.appendStream", "chat.stopStream", "chat.update", "chat.update", "chat.update"}, -1,
		},
		"it cannot be stopped": {
			map[string][]reply{"chat.stopStream": {no("message_not_in_streaming_state")}},
			[]string{"chat.startStream", "chat.appendStream", "chat.appendStream", "chat.appendStream", "chat.stopStream", "chat.update"}, -1,
		},
		"none here": {
			map[string][]reply{"chat.startStream": {no("channel_type_not_supported")}},
			[]string{"chat.startStream", "chat.postMessage", "chat.update", "chat.update", "chat.update", "chat.update"}, -1,
		},
		"none at all": {
			map[string][]reply{"chat.startStream": {no("unknown_method")}},
			[]string{"chat.startStream", "chat.postMessage", "chat.update", "chat.update", "chat.update", "chat.update"}, -1,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o, a := streaming(tt.replies)
			_, errs := post(t, a, []string{"a", "a b", "a b c"}, "a b c d")
			for i, err := range errs {
				if (err != nil) != (i == tt.fails) {
					t.Errorf("call %d: %v", i, err)
				}
			}
			if diff := cmp.Diff(tt.want, o.methods()); diff != "" {
				t.Error(diff)
			}
			before := len(o.seen)
			if _, err := a.Send(t.Context(), core.Outbound{Key: "p2/0", Kind: core.OutOpen, Place: thread, Text: "…"}); err != nil {
				t.Fatal(err)
			}
			if again := o.methods()[before]; (again == "chat.startStream") == (name == "none at all") {
				t.Errorf("the next post begins with %s", again)
			}
		})
	}
}

// Slack takes fewer streams than messages: nobody waits for one.
func TestStreamNotNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, a := streaming(map[string][]reply{"chat.startStream": {tooManyCalls(30), ok(`"ts":"1700000100.000100","channel":"C1"`)}})
		open := func() {
			if _, err := a.Send(t.Context(), core.Outbound{Key: "p1/0", Kind: core.OutOpen, Place: thread, Text: "…"}); err != nil {
				t.Error(err)
			}
		}
		open()
		time.Sleep(29 * time.Second)
		open()
		time.Sleep(time.Second)
		open()
		want := []string{"chat.startStream", "chat.postMessage", "chat.postMessage", "chat.startStream"}
		if diff := cmp.Diff(want, o.methods()); diff != "" {
			t.Error(diff)
		}
	})
}

// A stream that ends leaves no task in progress, whatever becomes of its text.
func TestStreamEndsItsTask(t *testing.T) {
	for name, refusals := range map[string][]reply{"": {ok("")}, "no chunks": {no("invalid_chunks"), ok("")}} {
		t.Run(name, func(t *testing.T) {
			o, a := streaming(map[string][]reply{"chat.stopStream": refusals})
			opened, err := a.Send(t.Context(), core.Outbound{Key: "p1/0", Kind: core.OutOpen, Place: thread, Text: "…"})
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range []core.OutKind{core.OutUpdate, core.OutFinal} {
				out := core.Outbound{Key: "p1/0", Kind: kind, Place: thread, Edit: opened.ID, Text: "a", Status: "Looking…"}
				if kind == core.OutFinal {
					out.Status = ""
				}
				if _, err := a.Send(t.Context(), out); err != nil {
					t.Error(err)
				}
			}
			stops := o.calls("chat.stopStream")
			if len(stops) != len(refusals) || stops[0].params.Get("chunks") != `[{"id":"work","status":"complete","title":"Looking…","type":"task_update"}]` {
				t.Errorf("stopped with %v", stops)
			}
			if last := o.seen[len(o.seen)-1]; last.method != "chat.update" {
				t.Errorf("in the end: %s", last.method)
			}
		})
	}
}

func TestStreamOutcomeIsUnknown(t *testing.T) {
	_, a := streaming(map[string][]reply{"chat.startStream": {htmlPage(504)}})
	_, err := a.Send(t.Context(), core.Outbound{Key: "p1/0", Kind: core.OutOpen, Place: thread, Text: "…"})
	only(t, err, core.ErrUnknown)
	_, a = streaming(map[string][]reply{"chat.stopStream": {tooManyCalls(3)}})
	r, err := a.Send(t.Context(), core.Outbound{Key: "p1/0", Kind: core.OutOpen, Place: thread, Text: "…"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Send(t.Context(), core.Outbound{Key: "p1/0", Kind: core.OutFinal, Place: thread, Text: "x", Edit: r.ID})
	if e, ok := errors.AsType[*core.RetryAfter](err); !ok || e.After != 3*time.Second {
		t.Errorf("final: %v", err)
	}
}

// TestWhatIsNotStreamed: what has a text of its own, and what has no thread or
// nobody to show it to.
func TestWhatIsNotStreamed(t *testing.T) {
	for name, out := range map[string]core.Outbound{
		"a status":       {Kind: core.OutOpen, Place: thread, Text: "Waiting for a free slot…"},
		"no thread":      {Kind: core.OutOpen, Place: dm, Text: "…"},
		"another thread": {Kind: core.OutOpen, Place: core.Place{Channel: "C1", Topic: "1700000000.000999"}, Text: "…"},
		"a final":        {Kind: core.OutFinal, Place: thread, Text: "…"},
	} {
		o, a := streaming(nil)
		if _, err := a.Send(t.Context(), out); err != nil || o.methods()[0] != "chat.postMessage" {
			t.Errorf("%s: %v, %v", name, o.methods(), err)
		}
	}
}

// TestStreamOfAnEarlierProcess is ended before it is edited.
func TestStreamOfAnEarlierProcess(t *testing.T) {
	o, a := streaming(map[string][]reply{"chat.update": {no("cant_update_message"), {}}})
	if _, err := a.Send(t.Context(), core.Outbound{Kind: core.OutFinal, Place: thread, Edit: "1.1", Text: "x"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"chat.update", "chat.stopStream", "chat.update"}, o.methods()); diff != "" {
		t.Error(diff)
	}
}

func TestTyping(t *testing.T) {
	tests := map[string]struct {
		replies map[string][]reply
		want    []string
	}{
		"sessions":  {nil, []string{"agents.sessions.setStatus processing", "agents.sessions.setStatus processing", "agents.sessions.setStatus active"}},
		"assistant": {map[string][]reply{"agents.sessions.setStatus": {no("unknown_method")}}, []string{"agents.sessions.setStatus processing", "assistant.threads.setStatus " + statusText, "assistant.threads.setStatus " + statusText, "assistant.threads.setStatus "}},
		"neither":   {map[string][]reply{"agents.sessions.setStatus": {no("missing_scope")}, "assistant.threads.setStatus": {no("missing_scope")}}, []string{"agents.sessions.setStatus processing", "assistant.threads.setStatus " + statusText}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, a := streaming(tt.replies)
				for range 20 { // every four seconds, as the outbox does
					if err := a.Features().Typing(t.Context(), thread); err != nil {
						t.Fatal(err)
					}
					time.Sleep(4 * time.Second)
				}
				for range 2 {
					if _, err := a.Send(t.Context(), core.Outbound{Kind: core.OutFinal, Last: true, Place: thread, Text: "x"}); err != nil {
						t.Fatal(err)
					}
				}
				var got []string
				for _, c := range o.seen {
					if strings.HasSuffix(c.method, "setStatus") {
						got = append(got, c.method+" "+c.params.Get("status"))
						if strings.Contains(c.params.Get("status"), ",") || c.params.Get("thread_ts") != thread.Topic {
							t.Errorf("set %v", c.params)
						}
					}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
	o, a := streaming(nil)
	if err := a.Features().Typing(t.Context(), dm); err != nil || len(o.seen) != 0 {
		t.Errorf("without a message to be below: %v, %v", err, o.methods())
	}
}

func TestReact(t *testing.T) {
	o := script(map[string][]reply{"reactions.add": {{}, no("already_reacted"), {}}, "reactions.remove": {no("no_reaction"), {}}})
	react := adapter(o, io.Discard).Features().React
	for _, emoji := range []string{"👀", "👀", "✔", "", ""} {
		if err := react(t.Context(), thread, "1700000000.000300", emoji); err != nil {
			t.Errorf("%q: %v", emoji, err)
		}
	}
	var got []string
	for _, c := range o.seen {
		got = append(got, c.method+" "+c.params.Get("name")+" "+c.params.Get("timestamp"))
	}
	const at = " 1700000000.000300"
	want := []string{"reactions.add eyes" + at, "reactions.add eyes" + at, "reactions.remove eyes" + at, "reactions.add heavy_check_mark" + at, "reactions.remove heavy_check_mark" + at}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := react(t.Context(), thread, "1700000000.000400", ""); err != nil || o.seen[len(o.seen)-1].params.Get("name") != "eyes" {
		t.Errorf("a mark of an earlier process: %v", err)
	}
	only(t, react(t.Context(), thread, "x", "👀"), core.ErrGone)
	only(t, react(t.Context(), thread, "1.1", "🦤"), core.ErrRefused)
	only(t, adapter(always(no("too_many_reactions")), io.Discard).Features().React(t.Context(), thread, "1.1", "👀"), core.ErrRefused)
}

func TestEmojiNames(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range emoji {
		if seen[e.name] || strings.Trim(e.name, "abcdefghijklmnopqrstuvwxyz0123456789_+-") != "" {
			t.Errorf("name %q", e.name)
		}
		seen[e.name] = true
		name, ok := nameOf(unicodeOf(e.name))
		if !ok || unicodeOf(name) != e.unicode {
			t.Errorf("%s is %s, and back %s", e.name, e.unicode, name)
		}
	}
	if name, ok := nameOf(":partyparrot:"); !ok || name != "partyparrot" {
		t.Errorf("an emoji of the workspace: %q", name)
	}
	if !slices.ContainsFunc(emoji, func(e struct{ name, unicode string }) bool { return e.name == acknowledging }) {
		t.Error("no name for the mark of those who read")
	}
}

// TestStreamOfAnotherProcess: who edits a stream that an earlier process has
// left open ends it first; when that does not work at once, the edit is tried
// again and nothing is given up.
func TestStreamOfAnotherProcess(t *testing.T) {
	conflict := no("streaming_state_conflict")
	tests := map[string]struct {
		stop reply
		want error // of the first try
	}{
		"ended":          {ok(""), nil},
		"ended by Slack": {no("message_not_in_streaming_state"), nil},
		"bad gateway":    {htmlPage(502), core.ErrUnknown},
		"no answer":      {reply{err: errors.New("connection reset")}, core.ErrUnknown},
		"later":          {no("service_unavailable"), core.ErrNotSent},
		"not ours":       {no("message_not_owned_by_app"), core.ErrRefused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			updates := []reply{conflict, ok(`"ts":"1700000060.000100"`)}
			if tt.want != nil {
				updates = []reply{conflict, conflict, ok(`"ts":"1700000060.000100"`)}
			}
			o := script(map[string][]reply{"chat.update": updates, "chat.stopStream": {tt.stop, ok("")}})
			a := adapter(o, io.Discard)
			final := core.Outbound{Key: "p1/0", Kind: core.OutFinal, Place: thread, Text: "the answer", Edit: "1700000060.000100", Last: true}
			_, err := a.Send(t.Context(), final)
			if tt.want == nil {
				if err != nil {
					t.Errorf("Send = %v", err)
				}
				return
			}
			only(t, err, tt.want)
			if errors.Is(tt.want, core.ErrRefused) {
				return
			}
			if _, err := a.Send(t.Context(), final); err != nil {
				t.Errorf("again, Send = %v", err)
			}
		})
	}
	o := script(map[string][]reply{"chat.update": {conflict}, "chat.stopStream": {tooManyCalls(30)}})
	_, err := adapter(o, io.Discard).Send(t.Context(), core.Outbound{Key: "p1/0", Kind: core.OutFinal, Place: thread, Text: "x", Edit: "1700000060.000100"})
	if wait, ok := errors.AsType[*core.RetryAfter](err); !ok || wait.After != 30*time.Second {
		t.Errorf("limited, Send = %v", err)
	}
}
