package slack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"bellhop/core"
)

const (
	// statusLife is how long a status is left alone: Slack takes one away after
	// two minutes.
	statusLife = time.Minute
	// statusText stands below the thread, behind our name. Slack takes a comma
	// for the end of it.
	statusText = "is working on it…"
	// restTimeout is how long an answer that is shown waits for the status to go.
	restTimeout = 3 * time.Second
)

// typing shows that somebody is at work: as an agent's session, which has a
// button to stop it, else as an assistant's status. It needs a thread; in a
// direct conversation, that of the last message.
func (a *Adapter) typing(ctx context.Context, p core.Place) error {
	if err := check(p); err != nil {
		return err
	}
	to, heard := a.rooms.person(p)
	at := spot{p.Channel, p.Topic}
	if p.Topic == "" {
		at.ts = to.ts
	}
	if at.ts == "" || !a.rooms.working(at, p) {
		return nil
	}
	params := url.Values{"channel_id": {at.channel}, "thread_ts": {at.ts}}
	if heard {
		params.Set("initiator_user_id", to.user)
	}
	err := a.setStatus(ctx, params, "processing", statusText)
	if err != nil {
		a.rooms.idle(at)
	}
	return err
}

// rest takes the status away. It is a courtesy: Slack does so itself, later.
func (a *Adapter) rest(ctx context.Context, p core.Place) {
	ctx, cancel := context.WithTimeout(ctx, restTimeout)
	defer cancel()
	for _, at := range a.rooms.workingAt(p) {
		a.rooms.idle(at)
		if err := a.setStatus(ctx, url.Values{"channel_id": {at.channel}, "thread_ts": {at.ts}}, "active", ""); err != nil {
			a.log.Debug("a status stays", "place", p, "err", err)
		}
	}
}

// setStatus sets a session's state or, where there are none, a status.
func (a *Adapter) setStatus(ctx context.Context, params url.Values, session, text string) error {
	params.Set("status", session)
	if !a.latches.noSession.Load() {
		err := a.api.call(ctx, "agents.sessions.setStatus", params, nil)
		if !is(err, lacking...) {
			return a.outcome(err)
		}
		a.latches.noSession.Store(true)
	}
	if a.latches.noStatus.Load() {
		return nil
	}
	params.Del("initiator_user_id")
	params.Set("status", text)
	err := a.api.call(ctx, "assistant.threads.setStatus", params, nil)
	if is(err, lacking...) {
		a.latches.noStatus.Store(true)
		return nil
	}
	return a.outcome(err)
}

// working notes a status in a thread. It reports false if that is fresh.
func (r *rooms) working(at spot, p core.Place) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.statuses.get(at); ok && time.Since(s.since) < statusLife {
		return false
	}
	r.statuses.put(at, status{p, time.Now()})
	return true
}

// idle notes that a thread's status is over.
func (r *rooms) idle(at spot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.statuses.get(at); ok {
		r.statuses.put(at, status{place: s.place})
	}
}

// workingAt lists where a place shows that it works.
func (r *rooms) workingAt(p core.Place) []spot {
	r.mu.Lock()
	defer r.mu.Unlock()
	var at []spot
	for s, st := range r.statuses.entries {
		if st.place == p && !st.since.IsZero() {
			at = append(at, s)
		}
	}
	return at
}

// react marks a message, in place of the mark that we set before.
func (a *Adapter) react(ctx context.Context, p core.Place, id, emoji string) error {
	if err := check(p); err != nil {
		return err
	}
	if !timestamp().MatchString(id) {
		return fmt.Errorf("%w: %q is no Slack message", core.ErrGone, id)
	}
	at := spot{p.Channel, id}
	name, known := nameOf(emoji)
	if emoji != "" && !known {
		return fmt.Errorf("%w: Slack has no name for %s that we know", core.ErrRefused, emoji)
	}
	a.mu.Lock()
	before, set := a.marks.get(at)
	a.mu.Unlock()
	if !set && emoji == "" {
		before = acknowledging // of an earlier process
	}
	if before != "" && before != name {
		if err := a.mark(ctx, "reactions.remove", at, before); err != nil {
			return err
		}
	}
	if emoji != "" {
		if err := a.mark(ctx, "reactions.add", at, name); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.marks.put(at, name)
	return nil
}

// acknowledging is the name of the mark that messages get most.
const acknowledging = "eyes"

func (a *Adapter) mark(ctx context.Context, method string, at spot, name string) error {
	err := a.api.call(ctx, method, url.Values{"channel": {at.channel}, "timestamp": {at.ts}, "name": {name}}, nil)
	if e, ok := errors.AsType[*apiError](err); ok && slices.Contains([]string{"already_reacted", "no_reaction"}, e.code) {
		return nil
	}
	return a.outcome(err)
}
