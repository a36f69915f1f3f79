package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"bellhop/adapters/markup"
	"bellhop/core"
)

// streams are the messages that grow by themselves. A stream is opened with
// nothing in it, appended to while what is new only adds to what Slack has
// confirmed, and stopped once, by what does not or by the final; what is exact
// is the edit that follows. What is being done is a task in it.
type streams struct {
	mu   sync.Mutex
	open map[spot]*stream // guarded by mu; an entry is used by the sender of its place only
	next time.Time        // none is opened before then; guarded by mu
}

// maxStreams bounds the streams that nobody has finished.
const maxStreams = 512

type stream struct {
	sent  string // what Slack has confirmed
	doing string // the task that is shown; empty: none
	lost  bool   // what it shows is not known: no more is appended
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

// rest is for a while in which Slack takes no new streams.
func (s *streams) rest(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = time.Now().Add(d)
}

func (s *streams) resting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.next)
}

// wordless is the status line that says nothing: a stream without text looks
// better. Any other is worth showing, and could not be taken back in a stream.
const wordless = "…"

// begin opens a stream where that is possible; an empty receipt says that it
// is not.
func (a *Adapter) begin(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	p := o.Place
	to, heard := a.rooms.person(p)
	if o.Kind != core.OutOpen || o.Text != wordless || p.Topic == "" || !heard || a.latches.noStream.Load() || a.streams.resting() || len(o.Buttons) > 0 || o.File != nil {
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
	case e.retryAfter > 0: // a message has another limit, and more room in it
		a.streams.rest(e.retryAfter)
		return core.Receipt{}, nil
	case e.code == "", slices.Contains(unclear, e.code), slices.Contains(notNow, e.code), slices.Contains(finished, e.code):
		return core.Receipt{}, a.outcome(err)
	}
	a.log.Debug("slack does not stream here: a message tells better why", "place", p, "err", err)
	return core.Receipt{}, nil
}

// preview shows a text that is not the last.
func (a *Adapter) preview(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	at := spot{o.Place.Channel, o.Edit}
	receipt := core.Receipt{ID: o.Edit, Time: when(o.Edit)}
	s := a.streams.get(at)
	if s == nil {
		return a.edit(ctx, withStatus(o))
	}
	text := markup.SlackStream(o.Text)
	more, grows := strings.CutPrefix(text, s.sent)
	switch {
	case !s.lost && strings.HasPrefix(s.sent, text): // it has been said already
		text, more = s.sent, ""
	case s.lost || !grows:
		return a.finish(ctx, withStatus(o))
	}
	if more == "" && (o.Status == s.doing || a.latches.noTasks.Load()) {
		return receipt, nil
	}
	err := a.append(ctx, at, more, s.doing, o.Status)
	e, _ := errors.AsType[*apiError](err)
	switch {
	case err == nil:
		s.sent, s.doing = text, o.Status
		return receipt, nil
	case is(err, "message_not_in_streaming_state", "streaming_timed_out"):
		a.streams.drop(at) // Slack ends a stream that has been idle
		return a.edit(ctx, withStatus(o))
	case is(err, "msg_too_long", "msg_blocks_too_long", "invalid_blocks"):
		return a.finish(ctx, withStatus(o))
	case !e.unsent && (e.code == "" || slices.Contains(unclear, e.code)):
		s.lost = true
	}
	return core.Receipt{}, a.outcome(err)
}

// taskID names the one task of a stream.
const taskID = "work"

// append adds to a stream what is new in its text, and makes its task another.
func (a *Adapter) append(ctx context.Context, at spot, text, before, now string) error {
	params := url.Values{"channel": {at.channel}, "ts": {at.ts}}
	if now != before && !a.latches.noTasks.Load() {
		chunks := []map[string]string{task(cmp.Or(now, before), now != "")}
		if text != "" {
			chunks = append(chunks, map[string]string{"type": "markdown_text", "text": text})
		}
		set(params, "chunks", chunks)
		err := a.api.call(ctx, "chat.appendStream", params, nil)
		if !a.taskless(err) {
			return err
		}
		params.Del("chunks")
	}
	if text == "" {
		return nil
	}
	params.Set("markdown_text", text)
	return a.api.call(ctx, "chat.appendStream", params, nil)
}

// task is a chunk that shows the one task of a stream.
func task(title string, works bool) map[string]string {
	status := "complete"
	if works {
		status = "in_progress"
	}
	return map[string]string{"type": "task_update", "id": taskID, "title": title, "status": status}
}

// taskless reports whether a call was refused because Slack shows no tasks for
// us, which it will not do later either.
func (a *Adapter) taskless(err error) bool {
	if !is(err, "invalid_chunks", "invalid_arguments", "invalid_arg_name", "no_text") {
		return false
	}
	a.latches.noTasks.Store(true)
	a.log.Info("slack shows no tasks for us: streams do without", "err", err)
	return true
}

// withStatus is an update whose status stands below its text.
func withStatus(o core.Outbound) core.Outbound {
	o.Text = markup.WithStatus(o.Text, o.Status)
	return o
}

// finish makes a message what o says, whatever it was before, and ends its
// stream.
func (a *Adapter) finish(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	at := spot{o.Place.Channel, o.Edit}
	s := a.streams.get(at)
	if s == nil {
		return a.edit(ctx, o)
	}
	params := url.Values{"channel": {at.channel}, "ts": {at.ts}}
	if s.doing != "" && !a.latches.noTasks.Load() { // the edit takes it away; should it stay, then not as if it went on
		set(params, "chunks", []map[string]string{task(s.doing, false)})
	}
	err := a.api.call(ctx, "chat.stopStream", params, nil)
	if params.Has("chunks") && a.taskless(err) {
		params.Del("chunks")
		err = a.api.call(ctx, "chat.stopStream", params, nil)
	}
	if e, ok := errors.AsType[*apiError](err); ok && (e.retryAfter > 0 || e.unsent || slices.Contains(finished, e.code)) {
		return core.Receipt{}, a.outcome(err)
	}
	// Whether or not it had ended before, it is not appended to any more.
	a.streams.drop(at)
	return a.edit(ctx, o)
}
