package discord

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// maxHold is how long a call waits for its turn by itself. Beyond it the
	// caller is told, who has other things to do.
	maxHold = 10 * time.Second

	// edgePatience is how long to wait when the proxy before Discord refuses,
	// which does not say when it will stop and means minutes.
	edgePatience = 5 * time.Minute

	// Discord blocks an address for an hour after 10,000 calls in ten minutes
	// that were answered with 401, 403 or 429. All calls rest well before.
	maxInvalid    = 5000
	invalidWindow = 10 * time.Minute

	// maxBuckets is when the limits that have passed are forgotten.
	maxBuckets = 1000
)

// route is a kind of call, for which Discord has one limit.
type route struct {
	name    string // without ids and tokens, so that people may see it
	major   string // the channel, server or webhook it is about: limits are apart for each
	tokened bool   // a token of its own is in the path; it needs no other and has no global limit
}

// routeOf finds the route of a path, which has no slash at its ends.
func routeOf(method, path string) route {
	path, _, _ = strings.Cut(path, "?")
	segments := strings.Split(path, "/")
	r := route{tokened: (segments[0] == "webhooks" || segments[0] == "interactions") && len(segments) > 2}
	for i, s := range segments {
		switch {
		case i > 1 && segments[i-1] == "reactions":
			segments[i] = "{emoji}"
		case i == 2 && r.tokened:
			segments[i] = "{token}"
			r.major += "/" + s
		case i == 1 && (segments[0] == "channels" || segments[0] == "guilds" || r.tokened):
			segments[i] = "{id}"
			r.major = segments[0] + "/" + s
		case s != "" && strings.Trim(s, "0123456789") == "":
			segments[i] = "{id}"
		}
	}
	r.name = method + " " + strings.Join(segments, "/")
	return r
}

// limit names the route's limit. To add a reaction and to take it away share
// one, of which the first answer of either tells.
func (r route) limit() string {
	if _, path, _ := strings.Cut(r.name, " "); strings.Contains(path, "/reactions/") {
		return path
	}
	return r.name
}

// limiter keeps calls within Discord's limits, as far as it has told them.
// The zero value is ready.
type limiter struct {
	mu      sync.Mutex
	hashes  map[string]string  // by route's limit: the bucket that it shares; guarded by mu
	buckets map[string]*bucket // by hash and major; guarded by mu
	rest    time.Time          // no call before then; guarded by mu
	invalid int                // refused calls since window; guarded by mu
	window  time.Time          // guarded by mu
}

type bucket struct {
	left  int
	reset time.Time
}

// wait blocks until the call may be made, if that is soon. Its error is an
// *apiError.
func (l *limiter) wait(ctx context.Context, r route) error {
	for {
		d, global := l.take(r)
		switch {
		case d <= 0:
			return nil
		case d > maxHold:
			return &apiError{route: r.name, text: "the limit is used up", unsent: true, retryAfter: d, global: global}
		}
		if err := sleep(ctx, d); err != nil {
			return &apiError{route: r.name, text: err.Error(), unsent: true, ended: err}
		}
	}
}

// take takes a place in the route's bucket, or says how long there is none.
func (l *limiter) take(r route) (wait time.Duration, global bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := time.Until(l.rest); d > 0 && !r.tokened {
		return d, true
	}
	b := l.buckets[l.bucketKey(r)]
	if b == nil {
		return 0, false
	}
	if d := time.Until(b.reset); d > 0 && b.left <= 0 {
		return d, false
	}
	b.left--
	return 0, false
}

// bucketKey names the route's bucket. The caller holds mu.
func (l *limiter) bucketKey(r route) string {
	hash := l.hashes[r.limit()]
	if hash == "" {
		hash = r.limit()
	}
	return hash + " " + r.major
}

// note learns from an answer; e is nil for a success.
func (l *limiter) note(r route, h http.Header, e *apiError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.buckets == nil {
		l.hashes, l.buckets = map[string]string{}, map[string]*bucket{}
	}
	if hash := h.Get("X-RateLimit-Bucket"); hash != "" {
		l.hashes[r.limit()] = hash
	}
	if left, err := strconv.Atoi(h.Get("X-RateLimit-Remaining")); err == nil {
		reset := now.Add(seconds(h.Get("X-RateLimit-Reset-After")))
		l.set(r, left, reset)
	}
	if e == nil {
		return
	}
	switch {
	case !e.answered:
		// The proxy knows nothing of Discord's limits; who is told waits.
	case e.retryAfter > 0 && e.global:
		l.rest = later(l.rest, now.Add(e.retryAfter))
	case e.retryAfter > 0:
		l.set(r, 0, now.Add(e.retryAfter))
	}
	if shared := h.Get("X-RateLimit-Scope") == "shared"; shared {
		return // does not count against us
	}
	switch e.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		if now.Sub(l.window) > invalidWindow {
			l.invalid, l.window = 0, now
		}
		if l.invalid++; l.invalid >= maxInvalid {
			l.rest = later(l.rest, l.window.Add(invalidWindow))
		}
	}
}

// set notes the state of the route's bucket. Answers may come out of order:
// within a period the least counts. The caller holds mu.
func (l *limiter) set(r route, left int, reset time.Time) {
	key := l.bucketKey(r)
	if b := l.buckets[key]; b != nil && time.Now().Before(b.reset) {
		b.left, b.reset = min(b.left, left), later(b.reset, reset)
		return
	}
	if len(l.buckets) >= maxBuckets {
		for k, b := range l.buckets {
			if time.Now().After(b.reset) {
				delete(l.buckets, k)
			}
		}
	}
	l.buckets[key] = &bucket{left, reset}
}

// patience is how long a 429 asks to wait, and whether with every call. A
// proxy's has no answer of Discord in it.
func patience(r refusal, h http.Header) (after time.Duration, global bool) {
	after = max(time.Duration(r.RetryAfter*float64(time.Second)), seconds(h.Get("Retry-After")))
	if r.Message == "" {
		return max(after, edgePatience), true
	}
	if after <= 0 {
		after = time.Second
	}
	return after, r.Global || h.Get("X-RateLimit-Global") == "true" || h.Get("X-RateLimit-Scope") == "global"
}

// seconds reads a header's decimal number of seconds; 0 if it is none.
func seconds(s string) time.Duration {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0 && f < 1e6) {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
