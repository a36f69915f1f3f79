package console

import (
	"strings"

	"bellhop/core"
)

const (
	// clearBelow clears from the row of the prompt on; x/term has done so but
	// for what it took to be narrower than it is.
	clearBelow = "\r\x1b[J"
	// clearRow clears the row above too.
	clearRow = "\r\x1b[A\x1b[J"
	faint    = "\x1b[2m"
	plain    = "\x1b[0m"
	// narrowest is the least number of columns that rows are made for.
	narrowest = 40
)

// view decides what to write on a terminal for each thing that a session
// shows. The terminal's last rows are the prompt and the line being typed,
// which x/term takes away before a write and puts back after it; so all that a
// write can still change is the row above them. A post that grows lies at the
// bottom, broken into rows that never wrap by themselves: its last row is
// rewritten until it is full.
type view struct {
	width int // columns of the terminal

	post    string // the unfinished post at the bottom; empty: none
	text    string // all of its text that is shown
	status  bool   // shown faintly, to be replaced
	doing   string // shown faintly after the text, as far as its row has room
	settled int    // bytes of text in rows that can no longer be changed
	thought bool   // what was thought stands above the text
	named   bool   // the row after those begins with the speaker's label
	live    bool   // that row lies right above the prompt
}

// show is what to write for one piece. Until the post at the bottom has ended,
// only finals of other posts are shown: two that grow would tear each other to
// pieces. The post goes on with what is new if its settled rows still hold,
// else it is shown anew.
func (v *view) show(s show) string {
	if v.post != "" && v.post != s.Post && s.Kind != core.OutFinal {
		return ""
	}
	text := strings.TrimRight(strings.ReplaceAll(visible(s.Text), "\t", "    "), "\n")
	doing := strings.Join(strings.Fields(visible(s.Status)), " ")
	out := v.think(s)
	out += v.grow(s.Post, text, label(s.Speaker), s.Kind == core.OutOpen, doing)
	if s.Kind == core.OutFinal {
		*v = view{width: v.width}
	}
	return out
}

// think is what to write above a text for what its model has thought, once and
// before any row of the text has settled.
func (v *view) think(s show) string {
	if s.Thinking == "" || v.post == s.Post && (v.thought || v.settled > 0) {
		return ""
	}
	clear := clearBelow
	if v.post == s.Post && v.live {
		clear = clearRow
	}
	*v = view{width: v.width, post: s.Post, named: true, thought: true}
	var b strings.Builder
	b.WriteString(clear + faint)
	rest := strings.Join(strings.Fields(visible(s.Thinking)), " ")
	for rest != "" {
		row, n := firstRow(rest, max(v.width-1, narrowest)-2)
		b.WriteString("| " + row + "\n")
		rest = rest[n:]
	}
	b.WriteString(plain)
	return b.String()
}

func (v *view) grow(post, text, label string, status bool, doing string) string {
	clear := clearBelow
	switch {
	case post != v.post || !strings.HasPrefix(text, v.text[:v.settled]):
		*v = view{width: v.width, post: post, named: true}
	case text == v.text && status == v.status && doing == v.doing:
		return ""
	case v.live:
		clear = clearRow
	default: // something lies between, so say again who speaks
		v.named = true
	}
	v.text, v.status, v.doing, v.live = text, status, doing, true

	var b strings.Builder
	b.WriteString(clear)
	if status {
		b.WriteString(faint)
	}
	for {
		width := max(v.width-1, narrowest)
		if v.named {
			b.WriteString(label)
			width -= columns(label)
		}
		row, n := firstRow(text[v.settled:], width)
		b.WriteString(row)
		last := v.settled+n == len(text)
		if status && last {
			b.WriteString(plain)
		}
		if last && doing != "" {
			b.WriteString(aside(doing, row == "", width-columns(row)))
		}
		b.WriteByte('\n')
		if last {
			return b.String()
		}
		v.settled += n
		v.named = false
	}
}

// aside is what stands faintly at the end of a row that has so many columns
// left: as much of the text as fits.
func aside(text string, first bool, left int) string {
	gap := "  "
	if first {
		gap = ""
	}
	row, _ := firstRow(text, left-len(gap))
	if left <= len(gap) || row == "" {
		return ""
	}
	return gap + faint + row + plain
}

// note is what to write for a word of the console's own.
func (v *view) note(text string) string {
	v.live = false
	return clearBelow + faint + "(" + visible(text) + ")" + plain + "\n"
}

// resize tells the view how wide the terminal is, which may have wrapped the
// row above the prompt.
func (v *view) resize(columns int) {
	v.width, v.live = columns, false
}

// entered tells the view that the person's line lies at the bottom now.
func (v *view) entered() { v.live = false }

// firstRow is the beginning of text that fits into width columns, broken
// between words if it can be, and how many bytes it takes with the space or
// line end that it ends in. A row that is followed by another stays as it is
// however the text goes on.
func firstRow(text string, width int) (row string, n int) {
	used, space, word := 0, 0, false
	for i, r := range text {
		if r == '\n' {
			return text[:i], i + 1
		}
		if r != ' ' {
			word = true
		} else if word {
			space = i
		}
		used += runeColumns(r)
		if used > width && space > 0 {
			return text[:space], space + 1
		}
		if used > width {
			return text[:i], i
		}
	}
	return text, len(text)
}

// columns is how many columns s takes at most.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// runeColumns errs on the wide side, as a row that is broken early does no
// harm: from Hangul on, scripts may be two columns wide.
func runeColumns(r rune) int {
	if r < '\u1100' {
		return 1
	}
	return 2
}
