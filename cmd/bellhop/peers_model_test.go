//go:build peers

package main

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"
)

// mock is aimock, an OpenAI-compatible endpoint that others wrote.
type mock struct{ server }

// newMock starts it.
func newMock(t *testing.T) *mock {
	nothing := write(t, t.TempDir(), "none.json", `{"fixtures":[]}`)
	return &mock{serverBy(t, "4010", "/__aimock/health", "node",
		installedFile("@copilotkit/aimock/dist/cli.js"), "-p", "4010", "-f", nothing)}
}

// fixture is what it does when the newest message has a word in it.
type fixture struct {
	Match struct {
		Word string `json:"userMessage"`
		Time *int   `json:"sequenceIndex,omitempty"` // only the first time (0), the second (1), …
	} `json:"match"`
	Response struct {
		Text  string     `json:"content,omitempty"`
		Error *mockError `json:"error,omitempty"`
		Code  int        `json:"status,omitempty"`
	} `json:"response"`
	Pause int `json:"latency,omitempty"`   // milliseconds before each piece of the stream
	Piece int `json:"chunkSize,omitempty"` // characters
}

type mockError struct {
	Text string `json:"message"`
	Kind string `json:"type"`
}

// streams is a fixture that streams the text, which takes as long as said.
func streams(word, text string, takes time.Duration) fixture {
	var f fixture
	f.Match.Word, f.Response.Text = word, text
	f.Piece = max(10, len(text)/1000)
	f.Pause = int(takes.Milliseconds()) * f.Piece / len(text)
	return f
}

// refuses is a fixture that answers with an error.
func refuses(word string, status int) fixture {
	var f fixture
	f.Match.Word, f.Response.Code, f.Response.Error = word, status, &mockError{http.StatusText(status), "error"}
	return f
}

// nth is the fixture for only one of the requests, counted from 0.
func (f fixture) nth(n int) fixture {
	f.Match.Time = &n
	return f
}

// will says what it does from now on: the first fixture that fits. Messages
// quote what was said before, so the newest question comes first.
func (m *mock) will(t *testing.T, list ...fixture) {
	t.Helper()
	m.call(t, http.MethodDelete, "/__aimock/fixtures", nil, nil)
	m.post(t, "/__aimock/fixtures", map[string]any{"fixtures": list}, nil)
}

// asked are the requests whose newest message has the word in it.
func (m *mock) asked(t *testing.T, word string) (list []prompted) {
	t.Helper()
	var journal []struct {
		Body prompted `json:"body"`
	}
	m.get(t, "/__aimock/journal?path=/chat/completions", &journal)
	for _, entry := range journal {
		names := strings.Contains(entry.Body.Messages[0].text(), "titles") // it gives the conversation its title
		if !names && strings.Contains(entry.Body.last().text(), word) {
			list = append(list, entry.Body)
		}
	}
	return list
}

// prompted is a request for a reply, as the model reads it.
type prompted struct {
	Stream   bool            `json:"stream"`
	Messages []promptMessage `json:"messages"`
}

type promptMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"` // text, or a list of parts
}

// last is the newest message.
func (r prompted) last() promptMessage {
	if len(r.Messages) == 0 {
		return promptMessage{}
	}
	return r.Messages[len(r.Messages)-1]
}

// parts are what a message says and shows, by the name of their kind.
func (m promptMessage) parts(kind string) (values []any) {
	if text, ok := m.Content.(string); ok && kind == "text" {
		return []any{text}
	}
	list, _ := m.Content.([]any)
	for _, p := range list {
		if p, _ := p.(map[string]any); p["type"] == kind {
			values = append(values, p[kind])
		}
	}
	return values
}

// text is all that a message says.
func (m promptMessage) text() string {
	var b strings.Builder
	for _, v := range m.parts("text") {
		s, _ := v.(string)
		b.WriteString(s)
	}
	return b.String()
}

// pictures are what a message shows.
func (m promptMessage) pictures(t *testing.T) (list [][]byte) {
	t.Helper()
	for _, v := range m.parts("image_url") {
		image, _ := v.(map[string]any)
		url, _ := image["url"].(string)
		_, data, _ := strings.Cut(url, ";base64,")
		content, err := base64.StdEncoding.DecodeString(data)
		if err != nil || len(content) == 0 {
			t.Errorf("a picture is at %.80q, want it in the request (%v)", url, err)
		}
		list = append(list, content)
	}
	return list
}
