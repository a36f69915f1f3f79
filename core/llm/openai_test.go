package llm

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"bellhop/core"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// piece is a part of a body: what a read returns after a while.
type piece struct {
	after time.Duration
	text  string
	err   error
}

// body is a response body that comes in pieces. It ends with EOF, or when its
// request's context does.
type body struct {
	ctx    context.Context
	pieces []piece
	closed bool
}

func (b *body) Read(p []byte) (int, error) {
	if b.closed {
		return 0, errors.New("read after close")
	}
	if len(b.pieces) == 0 {
		return 0, io.EOF
	}
	next := &b.pieces[0]
	if next.after > 0 && !sleep(b.ctx, next.after) {
		return 0, b.ctx.Err()
	}
	next.after = 0
	if next.err != nil {
		return 0, next.err
	}
	n := copy(p, next.text)
	if next.text = next.text[n:]; next.text == "" {
		b.pieces = b.pieces[1:]
	}
	return n, nil
}

func (b *body) Close() error {
	b.closed = true
	return nil
}

// answer is one response of a server in memory.
type answer struct {
	after  time.Duration // until the headers
	status int           // 0: 200
	header http.Header
	pieces []piece
	err    error // instead of a response
}

func text(s string) answer { return answer{pieces: []piece{{text: s}}} }

func refuse(status int, s string) answer { return answer{status: status, pieces: []piece{{text: s}}} }

// server is a http.RoundTripper in memory that gives its answers in turn, the
// last one for ever.
type server struct {
	answers  []answer
	requests []*http.Request
	sent     []string // the requests' bodies
	at       []time.Time
	bodies   []*body
}

func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body.Close()
	a := s.answers[min(len(s.sent), len(s.answers)-1)]
	s.requests = append(s.requests, req)
	s.sent = append(s.sent, string(sent))
	s.at = append(s.at, time.Now())
	if a.after > 0 && !sleep(req.Context(), a.after) {
		return nil, req.Context().Err()
	}
	if a.err != nil {
		return nil, a.err
	}
	if a.header == nil {
		a.header = http.Header{}
	}
	b := &body{ctx: req.Context(), pieces: append([]piece(nil), a.pieces...)}
	s.bodies = append(s.bodies, b)
	return &http.Response{StatusCode: cmp.Or(a.status, 200), Header: a.header, Body: b, Request: req}, nil
}

// heard is what a caller has at the end of a reply.
type heard struct {
	Text, Reasoning string
	Calls           []core.ToolCall
	Finish          core.Finish
	Usage           *core.Usage
	Retries         int
	Err             error
}

// listen makes a call against a server, which must find that everything is
// released after it.
func listen(t *testing.T, ctx context.Context, s *server, o OpenAIOptions, call core.Call) heard {
	t.Helper()
	o.HTTP = newClient()
	o.HTTP.Transport = s
	h := hear(t, ctx, NewOpenAI(o), call)
	for i, b := range s.bodies {
		if !b.closed {
			t.Errorf("body %d is not closed", i)
		}
	}
	return h
}

// hear makes a call. It checks what holds for the end of every reply.
func hear(t *testing.T, ctx context.Context, p core.Provider, call core.Call) heard {
	t.Helper()
	var h heard
	for c, err := range p.Stream(ctx, call) {
		if h.Err != nil || h.Finish != "" {
			t.Errorf("the reply goes on after its end: %+v %v", c, err)
		}
		if c.Reset {
			if c.Retry != h.Retries+1 {
				t.Errorf("retry %d after %d", c.Retry, h.Retries)
			}
			h = heard{Retries: c.Retry}
		}
		h.Err = err
		h.Text += c.Text
		h.Reasoning += c.Reasoning
		h.Finish = c.Finish
		if d := c.Call; d != nil {
			if d.Index == len(h.Calls) {
				h.Calls = append(h.Calls, core.ToolCall{ID: d.ID})
			}
			h.Calls[d.Index].Name += d.Name
			h.Calls[d.Index].Args += d.Args
		}
		if c.Usage != nil {
			h.Usage = c.Usage
		}
	}
	if (h.Err != nil) == (h.Finish != "") {
		t.Errorf("the reply ends with finish %q and error %v", h.Finish, h.Err)
	}
	return h
}

// sse is a stream of events.
func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

func delta(s string) string { return `{"choices":[{"delta":` + s + `}]}` }

func says(s string) string { return delta(`{"content":"` + s + `"}`) }

func ends(reason string) string { return `{"choices":[{"delta":{},"finish_reason":"` + reason + `"}]}` }

var whole = sse(says("hello"), ends("stop"), "[DONE]")

func TestRetry(t *testing.T) {
	ok := text(whole)
	cut := text(sse(says("hel")))
	for name, c := range map[string]struct {
		answers []answer
		retries int
		fault   core.ModelFault // of a call that fails
		status  int
	}{
		"first try":            {answers: []answer{ok}},
		"408":                  {answers: []answer{refuse(408, ""), ok}, retries: 1},
		"409":                  {answers: []answer{refuse(409, ""), ok}, retries: 1},
		"425":                  {answers: []answer{refuse(425, ""), ok}, retries: 1},
		"429":                  {answers: []answer{refuse(429, ""), ok}, retries: 1},
		"500":                  {answers: []answer{refuse(500, ""), ok}, retries: 1},
		"502, 503":             {answers: []answer{refuse(502, ""), refuse(503, ""), ok}, retries: 2},
		"504, 529":             {answers: []answer{refuse(504, ""), refuse(529, ""), ok}, retries: 2},
		"transport":            {answers: []answer{{err: errors.New("connection refused")}, ok}, retries: 1},
		"truncated":            {answers: []answer{cut, ok}, retries: 1},
		"cut off":              {answers: []answer{{pieces: []piece{{text: sse(says("x"))}, {err: io.ErrUnexpectedEOF}}}, ok}, retries: 1},
		"error in the stream":  {answers: []answer{text(sse(says("x"), `{"error":{"code":502,"message":"x"}}`)), ok}, retries: 1},
		"third retry works":    {answers: []answer{cut, cut, cut, ok}, retries: 3},
		"no fourth":            {answers: []answer{cut}, retries: 3, fault: core.FaultTruncated},
		"429 stays":            {answers: []answer{refuse(429, "")}, retries: 3, fault: core.FaultRate, status: 429},
		"overload stays":       {answers: []answer{refuse(529, "")}, retries: 3, fault: core.FaultOverload, status: 529},
		"transport stays":      {answers: []answer{{err: errors.New("refused")}}, retries: 3, fault: core.FaultTransport},
		"400":                  {answers: []answer{refuse(400, "")}, fault: core.FaultRequest, status: 400},
		"401":                  {answers: []answer{refuse(401, "")}, fault: core.FaultAuth, status: 401},
		"403":                  {answers: []answer{refuse(403, "")}, fault: core.FaultAuth, status: 403},
		"404":                  {answers: []answer{refuse(404, "")}, fault: core.FaultRequest, status: 404},
		"422":                  {answers: []answer{refuse(422, "")}, fault: core.FaultRequest, status: 422},
		"401 after a retry":    {answers: []answer{cut, refuse(401, "")}, retries: 1, fault: core.FaultAuth, status: 401},
		"no credit":            {answers: []answer{refuse(429, `{"error":{"code":"insufficient_quota"}}`)}, fault: core.FaultRate, status: 429},
		"unreadable":           {answers: []answer{text("data: nonsense\n\n")}, fault: core.FaultReply},
		"not a stream":         {answers: []answer{text("<html><title>Sign in</title></html>")}, fault: core.FaultReply},
		"first byte too late":  {answers: []answer{{after: time.Hour}, ok}, retries: 1},
		"silent after headers": {answers: []answer{{pieces: []piece{{after: time.Hour}}}, ok}, retries: 1},
		"silent in between":    {answers: []answer{{pieces: []piece{{text: sse(says("x"))}, {after: time.Hour}}}, ok}, retries: 1},
		"silent refusal":       {answers: []answer{{status: 500, pieces: []piece{{after: time.Hour}}}, ok}, retries: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{answers: c.answers}
				got := listen(t, t.Context(), s, OpenAIOptions{Name: "p"}, core.Call{Model: "m"})
				if got.Retries != c.retries || len(s.sent) != c.retries+1 {
					t.Errorf("%d retries and %d requests, want %d retries", got.Retries, len(s.sent), c.retries)
				}
				if c.fault == "" {
					if got.Text != "hello" || got.Finish != core.FinishStop {
						t.Errorf("got %+v", got)
					}
					return
				}
				e, ok := errors.AsType[*core.ModelError](got.Err)
				if !ok || e.Fault != c.fault || e.Status != c.status || e.Model != "p/m" || e.Tries != c.retries+1 {
					t.Errorf("error %#v", got.Err)
				}
			})
		})
	}
}

func TestTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for tries, want := range map[int]int{-1: 1, 0: 4, 1: 2, 5: 6} {
			s := &server{answers: []answer{refuse(500, "")}}
			listen(t, t.Context(), s, OpenAIOptions{Tries: tries}, core.Call{})
			if len(s.sent) != want {
				t.Errorf("Tries %d: %d requests, want %d", tries, len(s.sent), want)
			}
		}
	})
}

func TestBackoff(t *testing.T) {
	for n, limit := range map[int]time.Duration{1: backoffBase, 2: 2 * backoffBase, 3: 4 * backoffBase, 7: backoffCap, 100: backoffCap} {
		var longest time.Duration
		for range 300 {
			longest = max(longest, backoff(n))
		}
		if longest > limit || longest < limit/2 {
			t.Errorf("retry %d: the longest pause of 300 is %s, want up to %s", n, longest, limit)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		value  string
		body   string
		want   time.Duration
	}{
		"seconds":      {"Retry-After", "7", "", 7 * time.Second},
		"fraction":     {"Retry-After", "1.5", "", 1500 * time.Millisecond},
		"date":         {"Retry-After", "Sat, 01 Jan 2000 00:00:40 GMT", "", 40 * time.Second}, // a bubble begins at 0:00:00
		"past date":    {"Retry-After", "Sat, 01 Jan 1994 00:00:40 GMT", "", 0},
		"milliseconds": {"Retry-After-Ms", "250", "try again in 9s", 250 * time.Millisecond},
		"garbage":      {"Retry-After", "soon", "", 0},
		"negative":     {"Retry-After", "-5", "", 0},
		"not a number": {"Retry-After", "NaN", "", 0},
		"OpenAI":       {"", "", `{"error":{"message":"Rate limit reached. Please try again in 1.5s. Visit"}}`, 1500 * time.Millisecond},
		"OpenAI short": {"", "", `Please try again in 350ms.`, 350 * time.Millisecond},
		"Groq":         {"", "", `Please try again in 0m59.5s`, 59500 * time.Millisecond},
		"words":        {"", "", `Try again in 20 seconds`, 20 * time.Second},
		"minute":       {"", "", `Try again in 1 minute`, time.Minute},
		"after":        {"", "", `please retry after 2 sec`, 2 * time.Second},
		"Gemini":       {"", "", `[{"error":{"details":[{"retryDelay": "34s"}]}}]`, 34 * time.Second},
		"no number":    {"", "", `please try again later. {"code":1234}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				header := http.Header{}
				header.Set(c.header, c.value)
				s := &server{answers: []answer{{status: 429, header: header, pieces: []piece{{text: c.body}}}, text(whole)}}
				listen(t, t.Context(), s, OpenAIOptions{}, core.Call{})
				if len(s.at) != 2 {
					t.Fatalf("%d requests", len(s.at))
				}
				if pause := s.at[1].Sub(s.at[0]); pause < c.want || pause > c.want+backoffBase {
					t.Errorf("tried again after %s, want %s", pause, c.want)
				}
			})
		})
	}
}

func TestRetryAfterTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answers: []answer{{status: 429, header: http.Header{"Retry-After": {"3600"}}, pieces: []piece{{text: "slow down"}}}}}
		start := time.Now()
		got := listen(t, t.Context(), s, OpenAIOptions{Name: "p"}, core.Call{Model: "m"})
		want := &core.ModelError{Fault: core.FaultRate, Model: "p/m", Status: 429, After: time.Hour, Tries: 1,
			Msg: "asks to wait 1h0m0s: slow down"}
		if diff := gocmp.Diff(error(want), got.Err); diff != "" {
			t.Error(diff)
		}
		if time.Since(start) != 0 {
			t.Errorf("it took %s", time.Since(start))
		}
	})
}

func TestTimeouts(t *testing.T) {
	slow := func(n int, pause time.Duration) (pieces []piece) {
		for range n {
			pieces = append(pieces, piece{after: pause, text: ": keep-alive\n\n"})
		}
		return append(pieces, piece{after: pause, text: whole})
	}
	for name, c := range map[string]struct {
		answer answer
		after  time.Duration // until the call is over
		msg    string        // empty: it succeeds
	}{
		"headers":          {answer{after: time.Hour}, 60 * time.Second, "no answer within 1m0s"},
		"first byte":       {answer{after: 30 * time.Second, pieces: []piece{{after: time.Hour}}}, 60 * time.Second, "no answer within 1m0s"},
		"just in time":     {answer{after: 30 * time.Second, pieces: []piece{{after: 29 * time.Second, text: whole}}}, 59 * time.Second, ""},
		"silence":          {answer{pieces: []piece{{text: sse(says("x"))}, {after: time.Hour}}}, 90 * time.Second, "silent for 1m30s"},
		"slow is not lost": {answer{pieces: slow(100, 50*time.Second)}, 101 * 50 * time.Second, ""},
		"no end mark":      {answer{pieces: []piece{{text: sse(says("hello"), ends("stop"))}, {after: time.Hour}}}, 5 * time.Second, ""},
		"end mark, open":   {answer{pieces: []piece{{text: whole}, {after: time.Hour}}}, 100 * time.Millisecond, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got := listen(t, t.Context(), &server{answers: []answer{c.answer}}, OpenAIOptions{Name: "p", Tries: -1}, core.Call{Model: "m"})
				if d := time.Since(start); d != c.after {
					t.Errorf("it took %s, want %s", d, c.after)
				}
				if c.msg == "" {
					if got.Text != "hello" || got.Err != nil {
						t.Errorf("got %+v", got)
					}
					return
				}
				want := &core.ModelError{Fault: core.FaultTransport, Model: "p/m", Tries: 1, Msg: c.msg}
				if diff := gocmp.Diff(error(want), got.Err); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// A consumer that is slower than the silence limit loses nothing.
func TestSlowConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answers: []answer{{pieces: []piece{{text: sse(says("a"))}, {text: sse(says("b"))}, {text: sse(ends("stop"), "[DONE]")}}}}}
		p := NewOpenAI(OpenAIOptions{HTTP: &http.Client{Transport: s}})
		var got strings.Builder
		for c, err := range p.Stream(t.Context(), core.Call{}) {
			if err != nil || c.Reset {
				t.Fatal(c, err)
			}
			got.WriteString(c.Text)
			time.Sleep(time.Hour)
		}
		if got.String() != "ab" {
			t.Errorf("got %q", got.String())
		}
	})
}

func TestContextEnds(t *testing.T) {
	why := errors.New("why")
	for name, a := range map[string]answer{
		"before the headers":  {after: time.Hour},
		"in the stream":       {pieces: []piece{{text: sse(says("x"))}, {after: time.Hour}}},
		"in a refusal":        {status: 400, pieces: []piece{{after: time.Hour}}},
		"before another try":  {status: 429, header: http.Header{"Retry-After": {"50"}}},
		"instead of an error": {after: 10 * time.Second, err: errors.New("refused")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, why)
				defer cancel()
				start := time.Now()
				got := listen(t, ctx, &server{answers: []answer{a}}, OpenAIOptions{}, core.Call{})
				if !errors.Is(got.Err, why) || time.Since(start) != 10*time.Second {
					t.Errorf("error %v after %s", got.Err, time.Since(start))
				}
			})
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if got := listen(t, ctx, &server{answers: []answer{{err: errors.New("x")}}}, OpenAIOptions{}, core.Call{}); !errors.Is(got.Err, why) {
		t.Errorf("with a context that is over: %+v", got)
	}
}

// The consumer may stop at any chunk; then nothing more is asked for, and
// everything is released (a timer that is left behind would fail the bubble).
func TestConsumerStops(t *testing.T) {
	all := sse(delta(`{"content":"a","reasoning":"b"}`),
		delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"x"}},{"index":1,"id":"2","function":{"name":"y"}}]}`))
	for stop := range 8 {
		synctest.Test(t, func(t *testing.T) {
			s := &server{answers: []answer{text(all), text(all + sse(ends("tool_calls"), "[DONE]"))}}
			p := NewOpenAI(OpenAIOptions{HTTP: &http.Client{Transport: s}})
			n := 0
			for _, err := range p.Stream(t.Context(), core.Call{}) {
				if err != nil {
					t.Error(err)
				}
				if n++; n > stop {
					break
				}
			}
			if n != stop+1 && n != 8 {
				t.Errorf("%d chunks", n)
			}
			for _, b := range s.bodies {
				if !b.closed {
					t.Error("a body is not closed")
				}
			}
		})
	}
}
