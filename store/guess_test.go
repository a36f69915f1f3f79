package store_test

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"bellhop/core"
)

// approval is a call that a person is to allow.
func approval(run core.Run) (core.Step, core.Parking) {
	step, p := parking(run)
	p.Ask.Kind, p.Ask.Choices = core.ApprovalAsk, nil
	p.Ask.Grant = &core.Grantable{Tool: "fire", Hash: "hash", Class: "fire", Always: &core.Remembered{Agent: run.Bot, Tool: "fire", Hash: "args"}}
	p.Life, p.Remind = 10*time.Minute, 0
	p.Buttons = []core.Button{{Label: "Allow once", Value: "allow once " + nonce}, {Label: "Deny", Value: "deny " + nonce}}
	return step, p
}

const nonce = "q83vEjRWeJCrze8SNFZ4kA"

// parkApproval has the items' run wait for leave, and people see the card, of two
// pieces.
func (w *world) parkApproval(items ...core.Item) (run core.Run, ask core.ID, card string) {
	w.Helper()
	run = w.pick(items...)
	step, p := approval(run)
	parked, err := w.store.Park(w.Context(), run, step, nil, p)
	w.must(err)
	w.deliver(parked.Rows...)
	return run, w.run(run.ID).Ask, w.post(run.Post).Shown[1].ID
}

// Of many presses with a guessed nonce, by the very person who may decide, none
// does anything but to be told so; they cost the same however many came before,
// and the button works afterwards. BELLHOP_GUESSES is how many.
func TestGuessedNonces(t *testing.T) {
	const each = 1000
	guesses, err := strconv.Atoi(cmp.Or(os.Getenv("BELLHOP_GUESSES"), "20000"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.access.Approvers = core.NewApprovers([]string{"requester"})
	run, ask, card := w.parkApproval(w.say("first")...)
	dice := rand.New(rand.NewPCG(1, 2))
	began := time.Now()
	guess := func(i int) string {
		b := []byte(nonce)
		if i%2 == 0 { // near
			b[dice.IntN(len(b))] ^= 1 << dice.IntN(6)
			return string(b)
		}
		var r [16]byte
		for j := range r {
			r[j] = byte(dice.Uint32())
		}
		return base64.RawURLEncoding.EncodeToString(r[:])
	}
	for n := 0; n < guesses; n += each {
		batch := make([]core.Entry, each)
		for i := range batch {
			batch[i] = w.press(card, []string{"allow once ", "allow task ", "allow always ", "deny "}[i%4]+guess(i))
		}
		var a core.Accepted
		w.commits(1, "a thousand guesses", func() { a = w.accept(batch...) })
		if len(a.Items)+len(a.Rows)+len(a.Stopped) > 0 {
			t.Fatalf("after %d guesses: %+v", n, a)
		}
		for i, fate := range a.Fates {
			if fate != core.FateIgnored || a.Notes[i] != "This does not work any more." {
				t.Fatalf("%q is %s, and they are told %q", batch[i].In.Button, fate, a.Notes[i])
			}
		}
		for more := true; more; { // the keys of the events, which are kept for days
			var err error
			more, err = w.store.Prune(t.Context(), time.Now().Add(48*time.Hour))
			w.must(err)
		}
	}
	t.Logf("%d guesses in %s, %s each", guesses, time.Since(began).Round(time.Millisecond), time.Since(began)/time.Duration(guesses))
	if got := w.run(run.ID); got.State != core.Waiting || got.Ask != ask {
		t.Errorf("%+v", got)
	}
	a := w.accept(w.press(card, fmt.Sprint("allow once ", nonce)))
	if a.Fates[0] != core.FateAnswer || len(a.Items) != 1 {
		t.Errorf("the right one does %+v", a)
	}
}
