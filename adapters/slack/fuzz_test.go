package slack

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"bellhop/core"
)

// FuzzEnvelope feeds the decoder what a server, or somebody who plays one, may
// send: every envelope becomes one event that a store can take.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `null`, `{"type":"events_api"}`, `{"type":"events_api","payload":{"event":{}}}`, `{"type":"slash_commands","payload":{"command":"/new"}}`,
		envelope("1", said(ts, "<@UBOT> hello <https://x.y|z> &amp; <")),
		envelope("1", said(ts, "x\u0000", `"files":[{"id":"F\u0000","name":null}]`, `"attachments":[{"is_share":true,"text":"\ud800"}]`)),
		envelope("1", said(ts, "x", `"thread_ts":"`+ts+`"`, `"user_team":"T9"`)),
		envelope("1", `{"type":"message","subtype":"message_changed","channel":"C1","message":{"text":"x","ts":"1.1","edited":{"ts":"2.2"},"message":{}}}`),
		envelope("1", `{"type":"message","subtype":"message_deleted","channel":"D1","deleted_ts":"1.1","previous_message":{}}`),
		envelope("1", `{"type":"reaction_added","user":"UANN","reaction":"+1","item":{"type":"message","channel":"C9","ts":"1.1"}}`),
		envelope("1", `{"type":"agent_session_stopped","user":"UANN","channel":"D1","thread_ts":"1700000000.000900"}`),
		`{"type":"slash_commands","envelope_id":"s","payload":{"command":"/bellhop","text":"new <@U1>","channel_id":"C1","user_id":"UANN"}}`,
		`{"type":"interactive","envelope_id":"i","payload":{"type":"block_actions","user":{"id":"UANN"},"channel":{"id":"C1"},"message":{"ts":"1.1"},"actions":[{"action_id":"b:\u0000"}]}}`,
		`{"type":"interactive","envelope_id":"i","payload":{"type":"message_action","callback_id":"ask_about_message","user":{"id":"UANN"},"channel":{"id":"C1"},"message":{"ts":"1.1","text":"x"}}}`,
	} {
		f.Add([]byte(seed))
	}
	kinds := []core.InboundKind{core.InMessage, core.InEdit, core.InDelete, core.InButton, core.InReaction, core.InAdded, core.InUnreadable, core.InIgnored}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var fr frame
		if json.Unmarshal(raw, &fr) != nil {
			fr = frame{Type: unreadableFrame, Payload: raw}
		}
		d := testDecoder()
		in := d.payload(fr)
		if in.Key == "" || !slices.Contains(kinds, in.Kind) {
			t.Errorf("key %q, kind %q", in.Key, in.Kind)
		}
		if again := testDecoder().payload(fr); again.Key != in.Key {
			t.Errorf("keys %q and %q", in.Key, again.Key)
		}
		switch in.Kind {
		case core.InUnreadable:
			if len(in.Raw) == 0 {
				t.Error("the event is not kept")
			}
		case core.InMessage, core.InEdit, core.InButton, core.InReaction:
			if in.From.ID == "" && !in.From.Guest {
				t.Error("a sender whom nobody vouches for is no guest")
			}
			fallthrough
		case core.InDelete:
			if in.Place.Channel == "" || in.Place.Adapter != "slack" {
				t.Errorf("place %s", in.Place)
			}
		}
		texts := []string{in.Text, in.From.Name, in.Button, in.Emoji, in.MessageID, string(in.From.ID), in.Place.String()}
		for _, q := range in.Quotes {
			texts = append(texts, q.Author, q.Text)
		}
		for _, f := range in.Files {
			texts = append(texts, f.Name, f.MIME, f.Ref)
		}
		for _, s := range texts {
			if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
				t.Errorf("%q is no text", s)
			}
		}
		if _, err := json.Marshal(in); err != nil {
			t.Errorf("no store can take it: %v", err)
		}
	})
}
