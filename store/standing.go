package store

import (
	"context"

	"bellhop/core"
)

// Standing is what a person may do now: by what the configuration gives any of
// their identities, or by what they were given in chat.
func (s *Store) Standing(ctx context.Context, access core.Access, who core.PersonID) (core.Standing, error) {
	var out core.Standing
	err := s.view(ctx, func(t *tx) error {
		h, err := t.human(who)
		if err != nil {
			return err
		}
		out, err = t.standing(access, core.Person{ID: who}, h)
		return err
	})
	return out, err
}
