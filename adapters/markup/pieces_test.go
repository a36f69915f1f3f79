package markup

import (
	"strings"
	"testing"
)

func TestPieces(t *testing.T) {
	for _, md := range []string{"```", "~~~", "#", "[x]: http://y", "$^|`+<=>~"} {
		pieces := Pieces(md, Telegram())
		if len(pieces) != 1 || Plain(pieces[0]) != strings.TrimSpace(md) {
			t.Errorf("%q is shown as %q", md, pieces)
		}
	}
	for _, md := range []string{"", " \n\t"} {
		if pieces := Pieces(md, Telegram()); pieces != nil {
			t.Errorf("%q has the pieces %q", md, pieces)
		}
	}
	if got := Pieces("**a** `b`", Telegram()); len(got) != 1 || got[0] != "**a** `b`" {
		t.Errorf("text that shows something is changed: %q", got)
	}
}
