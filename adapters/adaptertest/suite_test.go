package adaptertest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"bellhop/adapters/adaptertest"
	"bellhop/adapters/telegram"
	"bellhop/core"
)

// mutant is an adapter with one fault.
type mutant struct {
	core.Adapter
	features func(*core.Features)
	sink     func(core.Sink) core.Sink
	run      func(context.Context, core.Sink) error
	send     func(context.Context, core.Outbound) (core.Receipt, error)
}

func (m *mutant) Features() core.Features {
	f := m.Adapter.Features()
	if m.features != nil {
		m.features(&f)
	}
	return f
}

func (m *mutant) Run(ctx context.Context, sink core.Sink) error {
	if m.sink != nil {
		sink = m.sink(sink)
	}
	if m.run != nil {
		return m.run(ctx, sink)
	}
	return m.Adapter.Run(ctx, sink)
}

func (m *mutant) Send(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	if m.send != nil {
		return m.send(ctx, o)
	}
	return m.Adapter.Send(ctx, o)
}

// each makes a sink that changes every event.
func each(change func(*core.Inbound)) func(core.Sink) core.Sink {
	return func(next core.Sink) core.Sink {
		return func(ctx context.Context, batch []core.Inbound) error {
			batch = slices.Clone(batch)
			for i := range batch {
				change(&batch[i])
			}
			return next(ctx, batch)
		}
	}
}

// failing makes a Send that changes every error.
func failing(a core.Adapter, change func(error) error) func(context.Context, core.Outbound) (core.Receipt, error) {
	return func(ctx context.Context, o core.Outbound) (core.Receipt, error) {
		r, err := a.Send(ctx, o)
		if err != nil {
			err = change(err)
		}
		return r, err
	}
}

// mutation is a fault, with the subtest that finds it.
type mutation struct {
	name, subtest string
	make          func(*mutant)
}

// of is the adapter with the fault.
func (c mutation) of(a core.Adapter) core.Adapter {
	m := &mutant{Adapter: a}
	c.make(m)
	return m
}

// mutants are faults of an adapter for Telegram.
var mutants = []mutation{
	{"acknowledges what was not taken", "ack after commit", func(m *mutant) {
		m.sink = func(next core.Sink) core.Sink {
			return func(ctx context.Context, batch []core.Inbound) error {
				_ = next(ctx, batch)
				return nil
			}
		}
	}},
	{"makes up keys", "redelivery", func(m *mutant) {
		n := 0
		m.sink = each(func(e *core.Inbound) { n++; e.Key = fmt.Sprint(n) })
	}},
	{"keys by signal", "two signals", func(m *mutant) {
		n := 0
		m.sink = each(func(e *core.Inbound) { n++; e.Key += fmt.Sprint(n) })
	}},
	{"loses topics", "topic", func(m *mutant) {
		m.sink = each(func(e *core.Inbound) { e.Place.Topic = "" })
	}},
	{"answers beside the topic", "topic", func(m *mutant) {
		m.send = func(ctx context.Context, o core.Outbound) (core.Receipt, error) {
			o.Place.Topic = ""
			return m.Adapter.Send(ctx, o)
		}
	}},
	{"takes names for ids", "identity", func(m *mutant) {
		m.sink = each(func(e *core.Inbound) { e.From.ID = core.PersonID("tg:" + e.From.Name) })
	}},
	{"takes anonymous admins for people", "anonymous", func(m *mutant) {
		m.sink = each(func(e *core.Inbound) { e.From = core.Person{ID: "tg:1087968824"} })
	}},
	{"drops what it cannot read", "unreadable event", func(m *mutant) {
		m.sink = func(next core.Sink) core.Sink {
			return func(ctx context.Context, batch []core.Inbound) error {
				return next(ctx, slices.DeleteFunc(slices.Clone(batch), func(e core.Inbound) bool { return e.Kind == core.InUnreadable }))
			}
		}
	}},
	{"mixes up a batch", "order per place", func(m *mutant) {
		m.sink = func(next core.Sink) core.Sink {
			return func(ctx context.Context, batch []core.Inbound) error {
				batch = slices.Clone(batch)
				slices.Reverse(batch)
				return next(ctx, batch)
			}
		}
	}},
	{"calls every lost message unsent", "lost answer", func(m *mutant) {
		m.features = func(f *core.Features) {
			f.Resolve = func(context.Context, core.Outbound) (core.Receipt, error) { return core.Receipt{}, core.ErrNotSent }
		}
	}},
	{"calls every lost message sent", "never shown", func(m *mutant) {
		m.features = func(f *core.Features) {
			f.Resolve = func(_ context.Context, o core.Outbound) (core.Receipt, error) {
				return core.Receipt{ID: o.After, Time: time.Now()}, nil
			}
		}
	}},
	{"takes what is known for what was lost", "server error", func(m *mutant) {
		m.features = func(f *core.Features) {
			resolve := f.Resolve
			f.Resolve = func(ctx context.Context, o core.Outbound) (core.Receipt, error) {
				o.Known = func(string) bool { return false }
				return resolve(ctx, o)
			}
		}
	}},
	{"takes a failed search for an answer", "cannot tell", func(m *mutant) {
		m.features = func(f *core.Features) {
			resolve := f.Resolve
			f.Resolve = func(ctx context.Context, o core.Outbound) (core.Receipt, error) {
				r, err := resolve(ctx, o)
				if err != nil {
					err = core.ErrNotSent
				}
				return r, err
			}
		}
	}},
	{"is sure that a lost message was not sent", "lost answer", func(m *mutant) {
		m.send = failing(m.Adapter, func(error) error { return core.ErrNotSent })
	}},
	{"waits longer than told", "rate limit", func(m *mutant) {
		m.send = failing(m.Adapter, func(err error) error {
			if ra, ok := errors.AsType[*core.RetryAfter](err); ok {
				return &core.RetryAfter{After: 2 * ra.After, Err: err}
			}
			return err
		})
	}},
	{"sends again by itself", "rate limit", func(m *mutant) {
		m.send = func(ctx context.Context, o core.Outbound) (core.Receipt, error) {
			if r, err := m.Adapter.Send(ctx, o); err == nil {
				return r, nil
			}
			return m.Adapter.Send(ctx, o)
		}
	}},
	{"fails when nothing changes", "edit unchanged", func(m *mutant) {
		shown := map[string]bool{}
		m.send = func(ctx context.Context, o core.Outbound) (core.Receipt, error) {
			r, err := m.Adapter.Send(ctx, o)
			if shown[o.Edit+o.Text] {
				return r, core.ErrUnknown
			}
			shown[o.Edit+o.Text] = true
			return r, err
		}
	}},
	{"sends on when cancelled", "cancel during send", func(m *mutant) {
		m.send = func(ctx context.Context, o core.Outbound) (core.Receipt, error) {
			return m.Adapter.Send(context.WithoutCancel(ctx), o)
		}
	}},
	{"gives its secret away", "revoked", func(m *mutant) {
		m.send = failing(m.Adapter, func(err error) error { return fmt.Errorf("123456:fake: %w", err) })
	}},
	{"forgets the end", "lossless split", func(m *mutant) {
		m.features = func(f *core.Features) {
			split := f.Split
			f.Split = func(text string) []string {
				pieces := split(text)
				return pieces[:max(1, len(pieces)-1)]
			}
		}
	}},
	{"cuts where it happens to be", "graphemes", func(m *mutant) {
		m.features = func(f *core.Features) {
			f.Split = func(text string) (pieces []string) {
				for p := range slices.Chunk([]rune(text), f.MaxText/2) {
					pieces = append(pieces, string(p))
				}
				return pieces
			}
		}
	}},
	{"promises more than fits", "split at the limit", func(m *mutant) {
		m.features = func(f *core.Features) { f.Split = func(text string) []string { return []string{text} } }
	}},
	{"offers after its end", "stop while idle", func(m *mutant) {
		m.run = func(ctx context.Context, sink core.Sink) error {
			err := m.Adapter.Run(ctx, sink)
			time.AfterFunc(time.Second, func() { _ = sink(context.WithoutCancel(ctx), nil) })
			return err
		}
	}},
	{"leaves a goroutine", "direct", func(m *mutant) {
		m.run = func(ctx context.Context, sink core.Sink) error {
			go func() { <-make(chan bool) }()
			return m.Adapter.Run(ctx, sink)
		}
	}},
	{"does not stop", "direct", func(m *mutant) {
		m.run = func(ctx context.Context, sink core.Sink) error {
			err := m.Adapter.Run(ctx, sink)
			time.Sleep(time.Hour)
			return err
		}
	}},
	{"gives up", "outage", func(m *mutant) {
		m.run = func(ctx context.Context, sink core.Sink) error {
			ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
			defer cancel()
			return m.Adapter.Run(ctx, sink)
		}
	}},
	{"says that all is well", "health", func(m *mutant) {
		m.features = func(f *core.Features) {
			f.Health = func() core.Health { return core.Health{LastInbound: time.Now()} }
		}
	}},
	{"has a Resolve that does nothing", "features", func(m *mutant) {
		m.features = func(f *core.Features) { f.Once = core.OnceNone }
	}},
}

const mutantEnv = "ADAPTERTEST_MUTANT"

// TestMutant is the suite over the mutant that the environment names.
func TestMutant(t *testing.T) {
	for _, c := range mutants {
		if c.name == os.Getenv(mutantEnv) {
			adaptertest.Run(t, adaptertest.TelegramHarness(func(token string, client *http.Client) core.Adapter {
				return c.of(telegram.New(telegram.Options{Name: "tg", Token: token, HTTP: client}))
			}))
			return
		}
	}
	for _, c := range slackMutants {
		if c.name == os.Getenv(mutantEnv) {
			adaptertest.Run(t, adaptertest.SlackHarness(func(a adaptertest.SlackAccess) core.Adapter {
				return c.of(newSlack(a))
			}))
			return
		}
	}
	for _, c := range discordMutants {
		if c.name == os.Getenv(mutantEnv) {
			adaptertest.Run(t, adaptertest.DiscordHarness(func(a adaptertest.DiscordAccess) core.Adapter {
				return c.of(newDiscord(a))
			}))
			return
		}
	}
	t.Skip("runs in a process of its own, started by TestMutants")
}

// TestMutants: the suite finds every mutant, by the subtest that is there for
// it.
func TestMutants(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range slices.Concat(mutants, slackMutants, discordMutants) {
		t.Run(c.name, func(t *testing.T) {
			name := strings.ReplaceAll(c.subtest, " ", "_")
			cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestMutant$/^"+name+"$")
			cmd.Env = append(os.Environ(), mutantEnv+"="+c.name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestMutant/"+name) {
				t.Errorf("the subtest %q let it pass: %v\n%s", c.subtest, err, out)
			}
		})
	}
}
