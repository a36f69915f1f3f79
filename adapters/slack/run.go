package slack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"bellhop/core"
)

const (
	firstPause = 500 * time.Millisecond
	lastPause  = 30 * time.Second

	// troubleAfter is how long something may fail before that is worth telling.
	troubleAfter = time.Minute

	// steady is how long a socket lives that is replaced at once. Slack gives
	// out few in a short time.
	steady = 30 * time.Second

	// crowded is the pause after being told that there are too many sockets.
	crowded = 30 * time.Second
)

// Run receives events until ctx ends, and then returns nil, or until Slack
// refuses the credentials.
func (a *Adapter) Run(ctx context.Context, sink core.Sink) error {
	if a.api.wrong != "" {
		return fmt.Errorf("adapter %q %s, check its bot_token and app_token: %w", a.name, a.api.wrong, core.ErrFatal)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r := &receiver{
		Adapter: a,
		sink:    sink,
		waiting: make(chan delivery, maxBatch),
		known:   make(chan struct{}),
		recheck: make(chan struct{}, 1),
		gap:     make(chan struct{}, 1),
		stored:  newRecent[string, time.Time](2 * maxBatch),
	}
	var wg sync.WaitGroup
	for _, part := range []func(context.Context) error{r.identify, r.connect} {
		wg.Go(func() {
			if err := part(ctx); err != nil {
				cancel(err)
			}
		})
	}
	cancel(r.intake(ctx))
	wg.Wait()
	a.api.http.CloseIdleConnections()
	if cause := context.Cause(ctx); errors.Is(cause, core.ErrFatal) {
		return cause
	}
	return nil
}

// receiver is the receiving half of the adapter while it runs.
type receiver struct {
	*Adapter
	sink    core.Sink
	waiting chan delivery
	known   chan struct{} // closed when we know who we are
	recheck chan struct{} // asks whether the bot token is still good
	gap     chan struct{} // says that events may have been missed

	// Owned by the intake.
	stored *recent[string, time.Time] // when events became durable, by key
	catchUp
}

// identify asks who we are, and again whenever there is a reason for doubt.
// Its error is fatal, or ctx has ended.
func (r *receiver) identify(ctx context.Context) error {
	for first := true; ; first = false {
		me, err := r.whoAreWe(ctx)
		if err != nil {
			return err
		}
		r.mu.Lock()
		r.me = me
		r.mu.Unlock()
		if first {
			r.log.Info("slack knows the bot", "name", me.name, "user", me.user, "team", me.team)
			close(r.known)
		}
		select {
		case <-r.recheck:
		case <-ctx.Done():
			return nil
		}
	}
}

func (r *receiver) whoAreWe(ctx context.Context) (identity, error) {
	var failing failing
	for {
		started := time.Now()
		me, err := r.ask(ctx)
		if err == nil {
			return me, nil
		}
		if err := r.survive(ctx, &failing, started, err, false); err != nil {
			return identity{}, err
		}
	}
}

// ask asks Slack who we are.
func (a *Adapter) ask(ctx context.Context) (identity, error) {
	var me struct {
		User       string        `json:"user_id"`
		Team       string        `json:"team_id"`
		Bot        loose[string] `json:"bot_id"`
		Name       loose[string] `json:"user"`
		Enterprise loose[string] `json:"enterprise_id"`
	}
	err := a.api.call(ctx, "auth.test", nil, &me)
	return identity{me.User, me.Bot.v, me.Name.v, me.Team, me.Enterprise.v}, err
}

// connect keeps a socket open. Its error is fatal, or ctx has ended.
func (r *receiver) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	var failing failing
	var last *socket // the one before
	for {
		started := time.Now()
		s, err := r.open(ctx)
		if err != nil {
			if err := r.survive(ctx, &failing, started, err, true); err != nil {
				return err
			}
			continue
		}
		if last != nil {
			last.retire()
			signal(r.recheck)
		}
		if last == nil || isClosed(last.ended) {
			signal(r.gap)
		}
		last = s
		wg.Go(func() { s.listen(ctx, r.waiting) })
		wg.Go(func() { s.mind(ctx) })
		select {
		case <-s.leaving:
			err = &apiError{method: "socket", text: "closed by Slack: " + s.reason}
			if s.reason == tooMany || s.reason == "link_disabled" {
				err = &apiError{method: "socket", text: inSettings[s.reason], retryAfter: crowded}
				s.retire()
			}
		case <-s.ended:
			err = &apiError{method: "socket", text: r.api.redact(s.err.Error())}
		case <-ctx.Done():
			return nil
		}
		r.log.Debug("slack socket is over", "lived", time.Since(s.since), "err", err)
		if e, _ := errors.AsType[*apiError](err); s.talks.Load() && time.Since(s.since) >= steady && e.retryAfter == 0 {
			failing.reset()
			continue
		}
		if err := r.survive(ctx, &failing, s.since, err, true); err != nil {
			return err
		}
	}
}

// tooMany is Slack's word for more than the ten sockets that an app may have.
const tooMany = "too_many_websockets"

// inSettings says what a person can do about a socket that is refused.
var inSettings = map[string]string{
	tooMany:         "too many sockets are open for the app: stop other programs that use its token",
	"link_disabled": "Socket Mode is switched off: switch it on in the app's settings",
}

// failing follows one kind of call through its failures; the zero value is a
// call that works.
type failing struct {
	since time.Time // start of the first failed call
	told  bool
	pause backoff
}

func (f *failing) reset() { *f = failing{} }

// survive waits as long as what has failed, begun at started, should not be
// tried again, and states the trouble once it has lasted. It returns an error
// when trying again is useless: a fatal one, or ctx has ended. app says whose
// token was used.
func (a *Adapter) survive(ctx context.Context, f *failing, started time.Time, err error, app bool) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e, _ := errors.AsType[*apiError](err)
	if slices.Contains(finished, e.code) || app && e.code == "missing_scope" {
		return a.fatal(e, app)
	}
	if f.since.IsZero() {
		f.since = started
		a.log.Warn("slack call failed", "err", err)
	}
	if time.Since(f.since) >= troubleAfter {
		text := fmt.Sprintf("Slack's %s fails: %s", e.method, e.text)
		a.trouble(text)
		if !f.told {
			f.told = true
			a.log.Error("slack is in trouble", "trouble", text, "since", f.since, "err", err)
		}
	}
	if e.retryAfter > 0 {
		return sleep(ctx, e.retryAfter)
	}
	return sleep(ctx, jitter(f.pause.next()))
}

// backoff doubles from pause to pause. The zero value is ready.
type backoff time.Duration

func (b *backoff) next() time.Duration {
	*b = backoff(min(max(2*time.Duration(*b), firstPause), lastPause))
	return time.Duration(*b)
}

// jitter is between half of d and d, so that two programs do not meet again.
func jitter(d time.Duration) time.Duration { return d - rand.N(d/2) }

// sleep waits for d. It returns ctx's error if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// signal asks for something that need not be asked twice.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
