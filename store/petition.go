package store

import (
	"fmt"
	"slices"
	"time"

	"bellhop/core"
)

const (
	// maxNotices is of how many requests at once an owner is told: a flood of
	// strangers must not become one of notices.
	maxNotices = 5
	// rebuffLife is how long a stranger who was refused is not heard.
	rebuffLife = 7 * 24 * time.Hour
)

// petition opens a request with the entry's offer in place of the person's last
// one, and tells an owner. False: there is no room for it, or they were refused.
func (a *acceptance) petition(e *core.Entry) (bool, error) {
	r, rebuffed, err := get[core.Rebuff](a.tx, rebuffKey(e.In.From.ID))
	if err != nil || rebuffed && a.Now().Before(r.Until) {
		return false, err
	}
	open, err := a.passes()
	if err != nil {
		return false, err
	}
	requests, told := 0, 0
	for _, p := range open {
		switch p.Person {
		case "":
		case e.In.From.ID:
			if err := a.Delete(p.key); err != nil {
				return false, err
			}
			if err := a.decided(p, "(they have asked again)"); err != nil {
				return false, err
			}
		default:
			requests++
			if p.Post != "" {
				told++
			}
		}
	}
	if requests >= maxRequests {
		return false, nil
	}
	p := passRow{Hash: e.Offer.Hash, Person: e.In.From.ID, Name: e.In.From.Name, Place: e.In.Place, Message: e.In.MessageID, Expires: a.Now().Add(requestLife)}
	if n := e.Offer.Notice; n != nil && told < maxNotices {
		if p.Post, err = a.announce(*n, told == maxNotices-1); err != nil {
			return false, err
		}
	}
	if err := a.paired(core.PairingOffered, p.Person, ""); err != nil {
		return false, err
	}
	return true, a.pass(p)
}

// announce tells an owner that somebody asks; last: of the next, they are not
// told.
func (a *acceptance) announce(n core.Notice, last bool) (core.ID, error) {
	place, err := a.canonical(n.Place)
	if err != nil {
		return "", err
	}
	if last {
		n.Text += fmt.Sprintf("\n\nOthers may ask as well: of more than %d at a time I do not tell you.", maxNotices)
	}
	rows, err := a.aside(core.Post{Place: place, Buttons: n.Buttons}, pieces(a.batch.Split, place, n.Text))
	if err != nil {
		return "", err
	}
	a.out.Rows = append(a.out.Rows, rows...)
	return rows[0].Post, nil
}

// decided says below the notice of a request what has become of it.
func (a *acceptance) decided(p passRow, outcome string) error {
	if p.Post == "" {
		return nil
	}
	rows, err := a.redraw(p.Post, func(card string) string { return withOutcome(p.Place, card, outcome, a.batch.Split) })
	a.out.Rows = append(a.out.Rows, rows...)
	return err
}

// actor is the name to show of who uses the command.
func (d *desk) actor() string {
	if name := d.entry.In.From.Name; name != "" {
		return clip(name, 50)
	}
	return string(d.entry.In.From.ID)
}

// asks means the request of the person.
func asks(who core.PersonID) func(passRow) bool {
	return func(p passRow) bool { return who != "" && p.Person == who }
}

// Accept implements core.Desk.
func (d *desk) Accept(who, by core.PersonID) (core.Grant, bool, error) {
	p, ok, err := d.redeem(asks(who))
	if err != nil || !ok {
		return core.Grant{}, false, err
	}
	return d.admit(p, by)
}

// Refuse implements core.Desk.
func (d *desk) Refuse(who, by core.PersonID) (core.Rebuff, bool, error) {
	p, ok, err := d.redeem(asks(who))
	if err != nil || !ok {
		return core.Rebuff{}, false, err
	}
	if _, err := d.rebuffs(); err != nil {
		return core.Rebuff{}, false, err
	}
	r := core.Rebuff{Person: who, Name: p.Name, By: by, Until: d.Now().Add(rebuffLife)}
	if err := d.put(rebuffKey(who), r); err != nil {
		return r, false, err
	}
	if err := d.paired(core.PairingRefused, by, string(who)); err != nil {
		return r, false, err
	}
	return r, true, d.decided(p, "🚫 Refused by "+d.actor())
}

// rebuffs lists those that last, by their ends, and forgets the others.
func (t *tx) rebuffs() ([]core.Rebuff, error) {
	var out, over []core.Rebuff
	err := each(t, []byte(famRebuff), 0, func(_ []byte, r core.Rebuff) error {
		if t.Now().Before(r.Until) {
			out = append(out, r)
		} else {
			over = append(over, r)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, r := range over {
		if err := t.Delete(rebuffKey(r.Person)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out, func(x, y core.Rebuff) int { return x.Until.Compare(y.Until) })
	return out, nil
}
