package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"bellhop/core"
)

const (
	// pageSize is the most messages of one answer.
	pageSize = 100

	// readBackFor is how far back is read. Source: Telegram keeps for a day what
	// nobody has fetched, and nobody wants an answer later than that.
	readBackFor = 24 * time.Hour

	// historyEvery is how often a channel is read, and historyBurst how many are
	// read at once before that: Discord takes 50 calls a second from one bot, and
	// answers need some of them.
	historyEvery = 200 * time.Millisecond
	historyBurst = 20

	// maxPages bounds what is read back of one channel, and maxReads the calls
	// that one gap is worth: all the places that the ledger names, once, which is
	// a few minutes.
	maxPages = 20
	maxReads = 1000

	// orderly is how long events wait at most until what was said before them has
	// been read; Discord wants interactions acknowledged within three seconds.
	// While there are none, a channel may take the time of quietly.
	orderly = 1500 * time.Millisecond
	quietly = 3 * time.Second
)

// catchUp is what is to be read after a gap. The feed owns it.
type catchUp struct {
	guilds map[string]bool   // servers that we were in when the session began, or that have told of themselves since: which
	heard  map[string]string // by channel: the newest message that was heard when the ledger was asked
	gap    string            // of all of them, and of those that the ledger had no use for
	newest string            // of all that this process has heard
	behind []missed
	paid   time.Time // when another call is due without a burst
	refuse time.Time // no call before then
	pause  backoff   // of calls that fail
	reads  int       // calls that the gap has cost
}

// missed is a channel, thread or direct conversation where something may have
// been said that no event has told.
type missed struct {
	channel string
	guild   string // empty: direct
	since   string // the newest message that has been heard
	pages   int    // that have been read
}

// begun takes up a session: all that was said since the one before was missed.
// Servers tell of theirs in GUILD_CREATE. Its error is ctx's.
func (f *feed) begun(ctx context.Context, fr frame) error {
	if _, me, err := parseReady(packet{Data: fr.data}); err == nil {
		f.me = me
	}
	var ready struct {
		Guilds lenient[[]struct {
			ID string `json:"id"`
		}] `json:"guilds"`
	}
	_ = json.Unmarshal(fr.data, &ready) // without it, nothing is read back from servers
	f.guilds, f.reads = map[string]bool{}, 0
	for _, g := range ready.Guilds.v {
		f.guilds[g.ID] = false
	}
	cursors, err := f.ask(ctx)
	for _, c := range cursors {
		if id := c.Place.Channel; c.Direct && isID(id) {
			f.known.learn(channel{id: id, kind: discordgo.ChannelTypeDM})
			f.expect(missed{channel: id, since: c.ID})
		}
	}
	return err
}

// ask asks the ledger how far each channel was heard, until it says so: nothing
// is taken before, for that would move the cursors. Its error is ctx's.
func (f *feed) ask(ctx context.Context) ([]core.Cursor, error) {
	f.heard, f.gap = map[string]string{}, f.newest
	if f.cursors == nil {
		return nil, nil
	}
	var pause backoff
	for {
		cursors, err := f.cursors(ctx)
		if err == nil {
			for _, c := range cursors {
				f.heard[cmp.Or(c.Place.Topic, c.Place.Channel)] = c.ID
				if compareIDs(c.ID, f.gap) > 0 {
					f.gap = c.ID
				}
			}
			return cursors, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f.log.Warn("how far each channel was heard could not be read", "err", err)
		if err := sleep(ctx, pause.next()); err != nil {
			return nil, err
		}
	}
}

// guild learns a server's channels, threads and roles. If we were in it before,
// Discord was away, or we: what has been said since is read back. Its error is
// ctx's.
func (f *feed) guild(ctx context.Context, fr frame) error {
	var g struct {
		ID       string                 `json:"id"`
		Channels lenient[[]wireChannel] `json:"channels"`
		Threads  lenient[[]wireChannel] `json:"threads"`
		Roles    lenient[[]wireRole]    `json:"roles"`
	}
	if !parse(fr.data, &g) || g.ID == "" {
		f.log.Warn("discord tells of a server in a way that cannot be read")
		return nil
	}
	for _, r := range g.Roles.v {
		f.known.setRole(r.ID, r.role(f.me))
	}
	told, ours := f.guilds[g.ID]
	if f.guilds[g.ID] = true; told { // it was away
		if _, err := f.ask(ctx); err != nil {
			return err
		}
	}
	for _, w := range slices.Concat(g.Channels.v, g.Threads.v) {
		if !isID(w.ID) {
			continue
		}
		w.Guild = g.ID
		f.known.learn(w.channel())
		// A thread that is new to us has been heard as far as its channel.
		since := cmp.Or(f.heard[w.ID], f.heard[w.Parent], f.gap)
		if ours && since != "" && isID(w.Last) && !f.known.isForum(w.ID) && compareIDs(w.Last, since) > 0 {
			f.expect(missed{channel: w.ID, guild: g.ID, since: since})
		}
	}
	return nil
}

// expect notes a channel to be read: first those with cursors of their own, and
// of these the ones where something was said last. One that has been behind
// since the gap before is so still.
func (f *feed) expect(m missed) {
	if i := slices.IndexFunc(f.behind, func(other missed) bool { return other.channel == m.channel }); i >= 0 {
		m.since = slices.MinFunc([]string{m.since, f.behind[i].since}, compareIDs)
		f.behind = slices.Delete(f.behind, i, i+1)
	}
	if earliest := idAfter(time.Now().Add(-readBackFor)); compareIDs(m.since, earliest) < 0 {
		m.since = earliest
	}
	i := slices.IndexFunc(f.behind, func(other missed) bool { return compareIDs(f.heard[other.channel], f.heard[m.channel]) < 0 })
	if i < 0 {
		i = len(f.behind)
	}
	f.behind = slices.Insert(f.behind, i, m)
}

// due tells when a channel is to be read, if nothing comes until then; never,
// if there is none.
func (f *feed) due() <-chan time.Time {
	if len(f.behind) == 0 {
		return nil
	}
	return time.After(time.Until(later(f.refuse, f.paid.Add(-historyBurst*historyEvery))))
}

// readOn reads a page of the first channel that is behind, and hands it over.
// Its error is ctx's.
func (f *feed) readOn(ctx context.Context) error {
	found, err := f.readBack(ctx, f.behind[0], time.Now().Add(quietly))
	if err != nil {
		return err
	}
	return f.give(ctx, found)
}

// precede reads what was said in a channel before an event that says something
// there, if that is possible before the deadline; late: it was not. Nothing is
// read for an interaction, which wants its answer at once. Its error is ctx's.
func (f *feed) precede(ctx context.Context, fr frame, deadline time.Time) (found []core.Inbound, late bool, err error) {
	if fr.kind != "MESSAGE_CREATE" && fr.kind != "INTERACTION_CREATE" || len(f.behind) == 0 {
		return nil, false, nil
	}
	var head struct {
		Channel lenient[string] `json:"channel_id"`
	}
	_ = json.Unmarshal(fr.data, &head) // what cannot be read stands nowhere
	for {
		i := slices.IndexFunc(f.behind, func(m missed) bool { return m.channel == head.Channel.v })
		if i < 0 {
			return found, false, nil
		}
		if f.refuse.After(deadline) || !time.Now().Before(deadline) || fr.kind != "MESSAGE_CREATE" {
			return found, true, nil
		}
		if err := sleep(ctx, time.Until(f.refuse)); err != nil {
			return nil, false, err
		}
		more, err := f.readBack(ctx, f.behind[i], deadline)
		if err != nil {
			return nil, false, err
		}
		found = append(found, more...)
	}
}

// readBack reads the next page of what was said in a channel, oldest first, and
// takes the channel off those that are behind when there is no more. Where that
// is not permitted there is nothing. Its error is ctx's.
func (f *feed) readBack(ctx context.Context, m missed, deadline time.Time) ([]core.Inbound, error) {
	hurry, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	f.paid = later(f.paid, time.Now()).Add(historyEvery)
	f.reads++
	var page []json.RawMessage
	err := f.api.call(hurry, http.MethodGet, fmt.Sprintf("%s?after=%s&limit=%d", messagePath(m.channel, ""), m.since, pageSize), nil, &page)
	e, _ := errors.AsType[*apiError](err)
	switch {
	case err == nil:
		f.pause = 0
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case e.retryAfter > 0:
		f.refuse = time.Now().Add(e.retryAfter)
		return nil, nil
	case !e.answered:
		f.refuse = time.Now().Add(f.pause.next())
		f.log.Debug("what was missed in a channel could not be read yet", "channel", m.channel, "err", err)
		return nil, nil
	default:
		f.log.Warn("what was missed in a channel cannot be read", "channel", m.channel, "err", err)
	}
	i := slices.Index(f.behind, m)
	f.behind = slices.Delete(f.behind, i, i+1)
	var found []core.Inbound
	slices.SortStableFunc(page, func(a, b json.RawMessage) int { return compareIDs(idOf(a), idOf(b)) })
	for _, raw := range page {
		got, err := f.message(ctx, frame{kind: "MESSAGE_CREATE", data: raw}, m.guild)
		if err != nil {
			return nil, err
		}
		for _, in := range got.events {
			in.Heard = in.Kind == core.InMessage
			if in.Kind != core.InIgnored { // nobody will tell of that again
				found = append(found, in)
			}
		}
		if id := idOf(raw); compareIDs(id, m.since) > 0 {
			m.since = id
		}
	}
	switch m.pages++; {
	case len(page) < pageSize:
	case m.pages >= maxPages:
		f.log.Error("too much was missed in a channel to read all of it back", "channel", m.channel, "from", m.since)
	default:
		f.behind = slices.Insert(f.behind, i, m)
	}
	if f.reads >= maxReads && len(f.behind) > 0 {
		f.log.Warn("not all that was missed is read back: too many channels", "unread", len(f.behind))
		f.behind = nil
	}
	return found, nil
}

// idOf is the id of a message that may be unreadable otherwise.
func idOf(raw json.RawMessage) string {
	var m struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(raw, &m) // "" sorts first
	return m.ID
}

// idAfter is an id that is older than all of what is said after the time.
func idAfter(t time.Time) string {
	return strconv.FormatInt(max(t.UnixMilli()-epoch, 0)<<22, 10)
}
