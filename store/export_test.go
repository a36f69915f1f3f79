package store

import (
	"context"

	"bellhop/core"
)

// What tests from outside, which can use an engine, need of the inside.

// Migration is a step of Migrate.
type Migration = migration

// Schema is this release's version.
const Schema = schema

// Migrate migrates a store as a release with the target and steps would.
func (s *Store) Migrate(ctx context.Context, target int, steps []Migration) error {
	return s.migrate(ctx, target, steps)
}

// Seal encodes a row as the release with the version would.
func Seal(version byte, json string) []byte { return seal(version, []byte(json)) }

// Rows is a transaction that writes, as the store's own use it.
type Rows struct{ *tx }

// Update runs f in one.
func (s *Store) Update(ctx context.Context, f func(Rows) error) error {
	return s.update(ctx, func(t *tx) error { return f(Rows{t}) })
}

// Thread reads a row as a thread.
func (r Rows) Thread(key []byte) (core.Thread, bool, error) { return get[core.Thread](r.tx, key) }

// PutRow writes a row.
func (r Rows) PutRow(key []byte, v any) error { return r.put(key, v) }

// Remember allows a call for good, as the transaction of a press does.
func (r Rows) Remember(p core.Remembered) (core.Remembered, error) { return r.remember(p) }
