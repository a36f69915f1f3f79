package store

import (
	"bytes"
	"context"
	"fmt"
)

// migration brings a store from version To-1 to To. The release before must
// still be able to read the result: add rows and top-level fields, never
// change the meaning of old ones. It must bear being run again, for the record
// of the version can be lost.
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
	var recorded bool
	if err := s.view(ctx, func(t *tx) (err error) {
		have, recorded, err = get[schemaRow](t, []byte(keySchema))
		if err == nil && !recorded {
			have.Version, err = t.writers()
		}
		return err
	}); err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if have.Version > target+1 {
		return fmt.Errorf("the store has schema version %d and this release reads up to %d: run a newer release, or restore a snapshot", have.Version, target+1)
	}
	record := func(t *tx, v int) error { return t.put([]byte(keySchema), schemaRow{v}) }
	if have.Version == 0 { // nothing is stored
		have.Version = target
	}
	if !recorded {
		if err := s.update(ctx, func(t *tx) error { return record(t, have.Version) }); err != nil {
			return err
		}
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

// writers is the highest schema version that any row was written by; 0 if there
// is none. It is for a store whose own record is lost.
func (t *tx) writers() (int, error) {
	const page = 1000
	highest := 0
	for from := []byte(nil); ; {
		kvs, err := t.Scan(from, []byte{0xff}, page)
		if err != nil {
			return 0, err
		}
		for _, kv := range kvs {
			if version, _, err := open(kv.Value); err == nil {
				highest = max(highest, int(version))
			}
		}
		if len(kvs) < page {
			return highest, nil
		}
		from = append(bytes.Clone(kvs[page-1].Key), 0)
	}
}
