package adaptertest_test

import (
	"context"
	"io"
	"slices"
	"strings"

	"bellhop/adapters/adaptertest"
	"bellhop/adapters/slack"
	"bellhop/core"
)

func newSlack(a adaptertest.SlackAccess) core.Adapter {
	return slack.New(slack.Options{Name: "slack", BotToken: a.BotToken, AppToken: a.AppToken, APIURL: a.URL, HTTP: a.HTTP, Dial: a.Dial, Cursors: a.Cursors,
		Commands: []core.Command{{Name: "help"}}})
}

// without makes a sink that loses the events of a kind.
func without(kind core.InboundKind) func(core.Sink) core.Sink {
	return each(func(e *core.Inbound) {
		if e.Kind == kind {
			*e = core.Inbound{Key: e.Key, Kind: core.InIgnored}
		}
	})
}

// slackMutants are faults of an adapter for a platform with threads, keys that
// are read back, and deletions that are told.
var slackMutants = []mutation{
	{"opens no thread", "thread", func(m *mutant) {
		m.sink = each(func(e *core.Inbound) { e.Place.Topic = "" })
	}},
	{"opens a thread in a thread", "thread", func(m *mutant) {
		m.sink = each(func(e *core.Inbound) {
			if e.Place.Topic != "" {
				e.Place.Topic = e.MessageID
			}
		})
	}},
	{"answers in the channel", "thread", func(m *mutant) {
		m.send = func(ctx context.Context, o core.Outbound) (core.Receipt, error) {
			o.Place.Topic = ""
			return m.Adapter.Send(ctx, o)
		}
	}},
	{"answers a lost thread in the channel", "thread gone", func(m *mutant) {
		m.send = func(ctx context.Context, o core.Outbound) (core.Receipt, error) {
			r, err := m.Adapter.Send(ctx, o)
			if err != nil {
				o.Place.Topic = ""
				return m.Adapter.Send(ctx, o)
			}
			return r, err
		}
	}},
	{"does not say what was heard", "missed while down", func(m *mutant) {
		m.sink = each(func(e *core.Inbound) { e.Heard = false })
	}},
	{"says too early that all was heard", "missed and refused for long", func(m *mutant) {
		m.sink = each(func(e *core.Inbound) { e.Heard = true })
	}},
	{"hears of no edits", "edit", func(m *mutant) { m.sink = without(core.InEdit) }},
	{"hears of no deletions", "delete", func(m *mutant) { m.sink = without(core.InDelete) }},
	{"hears of no presses", "button", func(m *mutant) { m.sink = without(core.InButton) }},
	{"keeps notes to itself", "button note", func(m *mutant) {
		m.sink = func(next core.Sink) core.Sink {
			return func(ctx context.Context, batch []core.Inbound) error { return next(ctx, slices.Clone(batch)) }
		}
	}},
	{"hears of no marks", "reaction", func(m *mutant) { m.sink = without(core.InReaction) }},
	{"takes mentions for another's", "two signals", func(m *mutant) {
		n := 0
		m.sink = each(func(e *core.Inbound) { n++; e.Mentioned = n%2 == 0 })
	}},
	{"lets guests in", "guest", func(m *mutant) {
		m.sink = each(func(e *core.Inbound) { e.From.Guest = false })
	}},
	{"reads back whatever is last", "once", func(m *mutant) {
		last := ""
		m.send = func(ctx context.Context, o core.Outbound) (core.Receipt, error) {
			r, err := m.Adapter.Send(ctx, o)
			if err == nil {
				last = r.ID
			}
			return r, err
		}
		m.features = func(f *core.Features) {
			f.Resolve = func(context.Context, core.Outbound) (core.Receipt, error) { return core.Receipt{ID: last}, nil }
		}
	}},
	{"finds nothing again", "lost answer", func(m *mutant) {
		m.features = func(f *core.Features) {
			f.Resolve = func(context.Context, core.Outbound) (core.Receipt, error) { return core.Receipt{}, core.ErrNotSent }
		}
	}},
	{"shows no file", "file out", func(m *mutant) {
		m.send = func(ctx context.Context, o core.Outbound) (core.Receipt, error) {
			o.File = nil
			return m.Adapter.Send(ctx, o)
		}
	}},
	{"shows a file for each try", "file out", func(m *mutant) {
		m.send = func(ctx context.Context, o core.Outbound) (core.Receipt, error) {
			other := o
			if other.Key += "x"; o.File != nil {
				if r, err := m.Adapter.Send(ctx, other); err != nil {
					return r, err
				}
			}
			return m.Adapter.Send(ctx, o)
		}
	}},
	{"fetches something else", "file in", func(m *mutant) {
		m.features = func(f *core.Features) {
			f.Fetch = func(context.Context, core.File) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader("<html>Sign in</html>")), nil
			}
		}
	}},
	{"reads a thread twice", "said before in a thread", func(m *mutant) {
		m.features = func(f *core.Features) {
			before := f.Before
			f.Before = func(ctx context.Context, n core.Need) (core.Before, error) {
				n.Since = ""
				return before(ctx, n)
			}
		}
	}},
	{"reads threads into their channel", "read back", func(m *mutant) {
		m.features = func(f *core.Features) {
			read := f.Read
			f.Read = func(ctx context.Context, p core.Place, before string, limit int) (core.Page, error) {
				p.Topic = ""
				return read(ctx, p, before, limit)
			}
		}
	}},
	{"ends after a page", "read back", func(m *mutant) {
		m.features = func(f *core.Features) {
			read := f.Read
			f.Read = func(ctx context.Context, p core.Place, before string, limit int) (core.Page, error) {
				page, err := read(ctx, p, before, limit)
				page.Before = ""
				return page, err
			}
		}
	}},
	{"reads more than is wanted", "said before in a channel", func(m *mutant) {
		m.features = func(f *core.Features) {
			before := f.Before
			f.Before = func(ctx context.Context, n core.Need) (core.Before, error) {
				n.Context = 100
				return before(ctx, n)
			}
		}
	}},
	{"adds mark to mark", "reactions", func(m *mutant) {
		m.features = func(f *core.Features) {
			react := f.React
			f.React = func(ctx context.Context, p core.Place, id, emoji string) error {
				if emoji == "" {
					return nil
				}
				return react(ctx, p, id, emoji)
			}
		}
	}},
}
