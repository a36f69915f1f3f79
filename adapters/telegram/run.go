package telegram

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot/models"

	"bellhop/core"
)

const (
	firstPause = 500 * time.Millisecond
	lastPause  = 30 * time.Second

	// troubleAfter is how long a call may fail before that is worth telling.
	// A long poll of a process that was killed holds the line for almost as
	// long, which is no trouble.
	troubleAfter = time.Minute
)

// Run receives events until ctx ends, and then returns nil, or until Telegram
// refuses the token.
func (a *Adapter) Run(ctx context.Context, sink core.Sink) error {
	ctx, cancel := context.WithCancelCause(ctx)
	known := make(chan models.User, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		me, err := a.identify(ctx)
		if err != nil {
			cancel(err)
			return
		}
		known <- me
		a.publish(ctx)
	})
	p := poller{Adapter: a, known: known, sink: sink}
	cancel(p.run(ctx))
	wg.Wait()
	for _, hc := range []*http.Client{a.api.http, a.api.polls, a.api.files} {
		hc.CloseIdleConnections()
	}
	if cause := context.Cause(ctx); errors.Is(cause, core.ErrFatal) {
		return cause
	}
	return nil
}

// identify asks who the bot is until it is told. Its error is fatal, or ctx has
// ended.
func (a *Adapter) identify(ctx context.Context) (models.User, error) {
	var failing failing
	for {
		var me models.User
		started := time.Now()
		err := a.api.raw(ctx, callTimeout, "getMe", struct{}{}, &me)
		if err == nil {
			a.alive()
			a.mu.Lock()
			a.user = me.Username
			a.mu.Unlock()
			a.log.Info("telegram knows the bot", "username", me.Username, "reads_groups", me.CanReadAllGroupMessages, "topics", me.HasTopicsEnabled)
			return me, nil
		}
		if err := a.survive(ctx, &failing, started, err); err != nil {
			return me, err
		}
	}
}

// commandName is what Telegram takes for one; a single other name would make it
// refuse the whole menu.
var commandName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_]{1,32}$`) })

// Telegram's limits on a menu.
const (
	maxCommands = 100
	maxHelp     = 256
)

// publish shows the commands in the clients' menus. It is a courtesy: typing
// them works without it.
func (a *Adapter) publish(ctx context.Context) {
	var menu []models.BotCommand
	for _, c := range a.commands {
		help := []rune(c.Help)
		if !commandName().MatchString(c.Name) || len(help) == 0 || len(menu) == maxCommands {
			a.log.Warn("telegram cannot show a command in its menu", "command", c.Name)
			continue
		}
		menu = append(menu, models.BotCommand{Command: c.Name, Description: string(help[:min(len(help), maxHelp)])})
	}
	if len(menu) == 0 {
		return
	}
	type scope struct {
		Type string `json:"type"`
	}
	for _, kind := range []string{"default", "all_private_chats", "all_group_chats"} {
		err := a.api.raw(ctx, callTimeout, "setMyCommands", struct {
			Commands []models.BotCommand `json:"commands"`
			Scope    scope               `json:"scope"`
		}{menu, scope{kind}}, nil)
		if err != nil && ctx.Err() == nil {
			a.log.Warn("telegram did not take the command menu", "scope", kind, "err", err)
		}
	}
}

// failing follows one kind of call through its failures; the zero value is a
// call that works.
type failing struct {
	since time.Time // start of the first failed call
	told  bool
	pause backoff
}

// survive waits as long as the failed call, begun at started, should not be
// tried again, and states the trouble once it has lasted. It returns an error
// when trying again is useless: a fatal one, or ctx has ended.
func (a *Adapter) survive(ctx context.Context, f *failing, started time.Time, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e, _ := errors.AsType[*apiError](err)
	if e.answered && (e.code == http.StatusUnauthorized || e.code == http.StatusNotFound) {
		return a.fatal(e)
	}
	if f.since.IsZero() {
		f.since = started
		a.log.Warn("telegram call failed", "err", err)
	}
	lasts := time.Since(f.since) >= troubleAfter
	rival := e.answered && e.code == http.StatusConflict && !strings.Contains(e.text, "webhook")
	if lasts {
		text := fmt.Sprintf("Telegram's %s fails: %s", e.method, e.text)
		if rival {
			text = "another program polls with this token"
		}
		a.trouble(text)
		if !f.told {
			f.told = true
			a.log.Error("telegram is in trouble", "trouble", text, "since", f.since, "err", err)
		}
	}
	switch {
	case e.retryAfter > 0:
		return sleep(ctx, e.retryAfter)
	case rival && !lasts:
		return sleep(ctx, jitter(time.Second))
	}
	return sleep(ctx, jitter(f.pause.next()))
}

// fatal is what a refused token comes to.
func (a *Adapter) fatal(e *apiError) error {
	return fmt.Errorf("adapter %q: Telegram refuses the bot token (%d %s), check the token: %w", a.name, e.code, e.text, core.ErrFatal)
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
