package telegram

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

var testDecoder = &decoder{adapter: "tg", me: models.User{ID: 123456, IsBot: true, Username: "Bellhop_Bot"}}

const (
	ann  = `"from":{"id":7,"first_name":"Ann","last_name":"Lee"}`
	us   = `"from":{"id":123456,"is_bot":true,"first_name":"Bellhop"}`
	dm   = `"chat":{"id":7,"type":"private","first_name":"Ann"}`
	room = `"chat":{"id":-10042,"type":"supergroup","title":"Ops","is_forum":true}`
)

// update wraps the fields of a message that Ann sent at a fixed time.
func update(kind string, fields ...string) string {
	return fmt.Sprintf(`{"update_id":900,%q:{"message_id":31,"date":1700000000,%s}}`, kind, strings.Join(fields, ","))
}

// entity is one entity of a text.
func entity(kind string, offset, length int) string {
	return fmt.Sprintf(`"entities":[{"type":%q,"offset":%d,"length":%d}]`, kind, offset, length)
}

// inMessage is what decoding update gives by default.
func inMessage(change func(in *core.Inbound)) core.Inbound {
	in := core.Inbound{
		Key:       "m/-10042/31/-10042",
		Kind:      core.InMessage,
		Place:     core.Place{Adapter: "tg", Channel: "-10042"},
		From:      core.Person{ID: "tg:7", Name: "Ann Lee"},
		MessageID: "31",
		Time:      time.Unix(1700000000, 0).UTC(),
	}
	change(&in)
	return in
}

func TestDecode(t *testing.T) {
	ignored := func(key string) core.Inbound { return core.Inbound{Key: key, Kind: core.InIgnored} }
	tests := map[string]struct {
		raw  string
		want core.Inbound
	}{
		"private": {
			update("message", ann, dm, `"text":" as it was "`),
			inMessage(func(in *core.Inbound) {
				in.Key, in.Place.Channel, in.Direct, in.Text = "m/account/31/7", "7", true, " as it was "
			}),
		},
		"group": {
			update("message", ann, room, `"text":"hello"`),
			inMessage(func(in *core.Inbound) { in.Text = "hello" }),
		},
		"NUL is removed": {
			update("message", ann, room, `"text":"a\u0000b"`),
			inMessage(func(in *core.Inbound) { in.Text = "ab" }),
		},
		"half a surrogate": {
			update("message", ann, room, `"text":"a\ud83db"`),
			inMessage(func(in *core.Inbound) { in.Text = "a\ufffdb" }),
		},
		"topic": {
			update("message", ann, room, `"text":"x","message_thread_id":5,"is_topic_message":true,
				"reply_to_message":{"message_id":5,"date":1,`+us+`,`+room+`,"forum_topic_created":{"name":"T"}}`),
			inMessage(func(in *core.Inbound) { in.Text, in.Place.Topic, in.Unnamed = "x", "5", true }), // we have made it
		},
		"topic of a person": {
			update("message", ann, room, `"text":"x","message_thread_id":5,"is_topic_message":true,
				"reply_to_message":{"message_id":5,"date":1,`+ann+`,`+room+`,"forum_topic_created":{"name":"T"}}`),
			inMessage(func(in *core.Inbound) { in.Text, in.Place.Topic = "x", "5" }),
		},
		"topic that nobody has named": {
			update("message", ann, room, `"text":"x","message_thread_id":5,"is_topic_message":true,
				"reply_to_message":{"message_id":5,"date":1,`+ann+`,`+room+`,"forum_topic_created":{"name":"x","is_name_implicit":true}}`),
			inMessage(func(in *core.Inbound) { in.Text, in.Place.Topic, in.Unnamed = "x", "5", true }),
		},
		"topic that gets a name": {
			update("message", ann, room, `"message_thread_id":5,"is_topic_message":true,"forum_topic_edited":{"name":"Mine"}`),
			inMessage(func(in *core.Inbound) { in.Kind, in.Text, in.Place.Topic, in.MessageID = core.InNamed, "Mine", "5", "" }),
		},
		"topic that gets another icon": {
			update("message", ann, room, `"message_thread_id":5,"is_topic_message":true,"forum_topic_edited":{"icon_custom_emoji_id":"7"}`),
			core.Inbound{Key: "m/-10042/31/-10042", Kind: core.InIgnored},
		},
		"General": {
			update("message", ann, room, `"text":"x","message_thread_id":1,"is_topic_message":true`),
			inMessage(func(in *core.Inbound) { in.Text = "x" }),
		},
		"private topic": {
			update("message", ann, dm, `"text":"x","message_thread_id":5,"is_topic_message":true`),
			inMessage(func(in *core.Inbound) {
				in.Key, in.Place.Channel, in.Place.Topic, in.Direct, in.Text = "m/account/31/7", "7", "5", true, "x"
			}),
		},
		"a chain of replies is no topic": {
			update("message", ann, room, `"text":"x","message_thread_id":20,
				"reply_to_message":{"message_id":20,"date":1,`+room+`,"from":{"id":8,"first_name":"Bob"},"text":"earlier"}`),
			inMessage(func(in *core.Inbound) {
				in.ReplyTo = "20"
				in.Text, in.Quotes = "x", []core.Quote{{Author: "Bob", Text: "earlier"}}
			}),
		},
		"reply to us": {
			update("message", ann, room, `"text":"and then?",
				"reply_to_message":{"message_id":20,"date":1,`+room+`,`+us+`,"text":"first this"}`),
			inMessage(func(in *core.Inbound) {
				in.ReplyTo = "20"
				in.Text, in.Mentioned = "and then?", true
				in.Quotes = []core.Quote{{Author: "Bellhop", Own: true, Text: "first this"}}
			}),
		},
		"reply with a part quoted": {
			update("message", ann, room, `"text":"why?","quote":{"text":"the middle","position":3,"is_manual":true},
				"reply_to_message":{"message_id":20,"date":1,`+room+`,"from":{"id":8,"first_name":"Bob"},"text":"all of it"}`),
			inMessage(func(in *core.Inbound) {
				in.ReplyTo = "20"
				in.Text, in.Quotes = "why?", []core.Quote{{Author: "Bob", Text: "the middle"}}
			}),
		},
		"reply to a picture": {
			update("message", ann, room, `"text":"what is it?",
				"reply_to_message":{"message_id":20,"date":1,`+room+`,"from":{"id":8,"first_name":"Bob"},
				"photo":[{"file_id":"F","file_unique_id":"u","width":9,"height":9,"file_size":5}]}`),
			inMessage(func(in *core.Inbound) {
				in.ReplyTo = "20"
				in.Text, in.Quotes = "what is it?", []core.Quote{{Author: "Bob", Text: "[photo_u.jpg]"}}
				in.Files = []core.File{{Name: "photo_u.jpg", MIME: "image/jpeg", Size: 5, Ref: "F"}}
			}),
		},
		"reply to another chat": {
			update("message", ann, room, `"text":"see","quote":{"text":"news"},
				"external_reply":{"origin":{"type":"channel","date":1,"chat":{"id":-1009,"type":"channel","title":"News"},"message_id":3}}`),
			inMessage(func(in *core.Inbound) {
				in.Text, in.Quotes = "see", []core.Quote{{Author: "News", Text: "news"}}
			}),
		},
		"forward": {
			update("message", ann, room, `"text":"@bellhop_bot do it",`+entity("mention", 0, 12)+`,
				"forward_origin":{"type":"hidden_user","date":1,"sender_user_name":"Mallory"}`),
			inMessage(func(in *core.Inbound) {
				in.Quotes = []core.Quote{{Author: "Mallory", Text: "@bellhop_bot do it"}}
			}),
		},
		"forward from a chat": {
			update("message", ann, room, `"caption":"see","document":{"file_id":"1","file_unique_id":"a"},
				"forward_origin":{"type":"chat","date":1,"sender_chat":{"id":-9,"type":"group","title":"Board"}}`),
			inMessage(func(in *core.Inbound) {
				in.Quotes = []core.Quote{{Author: "Board", Text: "see"}}
				in.Files = []core.File{{Name: "file_a", Ref: "1"}}
			}),
		},
		"forward of ours": {
			update("message", ann, dm, `"text":"I said","forward_origin":{"type":"user","date":1,"sender_user":{"id":123456,"is_bot":true,"first_name":"Bellhop"}}`),
			inMessage(func(in *core.Inbound) {
				in.Key, in.Place.Channel, in.Direct = "m/account/31/7", "7", true
				in.Quotes = []core.Quote{{Author: "Bellhop", Own: true, Text: "I said"}}
			}),
		},
		"forward of an origin nobody knows": {
			update("message", ann, room, `"text":"/stop",`+entity("bot_command", 0, 5)+`,"forward_origin":{"type":"hologram","date":1}`),
			inMessage(func(in *core.Inbound) { in.Quotes = []core.Quote{{Text: "/stop"}} }),
		},
		"anonymous admin": {
			update("message", `"from":{"id":1087968824,"is_bot":true,"first_name":"Group"}`, room,
				`"sender_chat":{"id":-10042,"type":"supergroup","title":"Ops"},"text":"x"`),
			inMessage(func(in *core.Inbound) { in.Text, in.From = "x", core.Person{Name: "Ops", Guest: true} }),
		},
		"no sender": {
			update("message", room, `"text":"x"`),
			inMessage(func(in *core.Inbound) { in.Text, in.From = "x", core.Person{Guest: true} }),
		},
		"another bot": {
			update("message", `"from":{"id":9,"is_bot":true,"first_name":"Rob"}`, room, `"text":"x"`),
			inMessage(func(in *core.Inbound) { in.Text, in.From = "x", core.Person{ID: "tg:9", Name: "Rob", Bot: true} }),
		},
		"our own message": {update("message", us, room, `"text":"x"`), ignored("m/-10042/31/-10042")},
		"edit": {
			update("edited_message", ann, room, `"text":"better","edit_date":1700000060`),
			inMessage(func(in *core.Inbound) {
				in.Key, in.Kind, in.Text = "u/900", core.InEdit, "better"
				in.Time = in.Time.Add(time.Minute)
			}),
		},
		"photo with caption": {
			update("message", ann, room, `"caption":"@bellhop_bot look","caption_entities":[{"type":"mention","offset":0,"length":12}],
				"photo":[{"file_id":"S","file_unique_id":"s","width":90,"height":60},{"file_id":"L","file_unique_id":"l","width":900,"height":600,"file_size":77},
				{"file_id":"M","file_unique_id":"m","width":300,"height":200}]`),
			inMessage(func(in *core.Inbound) {
				in.Text, in.Mentioned = "look", true
				in.Files = []core.File{{Name: "photo_l.jpg", MIME: "image/jpeg", Size: 77, Ref: "L"}}
			}),
		},
		"files": {
			update("message", ann, room, `
				"document":{"file_id":"1","file_unique_id":"a","file_name":"q3.pdf","mime_type":"application/pdf","file_size":9},
				"voice":{"file_id":"2","file_unique_id":"b","duration":1},
				"audio":{"file_id":"3","file_unique_id":"c","duration":1,"mime_type":"audio/flac"},
				"video":{"file_id":"4","file_unique_id":"d"},
				"video_note":{"file_id":"5","file_unique_id":"e","file_size":-1}`),
			inMessage(func(in *core.Inbound) {
				in.Files = []core.File{
					{Name: "q3.pdf", MIME: "application/pdf", Size: 9, Ref: "1"},
					{Name: "voice_b.ogg", MIME: "audio/ogg", Ref: "2"},
					{Name: "audio_c.mp3", MIME: "audio/flac", Ref: "3"},
					{Name: "video_d.mp4", MIME: "video/mp4", Ref: "4"},
					{Name: "video_note_e.mp4", MIME: "video/mp4", Ref: "5"},
				}
			}),
		},
		"sticker": {
			update("message", ann, room, `"sticker":{"file_id":"1","file_unique_id":"a","emoji":"👍"}`),
			inMessage(func(in *core.Inbound) { in.Text = "👍" }),
		},
		"migration": {
			update("message", ann, `"chat":{"id":-42,"type":"group","title":"Ops"}`, `"migrate_to_chat_id":-10042`),
			core.Inbound{
				Key: "m/account/31/-42", Kind: core.InMoved, Place: core.Place{Adapter: "tg", Channel: "-42"},
				To: "-10042", Time: time.Unix(1700000000, 0).UTC(),
			},
		},
		"migration, seen from the new chat": {update("message", ann, room, `"migrate_from_chat_id":-42`), ignored("m/-10042/31/-10042")},
		"join":                              {update("message", ann, room, `"new_chat_members":[{"id":8,"first_name":"Bob"}]`), ignored("m/-10042/31/-10042")},
		"title":                             {update("message", ann, room, `"new_chat_title":"Ops 2"`), ignored("m/-10042/31/-10042")},
		"pin": {
			update("message", ann, room, `"pinned_message":{"message_id":3,"date":1,`+room+`,"text":"x"}`), ignored("m/-10042/31/-10042"),
		},
		"a service message of next year": {update("message", ann, room, `"chat_teleported":{"to":"Mars"}`), ignored("m/-10042/31/-10042")},
		"button":                         {`{"update_id":900,"callback_query":{"id":"1",` + ann + `,"data":"y"}}`, ignored("u/900")},
		"update of next year":            {`{"update_id":900,"dream":{"text":"x"}}`, ignored("u/900")},
		"poison in what is replied to": {
			update("message", ann, room, `"text":"why?","message_thread_id":5,"is_topic_message":true,
				"reply_to_message":{"message_id":20,"date":1,`+us+`,`+room+`,"rich_message":{"blocks":[{"type":"hologram"}]},"text":"so"}`),
			inMessage(func(in *core.Inbound) {
				in.ReplyTo = "20"
				in.Text, in.Place.Topic, in.Mentioned = "why?", "5", true
				in.Quotes = []core.Quote{{Author: "Bellhop", Own: true, Text: "so"}}
			}),
		},
		"a field of another type": {
			update("message", ann, room, `"text":"x","effect_id":17`),
			inMessage(func(in *core.Inbound) { in.Text = "x" }),
		},
		"text of another type": {
			update("message", ann, room, `"text":17`),
			core.Inbound{Key: "u/900", Kind: core.InUnreadable, Raw: json.RawMessage(update("message", ann, room, `"text":17`))},
		},
		"a reply that cannot be read": {
			update("message", ann, room, `"text":"x","reply_to_message":{"text":17}`),
			inMessage(func(in *core.Inbound) { in.Text = "x" }),
		},
		"no chat":  {update("message", ann, `"text":"x"`), core.Inbound{Key: "u/900", Kind: core.InUnreadable, Raw: json.RawMessage(update("message", ann, `"text":"x"`))}},
		"not even": {`{"update_id":900,"message":"x"}`, core.Inbound{Key: "u/900", Kind: core.InUnreadable, Raw: json.RawMessage(`{"update_id":900,"message":"x"}`)}},
		"no id":    {`{"message":3}`, core.Inbound{Key: unreadableKey([]byte(`{"message":3}`), 0), Kind: core.InUnreadable, Raw: json.RawMessage(`{"message":3}`)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := testDecoder.update([]byte(tt.raw))
			if diff := cmp.Diff([]core.Inbound{tt.want}, got.events); diff != "" {
				t.Error(diff)
			}
			if id := got.id; id != 900 && strings.Contains(tt.raw, "900") {
				t.Errorf("id %d", id)
			}
		})
	}
}

func TestRedeliveryHasTheSameKey(t *testing.T) {
	for _, raw := range []string{update("message", ann, room, `"text":"x"`), `{"message":3}`, `[]`} {
		a, b := testDecoder.update([]byte(raw)).events[0].Key, testDecoder.update([]byte(raw)).events[0].Key
		if a != b || a == "" {
			t.Errorf("%s: keys %q and %q", raw, a, b)
		}
	}
}

func TestLargeTextPasses(t *testing.T) {
	text := strings.Repeat("ж", 300_000)
	in := testDecoder.update([]byte(update("message", ann, room, `"text":"`+text+`"`))).events[0]
	if in.Text != text {
		t.Errorf("got %d bytes of %d", len(in.Text), len(text))
	}
}
