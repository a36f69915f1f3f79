package bus

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// TestSplit: no more pieces than the platform's people should get, the last of
// them with all of a longer text as a file; where nothing bounds them, all.
func TestSplit(t *testing.T) {
	lines := func(text string) []string { return strings.Fields(text) }
	const note = "📄 The answer goes on in the file, which has all of it."
	for name, tt := range map[string]struct {
		most int
		text string
		want []string
		file string
	}{
		"blank":         {3, " ", []string{}, ""},
		"short":         {3, "a", []string{"a"}, ""},
		"just fits":     {3, "a b c", []string{"a", "b", "c"}, ""},
		"one too many":  {3, " a b c d ", []string{"a", "b", note}, "a b c d\n"},
		"nothing bound": {0, "a b c d", []string{"a", "b", "c", "d"}, ""},
		"file alone":    {1, "a b", []string{note}, "a b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, core.Features{Split: lines, MaxPieces: tt.most}, func(t *testing.T, r *rig) {
				texts := []string{}
				file := ""
				for i, p := range r.Split(here, tt.text) {
					texts = append(texts, p.Text)
					if p.File != nil {
						file = string(p.File.Content)
						if i != len(tt.want)-1 || p.File.Name != "answer.md" {
							t.Errorf("piece %d has the file %s", i, p.File.Name)
						}
					}
				}
				if diff := cmp.Diff(tt.want, texts); diff != "" || file != tt.file {
					t.Errorf("file %q, pieces:\n%s", file, diff)
				}
			})
		})
	}
}
