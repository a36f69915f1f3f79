package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// model is an OpenAI-compatible endpoint.
type model struct {
	mu    sync.Mutex
	act   func(inquiry) act // guarded by mu
	asked []inquiry         // guarded by mu
}

// inquiry is one request for a reply.
type inquiry struct {
	key      string // the API key that came with it
	Messages []struct {
		Role, Content string
	}
}

// act is what the model does when it is asked. The zero value says nothing.
type act struct {
	hold   <-chan struct{} // waits for it before anything else
	status int             // an error instead of a reply
	says   string          // that error's words
	tool   string          // calls this tool
	args   string          // with these arguments; empty: none
	pieces []string        // the reply, streamed
	pause  time.Duration   // before each piece
	cut    bool            // the stream ends before the reply does
}

// serve answers on a loopback address until the test ends, and returns the URL.
func serve(t *testing.T, h http.Handler) string {
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// does changes what the model does from now on.
func (m *model) does(do func(inquiry) act) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.act = do
}

// asks are the requests so far.
func (m *model) asks() []inquiry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]inquiry(nil), m.asked...)
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in := inquiry{key: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.asked = append(m.asked, in)
	do := m.act
	m.mu.Unlock()
	do(in).serve(w, r)
}

func (a act) serve(w http.ResponseWriter, r *http.Request) {
	if a.hold != nil {
		select {
		case <-a.hold:
		case <-r.Context().Done():
			return
		}
	}
	if a.status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.status)
		_, _ = fmt.Fprintf(w, `{"error":{"message":%q,"code":%d}}`, a.says, a.status)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(data string) {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data) // the caller may be gone
		_ = http.NewResponseController(w).Flush()
	}
	event := func(delta map[string]any, finish any) {
		b, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
		if err != nil {
			panic(err)
		}
		send(string(b))
	}
	for _, piece := range a.pieces {
		if !pause(r, a.pause) {
			return
		}
		event(map[string]any{"content": piece}, nil)
	}
	switch {
	case a.cut:
		panic(http.ErrAbortHandler)
	case a.tool != "":
		event(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": "call_1", "type": "function",
			"function": map[string]any{"name": a.tool, "arguments": cmp.Or(a.args, "{}")}}}}, nil)
		event(map[string]any{}, "tool_calls")
	default:
		event(map[string]any{}, "stop")
	}
	send("[DONE]")
}

// pause reports whether the caller has stayed on the line.
func pause(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// Every message of a test carries a question, q17, and the model's reply the
// answer, a17.
var (
	question = regexp.MustCompile(`\bq(\d+)\b`)
	quoted   = regexp.MustCompile(`(?m)^> .*$`) // what others were asked, perhaps
	answered = regexp.MustCompile(`\ba(\d+)(?:\.(\d+))?\b`)
)

// open lists the numbers of the questions that the request has no answer to.
func (a inquiry) open() (numbers []string) {
	done := map[string]bool{}
	for _, m := range a.Messages {
		if m.Role == "assistant" {
			for _, found := range answered.FindAllStringSubmatch(m.Content, -1) {
				done[found[1]] = true
			}
		}
	}
	for _, m := range a.Messages {
		if m.Role == "user" {
			for _, found := range question.FindAllStringSubmatch(quoted.ReplaceAllString(m.Content, ""), -1) {
				if n := found[1]; !done[n] {
					done[n] = true
					numbers = append(numbers, n)
				}
			}
		}
	}
	return numbers
}

// answer is the plain reply to all open questions.
func (a inquiry) answer() string {
	numbers := a.open()
	if len(numbers) == 0 {
		return "Nothing was asked."
	}
	return "The answer is a" + strings.Join(numbers, " a") + "."
}

// afterTool reports whether the request brings a tool's result.
func (a inquiry) afterTool() bool {
	n := len(a.Messages)
	return n > 0 && a.Messages[n-1].Role == "tool"
}

// answers is a model that answers everything at once.
func answers(a inquiry) act { return act{pieces: []string{a.answer()}} }
