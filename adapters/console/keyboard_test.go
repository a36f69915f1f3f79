package console

import (
	"errors"
	"io"
	"slices"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

func TestKeyboard(t *testing.T) {
	interrupt := string(keyInterrupt)
	for name, test := range map[string]struct{ in, want string }{
		"text":                        {"aß日\r", "aß日\r"},
		"keys of x/term":              {"\x01\x17\x7f", "\x01\x17\x7f"},
		"arrows":                      {"\x1b[A\x1b[B\x1b[C\x1b[D", "\x1b[A\x1b[B\x1b[C\x1b[D"},
		"arrows in application mode":  {"\x1bOA\x1bOD", "\x1b[A\x1b[D"},
		"home, end, delete":           {"\x1b[1~\x1b[4~\x1b[3~", "\x1b[H\x1b[F\x1b[3~"},
		"by words":                    {"\x1b[1;5C\x1b[1;3D", "\x1b[1;3C\x1b[1;3D"},
		"keys that mean nothing":      {"\x1b[5~a\x1b[200;1Rb\x1bOPc\x1b[<0;1;1Md", "abcd"},
		"Ctrl-C":                      {"a\x03b", "a" + interrupt + "b"},
		"the key that stands for it":  {"a\x1fb", "ab"},
		"an escape by itself":         {"\x1bh\x1b\x1b[Ai", "h\x1b[Ai"},
		"an escape, then Chinese":     {"\x1b你好", "你好"},
		"other control characters":    {"a\u009b1mb", "a1mb"},
		"not UTF-8":                   {"a\xe9b\uFFFDc", "a?b?c"},
		"a paste":                     {"\x1b[200~one\r\ttwo\x1b[201~\r", "\x1b[200~one␤␉two\x1b[201~\r"},
		"line ends in a paste":        {"\x1b[200~a\r\nb\nc\r\rd\x1b[201~", "\x1b[200~a␤b␤c␤␤d\x1b[201~"},
		"control characters in paste": {"\x1b[200~a\x03\x04\x15\x1b[A\x1b[200~b\u009bc\x1b[201~", "\x1b[200~a[A[200~bc\x1b[201~"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{len(test.in), 1, 2, 3} {
				var k keyboard
				for chunk := range slices.Chunk([]byte(test.in), size) {
					k.feed(chunk)
				}
				got, err := io.ReadAll(&k)
				if string(got) != test.want || !errors.Is(err, errIdle) {
					t.Errorf("%d bytes at a time: got %q, %v, want %q", size, got, err, test.want)
				}
			}
		})
	}
}

func TestTyped(t *testing.T) {
	if got := typed("if x {␤␉y␤}"); got != "if x {\n\ty\n}" {
		t.Errorf("got %q", got)
	}
}

// FuzzKeyboard looks for keys that make x/term wait for ever, in particular
// within a read that it repeats without end.
func FuzzKeyboard(f *testing.F) {
	for _, s := range []string{"hello\r", "\x1b[200~a\r\nb", "\x1b[", "\xe9\xff", "\uFFFD", "\x03\x04", "\x1b]0;x\x07", "\x1b\xc2\x9b"} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		var k keyboard
		s := &screen{width: 80}
		tt := term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{&k, s}, prompt)
		for chunk := range slices.Chunk(in, int(size)+1) {
			k.feed(chunk)
			for {
				line, err := tt.ReadLine()
				if err != nil {
					break
				}
				for _, r := range line {
					if unicode.IsControl(r) {
						t.Errorf("%q holds %U", line, r)
					}
				}
				if !utf8.ValidString(line) {
					t.Errorf("%q is not UTF-8", line)
				}
			}
		}
		if len(k.raw) > len(in) || len(k.raw) > 0 && k.raw[0] != 0x1b && utf8.FullRune(k.raw) {
			t.Errorf("%q waits", k.raw)
		}
	})
}
