package store_test

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

func hashOf(code string) []byte {
	sum := sha256.Sum256([]byte(code))
	return sum[:]
}

// offered is a stranger's message; they are offered the code if there is room.
func (w *world) offered(who, code string) core.Entry {
	e := w.message("hello")
	e.In.From, e.Role, e.Refusal = core.Person{ID: core.PersonID(who), Name: who}, core.Stranger, "No."
	e.Offer = &core.Offer{Hash: hashOf(code), Text: "No, but " + code + "."}
	return e
}

// Only so many strangers have a code at once: a flood of them neither fills the
// store nor takes the codes of those who came first.
func TestOpenRequestsAreBounded(t *testing.T) {
	w := newWorld(t)
	var said []string
	for i := range 22 {
		a := w.accept(w.offered(fmt.Sprint("chat:s", i), fmt.Sprint("code", i)))
		said = append(said, a.Rows[0].Text)
		w.deliver(a.Rows...)
	}
	if diff := cmp.Diff([]string{"No, but code19.", "No.", "No."}, said[19:]); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
	again := w.accept(w.offered("chat:s3", "new")) // whoever has one may have another instead
	w.deliver(again.Rows...)
	w.desk("chat:owner", func(d core.Desk) error {
		if _, ok, err := d.Admit(hashOf("code3"), "chat:owner"); ok || err != nil {
			t.Errorf("a code that was replaced works: %t, %v", ok, err)
		}
		if g, ok, err := d.Admit(hashOf("new"), "chat:owner"); !ok || err != nil || g.Person != "chat:s3" {
			t.Errorf("admitted is %+v, %t, %v", g, ok, err)
		}
		if _, ok, _ := d.Admit(hashOf("new"), "chat:owner"); ok {
			t.Error("a code works twice")
		}
		for i := range 21 {
			if ok, err := d.Invite(hashOf(fmt.Sprint("invite", i)), "chat:owner"); err != nil || ok != (i < 20) {
				t.Errorf("invitation %d: %t, %v", i, ok, err)
			}
		}
		if _, ok, _ := d.Admit(hashOf("invite1"), "chat:owner"); ok {
			t.Error("an owner uses up an invitation")
		}
		return nil
	})
}

// A request's code lets in by an owner alone, an invitation's by who has it;
// one batch neither speaks twice to a stranger nor lets two in with one code.
func TestCodesAreNotMixedUp(t *testing.T) {
	w := newWorld(t)
	w.desk("chat:owner", func(d core.Desk) error { _, err := d.Invite(hashOf("invite"), "chat:owner"); return err })
	own := w.offered("chat:bob", "other")
	own.Code = hashOf("code")
	in := w.offered("chat:carol", "c")
	in.Code = hashOf("invite")
	late := w.offered("chat:dave", "d")
	late.Code = hashOf("invite")
	a := w.accept(w.offered("chat:bob", "code"), own, in, late)
	if diff := cmp.Diff([]core.Fate{core.FateRefused, core.FateRefused, core.FateCommand, core.FateRefused}, a.Fates); diff != "" {
		t.Errorf("fates (-want +got):\n%s", diff)
	}
	if len(a.Rows) != 3 {
		t.Errorf("said is %+v", a.Rows)
	}
	grants, err := w.store.Grants(t.Context())
	if err != nil || len(grants) != 1 || grants[0].Person != "chat:carol" || grants[0].By != "chat:owner" || grants[0].Role != core.Member {
		t.Errorf("let in are %+v, %v", grants, err)
	}
}

// Of several who have the first owner's code, one becomes the owner, also
// where an earlier process stored that and this one does not know.
func TestThereIsOneFirstOwner(t *testing.T) {
	w := newWorld(t)
	claim := func(who core.PersonID, role core.Role) core.Entry {
		e := w.message("code")
		e.In.From, e.Role, e.Claim = core.Person{ID: who}, role, true
		return e
	}
	first := claim("chat:bob", core.Member)
	a := w.accept(first, first, claim("chat:carol", core.Stranger))
	if diff := cmp.Diff([]core.Fate{core.FateCommand, core.FateDuplicate, core.FateRefused}, a.Fates); diff != "" {
		t.Errorf("fates (-want +got):\n%s", diff)
	}
	w.restart()
	if a := w.accept(claim("chat:carol", core.Stranger)); a.Fates[0] != core.FateRefused {
		t.Errorf("a second owner: %+v", a)
	}
	grants, err := w.store.Grants(t.Context())
	if err != nil || len(grants) != 1 || grants[0].Person != "chat:bob" || grants[0].Role != core.Owner {
		t.Errorf("let in are %+v, %v", grants, err)
	}
}

// What was given in chat and is damaged lets nobody in.
func TestDamagedGrant(t *testing.T) {
	w := unchecked(t)
	w.grant("chat:bob", "chat:owner")
	hello := func() core.Fate {
		e := w.message("hello")
		e.In.From, e.Role = core.Person{ID: "chat:bob"}, core.Stranger
		return w.accept(e).Fates[0]
	}
	if fate := hello(); fate != core.FateStored {
		t.Fatalf("who was let in is %s", fate)
	}
	if n := flip(t, w.engine, "g/"); n != 1 {
		t.Fatalf("%d rows are damaged", n)
	}
	if fate := hello(); fate != core.FateRefused {
		t.Errorf("who was let in by a damaged row is %s", fate)
	}
}
