package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"bellhop/core"
)

const (
	// pollTimeout is how long Telegram holds a poll that has nothing to tell;
	// 50 s is the most it takes.
	pollTimeout = 50 * time.Second
	// pollGrace after that, a connection that has not answered is deaf.
	pollGrace = 15 * time.Second
	// pollPace is the least time from one poll to the next while there is
	// nothing to tell: a server that does not hold them would be asked all the
	// time.
	pollPace = 500 * time.Millisecond
	// pollLimit is the most updates of one poll.
	pollLimit = 100
	// offsetLife is how long an offset means anything: Telegram keeps updates
	// for 24 hours, and after a quiet week its ids start anywhere, so that an
	// old offset might acknowledge what was never seen.
	offsetLife = 24 * time.Hour
)

// wanted are the kinds of updates to get. Telegram remembers the list of an
// earlier program if none is given.
var wanted = []string{
	models.AllowedUpdateMessage,
	models.AllowedUpdateEditedMessage,
	models.AllowedUpdateCallbackQuery,
	models.AllowedUpdateMyChatMember,
	models.AllowedUpdateMessageReaction,
}

// pollParams are those of getUpdates. An absent offset asks for everything
// that is not acknowledged.
type pollParams struct {
	Offset  int64    `json:"offset,omitempty"`
	Timeout int      `json:"timeout"`
	Limit   int      `json:"limit"`
	Allowed []string `json:"allowed_updates"`
}

// poller is the receiving half of Run, in one goroutine: there is never more
// than one poll.
type poller struct {
	*Adapter
	known <-chan models.User // gives who we are, once
	sink  core.Sink

	decode   *decoder  // nil until we know who we are
	offset   int64     // acknowledges what is below it; 0: nothing known
	heard    time.Time // when the offset was set
	unhooked bool      // a webhook was in the way and has been removed
	failing  failing
}

// run polls until ctx ends or an error that is fatal, which it returns.
func (p *poller) run(ctx context.Context) error {
	for {
		started, timeout := time.Now(), p.timeout()
		updates, err := p.poll(ctx, timeout)
		if err != nil && p.unhook(ctx, err) {
			continue
		}
		if err == nil {
			p.alive()
			err = p.take(ctx, updates)
		}
		if err == nil {
			p.failing = failing{}
			if len(updates) < pollLimit {
				p.current()
			}
			if len(updates) == 0 && timeout > 0 {
				if err := sleep(ctx, time.Until(started.Add(pollPace))); err != nil {
					return err
				}
			}
			continue
		}
		if err := p.survive(ctx, &p.failing, started, err); err != nil {
			return err
		}
	}
}

// timeout is how long the next poll may wait for something new: not at all
// while what came in before is still to be taken.
func (p *poller) timeout() time.Duration {
	select {
	case <-p.caughtUp:
		return pollTimeout
	default:
		return 0
	}
}

// poll asks for the next batch and waits for it.
func (p *poller) poll(ctx context.Context, timeout time.Duration) ([]json.RawMessage, error) {
	if time.Since(p.heard) > offsetLife {
		p.offset = 0
	}
	var updates []json.RawMessage
	err := p.api.raw(ctx, pollTimeout+pollGrace, "getUpdates", pollParams{
		Offset:  p.offset,
		Timeout: int(timeout / time.Second),
		Limit:   pollLimit,
		Allowed: wanted,
	}, &updates)
	if err != nil {
		// Whatever became of the connection, the next poll gets a fresh one.
		p.api.polls.CloseIdleConnections()
	}
	return updates, err
}

// unhook removes a webhook if that is why a poll failed: none of ours, since
// this program only polls. It does so once, lest two programs fight for ever,
// and reports whether to poll again at once.
func (p *poller) unhook(ctx context.Context, err error) bool {
	e, _ := errors.AsType[*apiError](err)
	if p.unhooked || !e.answered || e.code != http.StatusConflict || !strings.Contains(e.text, "webhook") {
		return false
	}
	p.log.Warn("telegram has a webhook, which keeps us from polling: removing it")
	if err := p.api.raw(ctx, callTimeout, "deleteWebhook", bot.DeleteWebhookParams{}, nil); err != nil {
		p.log.Warn("telegram did not remove the webhook", "err", err)
		return false
	}
	p.unhooked = true
	return true
}

// take hands a batch to the sink until it is durable, and lets the next poll
// acknowledge it.
func (p *poller) take(ctx context.Context, updates []json.RawMessage) error {
	if len(updates) == 0 {
		return nil
	}
	if p.decode == nil {
		select {
		case me := <-p.known:
			p.decode = &decoder{adapter: p.name, me: me}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var batch []core.Inbound
	presses := map[int]string{} // queries by their place in the batch
	next := int64(0)
	for _, raw := range updates {
		u := p.decode.update(raw)
		if u.query != "" {
			presses[len(batch)] = u.query
		}
		if u.forum != 0 {
			p.learnRight(ctx, p.decode.me.ID, u.forum)
		}
		batch = append(batch, u.events...)
		next = max(next, u.id+1)
	}
	var pause backoff
	for {
		err := p.sink(ctx, batch)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.log.Warn("a batch could not be stored and is offered again", "events", len(batch), "err", err)
		if err := sleep(ctx, pause.next()); err != nil {
			return err
		}
	}
	var queries []query
	for i, id := range presses {
		queries = append(queries, query{id, batch[i].Note})
	}
	p.answerAll(ctx, queries)
	if next == p.offset {
		return &apiError{method: "getUpdates", text: "updates without a new id"}
	}
	p.offset, p.heard = next, time.Now()
	return nil
}
