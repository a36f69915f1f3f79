package store

import (
	"bytes"
	"context"
	"slices"
	"time"

	"bellhop/core"
)

const (
	// cursorLife is how long after its last message a place's cursor is kept: a
	// conversation that has rested for longer is taken up by who writes there.
	cursorLife = 30 * 24 * time.Hour

	// maxCursors is the most that Cursors returns, and cursorPages pages are what
	// it reads for them, the newest days first, however much is stored.
	maxCursors  = 1000
	cursorPage  = 1000
	cursorPages = 4
)

// cursorRow is how far a place was heard on a day. Each day has its own, so
// that the newest are found and the oldest forgotten without looking at others.
type cursorRow struct {
	Place  core.Place `json:"place"`
	Direct bool       `json:"direct,omitempty"`
	ID     string     `json:"id"`
	Time   time.Time  `json:"time"`
}

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// hear notes how far the place of an event has been heard: its channel, if it
// stands there, so that the next mention is not missed, and itself, if it is
// one where somebody speaks to us.
func (a *acceptance) hear(in *core.Inbound, place core.Place) error {
	here := in.Place
	channel := core.Place{Adapter: here.Adapter, Channel: here.Channel}
	switch {
	case !in.Heard:
		return nil
	case in.Kind == core.InAdded:
		return a.heard(channel, in)
	case in.Kind != core.InMessage || in.MessageID == "":
		return nil
	}
	if !in.Direct && (here.Topic == "" || here.Topic == in.MessageID) {
		if err := a.heard(channel, in); err != nil || here == channel {
			return err
		}
	}
	ours := a.row.Fate == core.FateCommand || a.row.Fate == core.FateBeneath
	if !ours {
		var err error
		if _, ours, err = get[placeRow](a.tx, placeKey(place)); err != nil {
			return err
		}
	}
	if !ours {
		return nil
	}
	return a.heard(here, in)
}

// heard moves a cursor forward.
func (a *acceptance) heard(p core.Place, in *core.Inbound) error {
	row := cursorRow{Place: p, Direct: in.Direct, ID: in.MessageID, Time: in.Time.UTC()}
	if now := a.Now(); row.Time.IsZero() || row.Time.After(now) {
		row.Time = now
	}
	key := cursorKey(dayOf(row.Time), p)
	old, ok, err := get[cursorRow](a.tx, key)
	if err != nil || ok && old.Time.After(row.Time) {
		return err
	}
	return a.put(key, row)
}

// Cursors returns how far the adapter's places have been heard, those with the
// newest messages first. See core.Cursors.
func (s *Store) Cursors(ctx context.Context, adapter string) ([]core.Cursor, error) {
	var out []core.Cursor
	err := s.view(ctx, func(t *tx) error {
		out = nil
		seen := map[core.Place]bool{}
		to := after([]byte(famCursor))
		for range cursorPages {
			kvs, err := t.ScanBack([]byte(famCursor), to, cursorPage)
			if err != nil {
				return err
			}
			for _, kv := range kvs {
				var row cursorRow
				if err := decode(kv.Value, &row); err != nil {
					t.damaged(kv.Key, kv.Value, err)
					continue
				}
				if row.Place.Adapter != adapter || seen[row.Place] {
					continue // another day has a newer one
				}
				seen[row.Place] = true
				out = append(out, core.Cursor(row))
			}
			if len(kvs) < cursorPage {
				break
			}
			to = bytes.Clone(kvs[len(kvs)-1].Key)
		}
		return nil
	})
	slices.SortStableFunc(out, func(x, y core.Cursor) int { return y.Time.Compare(x.Time) })
	return out[:min(len(out), maxCursors)], err
}
