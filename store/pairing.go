package store

import (
	"context"
	"crypto/subtle"
	"errors"
	"slices"
	"time"

	"bellhop/core"
)

const (
	// maxRequests is how many strangers may have a code at once; further ones
	// are told their id alone.
	maxRequests = 20
	// maxInvitations is how many invitations may be open at once.
	maxInvitations = 20

	// requestLife and invitationLife are how long codes work.
	requestLife    = time.Hour
	invitationLife = 24 * time.Hour
)

// passRow is a code that lets somebody in, once. The code itself is not stored.
type passRow struct {
	Hash    []byte        `json:"hash"`
	Person  core.PersonID `json:"person,omitempty"` // who asked; empty: an invitation, for who has it
	Name    string        `json:"name,omitempty"`
	Place   core.Place    `json:"place,omitzero"`
	By      core.PersonID `json:"by,omitempty"`      // who invites
	Message string        `json:"message,omitempty"` // platform id of what they asked with
	Expires time.Time     `json:"expires"`
	Post    core.ID       `json:"post,omitempty"` // with which an owner was told that they ask

	key []byte
}

// passes lists the codes that work, oldest first, and forgets the others.
func (t *tx) passes() ([]passRow, error) {
	var all []passRow
	err := each(t, []byte(famPass), 0, func(key []byte, p passRow) error {
		p.key = slices.Clone(key)
		all = append(all, p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var open []passRow
	for _, p := range all {
		if t.Now().Before(p.Expires) {
			open = append(open, p)
		} else if err := t.Delete(p.key); err != nil {
			return nil, err
		}
	}
	return open, nil
}

// redeem uses up the code that is meant; ok is false when there is none.
func (t *tx) redeem(meant func(passRow) bool) (p passRow, ok bool, err error) {
	open, err := t.passes()
	if err != nil {
		return p, false, err
	}
	for _, q := range open {
		if meant(q) {
			p, ok = q, true
		}
	}
	if !ok {
		return p, false, nil
	}
	return p, true, t.Delete(p.key)
}

// requested means the request with the code of the hash.
func requested(hash []byte) func(passRow) bool {
	return func(p passRow) bool { return p.Person != "" && subtle.ConstantTimeCompare(p.Hash, hash) == 1 }
}

// invited means the invitation with the code of the hash.
func invited(hash []byte) func(passRow) bool {
	return func(p passRow) bool { return p.Person == "" && subtle.ConstantTimeCompare(p.Hash, hash) == 1 }
}

func (t *tx) pass(p passRow) error {
	n, err := t.Seq()
	if err != nil {
		return err
	}
	return t.insert(u64([]byte(famPass), n), p)
}

// enter lets in a stranger who has an invitation's code.
func (a *acceptance) enter(e *core.Entry, place core.Place) (bool, error) {
	p, ok, err := a.redeem(invited(e.Code))
	if err != nil || !ok {
		return false, err
	}
	return true, a.welcome(e, place, core.Grant{Role: core.Member, By: p.By},
		"You are let in. Send me a message and I answer.")
}

// claim makes the person the first owner, if there is none yet.
func (a *acceptance) claim(e *core.Entry, place core.Place) (bool, error) {
	grants, err := a.grants()
	if err != nil || slices.ContainsFunc(grants, func(g core.Grant) bool { return g.Role == core.Owner }) {
		return false, err
	}
	return true, a.welcome(e, place, core.Grant{Role: core.Owner},
		"You are my owner now. Send me a message and I answer. To let others in, see "+markOf(e)+"pair.")
}

func (a *acceptance) welcome(e *core.Entry, place core.Place, g core.Grant, text string) error {
	g.Person, g.Name, g.Place, g.Time = e.In.From.ID, e.In.From.Name, e.In.Place, a.Now()
	if p, ok, err := a.redeem(asks(g.Person)); err != nil {
		return err
	} else if ok {
		if err := a.decided(p, "(let in with a code)"); err != nil {
			return err
		}
	}
	if err := a.Delete(rebuffKey(g.Person)); err != nil {
		return err
	}
	if err := a.put(grantKey(g.Person), g); err != nil {
		return err
	}
	what := core.PairingEntered
	if g.Role == core.Owner {
		what = core.PairingClaimed
	}
	if err := a.paired(what, g.Person, ""); err != nil {
		return err
	}
	return a.say(core.CommandPost, "", &e.In, place, text)
}

func (t *tx) grants() ([]core.Grant, error) {
	var out []core.Grant
	err := each(t, []byte(famGrant), 0, func(_ []byte, g core.Grant) error {
		out = append(out, g)
		return nil
	})
	slices.SortStableFunc(out, func(x, y core.Grant) int { return x.Time.Compare(y.Time) })
	return out, err
}

// Grants lists who was let in in chat, oldest first.
func (s *Store) Grants(ctx context.Context) (out []core.Grant, err error) {
	err = s.view(ctx, func(t *tx) error {
		out, err = t.grants()
		return err
	})
	return out, err
}

// Admit implements core.Desk.
func (d *desk) Admit(hash []byte, by core.PersonID) (core.Grant, bool, error) {
	p, ok, err := d.redeem(requested(hash))
	if err != nil || !ok {
		return core.Grant{}, false, err
	}
	return d.admit(p, by)
}

// admit lets in who asks, and says so to them, and below the notice of it.
func (d *desk) admit(p passRow, by core.PersonID) (core.Grant, bool, error) {
	g := core.Grant{Person: p.Person, Name: p.Name, Role: core.Member, By: by, Time: d.Now(), Place: p.Place}
	old, had, err := get[core.Grant](d.tx, grantKey(g.Person))
	if err != nil {
		return g, false, err
	}
	if err := d.decided(p, "✅ Let in by "+d.actor()); err != nil {
		return g, false, err
	}
	if had && old.Role > g.Role {
		return old, true, nil
	}
	if err := d.put(grantKey(g.Person), g); err != nil {
		return g, false, err
	}
	place, err := d.canonical(p.Place)
	if err != nil {
		return g, false, err
	}
	if err := d.paired(core.PairingAdmitted, by, string(g.Person)); err != nil {
		return g, false, err
	}
	rows, err := d.show(core.Post{Kind: core.NoticePost, Place: place}, core.Row{After: p.Message},
		pieces(d.batch.Split, place, "You are let in. Send me a message and I answer."))
	d.out.Rows = append(d.out.Rows, rows...)
	return g, true, err
}

// Invite implements core.Desk.
func (d *desk) Invite(hash []byte, by core.PersonID) (bool, error) {
	open, err := d.passes()
	if err != nil {
		return false, err
	}
	open = slices.DeleteFunc(open, func(p passRow) bool { return p.Person != "" })
	if len(open) >= maxInvitations {
		return false, nil
	}
	if err := d.paired(core.PairingInvited, by, ""); err != nil {
		return false, err
	}
	return true, d.pass(passRow{Hash: hash, By: by, Expires: d.Now().Add(invitationLife)})
}

// Pairing implements core.Desk.
func (d *desk) Pairing() (core.Pairing, error) {
	var out core.Pairing
	open, err := d.passes()
	if err != nil {
		return out, err
	}
	if out.Rebuffs, err = d.rebuffs(); err != nil {
		return out, err
	}
	for _, p := range open {
		if p.Person == "" {
			out.Invitations++
		} else {
			out.Requests = append(out.Requests, core.Request{Person: p.Person, Name: p.Name, Expires: p.Expires})
		}
	}
	if out.Grants, err = d.grants(); err != nil {
		return out, err
	}
	return out, each(d.tx, []byte(famHuman), 0, func(_ []byte, r humanRow) error {
		if len(r.Human.Identities) > 0 && len(out.Links) < core.MaxLinks {
			out.Links = append(out.Links, r.Human)
		}
		return nil
	})
}

// Expel implements core.Desk.
func (d *desk) Expel(who core.PersonID, by string) (core.Expelled, error) {
	var out core.Expelled
	_, had, err := get[core.Grant](d.tx, grantKey(who))
	if err != nil {
		return out, err
	}
	open, err := d.passes()
	if err != nil {
		return out, err
	}
	for _, p := range open {
		if p.Person == who || p.By == who {
			had = true
			if err := d.Delete(p.key); err != nil {
				return out, err
			}
			if err := d.decided(p, ""); err != nil {
				return out, err
			}
		}
	}
	linked, err := d.unlink(who)
	if err != nil {
		return out, err
	}
	_, rebuffed, err := get[core.Rebuff](d.tx, rebuffKey(who))
	if err != nil || !had && !linked && !rebuffed {
		return out, err
	}
	out.Known = true
	if linked {
		err = d.paired(core.PersonParted, d.entry.In.From.ID, string(who))
	}
	if err := errors.Join(err, d.Delete(rebuffKey(who)), d.Delete(grantKey(who)), d.paired(core.PairingExpelled, d.entry.In.From.ID, string(who))); err != nil {
		return out, err
	}
	out.Messages, err = d.abandon(who, by)
	return out, err
}

// abandon cancels what waits of the messages of a person, and the runs that work
// for them, if they may not talk to us any more.
func (d *desk) abandon(who core.PersonID, by string) (messages int, err error) {
	human, err := d.tx.human(who)
	if err != nil {
		return 0, err
	}
	if now, err := d.tx.standing(d.batch.Access, core.Person{ID: who}, human); err != nil || now.Role >= core.Member {
		return 0, err
	}
	open, err := d.openItems()
	if err != nil {
		return 0, err
	}
	for _, was := range open {
		it, _, err := get[core.Item](d.tx, idKey(famItem, was.ID)) // as it is now: the one before may have ended its run
		if err != nil {
			return 0, err
		}
		if it.ID == "" || it.State.Terminal() {
			continue
		}
		th, err := need[core.Thread](d.tx, famThread, it.Thread)
		if err != nil {
			return 0, err
		}
		whose, err := d.worksFor(th, it)
		if err != nil {
			return 0, err
		}
		if whose != who {
			continue
		}
		n, err := d.cancel(&th, it, by)
		if err != nil {
			return 0, err
		}
		messages += n
	}
	return messages, nil
}

// worksFor is the person for whom the run works that has the item, or would
// begin with it.
func (t *tx) worksFor(th core.Thread, it core.Item) (core.PersonID, error) {
	if it.Run != "" {
		run, _, err := get[core.Run](t, idKey(famRun, it.Run))
		return run.For.ID, err
	}
	run, err := t.draft(th, []core.Item{it})
	return run.For.ID, err
}
