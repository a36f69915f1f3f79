package slack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"bellhop/adapters/markup"
	"bellhop/core"
)

// streams are the messages that grow by themselves. A stream is opened with
// nothing in it, appended to while what is new only adds to what Slack has
// confirmed, and stopped once; what is exact is the edit that follows.
type streams struct {
	mu   sync.Mutex
	open map[spot]*stream // guarded by mu; an entry is used by the sender of its place only
}

// maxStreams bounds the streams that nobody has finished.
const maxStreams = 512

type stream struct {
	sent string // what Slack has confirmed
	lost bool   // what it shows is not known: no more is appended
}

func (s *streams) get(at spot) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[at]
}

func (s *streams) drop(at spot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, at)
}

func (s *streams) add(at spot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= maxStreams {
		clear(s.open) // their finals are edits all the same
	}
	s.open[at] = &stream{}
}

// wordless is the status line that says nothing: a stream without text looks
// better. Any other is worth showing, and could not be taken back in a stream.
const wordless = "…"

// begin opens a stream where that is possible; an empty receipt says that it
// is not.
func (a *Adapter) begin(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	p := o.Place
	to, heard := a.rooms.person(p)
	if o.Kind != core.OutOpen || o.Text != wordless || p.Topic == "" || !heard || a.latches.noStream.Load() || len(o.Buttons) > 0 || o.File != nil {
		return core.Receipt{}, nil
	}
	params := url.Values{
		"channel": {p.Channel}, "thread_ts": {p.Topic},
		"recipient_user_id": {to.user}, "recipient_team_id": {a.whoami().team},
	}
	var sent shown
	err := a.asSpeaker(params, o.Speaker, func() error { return a.api.call(ctx, "chat.startStream", params, &sent) })
	e, _ := errors.AsType[*apiError](err)
	switch {
	case err == nil && sent.TS != "":
		a.streams.add(spot{p.Channel, sent.TS})
		a.rooms.sent(p, sent.TS)
		return core.Receipt{ID: sent.TS, Time: when(sent.TS)}, nil
	case err == nil:
		return core.Receipt{}, fmt.Errorf("%w: Slack took the stream and did not say its id", core.ErrUnknown)
	case is(err, lacking...):
		a.latches.noStream.Store(true)
		a.log.Info("slack does not stream for us: messages are edited instead", "err", err)
		return core.Receipt{}, nil
	case e.code == "", e.retryAfter > 0, slices.Contains(unclear, e.code), slices.Contains(notNow, e.code), slices.Contains(finished, e.code):
		return core.Receipt{}, a.outcome(err)
	}
	a.log.Debug("slack does not stream here: a message tells better why", "place", p, "err", err)
	return core.Receipt{}, nil
}

// preview shows a text that is not the last. Of a stream, what does not merely
// add to what is shown waits for the final.
func (a *Adapter) preview(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	at := spot{o.Place.Channel, o.Edit}
	receipt := core.Receipt{ID: o.Edit, Time: when(o.Edit)}
	s := a.streams.get(at)
	if s == nil {
		return a.edit(ctx, o)
	}
	text := markup.SlackStream(o.Text)
	more, grows := strings.CutPrefix(text, s.sent)
	if s.lost || !grows || more == "" {
		return receipt, nil
	}
	err := a.api.call(ctx, "chat.appendStream", url.Values{"channel": {at.channel}, "ts": {at.ts}, "markdown_text": {more}}, nil)
	e, _ := errors.AsType[*apiError](err)
	switch {
	case err == nil:
		s.sent = text
		return receipt, nil
	case is(err, "message_not_in_streaming_state", "streaming_timed_out"):
		a.streams.drop(at) // Slack ends a stream that has been idle
		return a.edit(ctx, o)
	case !e.unsent && (e.code == "" || slices.Contains(unclear, e.code)):
		s.lost = true
	}
	return core.Receipt{}, a.outcome(err)
}

// finish makes a message its final text, whatever it was before.
func (a *Adapter) finish(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	at := spot{o.Place.Channel, o.Edit}
	if a.streams.get(at) == nil {
		return a.edit(ctx, o)
	}
	err := a.api.call(ctx, "chat.stopStream", url.Values{"channel": {at.channel}, "ts": {at.ts}}, nil)
	if e, ok := errors.AsType[*apiError](err); ok && (e.retryAfter > 0 || e.unsent || slices.Contains(finished, e.code)) {
		return core.Receipt{}, a.outcome(err)
	}
	// Whether or not it had ended before, it is not appended to any more.
	a.streams.drop(at)
	return a.edit(ctx, o)
}
