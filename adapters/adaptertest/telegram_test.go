package adaptertest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// reply is the envelope of every answer.
type reply struct {
	OK          bool
	Result      json.RawMessage
	Code        int `json:"error_code"`
	Description string
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		Migrate    int64 `json:"migrate_to_chat_id"`
	}
}

// post calls a method with JSON parameters.
func post(ctx context.Context, tg *Telegram, method string, p map[string]any) (reply, error) {
	return send(ctx, tg.Client(), "http://telegram/bot"+tg.Token()+"/"+method, "application/json", string(encode(p)))
}

func send(ctx context.Context, c *http.Client, url, kind, body string) (rep reply, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return rep, err
	}
	req.Header.Set("Content-Type", kind)
	resp, err := c.Do(req)
	if err != nil {
		return rep, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return rep, err
	}
	return rep, json.Unmarshal(b, &rep)
}

// call is post for calls that are answered.
func call(t *testing.T, tg *Telegram, method string, p map[string]any) reply {
	t.Helper()
	rep, err := post(t.Context(), tg, method, p)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return rep
}

// poll gets updates.
func poll(t *testing.T, tg *Telegram, offset int64) (ids []int64, raw string) {
	t.Helper()
	rep := call(t, tg, "getUpdates", map[string]any{"offset": offset})
	var list []struct {
		ID int64 `json:"update_id"`
	}
	if err := json.Unmarshal(rep.Result, &list); err != nil {
		t.Fatalf("%s: %v", rep.Description, err)
	}
	for _, u := range list {
		ids = append(ids, u.ID)
	}
	return ids, string(rep.Result)
}

func TestTelegramRefuses(t *testing.T) {
	tg := NewTelegram(TelegramOptions{})
	ann := tg.User(7, "Ann")
	dm := tg.Private(ann)
	asked := dm.Say(ann, "hello")
	mine := 0
	if err := json.Unmarshal(call(t, tg, "sendMessage", map[string]any{"chat_id": 7, "text": "<same>"}).Result, &struct {
		ID *int `json:"message_id"`
	}{&mine}); err != nil || mine != asked+1 {
		t.Fatalf("message %d after %d: %v", mine, asked, err)
	}
	blocked := tg.Private(tg.User(8, "Bob"))
	blocked.Block()
	forum := tg.Forum("forum")
	topic := forum.Topic(ann, "ideas")
	old := tg.Group("small")
	super := old.Migrate()
	kicked := tg.Supergroup("gone")
	kicked.Kick()
	voice := dm.Post(ann, TelegramPost{File: &TelegramFile{Kind: "voice", Content: []byte("ogg"), Size: 21 << 20}})

	type m = map[string]any
	for _, c := range []struct {
		method string
		p      m
		want   string // empty: accepted
	}{
		{"sendMessage", m{"text": "x"}, "400 Bad Request: chat_id is empty"},
		{"sendMessage", m{"chat_id": 99, "text": "x"}, "400 Bad Request: chat not found"},
		{"sendMessage", m{"chat_id": 7}, "400 Bad Request: message text is empty"},
		{"sendMessage", m{"chat_id": 7, "text": " \n\t "}, "400 Bad Request: message text is empty"},
		{"sendMessage", m{"chat_id": 7, "text": "<b> </b>", "parse_mode": "HTML"}, "400 Bad Request: message text is empty"},
		{"sendMessage", m{"chat_id": 7, "text": strings.Repeat("x", 4096)}, ""},
		{"sendMessage", m{"chat_id": 7, "text": strings.Repeat("x", 4097)}, "400 Bad Request: message is too long"},
		{"sendMessage", m{"chat_id": 7, "text": strings.Repeat("😀", 2048)}, ""},
		{"sendMessage", m{"chat_id": 7, "text": strings.Repeat("😀", 2048) + "x"}, "400 Bad Request: message is too long"},
		{"sendMessage", m{"chat_id": 7, "text": "<b>" + strings.Repeat("&lt;", 4096) + "</b>", "parse_mode": "html"}, ""},
		{"sendMessage", m{"chat_id": 7, "text": strings.Repeat("<b>x</b>", 4096) + "y", "parse_mode": "HTML"}, "400 Bad Request: message is too long"},
		{"sendMessage", m{"chat_id": 7, "text": "x", "parse_mode": "MarkdownV2"}, "400 Bad Request: unsupported parse_mode"},
		{"sendMessage", m{"chat_id": 7, "text": "<p>x</p>", "parse_mode": "HTML"}, `400 Bad Request: can't parse entities: Unsupported start tag "p" at byte offset 0`},
		{"sendMessage", m{"chat_id": 7, "text": "<p>x</p>"}, ""},
		{"sendMessage", m{"chat_id": 8, "text": "x"}, "403 Forbidden: bot was blocked by the user"},
		{"sendMessage", m{"chat_id": kicked.ID(), "text": "x"}, "403 Forbidden: bot was kicked from the supergroup chat"},
		{"sendMessage", m{"chat_id": old.ID(), "text": "x"}, "400 Bad Request: group chat was upgraded to a supergroup chat"},
		{"sendMessage", m{"chat_id": super.ID(), "text": "x"}, ""},
		{"sendMessage", m{"chat_id": forum.ID(), "text": "x"}, ""},
		{"sendMessage", m{"chat_id": forum.ID(), "text": "x", "message_thread_id": topic.TopicID()}, ""},
		{"sendMessage", m{"chat_id": super.ID(), "text": "x", "message_thread_id": 1}, "400 Bad Request: message thread not found"},
		{"sendMessage", m{"chat_id": forum.ID(), "text": "x", "message_thread_id": 99}, "400 Bad Request: message thread not found"},
		{"sendMessage", m{"chat_id": 7, "text": "x", "message_thread_id": 5}, "400 Bad Request: message thread not found"},
		{"sendMessage", m{"chat_id": 7, "text": "x", "reply_parameters": m{"message_id": asked}}, ""},
		{"sendMessage", m{"chat_id": 7, "text": "x", "reply_parameters": m{"message_id": 999}}, "400 Bad Request: message to be replied not found"},
		{"sendMessage", m{"chat_id": 7, "text": "x", "reply_parameters": m{"message_id": 999, "allow_sending_without_reply": true}}, ""},
		{"sendMessage", m{"chat_id": 7, "text": "x", "reply_parameters": "nonsense"}, "400 Bad Request: can't parse reply parameters JSON object"},
		{"editMessageText", m{"chat_id": 7, "message_id": 999, "text": "x"}, "400 Bad Request: message to edit not found"},
		{"editMessageText", m{"chat_id": 7, "message_id": asked, "text": "x"}, "400 Bad Request: message can't be edited"},
		{"editMessageText", m{"chat_id": 7, "message_id": mine, "text": "<same>"}, "400 Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message"},
		{"editMessageText", m{"chat_id": 7, "message_id": mine, "text": strings.Repeat("x", 4097)}, "400 Bad Request: MESSAGE_TOO_LONG"},
		{"editMessageText", m{"chat_id": forum.ID(), "message_id": topic.TopicID(), "text": "x"}, "400 Bad Request: message can't be edited"},
		{"editMessageText", m{"chat_id": 7, "message_id": mine, "text": "new"}, ""},
		{"deleteMessage", m{"chat_id": 7, "message_id": 999}, "400 Bad Request: message to delete not found"},
		{"deleteMessage", m{"chat_id": 7, "message_id": mine}, ""},
		{"editMessageText", m{"chat_id": 7, "message_id": mine, "text": "y"}, "400 Bad Request: message to edit not found"},
		{"sendChatAction", m{"chat_id": 7, "action": "typing"}, ""},
		{"sendChatAction", m{"chat_id": 7, "action": "thinking"}, "400 Bad Request: wrong parameter action in request"},
		{"sendChatAction", m{"chat_id": forum.ID(), "action": "typing", "message_thread_id": 1}, "400 Bad Request: message thread not found"},
		{"setMessageReaction", m{"chat_id": 7, "message_id": asked, "reaction": []m{{"type": "emoji", "emoji": "👀"}}}, ""},
		{"setMessageReaction", m{"chat_id": 7, "message_id": asked, "reaction": []m{{"type": "emoji", "emoji": "🛎"}}}, "400 Bad Request: REACTION_INVALID"},
		{"setMessageReaction", m{"chat_id": 7, "message_id": 999, "reaction": []m{}}, "400 Bad Request: message to react not found"},
		{"setMessageReaction", m{"chat_id": 7, "message_id": asked, "reaction": []m{}}, ""},
		{"setMyCommands", m{"commands": []m{{"command": "new", "description": "start afresh"}}}, ""},
		{"setMyCommands", m{"commands": []m{{"command": "New", "description": "start afresh"}}}, "400 Bad Request: BOT_COMMAND_INVALID"},
		{"setMyCommands", m{"commands": []m{{"command": "new", "description": ""}}}, "400 Bad Request: BOT_COMMAND_DESCRIPTION_INVALID"},
		{"answerCallbackQuery", m{"callback_query_id": "1"}, "400 Bad Request: query is too old and response timeout expired or query ID is invalid"},
		{"getFile", m{"file_id": "F0"}, "400 Bad Request: invalid file_id"},
		{"getFile", m{"file_id": "F1"}, "400 Bad Request: file is too big"},
		{"setWebhook", m{"url": "http://x"}, "400 Bad Request: bad webhook: An HTTPS URL must be provided for webhook"},
		{"setWebhook", m{"url": "https://x"}, ""},
		{"getUpdates", m{}, "409 Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"},
		{"DELETEWEBHOOK", m{}, ""},
		{"getUpdates", m{}, ""},
		{"sendRichMessage", m{"chat_id": 7}, "404 Not Found: method not found"},
	} {
		rep := call(t, tg, c.method, c.p)
		got := ""
		if !rep.OK {
			got = itoa(rep.Code) + " " + rep.Description
		}
		if got != c.want {
			t.Errorf("%s %.80s\n got %s\nwant %s", c.method, encode(c.p), got, c.want)
		}
	}
	if rep := call(t, tg, "sendMessage", m{"chat_id": old.ID(), "text": "x"}); rep.Parameters.Migrate != super.ID() {
		t.Errorf("migrated to %d, want %d", rep.Parameters.Migrate, super.ID())
	}
	if dm.Reaction(asked) != "" || dm.Reaction(voice) != "" {
		t.Error("a reaction is left")
	}
	tg.Revoke()
	if rep := call(t, tg, "getMe", nil); rep.Code != 401 {
		t.Errorf("revoked: %+v", rep)
	}
}

func TestTelegramHTML(t *testing.T) {
	for _, c := range []struct{ in, text, err string }{
		{"plain", "plain", ""},
		{"a<b>b<i>c</i></b>d", "abcd", ""},
		{`<a href="http://x/?a=1&amp;b=2">x</a>`, "x", ""},
		{`<a href='x'>x</>`, "x", ""},
		{`<pre><code class="language-go">f()</code></pre>`, "f()", ""},
		{"<blockquote expandable>q</blockquote>", "q", ""},
		{"<B>x</B>", "x", ""},
		{`<span class="tg-spoiler">x</span>`, "x", ""},
		{"&lt;&gt;&amp;&quot;&#39;&#x1F600;", `<>&"'😀`, ""},
		{"&nbsp; & &; &#0; &#xffffffff; AT&T", "&nbsp; & &; &#0; &#xffffffff; AT&T", ""},
		{"a < b", "", `unsupported start tag "" at byte offset 2`},
		{"a <b", "", "unclosed start tag at byte offset 2"},
		{"<b>x", "", `can't find end tag corresponding to start tag "b"`},
		{"x</b>", "", "unexpected end tag at byte offset 1"},
		{"<b><i>x</b></i>", "", `unmatched end tag at byte offset 7, expected "</i>", found "</b>"`},
		{"<b>x</b", "", "unclosed end tag at byte offset 4"},
		{"<br/>", "", `unsupported start tag "br/" at byte offset 0`},
		{`<a href=>x</a>`, "", "unexpected end of name token at byte offset 8"},
		{`<a href="x>y</a>`, "", "unclosed start tag at byte offset 0"},
		{`<a "x">y</a>`, "", `empty attribute name in the tag "a" at byte offset 0`},
		{`<span class="red">x</span>`, "", `tag "span" must have class "tg-spoiler" at byte offset 0`},
	} {
		got, err := parseHTML(c.in)
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if got != c.text || msg != c.err {
			t.Errorf("%s\n got %q, %s\nwant %q, %s", c.in, got, msg, c.text, c.err)
		}
	}
}

func TestTelegramUpdates(t *testing.T) {
	tg := NewTelegram(TelegramOptions{})
	ann := tg.User(7, "Ann")
	dm := tg.Private(ann)
	for range 3 {
		dm.Say(ann, "hi")
	}
	first, _ := poll(t, tg, 0)
	if again, _ := poll(t, tg, 0); len(first) != 3 || len(again) != 3 {
		t.Fatalf("got %v, then %v", first, again)
	}
	if rest, _ := poll(t, tg, first[1]); len(rest) != 2 {
		t.Errorf("offset %d leaves %v", first[1], rest)
	}
	if rest, _ := poll(t, tg, first[2]+1); len(rest) != 0 || tg.Unconfirmed() != 0 {
		t.Errorf("confirmed all, got %v", rest)
	}
	tg.Redeliver()
	if again, _ := poll(t, tg, first[2]+1); len(again) != 3 {
		t.Errorf("redelivered %v", again)
	}
	if rest, _ := poll(t, tg, first[2]+1); len(rest) != 0 {
		t.Errorf("confirmed again, got %v", rest)
	}
	call(t, tg, "getUpdates", map[string]any{"allowed_updates": []string{"edited_message"}})
	dm.Edit(dm.Say(ann, "typo"), "text")
	tg.Raw(`{"novelty":{}}`)
	_, raw := poll(t, tg, 0)
	if strings.Contains(raw, `"message":`) || !strings.Contains(raw, `"edited_message":`) || !strings.Contains(raw, `{"update_id":500005,"novelty":{}}`) {
		t.Error(raw)
	}
}

func TestTelegramPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg := NewTelegram(TelegramOptions{})
		ann := tg.User(7, "Ann")
		dm := tg.Private(ann)
		start := time.Now()
		if rep := call(t, tg, "getUpdates", map[string]any{"timeout": 30}); string(rep.Result) != "[]" || time.Since(start) != 30*time.Second {
			t.Errorf("%s after %s", rep.Result, time.Since(start))
		}
		got := make(chan reply, 2)
		long := func(ctx context.Context) {
			rep, err := post(ctx, tg, "getUpdates", map[string]any{"timeout": 30})
			if err != nil {
				rep.Description = err.Error()
			}
			got <- rep
		}
		go long(t.Context())
		synctest.Wait()
		go long(t.Context())
		if rep := <-got; rep.Code != 409 {
			t.Errorf("the older poll got %+v", rep)
		}
		dm.Say(ann, "hi")
		if rep := <-got; !strings.Contains(string(rep.Result), `"text":"hi"`) {
			t.Errorf("the younger poll got %s", rep.Result)
		}
		call(t, tg, "getUpdates", map[string]any{"offset": 500_002})
		ctx, cancel := context.WithCancel(t.Context())
		go long(ctx)
		synctest.Wait()
		cancel()
		if rep := <-got; !strings.Contains(rep.Description, context.Canceled.Error()) {
			t.Errorf("the cancelled poll got %+v", rep)
		}
		go long(t.Context())
		synctest.Wait()
		tg.Drop()
		if rep := <-got; !strings.Contains(rep.Description, syscall.ECONNRESET.Error()) {
			t.Errorf("the broken poll got %+v", rep)
		}
		go long(t.Context())
		synctest.Wait()
		tg.Revoke()
		if rep := <-got; rep.Code != 401 {
			t.Errorf("the poll of a revoked token got %+v", rep)
		}
	})
}

func TestTelegramFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg := NewTelegram(TelegramOptions{})
		dm := tg.Private(tg.User(7, "Ann"))
		say := func(text string) (reply, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			return post(ctx, tg, "sendMessage", map[string]any{"chat_id": 7, "text": text})
		}
		shown := func(text string) bool {
			for _, s := range dm.Shown() {
				if s.Text == text {
					return true
				}
			}
			return false
		}
		tg.Fail("sendMessage", 1, Fault{RetryAfter: 3500 * time.Millisecond})
		if rep, err := say("late"); err != nil || rep.Code != 429 || rep.Parameters.RetryAfter != 4 || shown("late") {
			t.Errorf("429: %+v, %v", rep, err)
		}
		for f, want := range map[Fault]struct {
			err   error
			shown bool
		}{
			{Net: NetRefuse}: {syscall.ECONNREFUSED, false},
			{Net: NetLost}:   {syscall.ECONNRESET, true},
			{Net: NetCut}:    {io.ErrUnexpectedEOF, true},
			{Net: NetHang}:   {context.DeadlineExceeded, false},
			{Net: NetStall}:  {context.DeadlineExceeded, true},
			{Status: 502}:    {nil, false},

			{Status: 504, Net: NetLost}: {nil, true},
		} {
			tg.Fail("sendMessage", 1, f)
			_, err := say(f.String())
			if err == nil || want.err != nil && !errors.Is(err, want.err) || shown(f.String()) != want.shown {
				t.Errorf("%s: %v, shown %v", f, err, shown(f.String()))
			}
		}
		hits := tg.Fail("", Always, Fault{Net: NetRefuse})
		for range 3 {
			if _, err := say("never"); err == nil {
				t.Error("accepted")
			}
		}
		tg.Heal()
		if rep, err := say("fine"); err != nil || !rep.OK || hits() != 3 {
			t.Errorf("healed: %+v, %v after %d", rep, err, hits())
		}
	})
}

func TestTelegramBodies(t *testing.T) {
	tg := NewTelegram(TelegramOptions{})
	dm := tg.Private(tg.User(7, "Ann"))
	base := tg.Serve(t) + "/bot" + tg.Token() + "/sendMessage"
	form := url.Values{"chat_id": {"7"}, "text": {"form"}}.Encode()
	multi := "--b\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n7\r\n--b\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\nmultipart\r\n--b--\r\n"
	for _, c := range [][2]string{
		{"application/json", `{"chat_id":"7","text":"json"}`},
		{"application/x-www-form-urlencoded", form},
		{"multipart/form-data; boundary=b", multi},
	} {
		if rep, err := send(t.Context(), http.DefaultClient, base, c[0], c[1]); err != nil || !rep.OK {
			t.Errorf("%s: %+v, %v", c[0], rep, err)
		}
	}
	if rep, err := send(t.Context(), http.DefaultClient, base, "application/json", "{"); err != nil || rep.Code != 400 {
		t.Errorf("half an object: %+v, %v", rep, err)
	}
	tg.Fail("", 1, Fault{Net: NetCut})
	if _, err := send(t.Context(), http.DefaultClient, base, "application/json", `{"chat_id":7,"text":"cut"}`); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut: %v", err)
	}
	var texts []string
	for _, s := range dm.Shown() {
		texts = append(texts, s.Text)
	}
	if got := strings.Join(texts, " "); got != "json form multipart cut" {
		t.Error(got)
	}
}

func TestTelegramMessages(t *testing.T) {
	tg := NewTelegram(TelegramOptions{Topics: true})
	ann := tg.User(7, "Ann 🎈")
	group, super, forum := tg.Group("g"), tg.Supergroup("s"), tg.Forum("f")
	if a, b := tg.Private(ann).Say(ann, "x"), group.Say(ann, "y"); b != a+1 {
		t.Errorf("private and basic groups count together: %d, %d", a, b)
	}
	root := super.Say(ann, "/help@bellhop_bot 😀 @bellhop_bot")
	if root != 2 {
		t.Errorf("a supergroup counts for itself: %d", root)
	}
	super.Reply(ann, root, "@bellhop_bot not a topic")
	topic := forum.Topic(ann, "ideas")
	topic.Say(ann, "@bellhop_bot in the topic")
	forum.Say(ann, "unseen in privacy mode, a/b and x@bellhop_bot too")
	_, raw := poll(t, tg, 0)
	for _, want := range []string{
		`"entities":[{"length":17,"offset":0,"type":"bot_command"},{"length":12,"offset":21,"type":"mention"}]`,
		`"message_thread_id":2,"reply_to_message":{"chat"`,
		`"is_topic_message":true,"message_id":3,"message_thread_id":2,"reply_to_message":{"chat":{"id":-1000000004003,"is_forum":true,"title":"f","type":"supergroup"},"date"`,
	} {
		if !strings.Contains(raw, want) {
			t.Errorf("no %s in\n%s", want, strings.ReplaceAll(raw, `{"update_id`, "\n{\"update_id"))
		}
	}
	if strings.Contains(raw, "unseen") {
		t.Error("privacy mode let a message through")
	}
	want := "== private 7 Ann 🎈\n11 Ann 🎈: x\n"
	if got := tg.String(); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s", got)
	}
}
