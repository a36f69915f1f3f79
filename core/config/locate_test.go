package config

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

const layouts = `# a comment = 1
title = "x" # trailing = 2
a.b . "c d"."" = 1
'sq.uoted' = '''
not = "a key"
[nor.a.table]'''

[ t . u ]
text = """
fake = 1 \"""
still = 2""""
one = "\" # = [ {"
list = [ # comment ]
  "a", 'b',
  [ 1, { deep = 2, "q" = [ 3 ] } ],
]
inline = { x = 1, y.z = "}", w = { v = [] } }

[[ arr ]]
n = 1
[arr.sub]
s = 1
[[arr.deep]]
d = 1
[[arr.deep]]
d = 2
[[arr]]
n = 2
[[arr.deep]]
d = 3
[after]
when = 2026-01-02T03:04:05Z
f = -1.5e3`

func TestLocate(t *testing.T) {
	want := map[string]int{
		"title":               2,
		"a":                   3,
		"a.b":                 3,
		`a.b."c d"`:           3,
		`a.b."c d".""`:        3,
		`"sq.uoted"`:          4,
		"t":                   8,
		"t.u":                 8,
		"t.u.text":            9,
		"t.u.one":             12,
		"t.u.list":            13,
		"t.u.list[0]":         14,
		"t.u.list[1]":         14,
		"t.u.list[2]":         15,
		"t.u.list[2][0]":      15,
		"t.u.list[2][1]":      15,
		"t.u.list[2][1].deep": 15,
		"t.u.list[2][1].q":    15,
		"t.u.list[2][1].q[0]": 15,
		"t.u.inline":          17,
		"t.u.inline.x":        17,
		"t.u.inline.y":        17,
		"t.u.inline.y.z":      17,
		"t.u.inline.w":        17,
		"t.u.inline.w.v":      17,
		"arr":                 19,
		"arr[0]":              19,
		"arr[0].n":            20,
		"arr[0].sub":          21,
		"arr[0].sub.s":        22,
		"arr[0].deep":         23,
		"arr[0].deep[0]":      23,
		"arr[0].deep[0].d":    24,
		"arr[0].deep[1]":      25,
		"arr[0].deep[1].d":    26,
		"arr[1]":              27,
		"arr[1].n":            28,
		"arr[1].deep":         29,
		"arr[1].deep[0]":      29,
		"arr[1].deep[0].d":    30,
		"after":               31,
		"after.when":          32,
		"after.f":             33,
	}
	for _, ending := range []string{"\n", "\r\n"} {
		src := "\ufeff" + strings.ReplaceAll(layouts, "\n", ending)
		var values map[string]any
		if _, err := toml.Decode(src, &values); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, locate(src)); diff != "" {
			t.Errorf("line ending %q: -want +got:\n%s", ending, diff)
		}
	}
}

// FuzzLocate holds the second reader of TOML to the first: it finds every key
// and element that the library has decoded.
func FuzzLocate(f *testing.F) {
	f.Add(layouts)
	f.Add(minimal)
	f.Add("a = [{b=1},\n{b=2}]\n[\"\\u0061\\n\"]\r\n'x' = {}\n[[p.q]]\n[p.q.r]\n[[p.q]]")
	f.Fuzz(func(t *testing.T, src string) {
		lines := locate(src)
		var values map[string]any
		if _, err := toml.Decode(src, &values); err != nil {
			return
		}
		last := 1 + strings.Count(src, "\n")
		walk("", values, func(key string) {
			if line := lines[key]; line < 1 || line > last {
				t.Errorf("%s is on line %d of %d", key, line, last)
			}
		})
	})
}

// walk calls visit with the full key of everything in v.
func walk(key string, v any, visit func(key string)) {
	if key != "" {
		visit(key)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, v := range v {
			walk(join(key, name), v, visit)
		}
	case []map[string]any:
		for i, v := range v {
			walk(element(key, i), v, visit)
		}
	case []any:
		for i, v := range v {
			walk(element(key, i), v, visit)
		}
	}
}
