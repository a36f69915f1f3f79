package console

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// screen is a terminal of endless height: what a person sees after the bytes
// that were written to it. It knows the sequences that this package and x/term
// use, and records any other as a fault.
type screen struct {
	width int

	mu     sync.Mutex
	rows   [][]rune
	x, y   int
	rest   string // an incomplete sequence
	faults []string
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.rest + string(p)
	for text != "" {
		n := s.step(text)
		if n == 0 {
			break
		}
		text = text[n:]
	}
	s.rest = text
	return len(p), nil
}

func (s *screen) step(text string) int {
	if strings.HasPrefix(text, "\x1b") {
		return s.escape(text)
	}
	if !utf8.FullRuneInString(text) {
		return 0
	}
	r, n := utf8.DecodeRuneInString(text)
	switch {
	case r == '\r':
		s.x = 0
	case r == '\n':
		s.y++
	case r < ' ' || 0x7f <= r && r < 0xa0:
		s.faults = append(s.faults, strconv.QuoteRune(r))
	default:
		s.put(r)
	}
	return n
}

// put writes one character; like real terminals it wraps only when the next
// one comes.
func (s *screen) put(r rune) {
	if s.x == s.width {
		s.x = 0
		s.y++
	}
	for len(s.rows) <= s.y {
		s.rows = append(s.rows, nil)
	}
	for len(s.rows[s.y]) <= s.x {
		s.rows[s.y] = append(s.rows[s.y], ' ')
	}
	s.rows[s.y][s.x] = r
	s.x++
}

func (s *screen) escape(text string) int {
	if len(text) < 3 {
		return 0
	}
	end := strings.IndexFunc(text[2:], func(r rune) bool { return '@' <= r && r <= '~' })
	if text[1] != '[' || end < 0 {
		return 0
	}
	end += 2
	arg, verb := text[2:end], text[end]
	n, err := strconv.Atoi(arg)
	if err != nil {
		n = 1
	}
	switch verb {
	case 'A':
		s.y = max(0, s.y-n)
	case 'B':
		s.y += n
	case 'C':
		s.x = min(s.width-1, s.x+n)
	case 'D':
		s.x = max(0, s.x-n)
	case 'K', 'J':
		if s.y < len(s.rows) {
			s.rows[s.y] = s.rows[s.y][:min(s.x, len(s.rows[s.y]))]
		}
		if verb == 'J' && s.y < len(s.rows) {
			s.rows = s.rows[:s.y+1]
		}
	case 'm':
		if arg != "2" && arg != "0" {
			s.faults = append(s.faults, strconv.Quote(text[:end+1]))
		}
	case 'h', 'l':
		if arg != "?2004" {
			s.faults = append(s.faults, strconv.Quote(text[:end+1]))
		}
	default:
		s.faults = append(s.faults, strconv.Quote(text[:end+1]))
	}
	return end + 1
}

// String is what is shown, without the blanks at the ends.
func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, f := range s.faults {
		b.WriteString("FAULT " + f + "\n")
	}
	for _, row := range s.rows {
		b.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
