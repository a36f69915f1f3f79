// Package store holds bellhop's ledger: the domain transactions (Accept, Step,
// Settle, Receipt, …), written once over an ordered key-value Engine.
//
// It imports core alone and starts no goroutine. Every exported method is one
// transaction; those that write have made it durable when they return nil.
// Reads return copies that the caller owns. A row that does not match its
// checksum is moved out of the way, reported through Options.Damaged, rebuilt
// if other rows say what was in it, and missing otherwise.
package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"bellhop/core"
)

// Options of a Store.
type Options struct {
	// Damaged is told of every row that was quarantined: its key, readable, and
	// what was wrong. Called without locks, by the goroutine that found it.
	Damaged func(key string, err error)
	// Series names what numbers a place's messages: places with the same one have
	// no platform id in common. Nil: every channel is a series of its own. It must
	// never change for a place.
	Series func(core.Place) string
	// MessageKeys is what the dedupe key of every message id in the series of a
	// place begins with; empty, or nil: that cannot be said. With it, Known knows
	// the messages of which nothing else is kept: commands, and what was refused
	// or ignored.
	MessageKeys func(p core.Place, id string) string
	// Broken is told, once, that the engine takes no more writes before the
	// store is opened again: the process should end and be started anew.
	Broken func(err error)
	Log    *slog.Logger
}

// Store is the ledger. Its methods may be called by any number of goroutines.
type Store struct {
	engine Engine
	o      Options
	broken sync.Once // Options.Broken was told

	accepted unsure[core.Accepted] // by event
	sorted   unsure[[]core.Item]   // by the first item
	settled  unsure[core.Settled]  // by run
	parked   unsure[core.Parked]   // by run
	lapsed   unsure[[]lapse]       // under one key
	buried   unsure[[]core.Row]    // by post
	branched unsure[[]core.Row]    // by post

	said      unsure[core.Said]      // by event
	attempted unsure[core.Attempted] // by item
}

// Open takes the engine over: it records the schema version of a new store,
// migrates an older one forward, and refuses one that this release cannot
// read. Close closes the engine.
func Open(ctx context.Context, e Engine, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Damaged == nil {
		o.Damaged = func(string, error) {}
	}
	s := &Store{engine: e, o: o}
	if err := s.migrate(ctx, schema, migrations); err != nil {
		return nil, err
	}
	return s, nil
}

// Close closes the engine. Later calls return ErrClosed.
func (s *Store) Close() error { return s.engine.Close() }

// tx is an engine transaction with rows instead of bytes. It notes damaged
// rows as it meets them.
type tx struct {
	Tx
	series func(core.Place) string // of Options
	bad    []damage
	kept   map[string]kept // by key; nil: none are kept
	logged uint64          // number of the newest activity, once one was written
}

type damage struct {
	key, raw []byte
	err      error
}

// view runs f on a snapshot. When it meets damaged rows they are mended first
// and f runs again: it must set anew what it sets.
func (s *Store) view(ctx context.Context, f func(*tx) error) error {
	for {
		var t tx
		err := s.engine.View(func(e Tx) error {
			t = tx{Tx: e, series: s.o.Series}
			return f(&t)
		})
		if len(t.bad) == 0 || s.mend(ctx, t.bad) != nil {
			return err
		}
	}
}

// errUnmended rolls back a transaction that met damaged rows.
var errUnmended = errors.New("damaged rows must be mended first")

// update runs f in a transaction that writes. Nothing is decided from damaged
// rows: they are mended first, and f runs again.
func (s *Store) update(ctx context.Context, f func(*tx) error) error {
	for {
		var t tx
		err := s.engine.Update(ctx, func(e Tx) error {
			t = tx{Tx: e, series: s.o.Series, kept: map[string]kept{}}
			if err := f(&t); err != nil {
				return err
			}
			if len(t.bad) > 0 {
				return errUnmended
			}
			return t.saveAll()
		})
		if errors.Is(err, ErrReopen) && s.o.Broken != nil {
			s.broken.Do(func() { s.o.Broken(err) })
		}
		if len(t.bad) == 0 {
			return err
		}
		if err := s.mend(ctx, t.bad); err != nil {
			return err
		}
	}
}

// get reads one row. A damaged one counts as missing.
func get[T any](t *tx, key []byte) (v T, ok bool, err error) {
	if v, ok = t.kept[string(key)].row.(T); ok {
		return v, true, nil
	}
	raw, err := t.Get(key)
	if err != nil || raw[0] == nil {
		return v, false, err
	}
	if err := decode(raw[0], &v); err != nil {
		t.damaged(key, raw[0], err)
		var zero T
		return zero, false, nil
	}
	t.keep(key, v, false)
	return v, true, nil
}

// need reads a row that another row says exists.
func need[T any](t *tx, family string, id core.ID) (T, error) {
	v, ok, err := get[T](t, idKey(family, id))
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", id, core.ErrNotFound)
	}
	return v, err
}

func (t *tx) damaged(key, raw []byte, err error) {
	t.bad = append(t.bad, damage{bytes.Clone(key), bytes.Clone(raw), err})
}

// put writes one row, keeping what a newer release stored in it.
func (t *tx) put(key []byte, v any) error {
	if t.keep(key, v, true) {
		return nil
	}
	old, err := t.Get(key)
	if err != nil {
		return err
	}
	b, err := rewrite(old[0], v)
	if err != nil {
		return err
	}
	return t.Put(key, b)
}

// insert writes a row that is new: its key holds a fresh number.
func (t *tx) insert(key []byte, v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	return t.Put(key, b)
}

// each decodes the rows with the prefix in order, at most limit of them
// (0: all). Damaged ones are skipped.
func each[T any](t *tx, prefix []byte, limit int, f func(key []byte, v T) error) error {
	kvs, err := t.Scan(prefix, after(prefix), limit)
	if err != nil {
		return err
	}
	for _, kv := range kvs {
		var v T
		if err := decode(kv.Value, &v); err != nil {
			t.damaged(kv.Key, kv.Value, err)
			continue
		}
		if err := f(kv.Key, v); err != nil {
			return err
		}
	}
	return nil
}

// id makes a fresh ID.
func (t *tx) id(kind byte) (core.ID, error) {
	n, err := t.Seq()
	return core.NewID(kind, n), err
}
