package store

import (
	"context"
	"fmt"
)

// migration brings a store from version To-1 to To. The release before must
// still be able to read the result: add rows and top-level fields, never
// change the meaning of old ones.
type migration struct {
	To  int
	Run func(Tx) error
}

var migrations []migration // none yet: schema 1 is the first

type schemaRow struct {
	Version int `json:"version"`
}

// migrate brings the store to the version target, one transaction a step, and
// records it. It opens a store that is one version ahead, which a newer
// release has left behind, and refuses anything further.
func (s *Store) migrate(ctx context.Context, target int, steps []migration) error {
	var have schemaRow
	var found bool
	if err := s.view(ctx, func(t *tx) (err error) {
		have, found, err = get[schemaRow](t, []byte(keySchema))
		return err
	}); err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	record := func(t *tx, v int) error { return t.put([]byte(keySchema), schemaRow{v}) }
	switch {
	case !found:
		return s.update(ctx, func(t *tx) error { return record(t, target) })
	case have.Version > target+1:
		return fmt.Errorf("the store has schema version %d and this release reads up to %d: run a newer release, or restore a snapshot", have.Version, target+1)
	}
	for _, m := range steps {
		if m.To <= have.Version || m.To > target {
			continue
		}
		if err := s.update(ctx, func(t *tx) error {
			if err := m.Run(t.Tx); err != nil {
				return err
			}
			return record(t, m.To)
		}); err != nil {
			return fmt.Errorf("migrate the store to schema version %d: %w", m.To, err)
		}
	}
	return nil
}
