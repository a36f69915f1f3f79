package run

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"
	"unicode/utf8"

	"bellhop/core"
)

const (
	// earlierTime is how long a run waits to be told what was said before its
	// messages: an answer without it is better than none.
	earlierTime = 5 * time.Second
	// maxQuote bounds a quote that is kept, and maxQuotes all of a message, in
	// bytes. The prompt shows less.
	maxQuote  = 4 << 10
	maxQuotes = 64 << 10
)

// errLate is the cause with which that waiting ends.
var errLate = errors.New("too slow")

// reader is Features.Before.
type reader func(ctx context.Context, n core.Need) (core.Before, error)

// lacks reports whether the platform is to be asked what was said before a
// message. When it did not tell, somebody must retry.
func (t *turn) lacks(m *core.Message) bool {
	e := m.Earlier
	return e != nil && (!e.Read || e.Note != "" && t.retried && slices.Contains(t.run.Triggers, m.ID))
}

// recall asks what was said before the messages, which lack it, and notes in
// each what it was told that is not among the known messages, or why it was not
// told. All of that has earlierTime.
func (t *turn) recall(ctx context.Context, read reader, msgs []*core.Message, known []core.Message) {
	if len(msgs) == 0 {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, earlierTime, errLate)
	defer cancel()
	for _, m := range msgs {
		e := core.Earlier{Since: m.Earlier.Since, Most: m.Earlier.Most, Read: true}
		said, err := t.ask(ctx, read, core.Need{Place: t.view.Thread.Place, MessageID: m.PlatformID, Since: e.Since, Context: e.Most})
		if err != nil {
			t.log.Warn("what was said before a message could not be read", "message", m.ID, "err", err)
			e.Note, said = unread(ctx, err), core.Before{}
		}
		e.More = said.More
		e.Quotes, e.Older = keepable(said.Quotes, known)
		m.Earlier = &e
	}
}

// ask makes one call. Nothing that happens in it ends the process.
func (t *turn) ask(ctx context.Context, read reader, n core.Need) (said core.Before, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("reading what was said before panicked", "panic", p, "stack", string(debug.Stack()))
			said, err = core.Before{}, fmt.Errorf("panic: %v", p)
		}
	}()
	if err := ctx.Err(); err != nil {
		return said, err
	}
	return read(ctx, n)
}

// unread says to a model why it is not told.
func unread(ctx context.Context, err error) string {
	_, limited := errors.AsType[*core.RetryAfter](err)
	switch {
	case limited:
		return "the platform takes no more requests for now"
	case errors.Is(err, core.ErrRefused):
		return "the platform does not let me read it"
	case errors.Is(context.Cause(ctx), errLate):
		return fmt.Sprintf("the platform did not tell within %s", earlierTime)
	}
	return "the platform did not tell"
}

// keepable is what is worth keeping of the quotes: none of a known message, and
// as many of the latest as fit. older counts those that do not.
func keepable(said []core.Quote, known []core.Message) (quotes []core.Quote, older int) {
	said = slices.DeleteFunc(slices.Clone(said), func(q core.Quote) bool {
		return q.ID != "" && slices.ContainsFunc(known, func(m core.Message) bool { return m.PlatformID == q.ID })
	})
	left := maxQuotes
	for i := range slices.Backward(said) {
		q := &said[i]
		q.Text = cut(q.Text)
		if left -= len(q.Text); left < 0 {
			return said[i+1:], i + 1
		}
	}
	return said, 0
}

// cut is the beginning of a text that is too long to keep.
func cut(text string) string {
	if len(text) <= maxQuote {
		return text
	}
	end := maxQuote
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
