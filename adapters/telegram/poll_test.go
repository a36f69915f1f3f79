package telegram

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// inbox keeps the texts that its sink gets.
type inbox struct {
	mu    sync.Mutex
	texts []string
	last  time.Time
}

func (b *inbox) sink(_ context.Context, batch []core.Inbound) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, in := range batch {
		b.texts = append(b.texts, in.Text)
	}
	b.last = time.Now()
	return nil
}

func (b *inbox) got() ([]string, time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.texts), b.last
}

func nothing(context.Context, []core.Inbound) error { return nil }

func TestFirstPollDoesNotWaitForGetMe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{answer: func(ctx context.Context, c call) reply {
			switch {
			case c.method == "getMe":
				return waits(ctx, 10*time.Second, normal(ctx, c))
			case c.method == "getUpdates" && c.number("offset") == 0:
				return ok(`[` + message(41, "hello") + `,` + message(42, "there") + `]`)
			}
			return normal(ctx, c)
		}}
		start := time.Now()
		var in inbox
		stop := run(t, adapter(w, io.Discard), in.sink)
		synctest.Wait()
		if polls := w.calls("getUpdates"); len(polls) != 1 || !polls[0].at.Equal(start) {
			t.Fatalf("polls before getMe has answered: %v", polls)
		}
		if got, _ := in.got(); len(got) != 0 {
			t.Fatalf("decoded %q before we know who we are", got)
		}
		pass(11 * time.Second)
		got, at := in.got()
		if diff := cmp.Diff([]string{"hello", "there"}, got); diff != "" || !at.Equal(start.Add(10*time.Second)) {
			t.Errorf("sink got at %s: %s", at.Sub(start), diff)
		}
		polls := w.calls("getUpdates")
		want := map[string]any{
			"offset": 43.0, "timeout": 50.0, "limit": 100.0,
			"allowed_updates": []any{"message", "edited_message", "callback_query", "my_chat_member", "message_reaction"},
		}
		if diff := cmp.Diff(want, polls[1].params); diff != "" {
			t.Errorf("second poll: %s", diff)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestBatchIsOfferedUntilItIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{answer: func(ctx context.Context, c call) reply {
			if c.method == "getUpdates" && c.number("offset") == 0 {
				return ok(`[` + message(41, "a") + `,` + message(42, "b") + `]`)
			}
			return normal(ctx, c)
		}}
		start := time.Now()
		var offered []time.Duration
		var batches [][]core.Inbound
		stop := run(t, adapter(w, io.Discard), func(_ context.Context, batch []core.Inbound) error {
			offered = append(offered, time.Since(start))
			batches = append(batches, batch)
			if len(offered) < 9 {
				return errors.New("disk full")
			}
			if n := len(w.calls("getUpdates")); n != 1 {
				t.Errorf("%d polls while a batch is not durable", n)
			}
			return nil
		})
		pass(3 * time.Minute)
		var pauses []time.Duration
		for i := range offered[1:] {
			pauses = append(pauses, offered[i+1]-offered[i])
		}
		const s = time.Second
		want := []time.Duration{s / 2, s, 2 * s, 4 * s, 8 * s, 16 * s, 30 * s, 30 * s}
		if diff := cmp.Diff(want, pauses); diff != "" {
			t.Errorf("pauses: %s", diff)
		}
		for i, b := range batches {
			if diff := cmp.Diff(batches[0], b); diff != "" {
				t.Errorf("offer %d is another batch: %s", i, diff)
			}
		}
		if polls := w.calls("getUpdates"); polls[1].number("offset") != 43 {
			t.Errorf("offset %d, want 43", polls[1].number("offset"))
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// faulty answers polls with the fault until it is healed.
type faulty struct {
	wire
	healed atomic.Bool
}

func newFaulty(fault func(ctx context.Context, c call) reply) *faulty {
	f := new(faulty)
	f.answer = func(ctx context.Context, c call) reply {
		if c.method == "getUpdates" && !f.healed.Load() {
			return fault(ctx, c)
		}
		return normal(ctx, c)
	}
	return f
}

func TestPollSurvives(t *testing.T) {
	const rivals = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
	tests := map[string]struct {
		fault   func(ctx context.Context, c call) reply
		trouble string
		least   int // polls in five minutes
		most    int
	}{
		"another poller": {
			func(context.Context, call) reply { return no(409, rivals) },
			"another program polls with this token", 60, 150,
		},
		"a proxy's page": {
			func(context.Context, call) reply { return page(502) },
			"Telegram's getUpdates fails: HTTP 502 without an answer of Telegram", 12, 35,
		},
		"server error": {
			func(context.Context, call) reply { return no(500, "Internal Server Error") },
			"Telegram's getUpdates fails: Internal Server Error", 12, 35,
		},
		"no connection": {
			func(context.Context, call) reply { return reply{err: errors.New("connection\nrefused")} },
			"Telegram's getUpdates fails: no answer: connection refused", 12, 35,
		},
		"not a list": {
			func(context.Context, call) reply { return ok(`{}`) },
			"Telegram's getUpdates fails: unreadable result: json: cannot unmarshal object into Go value of type []json.RawMessage", 12, 35,
		},
		"too many requests": {
			func(context.Context, call) reply { return tooMany(40) },
			"Telegram's getUpdates fails: Too Many Requests: retry after 40", 8, 8,
		},
		"deaf": {
			func(ctx context.Context, _ call) reply { <-ctx.Done(); return reply{err: ctx.Err()} },
			"Telegram's getUpdates fails: no answer: context deadline exceeded", 5, 5,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFaulty(tt.fault)
				a := adapter(&w.wire, io.Discard)
				stop := run(t, a, nothing)
				pass(50 * time.Second)
				if h := a.state(); h.Trouble != "" {
					t.Errorf("trouble too early: %q", h.Trouble)
				}
				pass(250 * time.Second)
				if h := a.state(); h.Trouble != tt.trouble {
					t.Errorf("trouble %q, want %q", h.Trouble, tt.trouble)
				}
				if n := len(w.calls("getUpdates")); n < tt.least || n > tt.most {
					t.Errorf("%d polls in five minutes, want %d to %d", n, tt.least, tt.most)
				}
				w.healed.Store(true)
				pass(3 * time.Minute)
				if h := a.state(); h.Trouble != "" || time.Since(h.LastInbound) > time.Minute {
					t.Errorf("health after it is over: %+v", h)
				}
				if w.most != 1 {
					t.Errorf("%d polls at once", w.most)
				}
				if err := stop(); err != nil {
					t.Errorf("Run = %v", err)
				}
			})
		})
	}
}

func TestPollHonoursRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hits atomic.Int32
		w := newFaulty(func(ctx context.Context, c call) reply {
			if hits.Add(1) == 1 {
				return tooMany(17)
			}
			return normal(ctx, c)
		})
		stop := run(t, adapter(&w.wire, io.Discard), nothing)
		pass(time.Minute)
		polls := w.calls("getUpdates")
		if got := polls[1].at.Sub(polls[0].at); got != 17*time.Second {
			t.Errorf("polled again after %s", got)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestWebhookIsRemovedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty(func(context.Context, call) reply {
			return no(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
		})
		a := adapter(&w.wire, io.Discard)
		stop := run(t, a, nothing)
		synctest.Wait()
		removed, polls := w.calls("deleteWebhook"), w.calls("getUpdates")
		if len(removed) != 1 || removed[0].params["drop_pending_updates"] == true {
			t.Errorf("deleteWebhook: %v", removed)
		}
		if len(polls) != 2 {
			t.Errorf("%d polls at once after it, want 2", len(polls))
		}
		pass(5 * time.Minute)
		if n := len(w.calls("deleteWebhook")); n != 1 {
			t.Errorf("removed %d times: two programs fight", n)
		}
		if h := a.state(); !strings.Contains(h.Trouble, "webhook is active") {
			t.Errorf("trouble %q", h.Trouble)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestWebhookThatStaysIsRemovedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		w := &wire{answer: func(ctx context.Context, c call) reply {
			switch {
			case c.method == "deleteWebhook" && tries.Add(1) < 3:
				return page(502)
			case c.method == "getUpdates" && tries.Load() < 3:
				return no(409, "Conflict: can't use getUpdates method while webhook is active")
			}
			return normal(ctx, c)
		}}
		a := adapter(w, io.Discard)
		stop := run(t, a, nothing)
		pass(time.Minute)
		if n, h := len(w.calls("deleteWebhook")), a.state(); n != 3 || h.Trouble != "" {
			t.Errorf("%d tries, health %+v", n, h)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// TestUpdatesWithoutIDs: a server that cannot be told what was received is not
// asked in a tight loop.
// Not every server holds a poll that has nothing to tell.
func TestEmptyPollsArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 1000
		var polls atomic.Int32
		w := &wire{answer: func(ctx context.Context, c call) reply {
			if c.method == "getUpdates" && polls.Add(1) < many {
				return ok(`[]`)
			}
			return normal(ctx, c)
		}}
		stop := run(t, adapter(w, io.Discard), nothing)
		pass(10 * time.Second)
		if n := polls.Load(); n < 10 || n > 50 {
			t.Errorf("%d polls in 10 s", n)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestUpdatesWithoutIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty(func(context.Context, call) reply { return ok(`[{"message":{}}]`) })
		stop := run(t, adapter(&w.wire, io.Discard), nothing)
		pass(10 * time.Minute)
		if n := len(w.calls("getUpdates")); n > 60 {
			t.Errorf("%d polls in ten minutes", n)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestDeafSocketIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var polls atomic.Int32
		w := &wire{answer: func(ctx context.Context, c call) reply {
			if c.method != "getUpdates" {
				return normal(ctx, c)
			}
			switch polls.Add(1) {
			case 1:
				<-ctx.Done()
				return reply{err: ctx.Err()}
			case 2:
				return ok(`[` + message(41, "still there?") + `]`)
			}
			return normal(ctx, c)
		}}
		start := time.Now()
		var in inbox
		a := adapter(w, io.Discard)
		stop := run(t, a, in.sink)
		pass(64 * time.Second)
		if h := a.state(); !h.LastInbound.Equal(start) {
			t.Errorf("last sign of life %s after the start", h.LastInbound.Sub(start))
		}
		pass(3 * time.Second)
		if got, _ := in.got(); !slices.Equal(got, []string{"still there?"}) {
			t.Errorf("got %q", got)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestRefusedTokenIsFatal(t *testing.T) {
	for _, method := range []string{"getMe", "getUpdates"} {
		for _, answer := range []reply{no(401, "Unauthorized"), no(404, "Not Found")} {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{answer: func(ctx context.Context, c call) reply {
					if c.method == method {
						return waits(ctx, 3*time.Second, answer)
					}
					return normal(ctx, c)
				}}
				start := time.Now()
				err := adapter(w, io.Discard).Run(t.Context(), nothing)
				if !errors.Is(err, core.ErrFatal) || !strings.Contains(err.Error(), `"tg"`) || !strings.Contains(err.Error(), "check the token") {
					t.Errorf("Run = %v", err)
				}
				if took := time.Since(start); took != 3*time.Second {
					t.Errorf("%s %d: Run took %s", method, answer.status, took)
				}
			})
		}
	}
}

func TestGetMeIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		w := &wire{answer: func(ctx context.Context, c call) reply {
			switch {
			case c.method == "getMe" && tries.Add(1) < 4:
				return page(502)
			case c.method == "getUpdates" && c.number("offset") == 0:
				return ok(`[` + message(41, "hello") + `]`)
			}
			return normal(ctx, c)
		}}
		var in inbox
		stop := run(t, adapter(w, io.Discard), in.sink)
		pass(time.Minute)
		if got, _ := in.got(); !slices.Equal(got, []string{"hello"}) {
			t.Errorf("got %q", got)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestStopCutsThePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{answer: normal}
		stop := run(t, adapter(w, io.Discard), nothing)
		pass(70 * time.Second)
		start := time.Now()
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("stopping took %s", took)
		}
	})
}

func TestStopWhileTheSinkFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{answer: func(ctx context.Context, c call) reply {
			if c.method == "getUpdates" {
				return ok(`[` + message(41, "a") + `]`)
			}
			return normal(ctx, c)
		}}
		stop := run(t, adapter(w, io.Discard), func(context.Context, []core.Inbound) error { return errors.New("disk full") })
		pass(time.Minute)
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		if n := len(w.calls("getUpdates")); n != 1 {
			t.Errorf("%d polls", n)
		}
	})
}

func TestOldOffsetIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{answer: func(ctx context.Context, c call) reply {
			if c.method == "getUpdates" && c.number("offset") == 0 {
				return ok(`[` + message(41, "a") + `]`)
			}
			return normal(ctx, c)
		}}
		stop := run(t, adapter(w, io.Discard), nothing)
		pass(25 * time.Hour)
		polls := w.calls("getUpdates")
		var without int
		for _, p := range polls {
			if _, has := p.params["offset"]; !has {
				without++
			}
		}
		if without != 2 || polls[1].number("offset") != 42 {
			t.Errorf("%d polls without an offset, want the first and the one after a day", without)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestCommandMenu(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{answer: func(ctx context.Context, c call) reply {
			if c.method == "setMyCommands" {
				return no(400, "Bad Request: no")
			}
			return normal(ctx, c)
		}}
		var log bytes.Buffer
		stop := run(t, adapter(w, &log), nothing)
		synctest.Wait()
		var scopes []any
		for _, c := range w.calls("setMyCommands") {
			scopes = append(scopes, c.params["scope"].(map[string]any)["type"])
			want := []any{map[string]any{"command": "new", "description": "start afresh"}}
			if diff := cmp.Diff(want, c.params["commands"]); diff != "" {
				t.Errorf("commands: %s", diff)
			}
		}
		if diff := cmp.Diff([]any{"default", "all_private_chats", "all_group_chats"}, scopes); diff != "" {
			t.Errorf("scopes: %s", diff)
		}
		if err := stop(); err != nil {
			t.Errorf("a refused menu ended Run: %v", err)
		}
		for _, want := range []string{"bad-name", "mute", "did not take the command menu"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("not logged: %s", want)
			}
		}
	})
}

// pass lets d pass in the bubble.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
