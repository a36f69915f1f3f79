package adaptertest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// slackError is a refusal in the platform's own word.
type slackError struct {
	word   string
	fields map[string]any // besides ok and error
}

func no(word string) *slackError { return &slackError{word: word} }

// invalid refuses blocks and arguments, with what is wrong about them.
func invalid(word string, problems ...string) *slackError {
	return &slackError{word, map[string]any{"response_metadata": map[string]any{"messages": problems}}}
}

func (e *slackError) answer() answer {
	m := map[string]any{"ok": false, "error": e.word}
	maps.Copy(m, e.fields)
	return slackJSON(http.StatusOK, m)
}

func slackJSON(status int, m map[string]any) answer {
	return answer{status: status, contentType: "application/json; charset=utf-8", body: encode(m)}
}

// slackMethod is a method of the Web API.
type slackMethod struct {
	do    func(*Slack, params) (map[string]any, *slackError)
	scope string // that it needs; app: the app-level token
}

const appScope = "connections:write"

// slackMethods finds a method by its name, which is in the exact case.
func slackMethods(name string) (slackMethod, bool) {
	m, ok := map[string]slackMethod{
		"api.test":                     {(*Slack).apiTest, ""},
		"auth.test":                    {(*Slack).authTest, ""},
		"apps.connections.open":        {(*Slack).connectionsOpen, appScope},
		"chat.postMessage":             {(*Slack).postMessage, "chat:write"},
		"chat.update":                  {(*Slack).updateMessage, "chat:write"},
		"chat.delete":                  {(*Slack).deleteMessage, "chat:write"},
		"chat.postEphemeral":           {(*Slack).postEphemeral, "chat:write"},
		"chat.startStream":             {(*Slack).startStream, "chat:write"},
		"chat.appendStream":            {(*Slack).appendStream, "chat:write"},
		"chat.stopStream":              {(*Slack).stopStream, "chat:write"},
		"assistant.threads.setStatus":  {(*Slack).threadsSetStatus, "chat:write"},
		"agents.sessions.setStatus":    {(*Slack).sessionsSetStatus, "chat:write"},
		"agents.sessions.rename":       {(*Slack).sessionsRename, "chat:write"},
		"assistant.threads.setTitle":   {(*Slack).sessionsRename, "assistant:write"},
		"conversations.info":           {(*Slack).conversationsInfo, "channels:read"},
		"conversations.history":        {(*Slack).conversationsHistory, "channels:history"},
		"conversations.replies":        {(*Slack).conversationsReplies, "channels:history"},
		"conversations.members":        {(*Slack).conversationsMembers, "channels:read"},
		"conversations.list":           {(*Slack).conversationsList, "channels:read"},
		"users.conversations":          {(*Slack).usersConversations, "channels:read"},
		"conversations.open":           {(*Slack).conversationsOpen, "im:write"},
		"conversations.join":           {(*Slack).conversationsJoin, "channels:join"},
		"users.info":                   {(*Slack).usersInfo, "users:read"},
		"reactions.add":                {(*Slack).reactionsAdd, "reactions:write"},
		"reactions.remove":             {(*Slack).reactionsRemove, "reactions:write"},
		"files.getUploadURLExternal":   {(*Slack).getUploadURL, "files:write"},
		"files.completeUploadExternal": {(*Slack).completeUpload, "files:write"},
		"files.info":                   {(*Slack).filesInfo, "files:read"},
		"views.open":                   {(*Slack).viewsOpen, ""},
	}[name]
	return m, ok
}

// Fail makes the next n calls of a method go wrong; n may be Always. Several
// methods are separated by spaces; none is any. "connect" is the connection of
// a socket, "upload" and "download" are those of files. Several faults apply
// one after the other. The function it returns counts the calls that went
// wrong so far.
func (s *Slack) Fail(methods string, n int, f Fault) (hits func() int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits(s.faults.add(methods, n, f))
}

// Refuse is Fail with a refusal in Slack's own word: "ratelimited",
// "internal_error". The call has no effect.
func (s *Slack) Refuse(methods string, n int, word string) (hits func() int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ft := s.faults.add(methods, n, Fault{})
	ft.word = word
	return s.hits(ft)
}

func (s *Slack) hits(ft *fault) func() int {
	return func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return ft.hits
	}
}

// Heal ends all faults.
func (s *Slack) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Calls lists the calls of a method so far, of all methods if it is empty.
func (s *Slack) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return callsOf(s.calls, method)
}

// answer does what a request asks for.
func (s *Slack) answer(r *http.Request) answer {
	method, isMethod := strings.CutPrefix(r.URL.Path, "/api/")
	switch {
	case strings.HasPrefix(r.URL.Path, uploadPath):
		return s.faulty("upload", nil, func() answer { return s.upload(r) })
	case strings.HasPrefix(r.URL.Path, filesPath):
		return s.faulty("download", nil, func() answer { return s.download(r) })
	case !isMethod:
		return answer{status: http.StatusNotFound, contentType: "text/html", body: []byte("<html>not found</html>")}
	}
	p, err := readParams(r)
	if err != nil {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			return no("invalid_json").answer()
		}
		return no("invalid_form_data").answer()
	}
	token, inForm := p["token"], !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
	delete(p, "token")
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		token = bearer
	} else if !inForm {
		token = "" // one in a JSON body is not looked at
	}
	if method == "apps.connections.open" {
		p["host"] = r.Host // where its socket is
	}
	return s.faulty(method, p, func() answer { return s.call(method, token, p) })
}

// faulty records a call and does it, unless a fault comes between.
func (s *Slack) faulty(method string, p params, do func() answer) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, Call{method, p, time.Now()})
	f := s.faults.take(method)
	s.notify()
	switch {
	case f.word != "":
		return no(f.word).answer()
	case f.RetryAfter > 0:
		a := slackJSON(http.StatusTooManyRequests, map[string]any{"ok": false, "error": "ratelimited"})
		a.header = http.Header{"Retry-After": {strconv.Itoa(f.seconds())}}
		return a
	case f.Status > 0:
		if f.Net == NetLost {
			do()
		}
		return f.page()
	case f.Net == NetRefuse, f.Net == NetHang:
		return answer{net: f.Net}
	}
	a := do()
	if f.Net != NetFine {
		a.net = f.Net
	}
	return a
}

// call runs one method. Called with mu held, as all methods are.
func (s *Slack) call(name, token string, p params) answer {
	m, ok := slackMethods(name)
	if !ok {
		return no("unknown_method").answer()
	}
	if e := s.authorise(m, token); e != nil {
		return e.answer()
	}
	for _, v := range p {
		if !utf8.ValidString(v) {
			return no("invalid_form_data").answer()
		}
	}
	result, e := m.do(s, p)
	if e != nil {
		return e.answer()
	}
	s.notify()
	if result == nil {
		result = map[string]any{}
	}
	result["ok"] = true
	return slackJSON(http.StatusOK, result)
}

// authorise checks the token and the scope for a method.
func (s *Slack) authorise(m slackMethod, token string) *slackError {
	switch {
	case token == "":
		return no("not_authed")
	case token != slackBotToken && token != slackAppToken:
		return no("invalid_auth")
	case s.revoked && token == slackBotToken:
		return no("account_inactive")
	case s.revoked:
		return no("invalid_auth")
	case (m.scope == appScope) != (token == slackAppToken):
		return no("not_allowed_token_type")
	case slices.Contains(s.opt.Lacks, m.scope):
		return &slackError{"missing_scope", map[string]any{"needed": m.scope, "provided": "chat:write"}}
	}
	return nil
}

// slackObject reads a JSON parameter into v; an absent one leaves v alone.
func (p params) slackObject(key, word string, v any) *slackError {
	if p[key] == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(p[key]), v); err != nil {
		return no(word)
	}
	return nil
}

func (s *Slack) apiTest(params) (map[string]any, *slackError) { return nil, nil }

func (s *Slack) authTest(params) (map[string]any, *slackError) {
	return map[string]any{"url": "https://hotel.slack.com/", "team": "Hotel", "user": strings.ToLower(s.me.Name),
		"team_id": slackTeam, "user_id": s.me.ID, "bot_id": s.me.Bot, "is_enterprise_install": false}, nil
}

// viewsOpen opens a view, for which a person's action of the last seconds is
// needed.
func (s *Slack) viewsOpen(p params) (map[string]any, *slackError) {
	var view map[string]any
	if e := p.slackObject("view", "invalid_arguments", &view); e != nil {
		return nil, e
	}
	made, ok := s.triggers[p["trigger_id"]]
	switch {
	case view == nil:
		return nil, no("invalid_arguments")
	case !ok:
		return nil, no("invalid_trigger_id")
	case time.Since(made) > 3*time.Second:
		return nil, no("expired_trigger_id")
	}
	delete(s.triggers, p["trigger_id"])
	s.views = append(s.views, p["view"])
	return map[string]any{"view": view}, nil
}
