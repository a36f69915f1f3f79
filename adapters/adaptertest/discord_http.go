package adaptertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// discordError is a refusal of Discord's own.
type discordError struct {
	status, code int
	message      string
	problem      string // of a form: what is wrong with which field
}

// discordNo refuses with one of the codes that the documents list.
func discordNo(code int) *discordError {
	e := map[int]discordError{
		10003:  {404, 10003, "Unknown Channel", ""},
		10008:  {404, 10008, "Unknown Message", ""},
		10013:  {404, 10013, "Unknown User", ""},
		10014:  {400, 10014, "Unknown Emoji", ""},
		10015:  {404, 10015, "Unknown Webhook", ""},
		10062:  {404, 10062, "Unknown interaction", ""},
		10004:  {404, 10004, "Unknown Guild", ""},
		40067:  {400, 40067, "A tag is required to create a forum post in this channel", ""},
		40005:  {413, 40005, "Request entity too large", ""},
		40060:  {400, 40060, "Interaction has already been acknowledged.", ""},
		50001:  {403, 50001, "Missing Access", ""},
		50005:  {403, 50005, "Cannot edit a message authored by another user", ""},
		50006:  {400, 50006, "Cannot send an empty message", ""},
		50007:  {403, 50007, "Cannot send messages to this user", ""},
		50008:  {400, 50008, "Cannot send messages in a non-text channel", ""},
		50013:  {403, 50013, "Missing Permissions", ""},
		50024:  {400, 50024, "Cannot execute action on this channel type", ""},
		50027:  {401, 50027, "Invalid Webhook Token", ""},
		50083:  {400, 50083, "Thread is archived", ""},
		50109:  {400, 50109, "The request body contains invalid JSON.", ""},
		160004: {400, 160004, "A thread has already been created for this message", ""},
		160005: {400, 160005, "Thread is locked", ""},
	}[code]
	if e.code != code {
		panic(fmt.Sprint("adaptertest: no such code of Discord: ", code))
	}
	return &e
}

// discordForm refuses a field of a form.
func discordForm(field, code, message string) *discordError {
	problem := encode(map[string]any{field: map[string]any{"_errors": []any{map[string]any{"code": code, "message": message}}}})
	return &discordError{400, 50035, "Invalid Form Body", string(problem)}
}

func (e *discordError) answer() answer {
	m := map[string]any{"message": e.message, "code": e.code}
	if e.problem != "" {
		m["errors"] = json.RawMessage(e.problem)
	}
	return discordJSON(e.status, m)
}

func discordJSON(status int, v any) answer {
	a := answer{status: status, contentType: "application/json"}
	if status != http.StatusNoContent {
		a.body = encode(v)
	}
	return a
}

// discordCall is one call of the API.
type discordCall struct {
	host  string            // where it came to; empty: without a network
	ids   map[string]string // what stands in the path for {name}
	query url.Values
	body  json.RawMessage
	files map[string]SentFile // by the name of the part
}

// decode reads the body into v.
func (c *discordCall) decode(v any) *discordError {
	if json.Unmarshal(c.body, v) != nil {
		return discordNo(50109)
	}
	return nil
}

// discordRoute is a method of the API. Its result of nil is no content.
type discordRoute struct {
	name    string // what Fail and Calls know it by
	pattern string
	do      func(*Discord, *discordCall) (any, *discordError)
}

// discordRoutes lists the methods; a {name} stands for one segment.
func discordRoutes() []discordRoute {
	return []discordRoute{
		{"user.me", "GET users/@me", (*Discord).getMe},
		{"user.open", "POST users/@me/channels", (*Discord).openDirect},
		{"gateway.bot", "GET gateway/bot", (*Discord).gatewayBot},
		{"command.list", "GET applications/{app}/commands", (*Discord).listCommands},
		{"command.set", "PUT applications/{app}/commands", (*Discord).setCommands},
		{"channel.get", "GET channels/{channel}", (*Discord).getChannel},
		{"channel.edit", "PATCH channels/{channel}", (*Discord).editChannel},
		{"channel.typing", "POST channels/{channel}/typing", (*Discord).showTyping},
		{"message.create", "POST channels/{channel}/messages", (*Discord).createMessage},
		{"message.list", "GET channels/{channel}/messages", (*Discord).listMessages},
		{"message.get", "GET channels/{channel}/messages/{message}", (*Discord).getMessage},
		{"message.edit", "PATCH channels/{channel}/messages/{message}", (*Discord).editMessage},
		{"thread.create", "POST channels/{channel}/messages/{message}/threads", (*Discord).createThread},
		{"post.create", "POST channels/{channel}/threads", (*Discord).createPost},
		{"thread.active", "GET guilds/{guild}/threads/active", (*Discord).activeThreads},
		{"reaction.add", "PUT channels/{channel}/messages/{message}/reactions/{emoji}/@me", (*Discord).addReaction},
		{"reaction.remove", "DELETE channels/{channel}/messages/{message}/reactions/{emoji}/@me", (*Discord).removeReaction},
		{"interaction.answer", "POST interactions/{interaction}/{token}/callback", (*Discord).answerInteraction},
		{"webhook.edit", "PATCH webhooks/{app}/{token}/messages/@original", (*Discord).editOriginal},
	}
}

// discordMatch finds the method of a request, and the ids in its path.
func discordMatch(method, path string) (discordRoute, map[string]string, bool) {
	have := strings.Split(method+" "+path, "/")
	for _, r := range discordRoutes() {
		want := strings.Split(r.pattern, "/")
		ids, ok := map[string]string{}, len(want) == len(have)
		for i := 0; ok && i < len(want); i++ {
			if name, found := strings.CutPrefix(want[i], "{"); found {
				id, err := url.PathUnescape(have[i])
				ids[strings.TrimSuffix(name, "}")], ok = id, err == nil
			} else {
				ok = want[i] == have[i]
			}
		}
		if ok {
			return r, ids, true
		}
	}
	return discordRoute{}, nil, false
}

// Fail makes the next n calls of a method go wrong; n may be Always. Several
// methods, "message.create" for one, are separated by spaces; none is any.
// "connect" is the connection to the gateway, "download" that of a file.
// Several faults apply one after the other. The function it returns counts the
// calls that went wrong so far.
func (d *Discord) Fail(methods string, n int, f Fault) (hits func() int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ft := d.faults.add(methods, n, f)
	return func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return ft.hits
	}
}

// Heal ends all faults.
func (d *Discord) Heal() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = nil
}

// Calls lists the calls of a method so far, of all methods if it is empty.
func (d *Discord) Calls(method string) []Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return callsOf(d.calls, method)
}

// answer does what a request asks for.
func (d *Discord) answer(r *http.Request) answer {
	path, isAPI := strings.CutPrefix(r.URL.EscapedPath(), discordAPI)
	switch {
	case !strings.HasPrefix(r.UserAgent(), "DiscordBot ("):
		return Fault{Status: http.StatusForbidden}.page()
	case strings.HasPrefix(r.URL.Path, discordFiles):
		return d.faulty("download", nil, func() answer { return d.download(r) })
	}
	route, ids, ok := discordMatch(r.Method, path)
	if !isAPI || !ok {
		return (&discordError{404, 0, "404: Not Found", ""}).answer()
	}
	c := &discordCall{ids: ids, query: r.URL.Query()}
	if r.URL.Host == "" {
		c.host = r.Host
	}
	if err := c.read(r); err != nil {
		return discordNo(50109).answer()
	}
	return d.faulty(route.name, c.params(), func() answer { return d.call(route, c, r.Header.Get("Authorization")) })
}

// read reads the body, of which a multipart one has its JSON in a part.
func (c *discordCall) read(r *http.Request) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return err
	}
	kind, attr, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case kind == "application/json" && !json.Valid(body):
		return fmt.Errorf("the body is no JSON")
	case kind != "multipart/form-data":
		c.body = body
		return nil
	}
	form, err := multipart.NewReader(bytes.NewReader(body), attr["boundary"]).ReadForm(maxBody)
	if err != nil {
		return err
	}
	if v := form.Value["payload_json"]; len(v) > 0 {
		c.body = json.RawMessage(v[0])
	}
	c.files = map[string]SentFile{}
	for name, parts := range form.File {
		f, err := parts[0].Open()
		if err != nil {
			return err
		}
		content, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		c.files[name] = SentFile{parts[0].Filename, parts[0].Header.Get("Content-Type"), content}
	}
	return nil
}

// params are the call's parameters as Calls shows them.
func (c *discordCall) params() params {
	p := params{}
	maps.Copy(p, c.ids)
	for name, v := range c.query {
		p[name] = v[0]
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(c.body, &fields) != nil {
		return p // an array or nothing
	}
	for name, raw := range fields {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		p[name] = s
	}
	return p
}

// faulty records a call and does it, unless a fault comes between.
func (d *Discord) faulty(method string, p params, do func() answer) answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, Call{method, p, time.Now()})
	f := d.faults.take(method)
	defer d.notify()
	switch {
	case f.RetryAfter > 0:
		return discordLimited(f.RetryAfter, nil)
	case f.Status > 0:
		if f.Net == NetLost {
			do()
		}
		return f.page()
	case f.Net == NetRefuse, f.Net == NetHang:
		return answer{net: f.Net}
	}
	a := do()
	a.net = f.Net
	return a
}

// call runs one method within its limit. Called with mu held, as all methods
// are. Who has the token of an interaction needs no other.
func (d *Discord) call(route discordRoute, c *discordCall, auth string) answer {
	if c.ids["token"] == "" && (d.revoked || auth != "Bot "+discordToken) {
		return (&discordError{401, 0, "401: Unauthorized", ""}).answer()
	}
	b := d.bucket(route.name, c.ids["channel"])
	if b != nil && b.left == 0 {
		return discordLimited(time.Until(b.reset), b.header())
	}
	result, e := route.do(d, c)
	a := discordJSON(http.StatusOK, result)
	switch {
	case e != nil:
		a = e.answer()
	case result == nil:
		a = discordJSON(http.StatusNoContent, nil)
	}
	if b != nil {
		b.left--
		a.header = b.header()
	}
	return a
}

// discordLimited is Discord's own 429.
func discordLimited(after time.Duration, h http.Header) answer {
	a := discordJSON(http.StatusTooManyRequests, map[string]any{
		"message": "You are being rate limited.", "retry_after": after.Seconds(), "global": false})
	if a.header = h; h == nil {
		a.header = http.Header{}
	}
	a.header.Set("Retry-After", strconv.Itoa(Fault{RetryAfter: after}.seconds()))
	a.header.Set("X-RateLimit-Scope", "user")
	return a
}

// discordBucket is the limit of a method in one channel.
type discordBucket struct {
	name        string
	limit, left int
	reset       time.Time
}

// bucket finds the limit of a method; nil: it is far away. Called with mu held.
func (d *Discord) bucket(method, channel string) *discordBucket {
	limit, period := 5, 5*time.Second
	switch method {
	case "message.create", "message.edit":
	case "reaction.add", "reaction.remove":
		method, limit, period = "reaction", 1, 250*time.Millisecond
	default:
		return nil
	}
	key := method + " " + channel
	b := d.buckets[key]
	if b == nil || !time.Now().Before(b.reset) {
		b = &discordBucket{method, limit, limit, time.Now().Add(period)}
		d.buckets[key] = b
	}
	return b
}

func (b *discordBucket) header() http.Header {
	h := http.Header{}
	for name, v := range map[string]string{"Bucket": b.name, "Limit": strconv.Itoa(b.limit), "Remaining": strconv.Itoa(b.left),
		"Reset-After": strconv.FormatFloat(time.Until(b.reset).Seconds(), 'f', 3, 64)} {
		h.Set("X-RateLimit-"+name, v)
	}
	return h
}
