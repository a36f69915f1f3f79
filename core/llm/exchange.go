package llm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"bellhop/core"
)

const (
	// maxErrorBody is how much of a refusal is read.
	maxErrorBody = 64 << 10
	// tailLimit is the longest silence after a reply's finish reason: usage and the
	// end mark may come late, but the answer is whole.
	tailLimit = 5 * time.Second
	// drainLimit is how long to wait for a body's end after the reply's. A
	// connection that was read to its end can be used again.
	drainLimit = 100 * time.Millisecond
)

// errSilent is the cause with which a try's context ends when nothing comes.
var errSilent = errors.New("silent")

// exchange is one HTTP request and its answer. It stands in for go-openai's
// HTTP client, which it gives the body it was made with, and takes from it what
// go-openai would drop: the headers and the whole text of a refusal, and the
// stream. go-openai's own reader of streams loses an error that follows a
// comment, and a last line without a line end.
type exchange struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	opts   OpenAIOptions
	body   []byte

	answer io.ReadCloser // a reply's body, once there is one
	timer  *time.Timer   // ends the try: runs until the first byte, then during reads
	limit  time.Duration // what the timer is set to
	began  bool          // the first byte has come
}

// newExchange also starts the wait for the first byte. The context is the
// request's; end must be called.
func newExchange(ctx context.Context, opts OpenAIOptions, body []byte) (*exchange, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	x := &exchange{ctx: ctx, cancel: cancel, opts: opts, body: body, limit: opts.FirstByte}
	x.timer = time.AfterFunc(x.limit, func() { cancel(errSilent) })
	return x, ctx
}

// end releases everything that the exchange holds.
func (x *exchange) end() {
	x.timer.Stop()
	if x.answer != nil {
		x.answer.Close()
	}
	x.cancel(nil)
}

// Do is go-openai's HTTPDoer. Its errors are *failure.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.body)), nil }
	req.Body, _ = req.GetBody()
	req.ContentLength = int64(len(x.body))
	for name, value := range x.opts.Headers {
		req.Header.Set(name, value)
	}
	resp, err := x.opts.HTTP.Do(req)
	if err != nil {
		return nil, x.lost(err)
	}
	x.answer = resp.Body
	if resp.StatusCode/100 != 2 {
		// When the text breaks off, the status still says enough.
		text, _ := io.ReadAll(io.LimitReader(x, maxErrorBody))
		return nil, refused(resp.StatusCode, resp.Header, text)
	}
	return resp, nil
}

// Read reads the answer, and ends the try when that takes longer than the
// limit. The time that the consumer takes between two reads does not count.
func (x *exchange) Read(p []byte) (int, error) {
	if x.began {
		x.timer.Reset(x.limit)
	}
	n, err := x.answer.Read(p)
	if n > 0 && !x.began {
		x.began, x.limit = true, x.opts.Idle
	}
	if x.began {
		x.timer.Stop()
	}
	return n, err
}

// lost is the failure of a connection.
func (x *exchange) lost(err error) *failure {
	msg := err.Error()
	if e, ok := errors.AsType[*url.Error](err); ok {
		msg = e.Err.Error() // without the address, which may hold a password
	}
	if errors.Is(context.Cause(x.ctx), errSilent) {
		msg = fmt.Sprintf("no answer within %s", x.limit)
		if x.began {
			msg = fmt.Sprintf("silent for %s", x.limit)
		}
	}
	return &failure{ModelError: core.ModelError{Fault: core.FaultTransport, Msg: msg}, passing: true}
}

// drain reads what is left of the answer, without waiting for it long.
func (x *exchange) drain() {
	x.limit = drainLimit
	_, _ = io.CopyN(io.Discard, x, maxErrorBody)
}
