package bus

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"bellhop/core"
)

func TestReadCode(t *testing.T) {
	for text, want := range map[string]string{
		"ABCD-2345": "ABCD2345", " abcd 2345\n": "ABCD2345", "abcd2345": "ABCD2345", "oO0i-Ll1Z": "0001111Z", "0-0-0-0-0-0-0-0": "00000000",
		"": "", "ABCD-234": "", "ABCD-23456": "", "ABCD-234U": "", "ABCDÉ345": "", "ABCD-234\x00": "", "hello, bot": "",
	} {
		got, ok := readCode(text)
		if ok != (want != "") || ok && !bytes.Equal(got, hashCode(want)) {
			t.Errorf("%q is read: %t, as %x", text, ok, got)
		}
	}
}

func FuzzReadCode(f *testing.F) {
	for _, s := range []string{"", "ABCD-2345", "ſſſſſſſſ", "\xff-1234567", "ABCD-234é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hash, ok := readCode(text)
		if ok != (len(hash) > 0) {
			t.Errorf("%q is read: %t, as %x", text, ok, hash)
		}
	})
}

// Every code can be typed as it is shown, and no two are alike.
func TestNewCode(t *testing.T) {
	seen := map[string]bool{}
	letters := map[rune]bool{}
	for range 2000 {
		code := NewCode()
		hash, ok := readCode(strings.ToLower(showCode(code)))
		if !ok || !bytes.Equal(hash, hashCode(code)) || seen[code] {
			t.Fatalf("%q is read: %t, and was seen: %t", code, ok, seen[code])
		}
		seen[code] = true
		for _, r := range code {
			letters[r] = true
		}
	}
	if len(letters) != len(codeLetters) {
		t.Errorf("codes are made of %d letters, want %d", len(letters), len(codeLetters))
	}
}

// say is a direct message of somebody.
func (r *rig) say(who core.PersonID, text string) string {
	r.t.Helper()
	in := core.Inbound{Key: "k", Kind: core.InMessage, Direct: true, Place: here, From: core.Person{ID: who}, Text: text}
	_ = r.accept(r.t.Context(), r.accounts["chat"], []core.Inbound{in})
	var codes []string
	for part := range strings.SplitSeq(r.ledger.read(), ", ") {
		if strings.HasPrefix(part, "code of") {
			codes = append(codes, part)
		}
	}
	return strings.Join(codes, ", ")
}

// Codes are tried only so often, by one and by all together; what the ledger
// could not look at does not count.
func TestTriesAreBounded(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		code := r.Claim()
		const right = "code of chat:eve (first true)"
		full := func(full bool) {
			r.ledger.mu.Lock()
			defer r.ledger.mu.Unlock()
			r.ledger.full = full
		}
		full(true)
		for range 2 * triesEach {
			r.say("chat:eve", code)
		}
		full(false)
		for range triesEach - 1 {
			if got := r.say("chat:eve", "0000-0000"); got != "" {
				t.Errorf("a wrong code is %q", got)
			}
		}
		if got := r.say("chat:eve", code); got != right {
			t.Errorf("the fifth try is %q", got)
		}
		if got := r.say("chat:eve", code); got != "" {
			t.Errorf("the sixth try is %q", got)
		}
		for i := range triesAll {
			r.say(core.PersonID("chat:"+strings.Repeat("x", i+1)), "0000-0000")
		}
		if got := r.say("chat:mallory", code); got != "" {
			t.Errorf("the 51st try is %q", got)
		}
		time.Sleep(triesWindow)
		if got := r.say("chat:eve", code); got != right {
			t.Errorf("an hour later: %q", got)
		}
	})
}

// A code is looked at where it is meant as one: alone in a direct message,
// while there is no owner, or with /start.
func TestWhatIsACode(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		r.o.Commands = []core.Command{{Name: "start", Role: core.Member}, {Name: "stop", Role: core.Member}}
		for text, want := range map[string]string{
			"ABCD-2345":        "",
			"/start ABCD-2345": "code of chat:eve (first false)",
			"/stop ABCD-2345":  "",
			"/start, please":   "",
		} {
			if got := r.say("chat:eve", text); got != want {
				t.Errorf("%q is %q, want %q", text, got, want)
			}
		}
		if got := r.say("chat:ann", "/start ABCD-2345"); got != "" {
			t.Errorf("a member's code is %q", got)
		}
		for _, before := range []string{"", "/start "} {
			text := before + r.Claim()
			if got := r.say("chat:ann", text); got != "code of chat:ann (first true)" {
				t.Errorf("%q of a member is %q", text, got)
			}
		}
	})
}
