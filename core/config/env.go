package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// lookup returns the value of a variable and whether it is set.
type lookup func(name string) (string, bool)

var (
	variable     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$?\$\{([^}]*)\}?`) })
	variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
)

// expand replaces every ${VAR} in s; $${ stands for a literal ${. What a
// variable holds is not expanded again.
func expand(s string, env lookup) (string, error) {
	var faults []error
	out := variable().ReplaceAllStringFunc(s, func(match string) string {
		if rest, ok := strings.CutPrefix(match, "$$"); ok {
			return "$" + rest
		}
		name, closed := strings.CutSuffix(match[len("${"):], "}")
		if !closed || !variableName().MatchString(name) {
			faults = append(faults, errors.New(`malformed variable: write "${NAME}", or "$${" for a literal "${"`))
			return ""
		}
		value, ok := env(name)
		if !ok {
			faults = append(faults, fmt.Errorf("variable %s is not set: set it in the environment or in .env beside this file", name))
		}
		return value
	})
	if len(faults) > 0 {
		return "", faults[0]
	}
	return out, nil
}

// The largest files that Load reads, in bytes. Far above any real one; what is
// larger was named by mistake.
const (
	maxConfig       = 1 << 20
	maxInstructions = 1 << 20
	maxSecret       = 64 << 10
)

// readFile returns a regular file of at most limit bytes. With private it must
// be closed to group and others, as a file of secrets should be.
func readFile(path string, limit int64, private bool) (string, error) {
	// Looked at before it is opened: opening a pipe would block.
	if info, err := os.Stat(path); err != nil {
		return "", plainError(err)
	} else if !info.Mode().IsRegular() {
		return "", errors.New("is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", plainError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", plainError(err)
	}
	if mode := info.Mode().Perm(); private && mode&0o077 != 0 {
		return "", fmt.Errorf("holds secrets but its mode is %04o: run chmod 600 on it", mode)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return "", plainError(err)
	}
	if int64(len(data)) > limit {
		return "", fmt.Errorf("is larger than %d bytes", limit)
	}
	return string(data), nil
}

// plainError drops the operation and path, which the message already names.
func plainError(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// withDotEnv returns a lookup that also knows the variables of the .env file in
// dir, if there is one. The environment wins.
func withDotEnv(env lookup, dir string) (lookup, []*Error) {
	path := filepath.Join(dir, ".env")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return env, nil
	}
	text, err := readFile(path, maxConfig, true)
	if err != nil {
		return env, []*Error{{File: path, Msg: err.Error()}}
	}
	vars, errs := parseDotEnv(path, text)
	return func(name string) (string, bool) {
		if v, ok := env(name); ok {
			return v, true
		}
		v, ok := vars[name]
		return v, ok
	}, errs
}

// parseDotEnv reads KEY=VALUE lines: with or without an `export ` in front, bare,
// 'as it stands' or "with \n escapes"; # starts a comment. The last of two equal
// keys wins. Messages never quote a line, since it holds a secret.
func parseDotEnv(path, text string) (map[string]string, []*Error) {
	vars := map[string]string{}
	var errs []*Error
	text = strings.TrimPrefix(text, "\ufeff")
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "export "); ok {
			line = strings.TrimSpace(rest)
		}
		name, value, found := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if !found || !variableName().MatchString(name) {
			errs = append(errs, &Error{File: path, Line: number, Msg: "want KEY=VALUE"})
			continue
		}
		value, ok := dotEnvValue(strings.TrimSpace(value))
		if !ok {
			errs = append(errs, &Error{File: path, Line: number, Key: name, Msg: "want one value, its quotes closed, on one line"})
			continue
		}
		vars[name] = value
	}
	return vars, errs
}

var dotEnvEscapes = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\$`, "$", `\\`, `\`)

func dotEnvValue(s string) (value string, ok bool) {
	switch {
	case s == "" || s[0] == '#':
		return "", true
	case s[0] == '\'':
		value, rest, closed := strings.Cut(s[1:], "'")
		return value, closed && isComment(rest)
	case s[0] == '"':
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '"':
				return dotEnvEscapes.Replace(s[1:i]), isComment(s[i+1:])
			}
		}
		return "", false
	default:
		// A # within a bare word is part of it, as in a shell.
		for _, start := range []string{" #", "\t#"} {
			s, _, _ = strings.Cut(s, start)
		}
		return strings.TrimSpace(s), true
	}
}

func isComment(rest string) bool {
	rest = strings.TrimSpace(rest)
	return rest == "" || rest[0] == '#'
}
