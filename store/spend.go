package store

import (
	"context"
	"time"

	"bellhop/core"
)

// What models were used is counted as it is stored: for each thread in its row,
// and for each day in rows of everybody, of each bot and of each person, so that
// it costs nothing to look up.

// spentKey is of a day and of a bot, a person (whose ID has a colon), or "":
// everybody.
func spentKey(day time.Time, who string) []byte {
	return []byte(famSpent + dayOf(day) + "/" + text(who))
}

// spend counts what was used in the thread, which the caller must put.
func (t *tx) spend(th *core.Thread, bot string, person core.PersonID, u core.Usage) error {
	if u == (core.Usage{}) {
		return nil
	}
	th.Spent = th.Spent.Add(u)
	who := []string{"", bot, string(person)}
	for i, name := range who {
		if i > 0 && name == "" {
			continue
		}
		key := spentKey(t.Now(), name)
		sum, _, err := get[core.Usage](t, key)
		if err != nil {
			return err
		}
		if err := t.put(key, sum.Add(u)); err != nil {
			return err
		}
	}
	return nil
}

// Spend counts what was used outside a run, for a thread: a title, say. bot and
// person may be empty: nobody's.
func (s *Store) Spend(ctx context.Context, thread core.ID, bot string, person core.PersonID, u core.Usage) error {
	return s.update(ctx, func(t *tx) error {
		th, err := need[core.Thread](t, famThread, thread)
		if err != nil {
			return err
		}
		if err := t.spend(&th, bot, person, u); err != nil {
			return err
		}
		return t.put(idKey(famThread, thread), th)
	})
}

// SpentOn is what was used on the day (in UTC) by a bot, for a person, or (who
// is empty) by all.
func (s *Store) SpentOn(ctx context.Context, day time.Time, who string) (core.Usage, error) {
	var sum core.Usage
	err := s.view(ctx, func(t *tx) (err error) {
		sum, _, err = get[core.Usage](t, spentKey(day, who))
		return err
	})
	return sum, err
}

// Spent implements core.Desk.
func (d *desk) Spent(thread core.ID) (core.Spent, error) {
	th, _, err := get[core.Thread](d.tx, idKey(famThread, thread))
	if err != nil {
		return core.Spent{}, err
	}
	today, _, err := get[core.Usage](d.tx, spentKey(d.Now(), ""))
	return core.Spent{Here: th.Spent, Today: today}, err
}
