package bus

import (
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"bellhop/core"
)

const (
	// codeLetters are those of a code: digits and letters that nobody takes for
	// another. 32, so that every byte chooses one of them evenly.
	codeLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	// codeLength is 40 bits. Source: with all tries that are allowed, a guess is
	// right once in a billion hours.
	codeLength = 8

	// triesWindow is the time for which tries of codes are counted.
	triesWindow = time.Hour
	// triesEach and triesAll are how many one person and all together have.
	triesEach = 5
	triesAll  = 50
)

// NewCode makes a code that nobody can guess.
func NewCode() string {
	var b [codeLength]byte
	_, _ = rand.Read(b[:]) // never fails
	for i := range b {
		b[i] = codeLetters[int(b[i])%len(codeLetters)]
	}
	return string(b[:])
}

// showCode is a code as people read it.
func showCode(code string) string { return code[:codeLength/2] + "-" + code[codeLength/2:] }

// readCode is the hash of the code that a person has typed, in any case, with or
// without what stands between its halves; ok is false if it is none.
func readCode(text string) (hash []byte, ok bool) {
	text = strings.Map(func(r rune) rune {
		switch r {
		case '-', ' ':
			return -1
		case 'O':
			return '0'
		case 'I', 'L':
			return '1'
		}
		return r
	}, strings.ToUpper(strings.TrimSpace(text)))
	if len(text) != codeLength || strings.Trim(text, codeLetters) != "" {
		return nil, false
	}
	return hashCode(text), true
}

func hashCode(code string) []byte {
	sum := sha256.Sum256([]byte(code))
	return sum[:]
}

// tries counts how often strangers try codes.
type tries struct {
	mu   sync.Mutex // guards the fields below
	ends time.Time
	all  int
	each map[core.PersonID]int
}

// take uses up one of the person's tries; false: they have none left.
func (t *tries) take(p core.PersonID, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !now.Before(t.ends) {
		t.ends, t.all, t.each = now.Add(triesWindow), 0, map[core.PersonID]int{}
	}
	if t.all >= triesAll || t.each[p] >= triesEach {
		return false
	}
	t.all++
	t.each[p]++
	return true
}

// giveBack is for a try that the ledger could not look at.
func (t *tries) giveBack(p core.PersonID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.each[p] > 0 {
		t.all--
		t.each[p]--
	}
}
