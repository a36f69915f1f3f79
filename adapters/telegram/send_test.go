package telegram

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/adapters/markup"
	"bellhop/core"
)

var group = core.Place{Adapter: "tg", Channel: "-10042"}

// always answers every call alike.
func always(r reply) *wire {
	return &wire{answer: func(context.Context, call) reply { return r }}
}

// inOrder answers with one reply after the other.
func inOrder(rs ...reply) *wire {
	n := 0
	return &wire{answer: func(context.Context, call) reply {
		n++
		return rs[n-1]
	}}
}

func TestSendParams(t *testing.T) {
	const sent = `{"message_id":77,"date":1700000000}`
	tests := map[string]struct {
		out    core.Outbound
		method string
		want   map[string]any
	}{
		"new": {
			core.Outbound{Place: group, Text: "a **b** <c>"}, "sendMessage",
			map[string]any{"chat_id": -10042.0, "text": "a <b>b</b> &lt;c&gt;"},
		},
		"in a topic, as a reply": {
			core.Outbound{Place: core.Place{Adapter: "tg", Channel: "-10042", Topic: "5"}, ReplyTo: "31", Text: "x"}, "sendMessage",
			map[string]any{
				"chat_id": -10042.0, "text": "x", "message_thread_id": 5.0,
				"reply_parameters": map[string]any{"message_id": 31.0, "allow_sending_without_reply": true},
			},
		},
		"General has no id": {
			core.Outbound{Place: core.Place{Adapter: "tg", Channel: "-10042", Topic: "1"}, Text: "x"}, "sendMessage",
			map[string]any{"chat_id": -10042.0, "text": "x"},
		},
		"a reply to nothing of ours": {
			core.Outbound{Place: group, ReplyTo: "1700.5", Text: "x"}, "sendMessage",
			map[string]any{"chat_id": -10042.0, "text": "x"},
		},
		"edit": {
			core.Outbound{Place: core.Place{Adapter: "tg", Channel: "-10042", Topic: "5"}, ReplyTo: "31", Edit: "77", Text: "x"}, "editMessageText",
			map[string]any{"chat_id": -10042.0, "message_id": 77.0, "text": "x"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := always(ok(sent))
			got, err := adapter(w, io.Discard).Send(t.Context(), tt.out)
			if err != nil || got.ID != "77" || got.Time.IsZero() {
				t.Fatalf("Send = %v, %v", got, err)
			}
			tt.want["parse_mode"] = "HTML"
			tt.want["link_preview_options"] = map[string]any{"is_disabled": true}
			calls := w.calls(tt.method)
			if len(calls) != 1 {
				t.Fatalf("%d calls of %s", len(calls), tt.method)
			}
			if diff := cmp.Diff(tt.want, calls[0].params); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSendOutcome(t *testing.T) {
	moved := reply{status: 400, body: `{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-100777}}`}
	reset := reply{err: &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}}
	refusal := reply{err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}
	tests := map[string]struct {
		edit  string
		reply reply
		want  error
		words string
	}{
		"server error":         {"", no(500, "Internal Server Error"), core.ErrNotSent, "Internal Server Error"},
		"restarting":           {"", no(502, "Bad Gateway"), core.ErrNotSent, "Bad Gateway"},
		"a proxy's page":       {"", page(502), core.ErrUnknown, "HTTP 502"},
		"an edit at a proxy":   {"77", page(502), core.ErrUnknown, "HTTP 502"},
		"half an answer":       {"", reply{status: 200, body: `{"ok":true,"res`}, core.ErrUnknown, ""},
		"no message":           {"", ok(`true`), core.ErrUnknown, ""},
		"a message without id": {"", ok(`{}`), core.ErrUnknown, ""},
		"reset":                {"", reset, core.ErrUnknown, "connection reset"},
		"no connection":        {"", refusal, core.ErrNotSent, "connection refused"},
		"token":                {"", no(401, "Unauthorized"), core.ErrFatal, "check the token"},
		"no such bot":          {"", no(404, "Not Found"), core.ErrFatal, "check the token"},
		"blocked":              {"", no(403, "Forbidden: bot was blocked by the user"), core.ErrRefused, "the person has blocked the bot"},
		"kicked":               {"", no(403, "Forbidden: bot was kicked from the supergroup chat"), core.ErrRefused, "the bot was removed from the chat"},
		"rights":               {"", no(400, "Bad Request: not enough rights to send text messages to the chat"), core.ErrRefused, "not allowed"},
		"no chat":              {"", no(400, "Bad Request: chat not found"), core.ErrRefused, "the chat does not exist"},
		"deactivated":          {"", no(403, "Forbidden: user is deactivated"), core.ErrRefused, "no longer exists"},
		"topic":                {"", no(400, "Bad Request: message thread not found"), core.ErrRefused, "the topic does not exist"},
		"too long":             {"", no(400, "Bad Request: message is too long"), core.ErrRefused, "the text is too long"},
		"too long, in capital": {"77", no(400, "Bad Request: MESSAGE_TOO_LONG"), core.ErrRefused, "the text is too long"},
		"anything else":        {"", no(400, "Bad Request: the moon is full"), core.ErrRefused, "the moon is full"},
		"edit of nothing":      {"77", no(400, "Bad Request: message to edit not found"), core.ErrGone, ""},
		"edit of another's":    {"77", no(400, "Bad Request: message can't be edited"), core.ErrGone, ""},
		"edit of no id":        {"77", no(400, "Bad Request: MESSAGE_ID_INVALID"), core.ErrGone, ""},
		"edit not by number":   {"1700.5", ok(`true`), core.ErrGone, ""},
		"moved":                {"", moved, &core.Moved{From: "-10042", To: "-100777"}, ""},
		"wait":                 {"", tooMany(17), &core.RetryAfter{After: 17 * time.Second}, ""},
		"wait, says a proxy":   {"", page(429), &core.RetryAfter{After: patience}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := adapter(always(tt.reply), io.Discard).Send(t.Context(), core.Outbound{Place: group, Edit: tt.edit, Text: "x"})
			switch want := tt.want.(type) {
			case *core.Moved:
				if got, ok := errors.AsType[*core.Moved](err); !ok || *got != *want {
					t.Errorf("Send: %v, want %v", err, want)
				}
			case *core.RetryAfter:
				if got, ok := errors.AsType[*core.RetryAfter](err); !ok || got.After != want.After || got.Global {
					t.Errorf("Send: %v, want %v", err, want.After)
				}
			default:
				only(t, err, want)
			}
			if err != nil && !strings.Contains(err.Error(), tt.words) {
				t.Errorf("%q does not say %q", err, tt.words)
			}
		})
	}
}

// only checks that err matches want and none of the other promises.
func only(t *testing.T, err, want error) {
	t.Helper()
	for _, e := range []error{core.ErrFatal, core.ErrUnknown, core.ErrNotSent, core.ErrRefused, core.ErrGone} {
		if errors.Is(err, e) != (e == want) {
			t.Errorf("error %q: matches %q: %t", err, e, errors.Is(err, e))
		}
	}
}

func TestSendToNoPlace(t *testing.T) {
	w := always(ok(`true`))
	for _, p := range []core.Place{{Adapter: "tg", Channel: "#ops"}, {Adapter: "tg", Channel: "7", Topic: "x"}, {Adapter: "tg"}} {
		_, err := adapter(w, io.Discard).Send(t.Context(), core.Outbound{Place: p, Text: "x"})
		only(t, err, core.ErrRefused)
	}
	if len(w.seen) != 0 {
		t.Errorf("sent to somebody: %v", w.seen)
	}
}

func TestEditToTheSameIsSuccess(t *testing.T) {
	w := always(no(400, "Bad Request: message is not modified: specified new message content and reply markup are exactly the same"))
	got, err := adapter(w, io.Discard).Send(t.Context(), core.Outbound{Place: group, Edit: "77", Text: "x"})
	if err != nil || got.ID != "77" {
		t.Errorf("Send = %v, %v", got, err)
	}
}

func TestRefusedMarkupGoesAsPlainText(t *testing.T) {
	for _, edit := range []string{"", "77"} {
		w := inOrder(no(400, "Bad Request: can't parse entities: Unexpected end tag at byte offset 9"), ok(`{"message_id":77,"date":1}`))
		got, err := adapter(w, io.Discard).Send(t.Context(), core.Outbound{Place: group, Edit: edit, Text: "a **b** <c>"})
		if err != nil || got.ID != "77" {
			t.Fatalf("Send = %v, %v", got, err)
		}
		second := w.seen[1].params
		if second["text"] != "a b <c>" || second["parse_mode"] != nil {
			t.Errorf("second try: %v", second)
		}
	}
	w := always(no(400, "Bad Request: can't parse entities: no"))
	_, err := adapter(w, io.Discard).Send(t.Context(), core.Outbound{Place: group, Text: "x"})
	only(t, err, core.ErrRefused)
	if len(w.seen) != 2 {
		t.Errorf("%d tries", len(w.seen))
	}
}

func TestSendGivesUpWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{answer: func(ctx context.Context, _ call) reply { <-ctx.Done(); return reply{err: ctx.Err()} }}
		a := adapter(w, io.Discard)
		start := time.Now()
		_, err := a.Send(t.Context(), core.Outbound{Place: group, Text: "x"})
		only(t, err, core.ErrUnknown)
		if took := time.Since(start); took != callTimeout {
			t.Errorf("waited %s", took)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = a.Send(ctx, core.Outbound{Place: group, Text: "x"})
		only(t, err, core.ErrUnknown)
		_, err = a.Send(ctx, core.Outbound{Place: group, Text: "x"})
		only(t, err, core.ErrNotSent)
		if !errors.Is(err, context.DeadlineExceeded) || len(w.seen) != 2 {
			t.Errorf("Send after the end: %v, %d calls", err, len(w.seen))
		}
	})
}

func TestTypingAndReact(t *testing.T) {
	w := always(ok(`true`))
	f := adapter(w, io.Discard).Features()
	topic := core.Place{Adapter: "tg", Channel: "-10042", Topic: "5"}
	err := errors.Join(
		f.Typing(t.Context(), topic),
		f.React(t.Context(), topic, "31", "👀"),
		f.React(t.Context(), topic, "31", ""),
	)
	if err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	for _, c := range w.seen {
		got = append(got, c.params)
	}
	want := []map[string]any{
		{"chat_id": -10042.0, "message_thread_id": 5.0, "action": "typing"},
		{"chat_id": -10042.0, "message_id": 31.0, "reaction": []any{map[string]any{"type": "emoji", "emoji": "👀"}}},
		{"chat_id": -10042.0, "message_id": 31.0, "reaction": []any{}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	only(t, f.React(t.Context(), topic, "x", "👀"), core.ErrGone)
	only(t, f.Typing(t.Context(), core.Place{Channel: "x"}), core.ErrRefused)
	only(t, f.React(t.Context(), core.Place{Channel: "x"}, "31", "👀"), core.ErrRefused)
}

func TestPreview(t *testing.T) {
	f := adapter(always(ok(`true`)), io.Discard).Features()
	if got := f.Preview(core.Place{Channel: "-10042"}); got <= time.Minute/20 { // the outcomes need some
		t.Errorf("group: %s", got)
	}
	if got := f.Preview(core.Place{Channel: "7"}); got != 1200*time.Millisecond {
		t.Errorf("private: %s", got)
	}
	if got := f.Previews; got <= time.Second/30 {
		t.Errorf("all: %s", got)
	}
}

func TestSplitOfNothingButMarks(t *testing.T) {
	f := adapter(always(ok(`true`)), io.Discard).Features()
	for _, text := range []string{"```", "~~~", ">>>", "#", "[x]: http://y", "<!-- x -->"} {
		pieces := f.Split(text)
		if len(pieces) != 1 || markup.Plain(pieces[0]) != text {
			t.Errorf("%q is cut into %q", text, pieces)
		}
	}
	if pieces := f.Split(" \n\t"); len(pieces) != 0 {
		t.Errorf("blank text is cut into %q", pieces)
	}
}
