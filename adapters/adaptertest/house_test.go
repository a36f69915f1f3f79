package adaptertest_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/core/bus"
	"bellhop/core/llm/script"
	"bellhop/core/mailbox"
	"bellhop/core/run"
	"bellhop/media"
	"bellhop/store"
	"bellhop/tools"
	"bellhop/tools/ask"
	"bellhop/tools/channel"
	"bellhop/tools/history"
)

// house is an appliance with one adapter and one bot, chief, whose model is
// scripted. It is wired as cmd/bellhop wires it, and everybody is a member.
type house struct {
	model *script.Provider
	bus   *bus.Bus
	mail  *mailbox.System
	store *store.Store
	files *media.Store
	stop  context.CancelFunc
	ended sync.WaitGroup

	deployed atomic.Int64 // how often its tool deploy was used
}

// maker makes the adapter of a house.
type maker func(commands []core.Command, cursors core.Cursors) core.Adapter

// newHouse runs one over the engine, which it closes in the end.
func newHouse(tb testing.TB, engine store.Engine, log *slog.Logger, name string, adapter maker) *house {
	return newHouseWith(tb, engine, log, name, adapter, nil, func(*bus.Options) {})
}

// newHouseWith is newHouse with more commands, and with what rules make of who
// is let in, once there is a platform with people.
func newHouseWith(tb testing.TB, engine store.Engine, log *slog.Logger, name string, adapter maker, more []core.Command, rules func(*bus.Options)) *house {
	h := &house{model: script.New()}
	commands := append(bus.Commands(func() []bus.AdapterHealth { return h.bus.Health() }), mailbox.Commands()...)
	commands = append(commands, more...)
	slices.SortFunc(commands, func(x, y core.Command) int { return strings.Compare(x.Name, y.Name) })
	var err error
	if h.store, err = store.Open(tb.Context(), engine, store.Options{Log: log}); err != nil {
		tb.Fatal(err)
	}
	if h.files, err = media.Open(tb.TempDir(), media.Limits{}); err != nil {
		tb.Fatal(err)
	}
	set, err := tools.NewSet(history.New(h.store, time.UTC), channel.New(func(name string) channel.Read { return h.bus.Features(name).Read }, h.store, time.UTC), slow(), deploy(&h.deployed), ask.New())
	if err != nil {
		tb.Fatal(err)
	}
	bots := []core.Bot{{Handle: "chief", Name: "Chief", Model: "script/chief", Vision: true, Steps: 40, RunTime: 15 * time.Minute,
		History: core.Budget{Tokens: 24_000, Messages: 80}}}
	cursors := func(ctx context.Context) ([]core.Cursor, error) { return h.store.Cursors(ctx, name) }
	o := bus.Options{Store: h.store, Adapters: []core.Adapter{adapter(commands, cursors)}, Agent: "chief", Bots: bots,
		Access: core.Access{Members: []string{name + ":*"}, Approvers: core.NewApprovers([]string{"requester"})}, Commands: commands, Log: log}
	rules(&o)
	h.bus = bus.New(tb.Context(), o)
	runner := run.New(run.Options{Store: h.store, Outbox: h.bus, Bots: bots, Tools: set, Files: h.files, Repair: tools.Repair,
		Canonical: tools.Canonical, Cap: tools.Cap, MaxHops: 20, Zone: time.UTC, Log: log,
		Provider: func(string) (core.Provider, string, error) { return h.model, "chief", nil },
		Rules:    func(context.Context, core.Run) (run.Rules, error) { return run.Rules{Role: core.Member}, nil },
		Wake:     func(items []core.Item) { h.mail.Wake(items) }})
	h.mail = mailbox.New(mailbox.Options{Store: h.store, Runner: runner, Bots: bots, MaxRuns: 64, Log: log})
	ctx, stop := context.WithCancel(tb.Context())
	h.stop = stop
	h.ended.Go(func() {
		if err := h.mail.Run(ctx, ctx); err != nil {
			tb.Error(err)
		}
	})
	h.ended.Go(func() {
		if err := h.bus.Run(ctx, h.mail); err != nil {
			tb.Error(err)
		}
	})
	return h
}

// end stops it and waits for all that it has started.
func (h *house) end(tb testing.TB) {
	h.stop()
	h.ended.Wait()
	h.bus.Close()
	if err := errors.Join(h.store.Close(), h.files.Close()); err != nil {
		tb.Error(err)
	}
}

// deploy is a tool that changes something, so people are asked about it. used
// counts its calls.
func deploy(used *atomic.Int64) core.Tool {
	type arguments struct {
		What string `json:"what" doc:"what to deploy"`
		To   string `json:"to" doc:"where to"`
	}
	spec := core.ToolSpec{Name: "deploy", Description: "deploys something", Effect: "It replaces what runs there."}
	return tools.Func(spec, func(_ context.Context, _ *core.Env, in arguments) (core.ToolResult, error) {
		used.Add(1)
		return core.ToolResult{Text: in.What + " runs in " + in.To}, nil
	})
}

// slow is a tool that takes its time.
func slow() core.Tool {
	type arguments struct {
		Query string `json:"query" doc:"what to look for"`
	}
	spec := core.ToolSpec{Name: "search", Description: "looks for something", ReadOnly: true, Idempotent: true}
	return tools.Func(spec, func(ctx context.Context, _ *core.Env, in arguments) (core.ToolResult, error) {
		select {
		case <-time.After(5 * time.Second):
			return core.ToolResult{Text: "found: " + in.Query}, nil
		case <-ctx.Done():
			return core.ToolResult{}, context.Cause(ctx)
		}
	})
}
