package console

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// errIdle ends a read from a keyboard that has no more keys for now.
var errIdle = errors.New("no key is waiting")

// keyInterrupt stands for Ctrl-C, which x/term would take for the end of all
// input; a key that it does not know it hands to AutoCompleteCallback.
const (
	ctrlC        = '\x03'
	keyInterrupt = '\x1f'
)

// What a pasted line end and tab look like in the line being typed. They
// become themselves again when it is sent.
const (
	shownNewline = "␤"
	shownTab     = "␉"
)

// typed is the message that an edited line stands for.
func typed(line string) string {
	return strings.NewReplacer(shownNewline, "\n", shownTab, "\t").Replace(line)
}

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// keys are the escape sequences that mean something to x/term, or to it under
// another name.
var keys = map[string]string{
	"\x1b[A": "\x1b[A", "\x1bOA": "\x1b[A", // up
	"\x1b[B": "\x1b[B", "\x1bOB": "\x1b[B", // down
	"\x1b[C": "\x1b[C", "\x1bOC": "\x1b[C", // right
	"\x1b[D": "\x1b[D", "\x1bOD": "\x1b[D", // left
	"\x1b[H": "\x1b[H", "\x1bOH": "\x1b[H", "\x1b[1~": "\x1b[H", "\x1b[7~": "\x1b[H", // home
	"\x1b[F": "\x1b[F", "\x1bOF": "\x1b[F", "\x1b[4~": "\x1b[F", "\x1b[8~": "\x1b[F", // end
	"\x1b[3~":   "\x1b[3~",                             // delete
	"\x1b[1;3C": "\x1b[1;3C", "\x1b[1;5C": "\x1b[1;3C", // a word right
	"\x1b[1;3D": "\x1b[1;3D", "\x1b[1;5D": "\x1b[1;3D", // a word left
	pasteStart: pasteStart,
}

// keyboard translates what a terminal in raw mode sends into what x/term
// understands, and leaves out what would confuse it: unknown sequences, text
// that is not UTF-8, and all control characters within a paste, which are not
// the person's keys. One goroutine owns it.
type keyboard struct {
	raw     []byte // not translated yet: at most the beginning of a key
	ready   []byte
	pasting bool
	cr      bool // the last pasted character was a carriage return
}

// feed takes bytes as they come.
func (k *keyboard) feed(p []byte) {
	k.raw = append(k.raw, p...)
	for len(k.raw) > 0 {
		n := k.key(k.raw)
		if n == 0 {
			return
		}
		k.raw = k.raw[n:]
	}
}

// Read implements io.Reader for x/term. It does not wait: errIdle means that
// every key has been read.
func (k *keyboard) Read(p []byte) (int, error) {
	if len(k.ready) == 0 {
		return 0, errIdle
	}
	n := copy(p, k.ready)
	k.ready = k.ready[n:]
	return n, nil
}

// key translates the first key in b and says how long it is, or 0 when the
// rest of it has still to come.
func (k *keyboard) key(b []byte) int {
	if b[0] == 0x1b {
		return k.escape(b)
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	switch {
	case r == utf8.RuneError: // x/term would wait for ever for the rest of it
		k.ready = append(k.ready, '?')
	case k.cr && r == '\n': // the same line end
	default:
		k.ready = append(k.ready, k.translate(r)...)
	}
	k.cr = k.pasting && r == '\r'
	return n
}

func (k *keyboard) translate(r rune) string {
	switch {
	case !k.pasting && r == ctrlC:
		return string(keyInterrupt)
	case !k.pasting && r < 0x80 && r != keyInterrupt:
		return string(r)
	case r == '\r', r == '\n':
		return shownNewline
	case r == '\t':
		return shownTab
	case unicode.IsControl(r):
		return ""
	}
	return string(r)
}

// escape translates an escape sequence.
func (k *keyboard) escape(b []byte) int {
	n := sequence(b)
	if n == 0 {
		return 0
	}
	switch s := string(b[:n]); {
	case k.pasting && s == pasteEnd:
		k.pasting = false
		k.ready = append(k.ready, s...)
	case k.pasting:
		return 1 // the rest is text
	default:
		k.pasting = s == pasteStart
		k.ready = append(k.ready, keys[s]...)
	}
	return n
}

// sequence is the length of the escape sequence that b begins with, or 0 when
// its end has still to come. An escape that begins none is one by itself.
func sequence(b []byte) int {
	if len(b) == 1 {
		return 0
	}
	switch b[1] {
	case 'O':
		if len(b) == 2 {
			return 0
		}
		return 3
	case '[':
		for i, c := range b[2:] {
			if 0x40 <= c && c <= 0x7e {
				return i + 3
			}
			if c < 0x20 || c > 0x7e {
				return 1
			}
		}
		return 0
	}
	return 1
}
