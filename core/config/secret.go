package config

import (
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Secret is a token or key. Printed, logged or marshalled it reads "[secret]";
// only Reveal gives the value. The fmt package cannot call methods of an
// unexported field, so a struct that keeps a Secret in one must not be printed.
type Secret string

const hidden = "[secret]"

// Reveal returns the value, for the client that has to send it.
func (s Secret) Reveal() string { return string(s) }

// String hides the value.
func (s Secret) String() string { return hidden }

// GoString hides the value from %#v.
func (s Secret) GoString() string { return hidden }

// MarshalText hides the value from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue hides the value from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

var onlyVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`) })

// secret reads KEY, KEY_file or KEY_credential; all may be absent. Its messages
// never quote a value.
func (t *table) secret(key string) Secret {
	var given []string
	for _, k := range []string{key, key + "_file", key + "_credential"} {
		if t.has(k) {
			given = append(given, k)
		}
	}
	if len(given) == 0 {
		return ""
	}
	if len(given) > 1 {
		t.fail(given[1], "%s is set too: give only one of them", given[0])
		return ""
	}
	value, ok := "", false
	switch from := given[0]; from {
	case key:
		value, ok = t.secretVariable(key)
	case key + "_file":
		if path, found := t.filePath(from, ""); found {
			value, ok = t.secretFile(from, path, true)
		}
	default:
		// No check of the mode: systemd keeps the folder closed, and with an
		// access list on the file the group bits only show its mask.
		if path, found := t.credential(from); found {
			value, ok = t.secretFile(from, path, false)
		}
	}
	if !ok {
		return ""
	}
	value = strings.TrimSpace(value)
	if value == "" {
		t.fail(given[0], "the secret is empty")
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.fail(given[0], "the secret has a line break or another control character in it")
	}
	return Secret(value)
}

func (t *table) secretVariable(key string) (string, bool) {
	raw, ok := t.raw(key)
	if !ok {
		return "", false
	}
	if !onlyVariable().MatchString(raw) {
		t.fail(key, `a secret never stands in this file: write %s = "${VAR}", or %[1]s_file = "path" (mode 0600), or %[1]s_credential = "name" (from $CREDENTIALS_DIRECTORY)`, key)
		return "", false
	}
	return t.expand(join(t.path, key), raw)
}

func (t *table) secretFile(key, path string, private bool) (string, bool) {
	value, err := readFile(path, maxSecret, private)
	if err != nil {
		t.fail(key, "%s: %s", t.quoted(key), err)
		return "", false
	}
	return value, true
}

// credential returns the path of a systemd credential.
func (t *table) credential(key string) (string, bool) {
	name, ok := t.text(key)
	if !ok {
		return "", false
	}
	if name != filepath.Base(name) || name == "." || name == ".." {
		t.fail(key, "%s is no name of a credential", t.quoted(key))
		return "", false
	}
	dir, ok := t.lookup("CREDENTIALS_DIRECTORY")
	if !ok || dir == "" {
		t.fail(key, "$CREDENTIALS_DIRECTORY is not set: it is there only under systemd with LoadCredential=")
		return "", false
	}
	return filepath.Join(dir, name), true
}
