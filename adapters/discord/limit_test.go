package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestRouteOf(t *testing.T) {
	tests := map[string]route{
		"channels/10/messages":                     {"GET channels/{id}/messages", "channels/10", false},
		"channels/10/messages?after=5&limit=100":   {"GET channels/{id}/messages", "channels/10", false},
		"channels/10/messages/7":                   {"GET channels/{id}/messages/{id}", "channels/10", false},
		"channels/10/messages/7/reactions/%F0/@me": {"GET channels/{id}/messages/{id}/reactions/{emoji}/@me", "channels/10", false},
		"applications/5/commands":                  {"GET applications/{id}/commands", "", false},
		"gateway/bot":                              {"GET gateway/bot", "", false},
		"interactions/3/secret/callback":           {"GET interactions/{id}/{token}/callback", "interactions/3/secret", true},
		"webhooks/4/123/messages/@original":        {"GET webhooks/{id}/{token}/messages/@original", "webhooks/4/123", true},
	}
	for path, want := range tests {
		if got := routeOf("GET", path); got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
}

// headers are those of an answer.
func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func state(bucket string, left int, reset string) http.Header {
	return headers("X-RateLimit-Bucket", bucket, "X-RateLimit-Remaining", fmt.Sprint(left), "X-RateLimit-Reset-After", reset)
}

// took is how long a call waited for its turn.
func (l *limiter) took(t *testing.T, r route) time.Duration {
	t.Helper()
	start := time.Now()
	if err := l.wait(t.Context(), r); err != nil {
		t.Fatalf("%s: %v", r.name, err)
	}
	return time.Since(start)
}

func TestBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l limiter
		send, edit := routeOf("POST", "channels/1/messages"), routeOf("PATCH", "channels/1/messages/5")
		elsewhere := routeOf("POST", "channels/2/messages")
		if d := l.took(t, send); d != 0 {
			t.Errorf("the first call waited %s", d)
		}
		l.note(send, state("b", 2, "1.5"), nil)
		l.note(edit, state("b", 2, "1.5"), nil) // shares the bucket
		for i, want := range []time.Duration{0, 0, 1500 * time.Millisecond, 0} {
			r := []route{send, edit}[i%2]
			if d := l.took(t, r); d != want {
				t.Errorf("call %d waited %s, want %s", i, d, want)
			}
		}
		l.note(send, state("b", 0, "3"), nil)
		l.note(elsewhere, state("b", 1, "3"), nil)
		if d := l.took(t, elsewhere); d != 0 {
			t.Errorf("another channel waited %s", d)
		}
		l.note(send, state("b", 4, "3"), nil) // an older answer that comes late
		if d := l.took(t, send); d != 3*time.Second {
			t.Errorf("it waited %s", d)
		}
		l.note(send, state("b", 0, "60"), nil)
		e, _ := errors.AsType[*apiError](l.wait(t.Context(), send))
		if e == nil || !e.unsent || e.retryAfter != time.Minute || e.global {
			t.Errorf("a long wait: %+v", e)
		}
		l.note(elsewhere, state("b", 0, "3"), nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.wait(ctx, elsewhere); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("an ended context: %v", err)
		}
	})
}

func TestTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l limiter
		send, other, hook := routeOf("POST", "channels/1/messages"), routeOf("GET", "gateway/bot"), routeOf("POST", "interactions/1/x/callback")
		l.note(send, state("b", 3, "1"), &apiError{answered: true, status: 429, retryAfter: 4 * time.Second})
		if d := l.took(t, other); d != 0 {
			t.Errorf("another route waited %s", d)
		}
		if d := l.took(t, send); d != 4*time.Second {
			t.Errorf("it waited %s", d)
		}
		l.note(send, nil, &apiError{answered: true, status: 429, retryAfter: 2 * time.Second, global: true})
		if d := l.took(t, hook); d != 0 {
			t.Errorf("an interaction waited %s", d)
		}
		if d := l.took(t, other); d != 2*time.Second {
			t.Errorf("after a global limit it waited %s", d)
		}
	})
}

// TestInvalidBudget: Discord blocks whoever goes on being refused.
func TestInvalidBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l limiter
		r := routeOf("GET", "channels/1")
		shared := headers("X-RateLimit-Scope", "shared")
		for range maxInvalid - 1 {
			l.note(r, nil, &apiError{status: 403})
			l.note(r, shared, &apiError{status: 429})
		}
		if d := l.took(t, r); d != 0 {
			t.Errorf("too early: %s", d)
		}
		time.Sleep(4 * time.Minute)
		l.note(r, nil, &apiError{status: 403})
		e, _ := errors.AsType[*apiError](l.wait(t.Context(), r))
		if e == nil || e.retryAfter != 6*time.Minute || !e.global {
			t.Errorf("the budget is used up: %+v", e)
		}
		time.Sleep(6*time.Minute + time.Second)
		if d := l.took(t, r); d != 0 {
			t.Errorf("in the next window it waited %s", d)
		}
		l.note(r, nil, &apiError{status: 403})
		if d := l.took(t, r); d != 0 {
			t.Errorf("one refusal: %s", d)
		}
	})
}

func TestPatience(t *testing.T) {
	tests := map[string]struct {
		r      refusal
		h      http.Header
		after  time.Duration
		global bool
	}{
		"float seconds":      {refusal{Message: "x", RetryAfter: 0.25}, nil, 250 * time.Millisecond, false},
		"header":             {refusal{Message: "x"}, headers("Retry-After", "3"), 3 * time.Second, false},
		"global":             {refusal{Message: "x", RetryAfter: 1, Global: true}, nil, time.Second, true},
		"global, by header":  {refusal{Message: "x", RetryAfter: 1}, headers("X-RateLimit-Global", "true"), time.Second, true},
		"global, by scope":   {refusal{Message: "x", RetryAfter: 1}, headers("X-RateLimit-Scope", "global"), time.Second, true},
		"no word":            {refusal{Message: "x"}, nil, time.Second, false},
		"nonsense":           {refusal{Message: "x"}, headers("Retry-After", "-1e400"), time.Second, false},
		"the edge":           {refusal{}, nil, edgePatience, true},
		"the edge, for long": {refusal{}, headers("Retry-After", "3000"), 3000 * time.Second, true},
	}
	for name, tt := range tests {
		if after, global := patience(tt.r, tt.h); after != tt.after || global != tt.global {
			t.Errorf("%s: %s, %t", name, after, global)
		}
	}
}

// TestManyBuckets: limits that have passed are forgotten.
func TestManyBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l limiter
		for i := range 5 * maxBuckets {
			l.note(routeOf("POST", fmt.Sprintf("channels/%d/messages", i)), state("b", 1, "1"), nil)
			time.Sleep(10 * time.Millisecond)
		}
		if n := len(l.buckets); n > maxBuckets {
			t.Errorf("%d buckets are kept", n)
		}
	})
}

func TestBounded(t *testing.T) {
	var b bounded[int, string]
	for i := range maxKept + 10 {
		b.put(i, "x")
		b.put(i, "y")
	}
	if b.has(9) || !b.has(10) || len(b.kept) != maxKept {
		t.Errorf("%d are kept", len(b.kept))
	}
	if v, ok := b.get(maxKept); v != "y" || !ok {
		t.Errorf("got %q", v)
	}
}
