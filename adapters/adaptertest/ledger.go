package adaptertest

import (
	"context"
	"slices"
	"testing"

	"bellhop/core"
	"bellhop/store"
	"bellhop/store/memkv"
)

// ledger is what a session's sink hands events to: a real one, that takes in
// everybody but guests and bots, wakes one bot, and tells the next adapter how
// far it has heard.
type ledger struct {
	store  *store.Store
	name   string         // of the adapter
	f      core.Features  // of the adapter
	stored []core.Inbound // what has woken the bot; guarded by session.mu
}

func newLedger(tb testing.TB) *ledger {
	s, err := store.Open(tb.Context(), memkv.New(memkv.Options{}), store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return &ledger{store: s}
}

// accept stores a batch as the bus does.
func (l *ledger) accept(ctx context.Context, batch []core.Inbound) (stored []core.Inbound, err error) {
	const bot = "chief"
	b := core.Batch{Bots: []string{bot}, Split: func(_ core.Place, text string) []core.Piece { return []core.Piece{{Text: text}} }, Shown: func(core.ID) string { return "" }}
	access := core.Access{Members: []string{l.name + ":*"}}
	for _, in := range batch {
		b.Entries = append(b.Entries, core.Entry{In: in, Role: access.Role(in.From), Agent: bot, Mode: l.f.Reply, Threads: l.f.Threads})
	}
	done, err := l.store.Accept(ctx, b)
	if err != nil {
		return nil, err
	}
	for i, fate := range done.Fates {
		if fate == core.FateStored {
			stored = append(stored, batch[i])
		}
	}
	return stored, nil
}

// cursors implements core.Cursors.
func (l *ledger) cursors(ctx context.Context) ([]core.Cursor, error) {
	return l.store.Cursors(ctx, l.name)
}

// woken lists the messages that have woken the bot, in the order in which the
// ledger took them.
func (s *session) woken() []core.Inbound {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ledger.stored)
}
