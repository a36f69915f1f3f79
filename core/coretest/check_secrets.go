package coretest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"bellhop/core"
	"bellhop/store"
)

// clean is how much of what only grows is known to hold no secret.
type clean struct {
	calls int // of the models
	log   int // bytes
}

// nonceLength is the length of 128 bits in base64.
const nonceLength = 22

// nonces are the last words of the buttons' values that nobody can guess.
func nonces(buttons []core.Button) (all []string) {
	for _, b := range buttons {
		words := strings.Fields(b.Value)
		if last := words[len(words)-1]; len(last) == nonceLength {
			all = append(all, last)
		}
	}
	return all
}

// checkSecrets: what lets somebody do something, a code or what a press of a
// button proves, no model reads and no log has; and of the store, nothing has a
// code that can be read but the row that waits to be delivered (invariant 12).
func (c *checker) checkSecrets(w *world) {
	var codes, pressed []string
	for n := range w.codes.Load() {
		code := fmt.Sprintf("%08d", n+1)
		codes = append(codes, code, code[:4]+"-"+code[4:])
	}
	for _, p := range w.platforms {
		p.mu.Lock()
		pressed = append(pressed, p.nonces...)
		p.mu.Unlock()
	}
	for _, p := range w.platforms {
		p.mu.Lock()
		for at, room := range p.rooms {
			for _, m := range room {
				if found := held(m.text, pressed); found != "" {
					c.problem("message %s of %s shows the secret %s", m.id, at, found)
				}
			}
		}
		p.mu.Unlock()
	}
	all := slices.Concat(pressed, codes)
	calls, log := w.minds.of(""), w.logged.String()
	for _, a := range calls[w.clean.calls:] {
		if found := held(a.call.System+flat(a.call.Messages), all); found != "" {
			c.problem("the model of %s reads the secret %s", a.call.Model, found)
		}
	}
	if found := held(log[w.clean.log:], all); found != "" && !w.scene.unowned { // the first owner's code is printed
		c.problem("the log has the secret %s", found)
	}
	w.clean = clean{len(calls), len(log)}
	if len(codes) == 0 {
		return
	}
	if err := w.engine.View(func(tx store.Tx) error {
		kvs, err := tx.Scan(nil, []byte{0xff}, 0)
		for _, kv := range kvs {
			if found := held(string(kv.Value), codes); found != "" && !bytes.HasPrefix(kv.Key, []byte("o/")) {
				c.problem("the store has the secret %s in %q", found, kv.Key)
			}
		}
		return err
	}); err != nil {
		c.problem("the store cannot be read: %v", err)
	}
}

// held is the first of the secrets that stands in the text, or nothing.
func held(text string, secrets []string) string {
	for _, s := range secrets {
		if strings.Contains(text, s) {
			return s
		}
	}
	return ""
}
