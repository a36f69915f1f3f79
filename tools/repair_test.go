package tools

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestRepair(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{ // want empty: not to be repaired
		{"nothing", "", `{}`},
		{"blank", " \n", `{}`},
		{"null", "null", `{}`},
		{"whole", `{"a": 1}`, `{"a": 1}`},
		{"whole with brackets in text", `{"a":"}{"}`, `{"a":"}{"}`},
		{"key twice", `{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{"prose around", `Sure! {"a":1} Does {that} help?`, `{"a":1}`},
		{"fence", "```json\n{\"a\":1}\n```", `{"a":1}`},
		{"fence and fault", "```json\n{'a':1,}\n```\nDone.", `{"a":1}`},
		{"object twice", `{"a":1}{"a":1}`, `{"a":1}`},
		{"as a string", `"{\"a\":1}"`, `{"a":1}`},
		{"in a list", `[{"a":1}]`, `{"a":1}`},
		{"single quotes", `{'a': 'b'}`, `{"a": "b"}`},
		{"bare keys", `{a: 1, b: True}`, `{"a": 1, "b": true}`},
		{"cut in a text", `{"a":"some te`, `{"a":"some te"}`},
		{"cut in a key", `{"a":1,"b`, `{"a":1,"b":null}`},
		{"cut after an inner object", `{"a":{"b":1},"c":"x`, `{"a":{"b":1},"c":"x"}`},
		{"faulty and cut after an inner object", `{'a':{'b':1},'c':'x`, `{"a":{"b":1},"c":"x"}`},
		{"cut in a text with a brace", `{"a":"x } y`, `{"a":"x } y"}`},
		{"cut fence", "```json\n{\"a\":1\n```", `{"a":1}`},
		{"line break in a text", "{\"a\":\"x\ny\"}", `{"a":"x\ny"}`},
		{"not UTF-8", "{\"a\":\"\xff\"}", "{\"a\":\"\ufffd\"}"},
		{"deep, whole", strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500), strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500)},
		{"too deep", strings.Repeat(`{"a":`, 200_000), ""},
		{"brackets for ever", "{" + strings.Repeat("[", 60_000), ""},
		{"too large", `{"a":"` + strings.Repeat("x", repairSize), ""},
		{"prose", "I cannot do that.", ""},
		{"list", "[1, 2]", ""},
		{"number", "7", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := Repair(c.in)
			if got != c.want || ok != (c.want != "") {
				t.Errorf("got %.200q, %v; want %.200q", got, ok, c.want)
			}
		})
	}
}

// Whatever a model writes, its repair takes no time worth noticing.
func TestRepairIsBounded(t *testing.T) {
	for _, unit := range []string{"a:1,", "1 ", `"`} {
		for _, start := range []string{`{`, `{"a":[`} {
			text := start + strings.Repeat(unit, (repairSize-len(start))/len(unit))
			began := time.Now()
			Repair(text)
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%.20q…: %s", text, took)
			}
		}
	}
}

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"":                                      `{}`,
		`{"b": 1.0, "a": [1, {"d":1,"c":"<"}]}`: `{"a":[1,{"c":"<","d":1}],"b":1.0}`,
		`{a: 1}`:                                `{"a":1}`,
		`{"a":1,"a":2}`:                         `{"a":2}`,
		`{"n":12345678901234567890}`:            `{"n":12345678901234567890}`,
		" no object ":                           "no object",
	} {
		if got := Canonical(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzRepair(f *testing.F) {
	for _, s := range []string{
		"", "null", `{"a":1}`, "```json\n{'a':1,}\n```", `{"a":{"b":[1,2`, `"{\"a\":1}"`, `{a:b`, "{\"a\":\"\xff", "{/*", "{[[[",
		`{"a":tru`, `{"a":1}}`, `{"a" "b"}`, `{...}`, `{"a":"\u12`, `{,}`, `{"a":1,"a":{}}`, "{\"a\":“b”}", `{"a": "b" + "c"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		got, ok := Repair(args)
		if !ok {
			if got != "" || json.Valid([]byte(args)) && strings.HasPrefix(strings.TrimSpace(args), "{") {
				t.Fatalf("%q: got %q, not repaired", args, got)
			}
			return
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(got), &object); err != nil || object == nil {
			t.Fatalf("%q: got %q: %v", args, got, err)
		}
		if again, ok := Repair(got); !ok || again != got {
			t.Fatalf("%q: repaired again it is %q", got, again)
		}
		one := Canonical(args)
		if Canonical(one) != one {
			t.Fatalf("%q: the form of its form is another", one)
		}
	})
}
