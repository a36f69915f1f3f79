package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// maxAnswer bounds an answer: a hundred updates of the largest kind are
	// far below it.
	maxAnswer = 64 << 20

	// patience is how long to wait when a 429 does not say. A proxy's 429 has
	// no retry_after and lasts longer than Telegram's.
	patience = 30 * time.Second
)

// client makes Bot API calls. It alone knows the token, which is part of every
// URL, and keeps it in closures: no way of printing a client shows it.
type client struct {
	// Polls and downloads have connections of their own: neither may wait for
	// answers that go out, nor hold them up.
	http, polls, files *http.Client

	slots  chan struct{} // one token per call in progress, polls apart
	url    func(method string) string
	file   func(path string) string // where a file can be downloaded
	redact func(text string) string
}

func newClient(o Options) *client {
	base := strings.TrimSuffix(o.APIURL, "/")
	if base == "" {
		base = defaultAPI
	}
	token := strings.TrimSpace(o.Token)
	prefix := base + "/bot" + url.PathEscape(token) + "/"

	// A redirect would carry the token to another place.
	connect := func(conns int) *http.Client {
		hc := http.Client{Transport: transport(conns)}
		if o.HTTP != nil {
			hc = *o.HTTP
		}
		hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		return &hc
	}

	return &client{
		http:  connect(maxConns),
		polls: connect(1),
		files: connect(maxDownloads),
		slots: make(chan struct{}, maxConns),
		url:   func(method string) string { return prefix + method },
		file: func(path string) string {
			return base + "/file/bot" + url.PathEscape(token) + "/" + (&url.URL{Path: path}).EscapedPath()
		},
		redact: func(text string) string {
			if token == "" {
				return text
			}
			return strings.ReplaceAll(text, token, "***")
		},
	}
}

const (
	// maxConns bounds the connections for calls. They carry as many as Telegram
	// takes from one bot (about 30 a second), even if each takes half a second. A
	// burst costs no more memory than that.
	maxConns = 15
	// maxDownloads bounds those for files.
	maxDownloads = 4
)

// transport keeps connections alive and speaks HTTP/1 only: a call that is cut
// then closes its connection, where HTTP/2 would hand the same deaf one to the
// next call.
func transport(conns int) *http.Transport {
	var p http.Protocols
	p.SetHTTP1(true)
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: conns,
		MaxConnsPerHost:     conns,
		IdleConnTimeout:     90 * time.Second,
		Protocols:           &p,
	}
}

// apiError is a call without a result. Its text never contains the token.
type apiError struct {
	method     string
	text       string
	answered   bool          // Telegram itself said no: nothing was done
	unsent     bool          // nothing left this machine
	code       int           // Telegram's error code, or a proxy's HTTP status; 0: no answer
	retryAfter time.Duration // set for every 429
	migrateTo  int64         // the chat's new id
	ended      error         // the context's error, when that was the reason
}

func (e *apiError) Error() string { return "telegram " + e.method + ": " + e.text }

func (e *apiError) Unwrap() error { return e.ended }

// answer is Telegram's envelope.
type answer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// raw calls a method with params as a JSON object and decodes its result,
// unless that is nil. Every error is an *apiError.
func (c *client) raw(ctx context.Context, timeout time.Duration, method string, params, result any) error {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(params); err != nil {
		return &apiError{method: method, text: err.Error(), unsent: true}
	}
	return c.post(ctx, timeout, method, "application/json", &body, result)
}

// post calls a method with a body of the content type.
func (c *client) post(ctx context.Context, timeout time.Duration, method, contentType string, body *bytes.Buffer, result any) error {
	hc := c.polls
	if method != "getUpdates" {
		hc = c.http
		select {
		case c.slots <- struct{}{}:
			defer func() { <-c.slots }()
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return &apiError{method: method, text: err.Error(), unsent: true, ended: err}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	// Between asking for a connection and having one, nothing can have been
	// sent. A transport that does not tell is not believed.
	var asked, got atomic.Bool
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { got.Store(true) },
	}), http.MethodPost, c.url(method), body)
	if err != nil {
		return &apiError{method: method, text: c.reason(err), unsent: true}
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := hc.Do(req)
	if err != nil {
		op, _ := errors.AsType[*net.OpError](err)
		dial := op != nil && op.Op == "dial"
		return &apiError{
			method: method, text: "no answer: " + c.reason(err), ended: ctx.Err(),
			unsent: !got.Load() && (asked.Load() || dial),
		}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return &apiError{method: method, text: "the answer broke off: " + c.reason(err), ended: ctx.Err()}
	}

	var a answer
	if err := json.Unmarshal(data, &a); err != nil || !a.OK && a.Code == 0 {
		e := &apiError{method: method, text: fmt.Sprintf("HTTP %d without an answer of Telegram", resp.StatusCode), code: resp.StatusCode}
		if e.code == http.StatusTooManyRequests {
			e.retryAfter = retryAfter(0, resp.Header)
		}
		return e
	}
	if !a.OK {
		e := &apiError{method: method, text: c.redact(a.Description), answered: true, code: a.Code, migrateTo: a.Parameters.MigrateTo}
		if e.code == http.StatusTooManyRequests {
			e.retryAfter = retryAfter(a.Parameters.RetryAfter, resp.Header)
		}
		return e
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return &apiError{method: method, text: "unreadable result: " + c.redact(err.Error()), code: resp.StatusCode}
	}
	return nil
}

// reason is err's text without the URL, which contains the token.
func (c *client) reason(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return c.redact(err.Error())
}

// retryAfter is how long a 429 asks to wait.
func retryAfter(seconds int, h http.Header) time.Duration {
	if seconds <= 0 {
		seconds, _ = strconv.Atoi(h.Get("Retry-After"))
	}
	if seconds <= 0 {
		return patience
	}
	return time.Duration(seconds) * time.Second
}
