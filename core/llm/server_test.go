package llm

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"bellhop/core"
)

// What goes over a real connection: address, headers, body, and the connection
// again.
func TestHTTP(t *testing.T) {
	type request struct{ method, path, auth, title, accept, body string }
	var got []request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, request{r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("X-Title"), r.Header.Get("Accept"), string(body)})
		for _, part := range strings.SplitAfter(whole, "\n\n") {
			_, _ = io.WriteString(w, part)
			w.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	p := NewOpenAI(OpenAIOptions{BaseURL: server.URL + "/v1/", APIKey: "sk-12345", Headers: map[string]string{"X-Title": "bellhop"}})
	defer p.opts.HTTP.CloseIdleConnections()
	reused := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		if c.Reused {
			reused++
		}
	}})
	for range 3 {
		if h := hear(t, ctx, p, core.Call{Model: "m"}); h.Text != "hello" {
			t.Fatalf("%+v", h)
		}
	}
	want := request{"POST", "/v1/chat/completions", "Bearer sk-12345", "bellhop", "text/event-stream",
		`{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[]}`}
	for _, r := range got {
		if r != want {
			t.Errorf("got %+v, want %+v", r, want)
		}
	}
	if reused != 2 {
		t.Errorf("%d connections were used again, want 2", reused)
	}
}

// Redirects are not followed: they would carry the headers elsewhere.
func TestRedirect(t *testing.T) {
	server := httptest.NewServer(http.RedirectHandler("https://elsewhere.example/", http.StatusTemporaryRedirect))
	defer server.Close()
	p := NewOpenAI(OpenAIOptions{BaseURL: server.URL})
	defer p.opts.HTTP.CloseIdleConnections()
	got := hear(t, t.Context(), p, core.Call{})
	e, ok := errors.AsType[*core.ModelError](got.Err)
	if !ok || e.Fault != core.FaultRequest || e.Msg != "the address has moved to https://elsewhere.example/" {
		t.Errorf("error %v", got.Err)
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(nil)
	url := strings.Replace(server.URL, "http://", "http://someone:password@", 1)
	server.Close()
	got := hear(t, t.Context(), NewOpenAI(OpenAIOptions{Name: "p", BaseURL: url, Tries: -1}), core.Call{Model: "m"})
	e, ok := errors.AsType[*core.ModelError](got.Err)
	if !ok || e.Fault != core.FaultTransport || !strings.Contains(e.Msg, "connection refused") || strings.Contains(e.Msg, "password") {
		t.Errorf("error %v", got.Err)
	}
}

// The endpoint refuses stream_options: asked again without, once, and never
// sent again. That is not a retry.
func TestNoStreamOptions(t *testing.T) {
	for _, refusal := range []answer{
		refuse(400, `{"error":"unknown field stream_options"}`),
		refuse(422, `{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`),
	} {
		s := &server{answers: []answer{refusal, text(whole)}}
		p := NewOpenAI(OpenAIOptions{HTTP: &http.Client{Transport: s}})
		for range 2 {
			if got := hear(t, t.Context(), p, core.Call{}); got.Text != "hello" || got.Retries != 0 {
				t.Errorf("got %+v", got)
			}
		}
		var with []bool
		for _, body := range s.sent {
			with = append(with, strings.Contains(body, "stream_options"))
		}
		if len(with) != 3 || !with[0] || with[1] || with[2] {
			t.Errorf("requests with stream_options: %v", with)
		}
	}
	s := &server{answers: []answer{refuse(400, `stream_options`)}}
	got := listen(t, t.Context(), s, OpenAIOptions{}, core.Call{})
	if e, ok := errors.AsType[*core.ModelError](got.Err); !ok || e.Tries != 1 || len(s.sent) != 2 {
		t.Errorf("error %v after %d requests", got.Err, len(s.sent))
	}
}

// No way leads a secret into an error or the log.
func TestSecrets(t *testing.T) {
	const key, other = "sk-proj-0123456789", "s3cret-header"
	o := OpenAIOptions{APIKey: key, Headers: map[string]string{"X-Key": "Token " + other, "X-Longer": key + "-and-more"}}
	said := "Authorization: Bearer " + key + ", X-Key: " + other + ", X-Longer: " + key + "-and-more"
	cutting := strings.Repeat("x", maxMsg-8) + key // half of it would stay when cut first
	for name, a := range map[string]answer{
		"refusal":   refuse(400, said),
		"JSON":      refuse(401, `{"error":{"message":"`+said+`"}}`),
		"cut":       refuse(400, cutting),
		"retried":   refuse(500, said),
		"redirect":  {status: 301, header: http.Header{"Location": {"https://x/?key=" + key}}},
		"transport": {err: errors.New(said)},
		"stream":    text(sse(`{"error":{"message":"` + said + `"}}`)),
		"garbage":   text(sse(said)),
		"page":      text("<title>" + said + "</title>"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				o.Log = slog.New(slog.NewTextHandler(&log, nil))
				got := listen(t, t.Context(), &server{answers: []answer{a}}, o, core.Call{})
				if text := got.Err.Error() + log.String(); strings.Contains(text, "sk-proj") || strings.Contains(text, other) || strings.Contains(text, "and-more") {
					t.Error(text)
				}
			})
		})
	}
	// A value that cannot be a header fails without being told.
	got := hear(t, t.Context(), NewOpenAI(OpenAIOptions{BaseURL: "http://127.0.0.1:1", APIKey: key + "\n", Tries: -1}), core.Call{})
	if strings.Contains(got.Err.Error(), "sk-proj") {
		t.Error(got.Err)
	}
}

func TestNoKey(t *testing.T) {
	s := &server{answers: []answer{text(whole)}}
	listen(t, t.Context(), s, OpenAIOptions{}, core.Call{})
	if got, ok := s.requests[0].Header["Authorization"]; ok {
		t.Errorf("Authorization: %q", got)
	}
	if got := s.requests[0].URL.String(); got != "https://api.openai.com/v1/chat/completions" {
		t.Errorf("address %s", got)
	}
}

// One provider serves many calls at once.
func TestConcurrent(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("stream_options")) {
			http.Error(w, "stream_options", http.StatusBadRequest)
			return
		}
		_, name, _ := bytes.Cut(body, []byte(`"model":"`))
		name, _, _ = bytes.Cut(name, []byte(`"`))
		_, _ = io.WriteString(w, sse(says(string(name)), ends("stop"), "[DONE]"))
	}))
	defer server.Close()
	p := NewOpenAI(OpenAIOptions{BaseURL: server.URL})
	defer p.opts.HTTP.CloseIdleConnections()
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			model := "m" + strings.Repeat("x", i)
			for range 4 {
				if got := hear(t, t.Context(), p, core.Call{Model: model}); got.Text != model {
					t.Errorf("%s got %+v", model, got)
				}
			}
		})
	}
	group.Wait()
}
