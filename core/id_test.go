package core_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bellhop/core"
)

func TestID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]byte("tmirpay")).Draw(t, "kind")
		seq := rapid.Uint64Range(1, 1<<58).Draw(t, "seq")
		id := core.NewID(kind, seq)
		if id.Kind() != kind || id.Seq() != seq {
			t.Fatalf("%q has kind %c and number %d, want %c and %d", id, id.Kind(), id.Seq(), kind, seq)
		}
		typed := strings.NewReplacer("0", "O", "1", "l").Replace(strings.ToUpper(string(id[1:])))
		if got, err := core.ParseID(" " + string(id[0]) + typed + "\n"); err != nil || got != id {
			t.Fatalf("typed as %q: %q, %v; want %q", typed, got, err, id)
		}
		if run := id.As(core.KindRun); run.Kind() != core.KindRun || run.Seq() != seq {
			t.Fatalf("As gives %q for %q", run, id)
		}
	})
}

func TestParseIDRefuses(t *testing.T) {
	for _, s := range []string{"", "m", "3k9", "x3k9", "m0", "mu", "m-1", "m 3", "mzzzzzzzzzzzzzz", "тест"} {
		if id, err := core.ParseID(s); err == nil {
			t.Errorf("ParseID(%q) = %q, want an error", s, id)
		}
	}
	for _, bad := range []core.ID{"", "m", "mU", "m!"} {
		if n := bad.Seq(); n != 0 {
			t.Errorf("%q.Seq() = %d, want 0", bad, n)
		}
	}
}

func TestMentions(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"@engineer do it", []string{"engineer"}},
		{"please @Engineer, then @qa-2.", []string{"engineer", "qa-2"}},
		{"@a is too short, @ab is not", []string{"ab"}},
		{"@qa and @qa again", []string{"qa"}},
		{"mail me at bob@example.com", nil},
		{"see @example.com or @v1.2", nil},
		{"ends with @qa.", []string{"qa"}},
		{"(@qa)", []string{"qa"}},
		{"@@qa", nil},
		{"x.@qa", nil},
		{"é@qa", nil},
		{"привет @qa", []string{"qa"}},
		{"in `@qa` code", nil},
		{"in ``a ` @qa`` code, @ops", []string{"ops"}},
		{"```\n@qa\n``` then @ops", []string{"ops"}},
		{"an open ` tick and @qa", []string{"qa"}},
		{"@" + strings.Repeat("x", 33), nil},
	} {
		if got := core.Mentions(c.text); !slices.Equal(got, c.want) {
			t.Errorf("Mentions(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestMentionsIsLinear(t *testing.T) {
	// Backticks that nothing closes must not be searched for again and again.
	var b strings.Builder
	for i := range 1500 {
		b.WriteString(strings.Repeat("`", i%50+1))
		b.WriteByte(' ')
	}
	text := strings.Repeat("` `` ``` @qa ", 20_000) + b.String()
	if got := core.Mentions(text); len(got) > 1 {
		t.Errorf("got %d mentions", len(got))
	}
}

func FuzzMentions(f *testing.F) {
	f.Add("@qa `@ops` @x.y ``` @z")
	f.Fuzz(func(t *testing.T, text string) {
		for _, h := range core.Mentions(text) {
			if len(h) < 2 || len(h) > 32 || strings.ToLower(h) != h || !strings.Contains(strings.ToLower(text), "@"+h) {
				t.Errorf("%q is not mentioned in %q", h, text)
			}
		}
	})
}
