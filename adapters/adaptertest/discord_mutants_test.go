package adaptertest_test

import (
	"context"
	"fmt"

	"bellhop/adapters/adaptertest"
	"bellhop/adapters/discord"
	"bellhop/core"
)

func newDiscord(a adaptertest.DiscordAccess) core.Adapter {
	return discord.New(discord.Options{Name: "discord", Token: a.Token, APIURL: a.URL, HTTP: a.HTTP, Cursors: a.Cursors, Commands: []core.Command{{Name: "help", Help: "help"}}})
}

// discordMutants are faults of an adapter for a platform that keeps the keys
// of what is sent, and has commands of its own.
var discordMutants = []mutation{
	{"sends each try under another key", "once", func(m *mutant) {
		n := 0
		m.send = func(ctx context.Context, o core.Outbound) (core.Receipt, error) {
			n++
			o.Key += fmt.Sprint(n)
			return m.Adapter.Send(ctx, o)
		}
	}},
	{"confirms what was not taken", "ack after commit", func(m *mutant) {
		m.sink = func(next core.Sink) core.Sink {
			return func(ctx context.Context, batch []core.Inbound) error {
				_ = next(ctx, batch)
				return nil
			}
		}
	}},
	{"keeps to itself what was heard", "missed where we are no more", func(m *mutant) {
		m.sink = each(func(e *core.Inbound) { e.Heard = false })
	}},
	{"is too sure of what was heard", "missed and refused for long", func(m *mutant) {
		m.sink = each(func(e *core.Inbound) { e.Heard = true })
	}},
	{"takes a command for a message", "command aside", func(m *mutant) {
		m.sink = each(func(e *core.Inbound) { e.Command = false })
	}},
	{"trusts webhooks", "anonymous", func(m *mutant) {
		m.sink = each(func(e *core.Inbound) { e.From.Guest, e.From.Bot, e.From.ID = false, false, "discord:1" })
	}},
}
