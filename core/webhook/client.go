package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"bellhop/core"
)

// Hook is where and how an external actor is told something.
type Hook struct {
	URL    string
	Secret string // with which what is posted is signed
}

// Client posts errands. It keeps no connection open.
type Client struct {
	hooks map[string]Hook
	tls   *http.Client
	plain *http.Client // for http://
	now   func() time.Time
}

// patience is how long an actor may take to say that it has got something.
const patience = 10 * time.Second

// NewClient makes a Client for the hooks, by handle. trust says whose
// certificates count; nil: those that the system trusts.
func NewClient(hooks map[string]Hook, trust *tls.Config) *Client {
	return &Client{hooks: hooks, tls: client(anywhere, trust), plain: client(nearby, nil), now: time.Now}
}

func client(guard func(netip.Addr) error, trust *tls.Config) *http.Client {
	dialer := &net.Dialer{Timeout: patience, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return guard(at.Addr().Unmap().WithZone(""))
	}}
	// No proxy: what is said is for the actor alone.
	return &http.Client{
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: trust, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
	}
}

// forbidden is why an address is not connected to. The one that is dialled
// counts, whatever a name stood for before.
type forbidden string

func (f forbidden) Error() string { return string(f) }

// anywhere lets everything pass but what belongs to no host: the owner has
// chosen the address, so one of their own network is as good as another.
// Link-local addresses are where clouds hand out credentials.
func anywhere(ip netip.Addr) error {
	if ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return forbidden("its address is one that I do not connect to")
	}
	return nil
}

// nearby lets pass this machine and private networks: elsewhere, others could
// read what is said.
func nearby(ip netip.Addr) error {
	if !ip.IsLoopback() && !ip.IsPrivate() {
		return forbidden("outside this machine and private networks I need https")
	}
	return nil
}

// Post posts the errand to the webhook of its actor. Any 2xx is a success,
// whatever follows.
func (c *Client) Post(ctx context.Context, e core.Errand) error {
	hook := c.hooks[e.Item.Bot]
	body, err := encode(e, c.now())
	if err != nil {
		return &Failure{Why: "what I wanted to tell it cannot be written down", Final: true, Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.URL, bytes.NewReader(body))
	if err != nil {
		return &Failure{Why: "its address is none", Final: true, Err: withoutURL(err)}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "bellhop")
	req.Header.Set("X-Bellhop-Kind", string(e.Item.Kind))
	req.Header.Set("X-Bellhop-Item", string(e.Item.ID))
	req.Header.Set("X-Bellhop-Signature", Sign(hook.Secret, body))
	by := c.tls
	if req.URL.Scheme == "http" {
		by = c.plain
	}
	resp, err := by.Do(req)
	if err != nil {
		return failure(withoutURL(err))
	}
	resp.Body.Close()
	return judge(resp)
}

// Sign is the value of X-Bellhop-Signature: the hexadecimal HMAC-SHA256 of the
// body as it is sent.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// judge says what a status means.
func judge(resp *http.Response) error {
	code := resp.StatusCode
	said := strings.TrimSpace(fmt.Sprintf("it answered %d %s", code, http.StatusText(code)))
	switch {
	case code/100 == 2:
		return nil
	case code/100 == 3:
		return &Failure{Why: fmt.Sprintf("it answered %d, a redirect, which I do not follow", code), Final: true}
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests:
		return &Failure{Why: said}
	case code/100 == 4:
		return &Failure{Why: said, Final: true}
	}
	return &Failure{Why: said}
}

// withoutURL is the error without the address, which may hold a token.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// failure puts an error into words.
func failure(err error) error {
	var timeout net.Error
	var dns *net.DNSError
	var no forbidden
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &no):
		return &Failure{Why: string(no), Final: true, Err: err}
	case errors.As(err, &cert):
		return &Failure{Why: "its certificate is not valid", Err: err}
	case errors.As(err, &dns):
		return &Failure{Why: "its host is not known", Err: err}
	case errors.As(err, &timeout) && timeout.Timeout():
		return &Failure{Why: fmt.Sprintf("no answer within %s", patience), Err: err}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &Failure{Why: "nobody listens there", Err: err}
	}
	return &Failure{Why: "the connection failed", Err: err}
}
