package discord

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
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
)

const (
	// maxAnswer bounds an answer: a hundred messages are far below it.
	maxAnswer = 64 << 20

	// userAgent has the form that Discord asks for; others are blocked.
	userAgent = "DiscordBot (https://github.com/bwmarrin/discordgo, v" + discordgo.VERSION + ") bellhop"
)

// client calls the REST API. It alone knows the token, and keeps it in
// closures: no way of printing a client shows it.
type client struct {
	http      *http.Client
	base      *url.URL // without a slash at its end
	authorize func(h http.Header)
	identify  func() string // the token, for the gateway
	redact    func(text string) string
	limits    limiter
}

func newClient(o Options) *client {
	raw := strings.TrimSuffix(o.APIURL, "/")
	if raw == "" {
		raw = defaultAPI
	}
	base, err := url.Parse(raw)
	if err != nil {
		base = &url.URL{Path: raw} // every call fails, and says so
	}
	token := strings.TrimPrefix(strings.TrimSpace(o.Token), "Bot ")

	// A redirect would carry the token to another place.
	hc := http.Client{Transport: transport()}
	if o.HTTP != nil {
		hc = *o.HTTP
	}
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

	return &client{
		http:      &hc,
		base:      base,
		authorize: func(h http.Header) { h.Set("Authorization", "Bot "+token) },
		identify:  func() string { return token },
		redact: func(text string) string {
			if token == "" {
				return text
			}
			return strings.ReplaceAll(text, token, "***")
		},
	}
}

// maxConns bounds the connections: far more than the 50 calls a second that
// Discord takes from one bot need.
const maxConns = 16

// transport keeps connections alive and speaks HTTP/1 only: a call that is cut
// then closes its connection, where HTTP/2 would hand the same deaf one to the
// next call.
func transport() *http.Transport {
	var p http.Protocols
	p.SetHTTP1(true)
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: callTimeout,
		MaxIdleConnsPerHost:   maxConns,
		MaxConnsPerHost:       maxConns,
		IdleConnTimeout:       90 * time.Second,
		Protocols:             &p,
	}
}

// apiError is a call without a result. Its text contains no token: neither
// ours nor one of an interaction, which is part of the path.
type apiError struct {
	route      string
	text       string
	answered   bool          // Discord itself said no: nothing was done
	unsent     bool          // nothing left this machine
	status     int           // HTTP status; 0: no answer
	code       int           // Discord's own code
	retryAfter time.Duration // not before that; set for every 429
	global     bool          // retryAfter holds for every call
	ended      error         // the context's error, when that was the reason
}

func (e *apiError) Error() string { return "discord " + e.route + ": " + e.text }

func (e *apiError) Unwrap() error { return e.ended }

// call makes one call of the API and decodes its result, unless that is nil.
// body is sent as JSON, or as multipart if it is a *form. Every error is an
// *apiError.
func (c *client) call(ctx context.Context, method, path string, body, result any) error {
	route := routeOf(method, path)
	content, kind, err := encode(body)
	if err != nil {
		return &apiError{route: route.name, text: err.Error(), unsent: true}
	}
	timeout := callTimeout
	if _, file := body.(*form); file {
		timeout = uploadTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := c.limits.wait(ctx, route); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return &apiError{route: route.name, text: err.Error(), unsent: true, ended: err}
	}

	// Between asking for a connection and having one, nothing can have been
	// sent. A transport that does not tell is not believed.
	var asked, got atomic.Bool
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { got.Store(true) },
	}), method, c.base.String()+"/"+path, bytes.NewReader(content))
	if err != nil {
		return &apiError{route: route.name, text: c.reason(err), unsent: true}
	}
	req.Header.Set("User-Agent", userAgent)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if !route.tokened {
		c.authorize(req.Header)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		op, _ := errors.AsType[*net.OpError](err)
		dial := op != nil && op.Op == "dial"
		return &apiError{
			route: route.name, text: "no answer: " + c.reason(err), ended: ctx.Err(),
			unsent: !got.Load() && (asked.Load() || dial),
		}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return &apiError{route: route.name, text: "the answer broke off: " + c.reason(err), ended: ctx.Err()}
	}
	return c.read(route, resp, data, result)
}

// refusal is Discord's own error.
type refusal struct {
	Code       int             `json:"code"`
	Message    string          `json:"message"`
	Errors     json.RawMessage `json:"errors"`
	RetryAfter float64         `json:"retry_after"`
	Global     bool            `json:"global"`
}

// read is what an answer says.
func (c *client) read(route route, resp *http.Response, data []byte, result any) error {
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		c.limits.note(route, resp.Header, nil)
		if result == nil {
			return nil
		}
		if err := json.Unmarshal(data, result); err != nil {
			return &apiError{route: route.name, text: "unreadable result: " + c.redact(err.Error()), status: resp.StatusCode}
		}
		return nil
	}
	e := &apiError{route: route.name, status: resp.StatusCode}
	var r refusal
	if json.Unmarshal(data, &r) == nil && r.Message != "" {
		e.answered = resp.StatusCode < http.StatusInternalServerError
		e.code, e.text = r.Code, c.redact(r.Message)
		if len(r.Errors) > 0 {
			e.text += " " + c.redact(string(r.Errors[:min(len(r.Errors), 500)]))
		}
	} else {
		e.text = fmt.Sprintf("HTTP %d without an answer of Discord", resp.StatusCode)
	}
	if e.status == http.StatusTooManyRequests {
		e.retryAfter, e.global = patience(r, resp.Header)
	}
	c.limits.note(route, resp.Header, e)
	return e
}

// encode is a body and its content type.
func encode(body any) ([]byte, string, error) {
	switch b := body.(type) {
	case nil:
		return nil, "", nil
	case *form:
		return b.encode()
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(body)
	return out.Bytes(), "application/json", err
}

// reason is err's text without the URL, which may contain a token.
func (c *client) reason(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return c.redact(err.Error())
}

// refusedWith reports whether Discord refused with one of its codes.
func refusedWith(err error, codes ...int) bool {
	e, ok := errors.AsType[*apiError](err)
	if !ok || !e.answered {
		return false
	}
	return slices.Contains(codes, e.code)
}
