package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotFound means that no configuration was named and none stands in any of
// the usual places.
var ErrNotFound = errors.New("no configuration file")

// Find returns the path of the configuration: explicit (the --config flag),
// else $BELLHOP_CONFIG, else the first that exists of ./config.toml,
// $XDG_CONFIG_HOME/bellhop/config.toml (~/.config without the variable) and
// /etc/bellhop/config.toml. A file that was named must exist: there is no
// falling through to another one. Only when none was named and none exists is
// the error ErrNotFound.
func Find(explicit string) (path string, err error) {
	for _, named := range []struct{ by, path string }{
		{"--config", explicit},
		{"$BELLHOP_CONFIG", os.Getenv("BELLHOP_CONFIG")},
	} {
		if named.path == "" {
			continue
		}
		if _, err := os.Stat(named.path); err != nil {
			return "", fmt.Errorf("configuration named by %s: %w", named.by, err)
		}
		return named.path, nil
	}

	places := []string{"config.toml"}
	if dir, err := configHome(); err == nil {
		places = append(places, filepath.Join(dir, "bellhop", "config.toml"))
	}
	places = append(places, "/etc/bellhop/config.toml")
	for _, place := range places {
		_, err := os.Stat(place)
		switch {
		case err == nil:
			return place, nil
		case !errors.Is(err, fs.ErrNotExist):
			// It may be there: going on to the next would hide it.
			return "", fmt.Errorf("looking for the configuration: %w", err)
		}
	}
	return "", fmt.Errorf("%w: looked for %s", ErrNotFound, strings.Join(places, ", "))
}

// configHome is not os.UserConfigDir, which differs between systems: the search
// order is documented as one.
func configHome() (string, error) {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".config"), err
}
