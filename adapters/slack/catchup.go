package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

const (
	// readBackFor is how far back is read. Source: Telegram keeps for a day what
	// nobody has fetched, and nobody wants an answer later than that.
	readBackFor = 24 * time.Hour

	// historyEvery is how often a history is read, and historyBurst how many are
	// read at once before that: Slack takes about 50 calls a minute, and answers
	// need some of them.
	historyEvery = 1500 * time.Millisecond
	historyBurst = 20

	// maxMissed bounds the pages that one place is worth, and maxReads the calls
	// that one gap is worth: all the places that the ledger names, once, which is
	// less than half an hour.
	maxMissed = 3
	maxReads  = 1000

	// orderly is how long events wait at most until what was said before them has
	// been read; Slack wants their acknowledgement within three seconds. While
	// there are none, a place may take the time of quietly.
	orderly = 2500 * time.Millisecond
	quietly = 10 * time.Second
)

// catchUp is what is to be read after a gap. The intake owns it.
type catchUp struct {
	behind []missed  // those where something was said last first
	paid   time.Time // when another call is due without a burst
	refuse time.Time // no call before then
	pause  backoff   // of calls that fail
	reads  int       // calls that the gap has cost
}

// missed is a place where something may have been said that no event has told.
type missed struct {
	place  core.Place
	direct bool
	since  string // time stamp up to which it has been heard
}

// due is when the next place is read if nothing comes until then.
func (c *catchUp) due() time.Time {
	at := c.paid.Add(-historyBurst * historyEvery)
	if c.refuse.After(at) {
		return c.refuse
	}
	return at
}

// pay notes a call.
func (c *catchUp) pay() {
	if now := time.Now(); c.paid.Before(now) {
		c.paid = now
	}
	c.paid = c.paid.Add(historyEvery)
	c.reads++
}

// fallBehind notes, after a gap, all places where something may have been said
// meanwhile. Until the ledger says which those are, nothing is taken. Its error
// is ctx's.
func (r *receiver) fallBehind(ctx context.Context) error {
	if r.cursors == nil {
		return nil
	}
	var pause backoff
	for {
		cursors, err := r.cursors(ctx)
		if err == nil {
			r.behind, r.reads = r.behind[:0], 0
			earliest := stampAt(time.Now().Add(-readBackFor))
			for _, c := range cursors {
				r.behind = append(r.behind, missed{c.Place, c.Direct, max(cmp.Or(c.ID, stampAt(c.Time)), earliest)})
			}
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.log.Warn("how far each place was heard could not be read", "err", err)
		if err := sleep(ctx, pause.next()); err != nil {
			return err
		}
	}
}

// behindAt is what must be read before the event is taken; nil: nothing.
func (c *catchUp) behindAt(in core.Inbound) *missed {
	if in.Kind != core.InMessage || in.MessageID == "" {
		return nil
	}
	for i, m := range c.behind {
		home := m.place.Topic == "" && m.place.Channel == in.Place.Channel && in.Place.Topic == in.MessageID
		if m.place == in.Place || home {
			return &c.behind[i]
		}
	}
	return nil
}

// readSoon reads a place back for an event that waits, if that is possible
// before the deadline.
func (r *receiver) readSoon(ctx context.Context, m missed, deadline time.Time) ([]delivery, error) {
	for {
		if r.refuse.After(deadline) || !time.Now().Before(deadline) {
			return nil, nil
		}
		if err := sleep(ctx, time.Until(r.refuse)); err != nil {
			return nil, err
		}
		found, err := r.readBack(ctx, m, deadline)
		if err != nil || !slices.Contains(r.behind, m) {
			return found, err
		}
	}
}

// readBack reads what a place has said since it was last heard, oldest first,
// and takes it off those that are behind, unless it must be read again. It
// returns an error only with ctx's end, or if Slack refuses the credentials.
func (r *receiver) readBack(ctx context.Context, m missed, deadline time.Time) (found []delivery, err error) {
	hurry, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	messages, more, err := r.since(hurry, m)
	e, _ := errors.AsType[*apiError](err)
	switch {
	case err == nil:
		r.pause = 0
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case slices.Contains(finished, e.code):
		return nil, r.fatal(e, false)
	case e.retryAfter > 0:
		r.refuse = time.Now().Add(e.retryAfter)
		return nil, nil
	case e.code == "", slices.Contains(unclear, e.code), slices.Contains(notNow, e.code):
		r.refuse = time.Now().Add(r.pause.next())
		r.log.Debug("what was said meanwhile could not be read yet", "place", m.place, "err", err)
		return nil, nil
	default:
		r.log.Warn("what was said meanwhile cannot be read", "place", m.place, "err", err)
	}
	r.behind = slices.DeleteFunc(r.behind, func(other missed) bool { return other == m })
	for _, raw := range messages {
		var head struct {
			TS     string        `json:"ts"`
			Text   loose[string] `json:"text"`
			Latest loose[string] `json:"latest_reply"`
		}
		_ = json.Unmarshal(raw, &head) // what cannot be read sorts first
		// A thread that nobody could tell us of, since its root was missed, too.
		calls := m.direct || head.TS > m.since && strings.Contains(head.Text.v, "<@"+r.whoami().user+">")
		if m.place.Topic == "" && head.Latest.v > m.since && calls {
			r.expect(missed{core.Place{Adapter: r.name, Channel: m.place.Channel, Topic: head.TS}, m.direct, max(m.since, head.TS)})
		}
		if head.TS > m.since {
			found = append(found, delivery{channel: m.place.Channel, message: raw})
		}
	}
	slices.SortStableFunc(found, func(x, y delivery) int { return strings.Compare(stampOf(x.message), stampOf(y.message)) })
	if more && len(found) > 0 {
		m.since = stampOf(found[len(found)-1].message)
		r.behind = slices.Insert(r.behind, 0, m)
	}
	if r.reads >= maxReads && len(r.behind) > 0 {
		r.log.Warn("not all that was said meanwhile is read: too many places", "unread", len(r.behind))
		r.behind = nil
	}
	return found, nil
}

// expect notes one more place, unless it is known already.
func (c *catchUp) expect(m missed) {
	if !slices.ContainsFunc(c.behind, func(other missed) bool { return other.place == m.place }) {
		c.behind = slices.Insert(c.behind, 0, m)
	}
}

// since reads the messages of a place after a time stamp: of a channel or a
// conversation the newest, of a thread the oldest, and says in this case whether
// there are more. Every error is an *apiError, or ctx's.
func (r *receiver) since(ctx context.Context, m missed) (messages []json.RawMessage, more bool, err error) {
	params := url.Values{"oldest": {m.since}}
	read := r.history
	switch {
	case m.place.Topic != "":
		read = r.replies
		params.Set("ts", m.place.Topic)
	case m.direct:
		params.Del("oldest") // older messages tell of new replies to them
	}
	for range maxMissed {
		r.pay()
		page, err := read(ctx, m.place.Channel, params)
		if err != nil {
			return nil, false, err
		}
		messages = append(messages, page.raw...)
		n := len(page.raw)
		if page.next == "" || m.direct && m.place.Topic == "" && n > 0 && stampOf(page.raw[n-1]) <= m.since {
			return messages, false, nil
		}
		params.Set("cursor", page.next)
	}
	if m.place.Topic == "" {
		r.log.Error("more was said meanwhile than is read", "place", m.place, "messages", len(messages))
		return messages, false, nil
	}
	return messages, true, nil
}

// stampOf is a message's time stamp.
func stampOf(raw json.RawMessage) string {
	var m struct {
		TS string `json:"ts"`
	}
	_ = json.Unmarshal(raw, &m)
	return m.TS
}

// stampAt is the time stamp of a time.
func stampAt(t time.Time) string {
	return fmt.Sprintf("%010d.%06d", t.Unix(), t.Nanosecond()/1000)
}
