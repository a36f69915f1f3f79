package store

import (
	"context"
	"slices"

	"bellhop/core"
)

// Prepared stores what a run has found out about messages before its first
// model call: it begins the run, if nothing has yet, and writes a new version of
// each message. It returns the run as it goes on, with these versions.
//
// msgs hold the versions that the run has read. core.ErrStale: one of them has
// another by now, since it was edited or another run has prepared it.
func (s *Store) Prepared(ctx context.Context, run core.Run, msgs []core.Message) (core.Run, error) {
	var out core.Run
	err := s.update(ctx, func(t *tx) error {
		have, err := t.begin(run)
		if err != nil {
			return err
		}
		out = run
		out.Versions, have.Versions = slices.Clone(run.Versions), slices.Clone(have.Versions)
		for _, m := range msgs {
			now, found, err := t.message(m.Thread, m.ID)
			if err != nil {
				return err
			}
			if !found || now.Version != m.Version {
				return core.ErrStale
			}
			m.Version++
			if err := t.insert(messageKey(m.Thread, m.ID, m.Version), m); err != nil {
				return err
			}
			for _, r := range []*core.Run{&out, &have} {
				if i := slices.Index(r.Triggers, m.ID); i >= 0 {
					r.Versions[i] = m.Version
				}
			}
		}
		return t.put(idKey(famRun, run.ID), have)
	})
	return out, err
}
