package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzLoad loads arbitrary bytes: Load never panics, every error is one line
// that begins with the name of the file, and no secret is shown.
func FuzzLoad(f *testing.F) {
	example, err := os.ReadFile("../../config.toml.example")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	for _, seed := range []string{
		"",
		minimal,
		layouts,
		minimal + "name = \"${CANARY} ${NOBODY} $${CANARY} ${\"",
		"[providers.\"a\\nb\"]\napi_key = \"canary-klmnopqrst\"\n[[bindings]]\n[[bindings]]\nplace = [1, {}]",
		"agents = [{}, 1]\naccess = { owners = [\"@\", \"a:\", \":b\"] }\n[models]\n\"\" = {}",
		"a = 1\na = 2\n",
		"\xff\x00[",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "config.toml")
		if err := os.WriteFile(path, src, 0o600); err != nil {
			t.Fatal(err)
		}
		// Files that the bytes name are looked for where there are none.
		c, err := Load(path, variables(map[string]string{"HOME": dir}))
		if err != nil {
			if lines := strings.Split(err.Error(), "\n"); len(lines) != len(split(err)) {
				t.Errorf("%d lines for %d errors:\n%s", len(lines), len(split(err)), err)
			}
			for _, e := range split(err) {
				if !strings.HasPrefix(e.Error(), path+":") {
					t.Errorf("%q does not begin with the file's name", e)
				}
			}
		}
		shown := ""
		if err != nil {
			shown = err.Error()
		} else {
			shown = c.Redacted()
		}
		for name, value := range canaries {
			if strings.Contains(shown, value) && !strings.Contains(string(src), value) {
				t.Errorf("the value of %s is shown in:\n%s", name, shown)
			}
		}
	})
}
