package core

import (
	"errors"
	"fmt"
	"strings"
)

// ID names a thread, message, item, run or post: a kind letter and the
// Crockford base-32 form of a store-wide sequence number ("m3k9", "r3ka").
// People read and type them. Numbers strictly increase over the life of a
// store and are never reused; gaps are normal. Order is number order, not
// string order: compare with Seq.
type ID string

// The kinds of ID.
const (
	KindThread  = 't'
	KindMessage = 'm'
	KindItem    = 'i'
	KindRun     = 'r'
	KindPost    = 'p'
	KindAsk     = 'a'
	// KindActivity is that of the log's entries. Their numbers are not of the
	// sequence: see store.
	KindActivity = 'l'
	KindPermit   = 'y'
)

const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID forms the ID of kind with the number seq, which must not be 0.
func NewID(kind byte, seq uint64) ID {
	var b [14]byte
	i := len(b)
	for ; seq > 0; seq >>= 5 {
		i--
		b[i] = crockford[seq&31]
	}
	i--
	b[i] = kind
	return ID(b[i:])
}

// ParseID reads an ID as a person may type it: in any case, with the letters
// o, i and l taken for the digits they look like.
func ParseID(s string) (ID, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	if len(s) < 2 || len(s) > 14 || !strings.ContainsRune("tmirpay", rune(s[0])) {
		return "", fmt.Errorf("%q is not an id: ids look like m3k9, i3ka, r3ka or t12", s)
	}
	var seq uint64
	for _, c := range strings.NewReplacer("o", "0", "i", "1", "l", "1").Replace(s[1:]) {
		v := strings.IndexRune(crockford, c)
		if v < 0 || seq > 1<<58 {
			return "", fmt.Errorf("%q is not an id: ids look like m3k9, i3ka, r3ka or t12", s)
		}
		seq = seq<<5 | uint64(v)
	}
	if seq == 0 {
		return "", errors.New("an id's number is never zero")
	}
	return NewID(s[0], seq), nil
}

// Kind is the letter that says what the ID names; 0 for the empty ID.
func (id ID) Kind() byte {
	if id == "" {
		return 0
	}
	return id[0]
}

// Seq is the ID's number; 0 for the empty ID and for text that is no ID.
func (id ID) Seq() uint64 {
	if len(id) < 2 {
		return 0
	}
	var seq uint64
	for i := 1; i < len(id); i++ {
		v := strings.IndexByte(crockford, id[i])
		if v < 0 {
			return 0
		}
		seq = seq<<5 | uint64(v)
	}
	return seq
}

// As is the ID of another kind with the same number: a run has the number of
// its oldest item, and its post has the number of the run. That they are
// derived is what makes a run that was not yet stored when the process died
// find its post again.
func (id ID) As(kind byte) ID {
	if id == "" {
		return ""
	}
	return ID(string(rune(kind))) + id[1:]
}
