package slack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// TestTokensAreNowhere provokes every kind of failure and looks for the tokens
// and the ticket in all that comes out of it.
func TestTokensAreNowhere(t *testing.T) {
	var log bytes.Buffer
	var told []string
	tell := func(err error) {
		for ; err != nil; err = errors.Unwrap(err) {
			told = append(told, err.Error(), fmt.Sprintf("%+v %#v", err, err))
		}
	}
	echo := "Bearer " + botToken + " and " + appToken
	replies := []reply{
		no(echo), no("invalid_auth"), no("missing_scope"), htmlPage(502), tooManyCalls(1), ok(`"ts":"` + botToken + `"`), ok(`"ts":{}`),
		{status: 200, body: echo}, {err: errors.New("dialing with " + echo + " failed")},
		{status: 200, body: `{"ok":false,"error":"missing_scope","needed":"` + botToken + `"}`},
	}
	for _, r := range replies {
		a := adapter(always(r), &log)
		f := a.Features()
		for _, o := range []core.Outbound{{Place: dm, Text: "x"}, {Place: dm, Text: "x", Edit: "1.1"}, {Place: dm, Text: "x", File: &core.Attachment{Name: "a", Content: []byte("b")}}} {
			_, err := a.Send(t.Context(), o)
			tell(err)
		}
		_, err := f.Resolve(t.Context(), core.Outbound{Place: dm, Text: "x"})
		tell(err)
		_, err = f.Fetch(t.Context(), core.File{Ref: "F1 https://files.slack.com/x"})
		tell(err)
		_, err = f.Before(t.Context(), core.Need{Place: thread, MessageID: "1700000000.000900", Context: 1})
		tell(err)
		_, err = f.Read(t.Context(), thread, "", 1)
		tell(err)
		tell(f.Typing(t.Context(), thread))
		tell(f.React(t.Context(), thread, "1.1", "👀"))
		told = append(told, fmt.Sprintf("%v %+v %#v %+v", a, a, a.api, f))
	}
	synctest.Test(t, func(t *testing.T) {
		for _, r := range append(replies, ok(`"url":"ws://%zz/?ticket=secret-ticket"`), ok(`"url":"ws://x.test/?ticket=secret-ticket"`)) {
			o := script(map[string][]reply{"apps.connections.open": {r}})
			a := adapter(o, &log)
			a.dial = func(context.Context, string, string) (net.Conn, error) {
				return nil, errors.New("dialing failed: " + appToken)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			tell(a.Run(ctx, nothing))
			told = append(told, a.state().Trouble)
			cancel()
		}
	})
	for _, text := range append(told, log.String()) {
		if strings.Contains(text, "secret") {
			t.Fatalf("a secret is in %q", text)
		}
	}
	if log.Len() == 0 || len(told) < 50 {
		t.Error("nothing was said")
	}
}
