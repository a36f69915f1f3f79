package telegram

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

const (
	pressed = `{"update_id":900,"callback_query":{"id":"q7","chat_instance":"x","data":"retry r3",` + ann + `,
		"message":{"message_id":31,"date":0,"message_thread_id":5,"is_topic_message":true,"rich_message":{"blocks":[{"type":"novel"}]},` + room + `}}}`
	marked = `{"update_id":900,"message_reaction":{` + room + `,"message_id":31,"date":1700000000,"user":{"id":7,"first_name":"Ann","last_name":"Lee"},
		"old_reaction":[{"type":"emoji","emoji":"👍"},{"type":"emoji","emoji":"🔥"}],
		"new_reaction":[{"type":"emoji","emoji":"🔥"},{"type":"custom_emoji","custom_emoji_id":"52"},{"type":"hologram"}]}}`
)

func TestDecodeActs(t *testing.T) {
	in := func(change func(in *core.Inbound)) core.Inbound {
		return inMessage(func(in *core.Inbound) { in.Key = "u/900"; change(in) })
	}
	ignored := core.Inbound{Key: "u/900", Kind: core.InIgnored}
	for name, tt := range map[string]struct {
		raw   string
		query string
		want  []core.Inbound
	}{
		"press": {pressed, "q7", []core.Inbound{in(func(in *core.Inbound) {
			in.Kind, in.Button, in.Place.Topic = core.InButton, "retry r3", "5"
		})}},
		"press in a private chat": {`{"update_id":900,"callback_query":{"id":"q7","data":"x",` + ann + `,"message":{"message_id":31,` + dm + `}}}`, "q7",
			[]core.Inbound{in(func(in *core.Inbound) {
				in.Kind, in.Button, in.Place.Channel, in.Direct = core.InButton, "x", "7", true
			})}},
		"press elsewhere": {`{"update_id":900,"callback_query":{"id":"q7","data":"x","inline_message_id":"5",` + ann + `}}`, "q7", []core.Inbound{ignored}},
		"marks": {marked, "", []core.Inbound{
			in(func(in *core.Inbound) { in.Kind, in.Emoji, in.Removed = core.InReaction, "👍", true }),
			in(func(in *core.Inbound) { in.Key, in.Kind, in.Emoji = "u/900/1", core.InReaction, ":52:" }),
			in(func(in *core.Inbound) { in.Key, in.Kind, in.Emoji = "u/900/2", core.InReaction, ":hologram:" }),
		}},
		"mark of nobody": {`{"update_id":900,"message_reaction":{` + room + `,"message_id":31,"date":1700000000,"actor_chat":{"id":-5},
			"old_reaction":[],"new_reaction":[{"type":"emoji","emoji":"👎"}]}}`, "",
			[]core.Inbound{in(func(in *core.Inbound) { in.Kind, in.Emoji, in.From = core.InReaction, "👎", core.Person{Guest: true} })}},
		"no change": {`{"update_id":900,"message_reaction":{` + room + `,"message_id":31,"old_reaction":[],"new_reaction":[]}}`, "", []core.Inbound{ignored}},
		"let in": {`{"update_id":900,"my_chat_member":{` + room + `,` + ann + `,"date":1700000000,
			"old_chat_member":{"status":"left","user":{}},"new_chat_member":{"status":"member","user":{}}}}`, "",
			[]core.Inbound{in(func(in *core.Inbound) { in.Kind, in.MessageID, in.Text = core.InAdded, "", "@Bellhop_Bot" })}},
		"let back in": {`{"update_id":900,"my_chat_member":{` + room + `,` + ann + `,"date":1700000000,
			"old_chat_member":{"status":"restricted","is_member":false},"new_chat_member":{"status":"administrator"}}}`, "",
			[]core.Inbound{in(func(in *core.Inbound) { in.Kind, in.MessageID, in.Text = core.InAdded, "", "@Bellhop_Bot" })}},
		"made an admin": {`{"update_id":900,"my_chat_member":{` + room + `,` + ann + `,"old_chat_member":{"status":"member"},"new_chat_member":{"status":"administrator"}}}`, "",
			[]core.Inbound{ignored}},
		"unblocked": {`{"update_id":900,"my_chat_member":{` + dm + `,` + ann + `,"old_chat_member":{"status":"kicked"},"new_chat_member":{"status":"member"}}}`, "",
			[]core.Inbound{ignored}},
		"removed": {`{"update_id":900,"my_chat_member":{` + room + `,` + ann + `,"old_chat_member":{"status":"member"},"new_chat_member":{"status":"kicked"}}}`, "",
			[]core.Inbound{ignored}},
		"unreadable": {`{"update_id":900,"message_reaction":[]}`, "", []core.Inbound{{Key: "u/900", Kind: core.InUnreadable, Raw: []byte(`{"update_id":900,"message_reaction":[]}`)}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := testDecoder.update([]byte(tt.raw))
			for i := range got.events {
				if got.events[i].Kind == core.InButton { // Telegram does not say when it was
					if got.events[i].Time.IsZero() {
						t.Error("a press has no time")
					}
					got.events[i].Time = time.Unix(1700000000, 0).UTC()
				}
			}
			if diff := cmp.Diff(tt.want, got.events); diff != "" || got.query != tt.query || got.id != 900 {
				t.Errorf("update %d, query %q: %s", got.id, got.query, diff)
			}
		})
	}
}

// Every press is answered once it is durable, with the sink's word if there is
// one; a press that Telegram does not let us answer holds nothing up.
func TestPressesAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		press := func(n int) string {
			return strings.ReplaceAll(strings.Replace(pressed, "900", fmt.Sprint(n), 1), "q7", fmt.Sprint("q", n))
		}
		durable := false
		w := &wire{answer: func(ctx context.Context, c call) reply {
			switch {
			case c.method == "getUpdates" && c.number("offset") == 0:
				return ok(`[` + message(1, "hello") + `,` + press(2) + `,` + press(3) + `]`)
			case c.method == "answerCallbackQuery":
				if !durable {
					t.Error("a press was answered before it was durable")
				}
				if c.params["callback_query_id"] == "q2" {
					return no(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
				}
			}
			return normal(ctx, c)
		}}
		failed := false
		stop := run(t, adapter(w, io.Discard), func(_ context.Context, batch []core.Inbound) error {
			if !failed {
				failed = true
				return context.DeadlineExceeded
			}
			durable = true
			batch[2].Note = strings.Repeat("ж", 300)
			return nil
		})
		time.Sleep(time.Minute)
		stop()
		var got []string
		for _, c := range w.calls("answerCallbackQuery") {
			note, _ := c.params["text"].(string)
			got = append(got, fmt.Sprint(c.params["callback_query_id"], " ", len([]rune(note)), " ", c.params["show_alert"]))
		}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"q2 0 <nil>", "q3 200 true"}, got); diff != "" {
			t.Error(diff)
		}
		polls := w.calls("getUpdates")
		if last := polls[len(polls)-1].number("offset"); last != 4 {
			t.Errorf("the last poll confirms what is below %d", last)
		}
	})
}
