package adaptertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// apiError is a refusal in the platform's own form.
type apiError struct {
	code       int
	text       string
	parameters map[string]any
}

func bad(format string, args ...any) *apiError {
	return &apiError{code: 400, text: "Bad Request: " + fmt.Sprintf(format, args...)}
}

func forbidden(text string) *apiError { return &apiError{code: 403, text: "Forbidden: " + text} }

func conflict(text string) *apiError { return &apiError{code: 409, text: "Conflict: " + text} }

func (e *apiError) answer() answer {
	m := map[string]any{"ok": false, "error_code": e.code, "description": e.text}
	if e.parameters != nil {
		m["parameters"] = e.parameters
	}
	return answer{status: e.code, contentType: "application/json", body: encode(m)}
}

// Fail makes the next n calls of a method go wrong; n may be Always. Several
// methods are separated by spaces; none is any. Several faults apply one after
// the other. The function it returns counts the calls that went wrong so far.
func (t *Telegram) Fail(methods string, n int, f Fault) (hits func() int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ft := t.faults.add(methods, n, f)
	return func() int {
		t.mu.Lock()
		defer t.mu.Unlock()
		return ft.hits
	}
}

// Drop breaks a long poll that waits, as a lost connection does: its caller
// gets what a Fault with NetLost gives.
func (t *Telegram) Drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.poll != nil {
		t.dropped = t.poll
		close(t.poll)
		t.poll = nil
	}
}

// Heal ends all faults.
func (t *Telegram) Heal() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults = nil
}

// Calls lists the calls of a method so far, of all methods if it is empty.
func (t *Telegram) Calls(method string) []Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return callsOf(t.calls, method)
}

// answer does what a request asks for.
func (t *Telegram) answer(r *http.Request) answer {
	path, isFile := strings.CutPrefix(r.URL.Path, "/file")
	token, method, _ := strings.Cut(strings.TrimPrefix(path, "/bot"), "/")
	p, err := readParams(r)
	if err != nil {
		return bad("%v", err).answer()
	}

	t.mu.Lock()
	defer t.mu.Unlock()
	if t.revoked || token != t.token {
		return (&apiError{code: 401, text: "Unauthorized"}).answer()
	}
	if isFile {
		return t.download(method)
	}
	t.calls = append(t.calls, Call{method, p, time.Now()})
	f := t.faults.take(method).Fault
	t.notify()
	switch {
	case f.RetryAfter > 0:
		s := f.seconds()
		return (&apiError{429, fmt.Sprintf("Too Many Requests: retry after %d", s), map[string]any{"retry_after": s}}).answer()
	case f.Status > 0:
		if f.Net == NetLost {
			t.call(r, method, p)
		}
		return f.page()
	case f.Net == NetRefuse, f.Net == NetHang:
		return answer{net: f.Net}
	}

	a := t.call(r, method, p)
	if f.Net != NetFine {
		a.net = f.Net
	}
	return a
}

// call runs one method. Called with mu held; only getUpdates lets go of it.
func (t *Telegram) call(r *http.Request, method string, p params) answer {
	if strings.EqualFold(method, "getUpdates") {
		return t.getUpdates(r.Context(), p)
	}
	do := t.method(method)
	if do == nil {
		return (&apiError{code: 404, text: "Not Found: method not found"}).answer()
	}
	result, e := do(p)
	if e != nil {
		return e.answer()
	}
	t.notify()
	return ok(result)
}

func ok(result any) answer {
	return answer{status: 200, contentType: "application/json", body: encode(map[string]any{"ok": true, "result": result})}
}

// method finds a method by its name, in any case; nil: there is none.
func (t *Telegram) method(name string) func(params) (any, *apiError) {
	switch strings.ToLower(name) {
	case "getme":
		return t.getMe
	case "sendmessage":
		return t.sendMessage
	case "editmessagetext":
		return t.editMessageText
	case "editmessagemedia":
		return t.editMessageMedia
	case "deletemessage":
		return t.deleteMessage
	case "sendchataction":
		return t.sendChatAction
	case "createforumtopic":
		return t.createForumTopic
	case "getchatmember":
		return t.getChatMember
	case "getchat":
		return t.getChat
	case "editforumtopic":
		return t.editForumTopic
	case "setmessagereaction":
		return t.setMessageReaction
	case "setmycommands":
		return t.setMyCommands
	case "getmycommands":
		return t.getMyCommands
	case "deletewebhook":
		return t.deleteWebhook
	case "setwebhook":
		return t.setWebhook
	case "getwebhookinfo":
		return t.getWebhookInfo
	case "answercallbackquery":
		return t.answerCallbackQuery
	case "getfile":
		return t.getFile
	}
	return nil
}

// object reads a JSON parameter into v; an absent one leaves v alone.
func (p params) object(key string, v any) *apiError {
	if p[key] == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(p[key]), v); err != nil {
		return bad("can't parse %s JSON object", strings.ReplaceAll(key, "_", " "))
	}
	return nil
}
