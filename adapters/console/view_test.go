package console

import (
	"strings"
	"testing"

	"bellhop/core"

	"github.com/google/go-cmp/cmp"
)

func TestFirstRow(t *testing.T) {
	for _, test := range []struct {
		text, row string
		n         int
	}{
		{"", "", 0},
		{"short", "short", 5},
		{"exactly 10", "exactly 10", 10},
		{"exactly 10 more", "exactly 10", 11},
		{"break between", "break", 6},
		{"line\nend", "line", 5},
		{"end\n", "end", 4},
		{"\n\n", "", 1},
		{"unbreakable!", "unbreakabl", 10},
		{"a unbreakable!", "a", 2},
		{"    indented text", "    indent", 10},
		{"     in a text", "     in a", 10},
		{"two  blanks", "two ", 5},
		{"日本語日本語", "日本語日本", 15},
	} {
		row, n := firstRow(test.text, 10)
		if row != test.row || n != test.n {
			t.Errorf("%q: got %q, %d, want %q, %d", test.text, row, n, test.row, test.n)
		}
	}
}

// piece is a step of a test of view.
func piece(post string, kind core.OutKind, text string) show {
	return show{Post: post, Kind: kind, Text: text, Speaker: "bot"}
}

func TestViewWritesOnlyWhatIsNew(t *testing.T) {
	const (
		open   = core.OutOpen
		update = core.OutUpdate
		final  = core.OutFinal
	)
	enter := func(v *view) string { v.entered(); return "" }
	shows := func(s show) func(v *view) string { return func(v *view) string { return v.show(s) } }
	long := strings.Repeat("0123456 ", 5) // fills a row of 44 columns with the label
	type step struct {
		do   func(*view) string
		want string
	}
	for name, steps := range map[string][]step{
		"a final alone": {
			{shows(piece("p1", final, "Hello.\n")), clearBelow + "bot> Hello.\n"},
		},
		"status, growth, final": {
			{shows(piece("p1", open, "…")), clearBelow + faint + "bot> …" + plain + "\n"},
			{shows(piece("p1", update, "Hel")), clearRow + "bot> Hel\n"},
			{shows(piece("p1", update, "Hello")), clearRow + "bot> Hello\n"},
			{shows(piece("p1", update, "Hello")), ""},
			{shows(piece("p1", final, "Hello")), ""},
			{shows(piece("p2", final, "Next")), clearBelow + "bot> Next\n"},
		},
		"what is done stands after the text": {
			{shows(show{Post: "p1", Kind: update, Status: "Thinking…", Speaker: "bot"}), clearBelow + "bot> " + faint + "Thinking…" + plain + "\n"},
			{shows(show{Post: "p1", Kind: update, Text: "one", Status: "Looking\nit up…", Speaker: "bot"}), clearRow + "bot> one  " + faint + "Looking it up…" + plain + "\n"},
			{shows(show{Post: "p1", Kind: update, Text: "one", Status: "Looking\nit up…", Speaker: "bot"}), ""},
			{shows(show{Post: "p1", Kind: update, Text: long + "wo", Status: strings.Repeat("Looking it up… ", 9), Speaker: "bot"}),
				clearRow + "bot> " + strings.TrimSpace(long) + "\nwo  " + faint + "Looking it up… Looking it up… Looking" + plain + "\n"},
			{shows(piece("p1", final, long+"word")), clearRow + "word\n"},
		},
		"what was thought stands above, once": {
			{shows(piece("p1", open, "…")), clearBelow + faint + "bot> …" + plain + "\n"},
			{shows(show{Post: "p1", Kind: update, Text: "Hel", Thinking: long + "so it is", Speaker: "bot"}),
				clearRow + faint + "| " + long + "so\n| it is\n" + plain + clearBelow + "bot> Hel\n"},
			{shows(show{Post: "p1", Kind: update, Text: "Hello", Thinking: "so it is", Speaker: "bot"}), clearRow + "bot> Hello\n"},
			{shows(show{Post: "p1", Kind: final, Text: "Hello", Thinking: "so it is", Speaker: "bot"}), ""},
			{shows(show{Post: "p2", Kind: final, Text: "Next", Thinking: "so\x1b", Speaker: "bot"}), clearBelow + faint + "| so^[\n" + plain + clearBelow + "bot> Next\n"},
		},
		"a status that becomes the answer": {
			{shows(piece("p1", open, "ok")), clearBelow + faint + "bot> ok" + plain + "\n"},
			{shows(piece("p1", final, "ok")), clearRow + "bot> ok\n"},
		},
		"rows settle": {
			{shows(piece("p1", update, "one\ntw")), clearBelow + "bot> one\ntw\n"},
			{shows(piece("p1", update, "one\ntwo\n")), clearRow + "two\n"},
			{shows(piece("p1", update, "one\ntwo\nthree")), clearRow + "two\nthree\n"},
			{shows(piece("p1", final, "one\ntwo\n3.")), clearRow + "3.\n"},
		},
		"words wrap": {
			{shows(piece("p1", update, long+"wo")), clearBelow + "bot> " + strings.TrimSpace(long) + "\nwo\n"},
			{shows(piece("p1", update, long+"word")), clearRow + "word\n"},
		},
		"a changed row that has settled": {
			{shows(piece("p1", update, "one\ntwo")), clearBelow + "bot> one\ntwo\n"},
			{shows(piece("p1", final, "1\n2")), clearBelow + "bot> 1\n2\n"},
		},
		"a line entered meanwhile": {
			{shows(piece("p1", update, "one\ntw")), clearBelow + "bot> one\ntw\n"},
			{enter, ""},
			{shows(piece("p1", update, "one\ntwo")), clearBelow + "bot> two\n"},
			{shows(piece("p1", update, "one\ntwo three")), clearRow + "bot> two three\n"},
			{enter, ""},
			{shows(piece("p1", final, "one\ntwo three")), ""},
		},
		"previews of another post are held": {
			{shows(piece("p1", update, "one")), clearBelow + "bot> one\n"},
			{shows(piece("p2", open, "…")), ""},
			{shows(piece("p2", update, "tw")), ""},
			{shows(piece("p1", final, "one.")), clearRow + "bot> one.\n"},
			{shows(piece("p2", update, "two")), clearBelow + "bot> two\n"},
		},
		"finals of another post are not": {
			{shows(piece("p1", update, "one")), clearBelow + "bot> one\n"},
			{shows(piece("p2", final, "two")), clearBelow + "bot> two\n"},
			{shows(piece("p1", update, "one and")), clearBelow + "bot> one and\n"},
		},
		"a note": {
			{shows(piece("p1", update, "one")), clearBelow + "bot> one\n"},
			{func(v *view) string { return v.note("disk\x1b full") }, clearBelow + faint + "(disk^[ full)" + plain + "\n"},
			{shows(piece("p1", update, "one two")), clearBelow + "bot> one two\n"},
		},
		"nothing reaches the terminal but text": {
			{shows(show{Post: "p1", Kind: final, Text: "\x1b[2J\ta\u009b", Speaker: "\x1b[1mx"}), clearBelow + "^[[1mx> ^[[2J    a<U+009B>\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := view{width: 45}
			for i, s := range steps {
				if got := s.do(&v); got != s.want {
					t.Errorf("step %d: got %q, want %q", i+1, got, s.want)
				}
			}
		})
	}
}

// FuzzView grows a text piece by piece on a screen and compares it with the
// same text written at once.
func FuzzView(f *testing.F) {
	f.Add("Hello, world. This is a somewhat longer answer that wraps.\n\n    code, indented\n\nend", uint8(3), uint8(50))
	f.Add("blank rows at the end\n\n\n", uint8(0), uint8(43))
	f.Add("日本語のテキスト "+strings.Repeat("長い", 40), uint8(1), uint8(41))
	f.Add("\x1b[2J\x1b[31mred\u009b\r\r\n\t"+strings.Repeat("x", 200), uint8(2), uint8(80))
	f.Fuzz(func(t *testing.T, text string, step, width uint8) {
		text = visible(text)
		columns := max(narrowest+1, int(width))
		grown, once := &screen{width: columns}, &screen{width: columns}
		show := func(s *screen, out string) { write(t, s, strings.ReplaceAll(out, "\n", "\r\n")) }

		v := view{width: columns}
		runes := []rune(text)
		for n := 0; n < len(runes); n += int(step) + 1 {
			show(grown, v.show(piece("p1", core.OutUpdate, string(runes[:n]))))
		}
		show(grown, v.show(piece("p1", core.OutFinal, text)))
		v = view{width: columns}
		show(once, v.show(piece("p1", core.OutFinal, text)))
		if d := cmp.Diff(once.String(), grown.String()); d != "" {
			t.Error(d)
		}
		if strings.Contains(once.String(), "FAULT") {
			t.Error(once)
		}
	})
}
