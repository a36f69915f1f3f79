package store_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"bellhop/core"
	"bellhop/store"
)

// linked makes the two people one.
func (w *world) linked(maker, other core.PersonID) {
	w.Helper()
	code := hashOf(string(maker + other))
	w.as(maker, func(inv core.Invocation) error { _, err := inv.Desk.OpenLink(code, "/"); return err })
	w.as(other, func(inv core.Invocation) error {
		got, err := inv.Desk.Link(code)
		if got.End != core.LinkDone {
			w.Errorf("%s is not linked with %s: %+v", other, maker, got)
		}
		return err
	})
}

// as runs what a command of the person would do.
func (w *world) as(who core.PersonID, do func(core.Invocation) error) {
	w.Helper()
	e := w.message("/do")
	e.In.From, e.Role, e.Code = core.Person{ID: who}, w.access.Role(core.Person{ID: who}), hashOf("any")
	e.Command = &core.Command{Name: "do", Role: core.Member, Codes: true, Run: func(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
		return core.CommandReply{Text: "Done."}, do(inv)
	}}
	w.deliver(w.accept(e).Rows...)
}

// damage changes one bit of a row.
func (w *world) damage(key string) {
	w.Helper()
	w.must(w.engine.Update(w.Context(), func(tx store.Tx) error {
		got, err := tx.Get([]byte(key))
		if err != nil || got[0] == nil {
			return fmt.Errorf("there is no row %q: %w", key, err)
		}
		raw := bytes.Clone(got[0])
		raw[len(raw)/2] ^= 4
		return tx.Put([]byte(key), raw)
	}))
}

// What is lost of a human costs them a link at most: it is found again where
// another row tells it, and nobody gets a role or a task that is not theirs.
func TestDamagedHumans(t *testing.T) {
	for _, lost := range []struct {
		person core.PersonID
		whole  bool // the human is what they were
	}{{"chat:2", true}, {"chat:3", true}, {"chat:1", false}} {
		t.Run(string(lost.person), func(t *testing.T) {
			w := newWorld(t)
			w.access = core.Access{Admins: []string{"chat:1"}}
			w.linked("chat:1", "chat:2")
			w.linked("chat:1", "chat:3")
			w.damage("hu/" + string(lost.person))
			for _, who := range []core.PersonID{"chat:1", "chat:2", "chat:3"} {
				var last core.Invocation // what is met damaged is mended, and the command run again
				w.as(who, func(inv core.Invocation) error { last = inv; return nil })
				people := last.Human.People()
				if whole := len(people) == 3; whole != lost.whole || !slices.Contains(people, who) || (last.Role == core.Admin) != (lost.whole || who == "chat:1") {
					t.Errorf("%s is %v, %s", who, people, last.Role)
				}
			}
			if len(w.damaged) != 1 {
				t.Errorf("damaged are %q", w.damaged)
			}
		})
	}
}
