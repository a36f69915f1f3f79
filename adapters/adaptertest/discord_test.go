package adaptertest

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"
)

// discordReplied is what came back.
type discordReplied struct {
	status int
	header http.Header
	body   []byte
	code   int // Discord's own; 0: none
}

// discordDo makes a call; a body is sent as JSON.
func discordDo(t *testing.T, d *Discord, call string, body any) discordReplied {
	t.Helper()
	return discordSend(t, d, call, "application/json", encode(body), "Bot "+d.Token())
}

func discordSend(t *testing.T, d *Discord, call, kind string, body []byte, auth string) discordReplied {
	t.Helper()
	method, path, _ := strings.Cut(call, " ")
	req, err := http.NewRequestWithContext(t.Context(), method, discordURL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "DiscordBot (test, 1)")
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Authorization", auth)
	resp, err := d.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	r := discordReplied{status: resp.StatusCode, header: resp.Header}
	if r.body, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	var refusal struct {
		Code int `json:"code"`
	}
	if json.Unmarshal(r.body, &refusal) == nil {
		r.code = refusal.Code
	}
	return r
}

// message is the message that came back.
func (r discordReplied) message(t *testing.T) *discordgo.Message {
	t.Helper()
	var m discordgo.Message
	if err := json.Unmarshal(r.body, &m); err != nil || r.status != http.StatusOK {
		t.Fatalf("HTTP %d: %s, %v", r.status, r.body, err)
	}
	return &m
}

func TestDiscordRefuses(t *testing.T) {
	d := NewDiscord(DiscordOptions{})
	ann := d.User("Ann")
	talk, shut, hidden, forum, plain := d.Channel("talk"), d.Channel("shut"), d.Channel("hidden"), d.Forum("forum"), d.Channel("plain")
	blocked := d.Direct(ann)
	shut.Shut()
	hidden.Hide()
	blocked.Shut()
	plain.ForbidThreads()
	said := talk.Post(ann, DiscordPost{Text: "hello"})
	opened := talk.Post(ann, DiscordPost{Text: "root"})
	talk.Thread(opened)
	archived, locked := talk.Open(ann, "archived", ""), talk.Open(ann, "locked", "")
	old := archived.Post(ann, DiscordPost{Text: "old"})
	locked.Archive(true)
	there := plain.Post(ann, DiscordPost{Text: "there"})
	mine := discordDo(t, d, "POST channels/"+archived.ID()+"/messages", map[string]any{"content": "mine"}).message(t).ID
	archived.Archive(false)
	type m = map[string]any
	row := func(buttons ...m) m {
		return m{"content": "x", "components": []any{m{"type": 1, "components": buttons}}}
	}
	button := m{"type": 2, "style": 2, "label": "Yes", "custom_id": "yes"}
	send := func(c *DiscordChat) string { return "POST channels/" + c.ID() + "/messages" }
	for _, c := range []struct {
		call         string
		body         any
		status, code int
	}{
		{"GET users/@me", nil, 200, 0},
		{"GET nothing", nil, 404, 0},
		{"GET channels/1", nil, 404, 10003},
		{"GET channels/" + hidden.ID(), nil, 403, 50001},
		{"GET channels/" + talk.ID() + "/messages/1", nil, 404, 10008},
		{"GET channels/" + talk.ID() + "/messages?limit=101", nil, 400, 50035},
		{"GET channels/" + talk.ID() + "/messages?after=x", nil, 400, 50035},
		{"PATCH channels/" + talk.ID(), m{"archived": true}, 403, 50013},
		{"PATCH channels/" + locked.ID(), m{"archived": false}, 403, 50013},
		{"POST channels/" + shut.ID() + "/typing", nil, 403, 50013},
		{"POST channels/" + talk.ID() + "/typing", nil, 204, 0},
		{send(talk), m{"content": strings.Repeat("ü", 2001)}, 400, 50035},
		{send(talk), m{"content": strings.Repeat("ü", 2000)}, 200, 0},
		{send(talk), m{"content": " \n"}, 400, 50006},
		{send(talk), m{"content": "x", "nonce": strings.Repeat("x", 26)}, 400, 50035},
		{send(talk), m{"content": "x", "allowed_mentions": m{"parse": nil}}, 400, 50035},
		{send(talk), m{"content": "x", "allowed_mentions": m{"parse": []any{"all"}}}, 400, 50035},
		{send(talk), m{"content": "x", "allowed_mentions": m{"parse": []any{"users"}, "users": []any{"1"}}}, 400, 50035},
		{send(talk), m{"content": "x", "message_reference": m{"message_id": "1"}}, 400, 50035},
		{send(talk), m{"content": "x", "attachments": []any{m{"id": 0, "filename": "x"}}}, 400, 50035},
		{send(talk), row(), 400, 50035},
		{send(talk), row(button, button), 400, 50035},
		{send(talk), row(m{"type": 2, "style": 2, "label": strings.Repeat("x", 81), "custom_id": "x"}), 400, 50035},
		{send(talk), row(m{"type": 2, "style": 2, "label": "x", "custom_id": strings.Repeat("x", 101)}), 400, 50035},
		{send(talk), row(m{"type": 3, "custom_id": "x"}), 400, 50035},
		{send(shut), m{"content": "x"}, 403, 50013},
		{send(hidden), m{"content": "x"}, 403, 50001},
		{send(blocked), m{"content": "x"}, 403, 50007},
		{send(forum), m{"content": "x"}, 400, 50008},
		{send(locked), m{"content": "x"}, 400, 160005},
		{"PATCH channels/" + talk.ID() + "/messages/" + said, m{"content": "x"}, 403, 50005},
		{"PATCH channels/" + archived.ID() + "/messages/" + mine, m{"content": "x"}, 400, 50083},
		{"PUT channels/" + archived.ID() + "/messages/" + old + "/reactions/%F0%9F%91%80/@me", nil, 400, 50083},
		{"PUT channels/" + talk.ID() + "/messages/" + said + "/reactions/eyes/@me", nil, 400, 10014},
		{"POST channels/" + talk.ID() + "/messages/1/threads", m{"name": "x"}, 404, 10008},
		{"POST channels/" + talk.ID() + "/messages/" + opened + "/threads", m{"name": "x"}, 400, 160004},
		{"POST channels/" + talk.ID() + "/messages/" + said + "/threads", m{"name": strings.Repeat("x", 101)}, 400, 50035},
		{"POST channels/" + talk.ID() + "/messages/" + said + "/threads", m{"name": "x", "auto_archive_duration": 7}, 400, 50035},
		{"POST channels/" + plain.ID() + "/messages/" + there + "/threads", m{"name": "x"}, 403, 50013},
		{"POST channels/" + archived.ID() + "/messages/" + old + "/threads", m{"name": "x"}, 400, 50024},
		{"POST users/@me/channels", m{"recipient_id": "1"}, 404, 10013},
		{"POST users/@me/channels", m{"recipient_id": ann.ID}, 200, 0},
		{"GET applications/1/commands", nil, 403, 50001},
		{"PUT applications/" + d.Me().ID + "/commands", []any{m{"name": "Help", "description": "x"}}, 400, 50035},
		{"PUT applications/" + d.Me().ID + "/commands", []any{m{"name": "help"}}, 400, 50035},
		{"POST interactions/1/x/callback", m{"type": 5}, 404, 10062},
		{"PATCH webhooks/" + d.Me().ID + "/x/messages/@original", m{"content": "x"}, 404, 10015},
	} {
		d.mu.Lock()
		clear(d.buckets)
		d.mu.Unlock()
		if r := discordDo(t, d, c.call, c.body); r.status != c.status || r.code != c.code {
			t.Errorf("%s %.80s: HTTP %d, %s, want %d, %d", c.call, encode(c.body), r.status, r.body, c.status, c.code)
		}
	}
	if r := discordSend(t, d, "GET users/@me", "", nil, "Bot x"); r.status != http.StatusUnauthorized {
		t.Errorf("another token: HTTP %d", r.status)
	}
	if r := discordSend(t, d, send(talk), "application/json", []byte("{"), "Bot "+d.Token()); r.code != 50109 {
		t.Errorf("half an object: HTTP %d, %s", r.status, r.body)
	}
}

// TestDiscordNonce: a nonce gives the earlier message, for some minutes.
func TestDiscordNonce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDiscord(DiscordOptions{})
		send := func(enforce bool) string {
			return discordDo(t, d, "POST channels/"+d.Direct(d.users[d.me.ID]).ID()+"/messages",
				map[string]any{"content": "x", "nonce": "n", "enforce_nonce": enforce}).message(t).ID
		}
		first := send(true)
		if again := send(true); again != first {
			t.Errorf("the same nonce gave %s, then %s", first, again)
		}
		if other := send(false); other == first {
			t.Error("a nonce that is not enforced is unique all the same")
		}
		time.Sleep(discordNonceLife + time.Second)
		if later := send(true); later == first {
			t.Error("a nonce is kept for ever")
		}
	})
}

func TestDiscordPages(t *testing.T) {
	d := NewDiscord(DiscordOptions{})
	c, ann := d.Channel("talk"), d.User("Ann")
	var ids []string
	for range 120 {
		ids = append(ids, c.Post(ann, DiscordPost{Text: "x"}))
	}
	c.Delete(ids[100])
	ids = slices.Delete(ids, 100, 101)
	for query, want := range map[string][]string{
		"":                                   ids[69:],
		"limit=2":                            ids[117:],
		"limit=3&before=" + ids[50]:          ids[47:50],
		"limit=3&after=" + ids[50]:           ids[51:54],
		"limit=4&around=" + ids[50]:          ids[48:52],
		"limit=100&after=" + ids[len(ids)-1]: nil,
		"limit=100&after=0":                  ids[:100],
	} {
		var list []discordgo.Message
		r := discordDo(t, d, "GET channels/"+c.ID()+"/messages?"+query, nil)
		if err := json.Unmarshal(r.body, &list); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range slices.Backward(list) {
			got = append(got, m.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", query, diff)
		}
	}
}

// TestDiscordThreads: an archived thread opens when something is said in it,
// and one from a message has its id.
func TestDiscordThreads(t *testing.T) {
	d := NewDiscord(DiscordOptions{})
	c, ann := d.Channel("talk"), d.User("Ann")
	root := c.Post(ann, DiscordPost{Text: "root"})
	r := discordDo(t, d, "POST channels/"+c.ID()+"/messages/"+root+"/threads", map[string]any{"name": "thread", "auto_archive_duration": 1440})
	thread := c.Thread(root)
	if thread.ID() != root || !strings.Contains(string(r.body), `"id":"`+root+`"`) {
		t.Errorf("the thread of %s is %s", root, r.body)
	}
	thread.Archive(false)
	discordDo(t, d, "POST channels/"+root+"/messages", map[string]any{"content": "back"}).message(t)
	if got := string(discordDo(t, d, "GET channels/"+root, nil).body); !strings.Contains(got, `"archived":false`) {
		t.Errorf("after a message it is %s", got)
	}
	post := d.Forum("forum").Open(ann, "post", "first")
	if shown := post.Shown(); len(shown) != 1 || shown[0].ID != post.ID() {
		t.Errorf("a post of a forum begins with %+v", shown)
	}
}

func TestDiscordPings(t *testing.T) {
	d := NewDiscord(DiscordOptions{})
	c, ann, bob := d.Channel("talk"), d.User("Ann"), d.User("Bob")
	asked := c.Post(ann, DiscordPost{Text: "hello"})
	type m = map[string]any
	text := "@everyone <@" + bob.ID + ">"
	for _, tt := range []struct {
		allowed any
		want    []string
	}{
		{nil, []string{"everyone", bob.ID, ann.ID}},
		{m{"parse": []any{}}, nil},
		{m{"parse": []any{}, "replied_user": true}, []string{ann.ID}},
		{m{"parse": []any{"everyone"}}, []string{"everyone"}},
		{m{"parse": []any{}, "users": []any{bob.ID}}, []string{bob.ID}},
	} {
		body := m{"content": text, "message_reference": m{"message_id": asked}}
		if tt.allowed != nil {
			body["allowed_mentions"] = tt.allowed
		}
		d.mu.Lock()
		clear(d.buckets)
		d.mu.Unlock()
		discordDo(t, d, "POST channels/"+c.ID()+"/messages", body)
		shown := c.Shown()
		if last := shown[len(shown)-1]; !slices.Equal(last.Pings, tt.want) || last.Text != "@everyone @Bob" || last.ReplyTo != asked {
			t.Errorf("%v: %+v, want it to call %q", tt.allowed, last, tt.want)
		}
	}
}

// TestDiscordLimits: five messages in five seconds, and no more.
func TestDiscordLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDiscord(DiscordOptions{})
		c, other := d.Channel("talk"), d.Channel("other")
		send := func(c *DiscordChat) discordReplied {
			return discordDo(t, d, "POST channels/"+c.ID()+"/messages", map[string]any{"content": "x"})
		}
		for range 4 {
			send(c)
		}
		if r := send(c); r.status != http.StatusOK || r.header.Get("X-RateLimit-Remaining") != "0" || r.header.Get("X-RateLimit-Reset-After") != "5.000" {
			t.Errorf("the fifth: HTTP %d, %v", r.status, r.header)
		}
		r := send(c)
		if r.status != http.StatusTooManyRequests || r.header.Get("Retry-After") != "5" || !strings.Contains(string(r.body), `"retry_after":5`) {
			t.Errorf("the sixth: HTTP %d, %v, %s", r.status, r.header, r.body)
		}
		if r := send(other); r.status != http.StatusOK {
			t.Errorf("elsewhere: HTTP %d", r.status)
		}
		time.Sleep(5 * time.Second)
		if r := send(c); r.status != http.StatusOK {
			t.Errorf("later: HTTP %d", r.status)
		}
		d.Fail("message.create", 1, Fault{Status: http.StatusTooManyRequests})
		if r := send(c); r.status != http.StatusTooManyRequests || r.header.Get("Content-Type") != "text/html" {
			t.Errorf("the proxy: HTTP %d, %v", r.status, r.header)
		}
		if n := len(d.Calls("message.create")); n != 9 {
			t.Errorf("%d calls were seen", n)
		}
	})
}

// TestDiscordFiles: an attachment is shown, and its address expires.
func TestDiscordFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDiscord(DiscordOptions{})
		c := d.Channel("talk")
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		_ = w.WriteField("payload_json", `{"attachments":[{"id":0,"filename":"a.txt"}]}`) // to a buffer
		part, err := w.CreateFormFile("files[0]", "x")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(part, "content")
		_ = w.Close()
		m := discordSend(t, d, "POST channels/"+c.ID()+"/messages", w.FormDataContentType(), body.Bytes(), "Bot "+d.Token()).message(t)
		if len(m.Attachments) != 1 || m.Attachments[0].Filename != "a.txt" || m.Attachments[0].Size != len("content") {
			t.Fatalf("attached is %+v", m.Attachments)
		}
		for _, want := range []int{http.StatusOK, http.StatusNotFound} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.Attachments[0].URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("User-Agent", "DiscordBot (test, 1)")
			resp, err := d.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("the file: HTTP %d, want %d", resp.StatusCode, want)
			}
			time.Sleep(discordLinkLife)
		}
	})
}

func TestDiscordRender(t *testing.T) {
	d := NewDiscord(DiscordOptions{})
	bob := d.User("Bob")
	for text, want := range map[string]string{
		"plain":                             "plain",
		"**bold** *slanted* ~~gone~~ `x*y`": "bold slanted gone x*y",
		`\*literal\* \<b\>`:                 "*literal* <b>",
		"```go\nx := *p\n```":               "x := *p\n",
		"### head\n> said\nsnake_case":      "head\nsaid\nsnake_case",
		"[the mask](https://example.org/)":  "the mask",
		"<@" + bob.ID + "> and `<@!`":       "@Bob and <@!",
		"`` a`b ``":                         " a`b ",
	} {
		if got := d.render(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
