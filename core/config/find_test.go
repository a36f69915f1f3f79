package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestFind(t *testing.T) {
	dir := folder(t, map[string]string{
		"flag.toml":                        "",
		"env.toml":                         "",
		"config.toml":                      "",
		"xdg/bellhop/config.toml":          "",
		"home/.config/bellhop/config.toml": "",
	})
	xdg, home := filepath.Join(dir, "xdg"), filepath.Join(dir, "home")
	t.Setenv("BELLHOP_CONFIG", "env.toml")
	t.Setenv("XDG_CONFIG_HOME", xdg)
	t.Setenv("HOME", home)

	found := func(explicit, want string) {
		t.Helper()
		if got, err := Find(explicit); err != nil || got != want {
			t.Errorf("Find(%q) = %q, %v, want %q", explicit, got, err, want)
		}
	}
	found("flag.toml", "flag.toml")
	found("", "env.toml")
	t.Setenv("BELLHOP_CONFIG", "")
	found("", "config.toml")
	remove(t, "config.toml")
	found("", filepath.Join(xdg, "bellhop/config.toml"))
	t.Setenv("XDG_CONFIG_HOME", "")
	found("", filepath.Join(home, ".config/bellhop/config.toml"))

	remove(t, filepath.Join(home, ".config/bellhop/config.toml"))
	if _, err := os.Stat("/etc/bellhop/config.toml"); err == nil {
		found("", "/etc/bellhop/config.toml")
	} else if _, err := Find(""); !errors.Is(err, ErrNotFound) {
		t.Errorf("with no file anywhere: %v", err)
	}
	// A file that was named is not replaced by another one, nor is it ErrNotFound.
	if _, err := Find("gone.toml"); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotFound) {
		t.Errorf("with a named file that is not there: %v", err)
	}
	t.Setenv("BELLHOP_CONFIG", "gone.toml")
	if _, err := Find(""); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotFound) {
		t.Errorf("with $BELLHOP_CONFIG set to a file that is not there: %v", err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
