package adaptertest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTelegramString is a golden dump of what people see.
func TestTelegramString(t *testing.T) {
	tg := NewTelegram(TelegramOptions{Topics: true})
	ann, bob := tg.User(7, "Ann"), tg.User(8, "Bob")
	dm := tg.Private(ann)
	asked := dm.Command(ann, "help", "me")
	dm.Quote(ann, asked, "help", "soon")
	dm.Forward(ann, bob, "from elsewhere")
	dm.Photo(ann, "a photo", []byte("jpeg"))
	talk := dm.Topic(ann, "talk")
	talk.Say(ann, "two\nlines")
	forum := tg.Forum("forum")
	idea := forum.Topic(bob, "ideas")
	typo := idea.Say(bob, "tpyo")
	idea.Edit(typo, "typo")
	idea.Reply(ann, typo, "gone with what it replies to")
	idea.Delete(typo)
	forum.Join(ann)
	call(t, tg, "sendMessage", map[string]any{"chat_id": 7, "text": "<b>sure</b>", "parse_mode": "HTML", "reply_parameters": map[string]any{"message_id": asked}})
	want := `== private 7 Ann
11 Ann: /help me
12 to 11 Ann: soon
13 Ann: from elsewhere
14 Ann: a photo
16 in 15 Ann: two
	lines
17 to 11 Bellhop: sure
== supergroup -1000000004001 forum
4 in 2 Ann: gone with what it replies to
`
	if diff := cmp.Diff(want, tg.String()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Shown{{ID: "16", From: "Ann", Text: "two\nlines", Topic: "15"}}, talk.Shown()); diff != "" {
		t.Error(diff)
	}
	own := dm.Shown()[5]
	if own.Source != "<b>sure</b>" || !own.Own {
		t.Errorf("%+v", own)
	}
}

// TestTelegramPlainHTML: HTML without tags is the same as plain text.
func TestTelegramPlainHTML(t *testing.T) {
	tg := NewTelegram(TelegramOptions{})
	tg.Private(tg.User(7, "Ann"))
	call(t, tg, "sendMessage", map[string]any{"chat_id": 7, "text": "a &lt; b", "parse_mode": "HTML"})
	rep := call(t, tg, "editMessageText", map[string]any{"chat_id": 7, "message_id": 11, "text": "a < b "})
	if !strings.HasPrefix(rep.Description, "Bad Request: message is not modified: ") {
		t.Errorf("%+v", rep)
	}
}

func TestTelegramAccount(t *testing.T) {
	tg := NewTelegram(TelegramOptions{})
	ann := tg.User(7, "Ann")
	dm := tg.Private(ann)
	type m = map[string]any
	menu := []m{{"command": "new", "description": "start afresh"}}
	call(t, tg, "setMyCommands", m{"commands": menu, "scope": m{"type": "default"}})
	for _, c := range []struct {
		method string
		p      m
		want   string
	}{
		{"getMyCommands", m{"scope": m{"type": "default"}}, `[{"command":"new","description":"start afresh"}]`},
		{"getMyCommands", m{"scope": m{"type": "all_group_chats"}}, `[]`},
		{"getWebhookInfo", nil, `{"has_custom_certificate":false,"pending_update_count":0,"url":""}`},
		{"getMe", nil, `{"can_join_groups":true,"can_read_all_group_messages":false,"first_name":"Bellhop","has_topics_enabled":false,"id":123456,"is_bot":true,"supports_inline_queries":false,"username":"bellhop_bot"}`},
	} {
		if rep := call(t, tg, c.method, c.p); string(rep.Result) != c.want {
			t.Errorf("%s: %s", c.method, rep.Result)
		}
	}
	dm.Voice(ann, []byte("ogg"))
	dm.Block()
	dm.Unblock()
	call(t, tg, "deleteWebhook", m{"drop_pending_updates": false})
	if tg.Unconfirmed() != 3 {
		t.Errorf("%d updates, want a voice message and two changes of membership", tg.Unconfirmed())
	}
	if rep := call(t, tg, "sendMessage", m{"chat_id": 7, "text": "again"}); !rep.OK {
		t.Errorf("%+v", rep)
	}
	call(t, tg, "deleteWebhook", m{"drop_pending_updates": true})
	if tg.Unconfirmed() != 0 {
		t.Errorf("%d updates are left", tg.Unconfirmed())
	}
	if calls := tg.Calls("SENDMESSAGE"); len(calls) != 1 || calls[0].Params["chat_id"] != "7" || calls[0].Params["text"] != "again" {
		t.Errorf("%+v", calls)
	}
}

func TestTelegramPress(t *testing.T) {
	tg := NewTelegram(TelegramOptions{})
	ann := tg.User(7, "Ann")
	dm := tg.Private(ann)
	type m = map[string]any
	keyboard := func(button m) m { return m{"inline_keyboard": []any{[]any{button}}} }
	for _, wrong := range []any{"x", m{}, keyboard(m{"text": "Yes"}), keyboard(m{"callback_data": "y"}), keyboard(m{"text": "Yes", "callback_data": strings.Repeat("y", 65)}),
		keyboard(m{"text": "Yes", "callback_data": "y", "url": "http://x"})} {
		if rep := call(t, tg, "sendMessage", m{"chat_id": 7, "text": "sure?", "reply_markup": wrong}); rep.OK {
			t.Errorf("it takes the buttons %v", wrong)
		}
	}
	call(t, tg, "sendMessage", m{"chat_id": 7, "text": "sure?", "reply_markup": keyboard(m{"text": "Yes", "callback_data": "y"})})
	if _, err := dm.Press(ann, 11, "n"); err == nil {
		t.Error("a button that is not there was pressed")
	}
	query, err := dm.Press(ann, 11, "y")
	if err != nil {
		t.Fatal(err)
	}
	if _, raw := poll(t, tg, 0); !strings.Contains(raw, `"callback_query":{`) || !strings.Contains(raw, `"data":"y"`) {
		t.Error(raw)
	}
	if tg.Unanswered() != 1 {
		t.Errorf("%d presses wait for their answer", tg.Unanswered())
	}
	if rep := call(t, tg, "answerCallbackQuery", m{"callback_query_id": query, "text": strings.Repeat("x", 201)}); rep.OK {
		t.Error("it takes a long word")
	}
	for _, ok := range []bool{true, false} {
		if rep := call(t, tg, "answerCallbackQuery", m{"callback_query_id": query, "text": "no"}); rep.OK != ok {
			t.Errorf("%+v", rep)
		}
	}
	if got := tg.Alerts(ann); len(got) != 1 || got[0] != "no" || tg.Unanswered() != 0 {
		t.Errorf("Ann was told %q, and %d presses wait", got, tg.Unanswered())
	}
	edit := m{"chat_id": 7, "message_id": 11, "text": "sure?"}
	for _, changed := range []bool{true, false} {
		if rep := call(t, tg, "editMessageText", edit); rep.OK != changed || len(dm.Shown()[0].Buttons) > 0 {
			t.Errorf("%+v; it shows %+v", rep, dm.Shown())
		}
	}
}

func TestTelegramReact(t *testing.T) {
	tg := NewTelegram(TelegramOptions{})
	ann := tg.User(7, "Ann")
	dm := tg.Private(ann)
	id := dm.Post(ann, TelegramPost{Text: "hello"})
	dm.React(ann, id, "👍") // nobody has asked for these
	if _, raw := poll(t, tg, 0); strings.Contains(raw, "message_reaction") {
		t.Error(raw)
	}
	call(t, tg, "getUpdates", map[string]any{"allowed_updates": []string{"message_reaction"}})
	dm.React(ann, id, "🔥")
	dm.React(ann, id, "")
	_, raw := poll(t, tg, 0)
	for _, want := range []string{`"new_reaction":[{"emoji":"🔥","type":"emoji"}],"old_reaction":[{"emoji":"👍","type":"emoji"}]`,
		`"new_reaction":[],"old_reaction":[{"emoji":"🔥","type":"emoji"}]`} {
		if !strings.Contains(raw, want) {
			t.Errorf("%s is not in %s", want, raw)
		}
	}
}

func TestTelegramDownload(t *testing.T) {
	tg := NewTelegram(TelegramOptions{})
	ann := tg.User(7, "Ann")
	tg.Private(ann).Document(ann, "", "a.txt", "text/plain", []byte("content"))
	if rep := call(t, tg, "getFile", map[string]any{"file_id": "F1"}); !strings.Contains(string(rep.Result), `"file_path":"files/F1"`) {
		t.Errorf("%+v", rep)
	}
	for path, want := range map[string]string{
		"/file/bot" + tg.Token() + "/files/F1": "content",
		"/file/bot" + tg.Token() + "/files/F2": `{"description":"Not Found","error_code":404,"ok":false}`,
		"/file/botother/files/F1":              `{"description":"Unauthorized","error_code":401,"ok":false}`,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://telegram"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tg.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", path, got, err)
		}
		resp.Body.Close()
	}
}

// TestTelegramWait: a wait ends when its condition holds, not later.
func TestTelegramWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg := NewTelegram(TelegramOptions{})
		ann := tg.User(7, "Ann")
		dm := tg.Private(ann)
		start := time.Now()
		go func() {
			time.Sleep(time.Second)
			dm.Say(ann, "one")
			time.Sleep(time.Second)
			dm.Say(ann, "two")
		}()
		tg.Wait(t, "two messages", func() bool { return len(dm.Shown()) == 2 })
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}
