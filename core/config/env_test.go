package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExpand(t *testing.T) {
	env := variables(map[string]string{"A": "a", "B_2": "${A}", "EMPTY": ""})
	tests := map[string]string{
		"":                  "",
		"plain $A $ {A} $$": "plain $A $ {A} $$",
		"${A}":              "a",
		"x${A}${EMPTY}y":    "xay",
		"${B_2}":            "${A}", // what a variable holds stays as it is
		"$${A}":             "${A}",
		"$$${A}":            "$${A}",
		"$${not a name":     "${not a name",
		"${A}\n$${A}":       "a\n${A}",
	}
	for in, want := range tests {
		if got, err := expand(in, env); err != nil || got != want {
			t.Errorf("expand(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"${", "${}", "${A", "${1}", "${A-B}", "${ A }", "${NOBODY}", "${A}${NOBODY}"} {
		if got, err := expand(in, env); err == nil || got != "" {
			t.Errorf("expand(%q) = %q, %v, want an error", in, got, err)
		}
	}
}

func TestDotEnv(t *testing.T) {
	const text = "\ufeff# comment\n" +
		"BARE=a b # comment\n" +
		"export EXPORTED = x\n" +
		"\n" +
		"SINGLE='b # \\n ${BARE}' # comment\r\n" +
		`DOUBLE="c\n\t\"c\" \\n \$ # c"` + "\r\n" +
		"HASH=d#d\n" +
		"EQUALS=e=e==\n" +
		"EMPTY=\n" +
		"COMMENT= # nothing\n" +
		"QUOTED_EMPTY=\"\"#\n" +
		"  INDENTED=f\n" +
		"TWICE=1\nTWICE=2"
	want := map[string]string{
		"BARE":         "a b",
		"EXPORTED":     "x",
		"SINGLE":       `b # \n ${BARE}`,
		"DOUBLE":       "c\n\t\"c\" \\n $ # c",
		"HASH":         "d#d",
		"EQUALS":       "e=e==",
		"EMPTY":        "",
		"COMMENT":      "",
		"QUOTED_EMPTY": "",
		"INDENTED":     "f",
		"TWICE":        "2",
	}
	got, errs := parseDotEnv(".env", text)
	if len(errs) > 0 {
		t.Errorf("errors: %v", errs)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEnvironmentWinsOverDotEnv(t *testing.T) {
	folder(t, map[string]string{
		"config.toml": minimal + `name = "${BOTH} ${FILE}"`,
		".env":        "BOTH=file\nFILE=file\n",
	})
	c, err := Load("config.toml", variables(map[string]string{"BOTH": "environment"}))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Agents["assistant"].Name, "environment file"; got != want {
		t.Errorf("name = %q, want %q", got, want)
	}
}
