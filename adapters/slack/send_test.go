package slack

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"bellhop/adapters/markup"
	"bellhop/core"
)

var (
	thread = core.Place{Adapter: "slack", Channel: "C1", Topic: "1700000000.000100"}
	dm     = core.Place{Adapter: "slack", Channel: "D1"}
)

// values flattens a call's parameters.
func values(c call) map[string]string {
	got := map[string]string{}
	for name := range c.params {
		got[name] = c.params.Get(name)
	}
	return got
}

func TestSendParams(t *testing.T) {
	const block = `[{"type":"markdown","text":"a **b** \u0026lt;!here\u003e"}]`
	base := func(more map[string]string) map[string]string {
		all := map[string]string{
			"channel": "C1", "text": "a *b* &lt;!here&gt;", "blocks": block, "unfurl_links": "false", "unfurl_media": "false",
			"metadata": `{"event_type":"bellhop_out","event_payload":{"key":"p1/0"}}`,
		}
		maps.Copy(all, more)
		return all
	}
	tests := map[string]struct {
		out    core.Outbound
		method string
		want   map[string]string
	}{
		"in a thread": {core.Outbound{Place: thread}, "chat.postMessage", base(map[string]string{"thread_ts": thread.Topic})},
		"direct":      {core.Outbound{Place: dm}, "chat.postMessage", base(map[string]string{"channel": "D1"})},
		"edit":        {core.Outbound{Place: thread, Edit: "1700000100.000100"}, "chat.update", base(map[string]string{"ts": "1700000100.000100"})},
		"speaker": {core.Outbound{Place: dm, Speaker: core.Speaker{Name: "Chief", Icon: "🤖"}}, "chat.postMessage",
			base(map[string]string{"channel": "D1", "username": "Chief", "icon_emoji": ":robot_face:"})},
		"speaker with a picture": {core.Outbound{Place: dm, Speaker: core.Speaker{Name: "Chief", Icon: "https://x.y/z.png"}}, "chat.postMessage",
			base(map[string]string{"channel": "D1", "username": "Chief", "icon_url": "https://x.y/z.png"})},
		"buttons": {core.Outbound{Place: dm, Buttons: []core.Button{{Label: "Yes", Value: "y/1"}, {Label: strings.Repeat("x", 80), Value: "n"}}}, "chat.postMessage",
			base(map[string]string{"channel": "D1", "blocks": strings.TrimSuffix(block, "]") + `,{"type":"actions","elements":[` +
				`{"type":"button","text":{"type":"plain_text","text":"Yes","emoji":true},"action_id":"b:y/1","value":"y/1"},` +
				`{"type":"button","text":{"type":"plain_text","text":"` + strings.Repeat("x", 75) + `","emoji":true},"action_id":"b:n","value":"n"}]}]`})},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := always(reply{})
			tt.out.Key, tt.out.Kind, tt.out.Text = "p1/0", core.OutFinal, "a **b** <!here>"
			got, err := adapter(o, io.Discard).Send(t.Context(), tt.out)
			if err != nil || got.ID != "1700000100.000100" || got.Time.IsZero() {
				t.Fatalf("Send = %v, %v", got, err)
			}
			calls := o.calls(tt.method)
			if len(calls) != 1 || len(o.seen) != 1 {
				t.Fatalf("called %v", o.methods())
			}
			if diff := cmp.Diff(tt.want, values(calls[0])); diff != "" {
				t.Error(diff)
			}
			if calls[0].header.Get("Authorization") != "Bearer "+botToken {
				t.Errorf("header %v", calls[0].header)
			}
		})
	}
}

func TestSendOutcome(t *testing.T) {
	reset := reply{err: &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}}
	refusal := reply{err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}
	tests := map[string]struct {
		edit  string
		reply reply
		want  error
		words string
	}{
		"page":           {"", htmlPage(502), core.ErrUnknown, "HTTP 502"},
		"a page, ok":     {"", htmlPage(200), core.ErrUnknown, "HTTP 200"},
		"an edit":        {"1.1", htmlPage(503), core.ErrUnknown, "HTTP 503"},
		"internal":       {"", no("internal_error"), core.ErrUnknown, "internal_error"},
		"fatal at Slack": {"", no("fatal_error"), core.ErrUnknown, "fatal_error"},
		"away":           {"", reply{status: 503, body: `{"ok":false,"error":"service_unavailable"}`}, core.ErrNotSent, "service_unavailable"},
		"half an answer": {"", reply{status: 200, body: `{"ok":true,"ts`}, core.ErrUnknown, ""},
		"no id":          {"", ok(``), core.ErrUnknown, "did not say its id"},
		"odd id":         {"", ok(`"ts":17`), core.ErrUnknown, "unreadable"},
		"reset":          {"", reset, core.ErrUnknown, "reset"},
		"no connection":  {"", refusal, core.ErrNotSent, "refused"},
		"token":          {"", no("invalid_auth"), core.ErrFatal, "check the bot token"},
		"revoked":        {"1.1", no("token_revoked"), core.ErrFatal, "check the bot token"},
		"not invited":    {"", no("not_in_channel"), core.ErrRefused, "invite me with /invite @bellhop"},
		"no channel":     {"", no("channel_not_found"), core.ErrRefused, "invite me with /invite @bellhop"},
		"archived":       {"", no("is_archived"), core.ErrRefused, "archived"},
		"restricted":     {"", no("restricted_action"), core.ErrRefused, "does not let me write"},
		"no root":        {"", no("thread_not_found"), core.ErrRefused, "was deleted"},
		"scope":          {"", reply{status: 200, body: `{"ok":false,"error":"missing_scope","needed":"chat:write"}`}, core.ErrRefused, "chat:write"},
		"anything else":  {"", no("moon_is_full"), core.ErrRefused, "moon_is_full"},
		"edit of none":   {"1.1", no("message_not_found"), core.ErrGone, ""},
		"edit of theirs": {"1.1", no("cant_update_message"), core.ErrGone, ""},
		"edit too late":  {"1.1", no("edit_window_closed"), core.ErrGone, ""},
		"edit of no id":  {"x", ok(``), core.ErrGone, ""},
		"wait":           {"", tooManyCalls(17), &core.RetryAfter{After: 17 * time.Second}, ""},
		"wait, in ok":    {"", no("ratelimited"), &core.RetryAfter{After: patience}, ""},
		"wait, a page":   {"1.1", reply{status: 429}, &core.RetryAfter{After: patience}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := adapter(always(tt.reply), io.Discard).Send(t.Context(), core.Outbound{Kind: core.OutFinal, Place: thread, Edit: tt.edit, Text: "x"})
			if want, ok := tt.want.(*core.RetryAfter); ok {
				if got, ok := errors.AsType[*core.RetryAfter](err); !ok || got.After != want.After || got.Global {
					t.Errorf("Send: %v, want %v", err, want.After)
				}
			} else {
				only(t, err, tt.want)
			}
			if err == nil || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("%v does not say %q", err, tt.words)
			}
		})
	}
}

func TestSendToNoPlace(t *testing.T) {
	o := always(reply{})
	f := adapter(o, io.Discard).Features()
	for _, p := range []core.Place{{Channel: "#ops"}, {Channel: "C1", Topic: "x"}, {Channel: ""}, {Channel: "C1/../x"}} {
		_, err := adapter(o, io.Discard).Send(t.Context(), core.Outbound{Place: p, Text: "x"})
		only(t, err, core.ErrRefused)
		only(t, f.Typing(t.Context(), p), core.ErrRefused)
		only(t, f.React(t.Context(), p, "1.1", "👀"), core.ErrRefused)
		_, err = f.Resolve(t.Context(), core.Outbound{Place: p, Text: "x"})
		only(t, err, core.ErrRefused)
	}
	if len(o.seen) != 0 {
		t.Errorf("called %v", o.methods())
	}
}

// TestRefusedBlocksGoAsText, with the same piece, and with its buttons.
func TestRefusedBlocksGoAsText(t *testing.T) {
	for _, code := range []string{"invalid_blocks", "msg_too_long", "msg_blocks_too_long"} {
		for _, edit := range []string{"", "1700000100.000100"} {
			o := script(map[string][]reply{"chat.postMessage": {no(code), {}}, "chat.update": {no(code), {}}})
			long := strings.Repeat("some **words** & more\n", 400)
			got, err := adapter(o, io.Discard).Send(t.Context(), core.Outbound{Kind: core.OutFinal, Place: dm, Edit: edit, Text: long})
			if err != nil || got.ID != "1700000100.000100" || len(o.seen) != 2 {
				t.Fatalf("Send = %v, %v after %v", got, err, o.methods())
			}
			first, second := o.seen[0].params, o.seen[1].params
			if second.Get("text") != markup.SlackText(long) || strings.Contains(second.Get("blocks"), "markdown") {
				t.Errorf("second try: %.80q, blocks %q", second.Get("text"), second.Get("blocks"))
			}
			if n := len(first.Get("text")); n > fallbackText+len("…") || !strings.HasSuffix(first.Get("text"), "more…") {
				t.Errorf("the text beside the blocks has %d bytes and ends %q", n, first.Get("text")[n-20:])
			}
		}
	}
	o := script(map[string][]reply{"chat.postMessage": {no("invalid_blocks"), {}}})
	_, err := adapter(o, io.Discard).Send(t.Context(), core.Outbound{Place: dm, Text: "x", Buttons: []core.Button{{Label: "Yes", Value: "y"}}})
	if err != nil || !strings.Contains(o.seen[1].params.Get("blocks"), `"action_id":"b:y"`) {
		t.Errorf("%v, blocks %s", err, o.seen[1].params.Get("blocks"))
	}
}

func TestSectionsLoseNothing(t *testing.T) {
	for name, text := range map[string]string{
		"short": "x", "lines": strings.Repeat("some words &amp; more\n", 500), "one word": strings.Repeat("ж", 9000), "entities": strings.Repeat("&lt;", 3000),
		"links": strings.Repeat("<https://x.y/z|a-b>", 800), "one link": "<https://" + strings.Repeat("x", 9000) + ">",
	} {
		var got strings.Builder
		for _, b := range sections(text) {
			var block struct{ Text struct{ Text string } }
			data, err := json.Marshal(b)
			if err = errors.Join(err, json.Unmarshal(data, &block)); err != nil {
				t.Fatal(err)
			}
			part := block.Text.Text
			if len(part) > fallbackText || !utf8.ValidString(part) || name != "one link" && strings.Count(part, "<") != strings.Count(part, ">") ||
				strings.Count(part, "&") != strings.Count(part, ";") {
				t.Errorf("%s: a part of %d bytes ends %q", name, len(part), part[max(0, len(part)-20):])
			}
			got.WriteString(part)
		}
		bare := strings.NewReplacer("\n", "", " ", "")
		if bare.Replace(got.String()) != bare.Replace(text) {
			t.Errorf("%s: something is lost", name)
		}
		if s := shorten(text); len(s) > fallbackText+len("…") || len(text) > fallbackText && len(s) < fallbackText/2 {
			t.Errorf("%s: shortened to %d bytes", name, len(s))
		}
	}
}

func TestSpeakerIsLatchedOff(t *testing.T) {
	o := newOffice(func(_ context.Context, c call) reply {
		if c.params.Has("username") {
			return reply{status: 200, body: `{"ok":false,"error":"missing_scope","needed":"chat:write.customize"}`}
		}
		return reply{}
	})
	a := adapter(o, io.Discard)
	for range 2 {
		if _, err := a.Send(t.Context(), core.Outbound{Place: dm, Text: "x", Speaker: core.Speaker{Name: "Chief", Icon: "🤖"}}); err != nil {
			t.Fatal(err)
		}
	}
	if len(o.seen) != 3 || o.seen[2].params.Has("icon_emoji") {
		t.Errorf("called %v", o.methods())
	}
}

// TestThreadWithoutRoot: Slack puts such a reply into the channel, where it
// must not stay.
func TestThreadWithoutRoot(t *testing.T) {
	o := script(map[string][]reply{"chat.postMessage": {ok(`"ts":"1700000100.000100","message":{"ts":"1700000100.000100","text":"x"}`)}})
	_, err := adapter(o, io.Discard).Send(t.Context(), core.Outbound{Place: thread, Text: "x"})
	only(t, err, core.ErrRefused)
	if d := o.calls("chat.delete"); len(d) != 1 || d[0].params.Get("ts") != "1700000100.000100" {
		t.Errorf("called %v", o.methods())
	}
}

func TestSendGivesUpWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(func(ctx context.Context, _ call) reply { <-ctx.Done(); return reply{err: ctx.Err()} })
		a := adapter(o, io.Discard)
		start := time.Now()
		_, err := a.Send(t.Context(), core.Outbound{Place: dm, Text: "x"})
		only(t, err, core.ErrUnknown)
		if took := time.Since(start); took != callTimeout {
			t.Errorf("waited %s", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = a.Send(ctx, core.Outbound{Place: dm, Text: "x"})
		only(t, err, core.ErrNotSent)
		if !errors.Is(err, context.Canceled) || len(o.seen) != 1 {
			t.Errorf("Send after the end: %v, %d calls", err, len(o.seen))
		}
	})
}

func TestSplitOfNothingButMarks(t *testing.T) {
	f := adapter(always(reply{}), io.Discard).Features()
	for _, text := range []string{"```", "~~~", ">>>", "#", "[x]: http://y", "<!-- x -->"} {
		if pieces := f.Split(text); len(pieces) != 1 || markup.Plain(pieces[0]) != text {
			t.Errorf("%q is cut into %q", text, pieces)
		}
	}
	if pieces := f.Split(" \n\t"); len(pieces) != 0 {
		t.Errorf("blank text is cut into %q", pieces)
	}
	if d := f.Previews; d < time.Minute/50 || d > 5*time.Second {
		t.Errorf("a preview every %s", d)
	}
}

// TestTextIsSafe: whatever a model writes, nobody is called by it.
func TestTextIsSafe(t *testing.T) {
	o := always(reply{})
	if _, err := adapter(o, io.Discard).Send(t.Context(), core.Outbound{Place: dm, Text: "<!channel> `<@U1>` @here"}); err != nil {
		t.Fatal(err)
	}
	var blocks []struct{ Text string }
	if err := json.Unmarshal([]byte(o.seen[0].params.Get("blocks")), &blocks); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{blocks[0].Text, o.seen[0].params.Get("text")} {
		if strings.Contains(text, "<!") || strings.Contains(text, "<@") {
			t.Errorf("sent %q", text)
		}
	}
	for _, name := range []string{"link_names", "parse", "mrkdwn"} {
		if o.seen[0].params.Has(name) {
			t.Errorf("%s is set", name)
		}
	}
}
