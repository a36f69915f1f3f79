package store

import "context"

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
