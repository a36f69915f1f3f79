package telegram

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"bellhop/core"
)

// FuzzUpdate feeds the decoder what a server, or somebody who plays one, may
// send: every update becomes events that a store can take.
func FuzzUpdate(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `null`, `{"update_id":1}`, `{"update_id":-1,"message":null}`, `{"update_id":1e99}`,
		message(1, "hello"),
		update("message", ann, room, `"text":"🎉 @bellhop_bot"`, entity("mention", 3, 99)),
		update("message", ann, room, `"text":"/a@b"`, entity("bot_command", 0, 4)),
		update("edited_message", ann, dm, `"caption":"x\u0000","photo":[{}]`),
		update("message", ann, room, `"text":"x","forward_origin":{"type":"hologram"}`),
		update("message", ann, room, `"text":"x","external_reply":{"origin":{"type":"user"}},"quote":{"text":"\ud800"}`),
		update("message", ann, room, `"text":"x","reply_to_message":{"message_id":1,"sticker":{"emoji":"👍"},"rich_message":{"blocks":[{}]}}`),
		update("message", ann, room, `"migrate_to_chat_id":-5`),
		pressed, marked,
		`{"update_id":3,"my_chat_member":{"chat":{"id":-7,"type":"group"},"from":{"id":7},"old_chat_member":{"status":"left"},"new_chat_member":{"status":"novel"}}}`,
		`{"update_id":3,"my_chat_member":{"chat":{"id":-7,"type":"group"},"from":{"id":7},"old_chat_member":{"status":"left"},"new_chat_member":{"status":"member"}}}`,
		`{"update_id":2,"callback_query":{"id":"q","message":{"chat":[]}}}`,
		`{"update_id":2,"message_reaction":{"chat":{"id":7},"message_id":3,"new_reaction":[{"type":"paid"},{"type":"paid"},{}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		events := testDecoder.update(raw).events
		if len(events) == 0 {
			t.Error("no event")
		}
		keys := map[string]bool{}
		for _, in := range events {
			if in.Key == "" || keys[in.Key] {
				t.Errorf("the key %q", in.Key)
			}
			keys[in.Key] = true
			sound(t, in, raw)
		}
	})
}

// sound checks that a store can take an event.
func sound(t *testing.T, in core.Inbound, raw []byte) {
	switch in.Kind {
	case core.InIgnored:
	case core.InUnreadable:
		if string(in.Raw) != string(raw) {
			t.Error("the update is not kept")
		}
		return
	case core.InMoved:
		if in.Place.Channel == "" || in.To == "" {
			t.Errorf("moved from %q to %q", in.Place.Channel, in.To)
		}
	case core.InMessage, core.InEdit, core.InButton, core.InReaction:
		if in.Place.Channel == "" || in.MessageID == "" {
			t.Error("a message without an address")
		}
		if in.From.ID == "" && !in.From.Guest {
			t.Error("a sender whom nobody vouches for is no guest")
		}
	case core.InAdded:
		if in.Place.Channel == "" || in.From.ID == "" {
			t.Error("let in by nobody, or nowhere")
		}
	default:
		t.Errorf("kind %q", in.Kind)
	}
	texts := []string{in.Text, in.From.Name, in.Button, in.Emoji}
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
}
