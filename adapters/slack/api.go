package slack

import (
	"cmp"
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
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// maxAnswer bounds an answer: a thousand messages are far below it.
	maxAnswer = 64 << 20

	// patience is how long to wait when a refusal for now does not say.
	patience = 10 * time.Second
)

// client makes Web API calls. It alone knows the tokens and keeps them in
// closures: no way of printing a client shows them.
type client struct {
	base   *url.URL // ends with a slash; nil if APIURL is none
	http   *http.Client
	files  *http.Client // follows redirects as far as a token may go
	sign   func(r *http.Request, app bool)
	redact func(text string) string
	wrong  string // what is wrong with the tokens at first sight; empty: nothing
}

func newClient(o Options) *client {
	bot, app := strings.TrimSpace(o.BotToken), strings.TrimSpace(o.AppToken)
	base, err := url.Parse(strings.TrimSuffix(cmp.Or(o.APIURL, defaultAPI), "/") + "/")
	if err != nil {
		base = nil
	}
	c := &client{
		base: base,
		sign: func(r *http.Request, forApp bool) {
			token := bot
			if forApp {
				token = app
			}
			r.Header.Set("Authorization", "Bearer "+token)
		},
		redact: func(text string) string {
			for _, token := range []string{bot, app} {
				if token != "" {
					text = strings.ReplaceAll(text, token, "***")
				}
			}
			return text
		},
		wrong: wrongTokens(bot, app),
	}
	hc := http.Client{Transport: transport()}
	if o.HTTP != nil {
		hc = *o.HTTP
	}
	// A redirect would carry a token to another place.
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	files := hc
	files.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > 5 || !c.trusts(r.URL) {
			return errors.New("redirected away from Slack")
		}
		return nil
	}
	c.http, c.files = &hc, &files
	return c
}

// wrongTokens tells tokens of another kind, and those in each other's place,
// by how they begin.
func wrongTokens(bot, app string) string {
	switch {
	case bot == "" || app == "":
		return "needs a bot token (xoxb-…) and an app-level token (xapp-…)"
	case strings.HasPrefix(bot, "xapp-") || strings.HasPrefix(app, "xoxb-"):
		return "has an app-level token (xapp-…) and a bot token (xoxb-…) in each other's place"
	case strings.HasPrefix(bot, "xoxp-") || strings.HasPrefix(bot, "xoxe"):
		return "needs a bot token (xoxb-…), not a person's or a refresh token"
	}
	return ""
}

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
		MaxIdleConnsPerHost:   16,
		MaxConnsPerHost:       16,
		IdleConnTimeout:       90 * time.Second,
		Protocols:             &p,
	}
}

// slackDomains are the hosts, with all below them, that a token may be sent to.
var slackDomains = []string{"slack.com", "slack-files.com", "slack-edge.com", "slack-gov.com"}

// trusts reports whether a token may go to u: to Slack, or where all calls go.
func (c *client) trusts(u *url.URL) bool {
	if c.base != nil && u.Scheme == c.base.Scheme && strings.EqualFold(u.Host, c.base.Host) {
		return true
	}
	host := strings.ToLower(u.Hostname())
	return u.Scheme == "https" && slices.ContainsFunc(slackDomains, func(d string) bool {
		return host == d || strings.HasSuffix(host, "."+d)
	})
}

// apiError is a call without a result. Its text never contains a token.
type apiError struct {
	method     string
	text       string
	code       string        // Slack's own word for it; empty: Slack did not answer
	needed     string        // missing_scope: which
	unsent     bool          // nothing left this machine
	retryAfter time.Duration // set for every refusal for now
	ended      error         // the context's error, when that was the reason
}

func (e *apiError) Error() string { return "slack " + e.method + ": " + e.text }

func (e *apiError) Unwrap() error { return e.ended }

// is reports whether err is Slack's answer with one of the codes.
func is(err error, codes ...string) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && e.code != "" && slices.Contains(codes, e.code)
}

// call calls a method with the bot's token and decodes its answer, unless
// result is nil. Every error is an *apiError.
func (c *client) call(ctx context.Context, method string, params url.Values, result any) error {
	return c.do(ctx, method, params, false, result)
}

func (c *client) do(ctx context.Context, method string, params url.Values, app bool, result any) error {
	if c.base == nil {
		return &apiError{method: method, text: "the API URL is none", unsent: true}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.JoinPath(method).String(), strings.NewReader(params.Encode()))
	if err != nil {
		return &apiError{method: method, text: c.reason(err), unsent: true}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	c.sign(req, app)
	data, header, status, err := c.send(req, method)
	if err != nil {
		return err
	}
	var a struct {
		OK     bool   `json:"ok"`
		Error  string `json:"error"`
		Needed string `json:"needed"`
	}
	if err := json.Unmarshal(data, &a); err != nil || !a.OK && a.Error == "" {
		return &apiError{method: method, text: fmt.Sprintf("HTTP %d without an answer of Slack", status)}
	}
	if !a.OK {
		e := &apiError{method: method, text: c.redact(a.Error), code: a.Error, needed: c.redact(a.Needed)}
		if e.needed != "" {
			e.text += " (" + e.needed + ")"
		}
		if a.Error == "ratelimited" || a.Error == "rate_limited" {
			e.retryAfter = retryAfter(header)
		}
		return e
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(data, result); err != nil {
		return &apiError{method: method, text: "unreadable answer: " + c.redact(err.Error())}
	}
	return nil
}

// send makes a request and reads its answer, whatever that says, unless it is
// a refusal for now.
func (c *client) send(req *http.Request, method string) (data []byte, header http.Header, status int, err error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return nil, nil, 0, &apiError{method: method, text: err.Error(), unsent: true, ended: err}
	}
	// Between asking for a connection and having one, nothing can have been
	// sent. A transport that does not tell is not believed.
	var asked, got atomic.Bool
	resp, err := c.http.Do(req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { got.Store(true) },
	})))
	if err != nil {
		op, _ := errors.AsType[*net.OpError](err)
		dial := op != nil && op.Op == "dial"
		return nil, nil, 0, &apiError{
			method: method, text: "no answer: " + c.reason(err), ended: ctx.Err(),
			unsent: !got.Load() && (asked.Load() || dial),
		}
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		return nil, nil, 0, &apiError{method: method, text: "too many requests", code: "ratelimited", retryAfter: retryAfter(resp.Header)}
	case err != nil:
		return nil, nil, 0, &apiError{method: method, text: "the answer broke off: " + c.reason(err), ended: ctx.Err()}
	}
	return data, resp.Header, resp.StatusCode, nil
}

// reason is err's text without the URL, which may contain a ticket.
func (c *client) reason(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return c.redact(err.Error())
}

// retryAfter is how long a refusal for now asks to wait.
func retryAfter(h http.Header) time.Duration {
	seconds, _ := strconv.Atoi(h.Get("Retry-After"))
	if seconds <= 0 {
		return patience
	}
	return time.Duration(seconds) * time.Second
}
