package store

import (
	"time"

	"bellhop/core"
)

// lapse is what time has done to an ask, and what follows.
type lapse struct {
	ask   core.ID
	ended time.Time // when it has expired; zero: people are reminded
	rows  []core.Row
	items []core.Item
}

// lapse does what is due with an open ask; false: nothing is.
func (t *tx) lapse(a core.Ask, split func(core.Place, string) []core.Piece) (l lapse, due bool, err error) {
	l.ask = a.ID
	switch now := t.Now(); {
	case !now.Before(a.Expires):
		l.ended = now
		l.rows, l.items, err = t.conclude(a, expired(a), split)
		return l, true, err
	case !a.Remind.IsZero() && !now.Before(a.Remind):
		a.Remind = time.Time{}
		if err := t.putAsk(a); err != nil {
			return l, false, err
		}
		head := core.Row{}
		if head.After, err = t.lastOf(a.Post); err != nil {
			return l, false, err
		}
		l.rows, err = t.show(core.Post{Kind: core.NoticePost, Thread: a.Thread, Place: a.Place, About: a.ID}, head, pieces(split, a.Place, reminder(a, now)))
		return l, true, err
	}
	return l, false, nil
}

// confirmed are those of the lapses, of transactions that reported a failure,
// that are stored all the same: nobody has been told of them.
func (t *tx) confirmed(unsure []lapse) ([]lapse, error) {
	var out []lapse
	for _, l := range unsure {
		a, ok, err := get[core.Ask](t, idKey(famAsk, l.ask))
		if err != nil {
			return nil, err
		}
		if ok && (l.ended.IsZero() && a.Remind.IsZero() || !l.ended.IsZero() && a.Ended.Equal(l.ended)) {
			out = append(out, l)
		}
	}
	return out, nil
}

// follow is what follows from lapses.
func follow(did []lapse) (out core.Accepted) {
	for _, l := range did {
		out.Rows, out.Items = append(out.Rows, l.rows...), append(out.Items, l.items...)
	}
	return out
}

// lastOf is the platform id of what is shown last of a post, after which a lost
// send of what comes next lies; empty: nothing is shown.
func (t *tx) lastOf(post core.ID) (string, error) {
	p, _, err := get[core.Post](t, idKey(famPost, post))
	if n := len(p.Shown); n > 0 {
		return p.Shown[n-1].ID, err
	}
	return "", err
}
