package config

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A loader collects the faults of one file instead of stopping at the first.
type loader struct {
	file   string            // as given to Load
	lines  map[string]int    // line of every key
	lookup lookup            // of variables
	errs   []*Error          // so far
	shown  map[string]string // how the file wrote a value that holds variables, for Redacted

	prompts []string // files with instructions
	spaces  []space  // that the file names
}

// table reads one TOML table. Every key that is asked for is known; done
// reports the others. So the code that reads a table is also its schema.
type table struct {
	*loader
	path   string // full key; "" at the root
	values map[string]any
	known  []string
}

// failAt records a fault of a full key. The line is that of the key, else of
// the table it is missing from.
func (l *loader) failAt(key, nearest, format string, args ...any) {
	line := 0
	for at := key; line == 0 && at != ""; at = at[:max(0, strings.LastIndexAny(at, ".["))] {
		line = l.lines[at]
	}
	l.errs = append(l.errs, &Error{File: l.file, Line: line, Key: key, Msg: fmt.Sprintf(format, args...), Nearest: nearest})
}

func (t *table) fail(key, format string, args ...any) {
	t.failAt(join(t.path, key), "", format, args...)
}

// value returns what the file holds for key, and whether it holds anything.
func (t *table) value(key string) (any, bool) {
	if !slices.Contains(t.known, key) {
		t.known = append(t.known, key)
	}
	v, ok := t.values[key]
	return v, ok
}

func (t *table) has(key string) bool {
	_, ok := t.value(key)
	return ok
}

// done reports every key that nobody has asked for.
func (t *table) done() {
	for key := range t.values {
		if !slices.Contains(t.known, key) {
			t.failAt(join(t.path, key), nearest(key, t.known), "unknown key")
		}
	}
}

// raw returns a string as the file writes it, without expanding variables.
func (t *table) raw(key string) (string, bool) {
	v, ok := t.value(key)
	if !ok {
		return "", false
	}
	s, ok := v.(string)
	if !ok {
		t.fail(key, "want a string, got %s", kind(v))
	}
	return s, ok
}

// quoted returns the value as the file writes it, for messages: what a variable
// holds may be secret.
func (t *table) quoted(key string) string {
	s, _ := t.values[key].(string)
	return quote(s)
}

func quote(s string) string {
	const limit = 60
	if utf8.RuneCountInString(s) > limit {
		s = string([]rune(s)[:limit]) + "…"
	}
	return strconv.Quote(s)
}

// text returns a string with its variables expanded, and whether there is one
// to go on with: the key is present and its value has no fault.
func (t *table) text(key string) (string, bool) {
	raw, ok := t.raw(key)
	if !ok {
		return "", false
	}
	return t.expand(join(t.path, key), raw)
}

func (t *table) str(key, fallback string) string {
	if s, ok := t.text(key); ok {
		return s
	}
	return fallback
}

// expand replaces the variables in the value of a full key.
func (l *loader) expand(key, raw string) (string, bool) {
	s, err := expand(raw, l.lookup)
	if err != nil {
		l.failAt(key, "", "%s", err)
		return "", false
	}
	l.remember(s, raw)
	return s, true
}

// remember keeps how a value that came from variables was written.
func (l *loader) remember(value, raw string) {
	if value != raw && strings.Contains(raw, "${") {
		l.shown[value] = raw
	}
}

// filePath returns a path that the process can open: one that starts with ~/ or
// is relative to the file's folder is resolved.
func (t *table) filePath(key, fallback string) (string, bool) {
	path, ok := t.text(key)
	switch {
	case !ok && t.has(key):
		return "", false
	case !ok:
		path = fallback
	case path == "":
		t.fail(key, "is empty")
		return "", false
	}
	out, err := t.resolve(path)
	if err != nil {
		t.fail(key, "%s", err)
		return "", false
	}
	if raw, ok := t.values[key].(string); ok {
		t.remember(out, raw)
	}
	return out, true
}

func (l *loader) resolve(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, ok := l.lookup("HOME")
		if !ok || home == "" {
			return "", fmt.Errorf("~/ cannot be resolved: HOME is not set")
		}
		return filepath.Join(home, rest), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Abs(filepath.Join(filepath.Dir(l.file), path))
}

// oneOf returns a string that must be one of the options.
func (t *table) oneOf(key, fallback string, options ...string) string {
	s, ok := t.text(key)
	if !ok {
		return fallback
	}
	if !slices.Contains(options, s) {
		raw, _ := t.raw(key)
		t.failAt(join(t.path, key), nearest(raw, options), "%s is none of %s", t.quoted(key), strings.Join(options, ", "))
	}
	return s
}

// boolean returns true or false.
func (t *table) boolean(key string, fallback bool) bool {
	v, ok := t.value(key)
	if !ok {
		return fallback
	}
	b, ok := v.(bool)
	if !ok {
		t.fail(key, "want true or false, got %s", kind(v))
	}
	return b
}

// integer returns a whole number within bounds.
func (t *table) integer(key string, fallback, low, high int) int {
	v, ok := t.value(key)
	if !ok {
		return fallback
	}
	n, ok := v.(int64)
	switch {
	case !ok:
		t.fail(key, "want an integer, got %s", kind(v))
	case n < int64(low) || n > int64(high):
		t.fail(key, "%d is out of bounds: %d to %d", n, low, high)
	}
	return int(n)
}

// number returns an integer or a float.
func (t *table) number(key string, fallback, low, high float64) float64 {
	v, ok := t.value(key)
	if !ok {
		return fallback
	}
	n, isFloat := v.(float64)
	if i, isInt := v.(int64); isInt {
		n, isFloat = float64(i), true
	}
	switch {
	case !isFloat:
		t.fail(key, "want a number, got %s", kind(v))
	case !(n >= low && n <= high): // nor is a NaN
		t.fail(key, "%v is out of bounds: %v to %v", n, low, high)
	}
	return n
}

// duration returns a time span written as "90s", "15m" or "1h30m".
func (t *table) duration(key string, fallback, low, high time.Duration) time.Duration {
	s, ok := t.text(key)
	if !ok {
		return fallback
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		t.fail(key, `%s is no duration such as "90s", "15m" or "1h30m"`, t.quoted(key))
	case d < low || d > high:
		t.fail(key, "%s is out of bounds: %s to %s", t.quoted(key), low, high)
	}
	return d
}

// days returns a number of days.
func (t *table) days(key string, fallback Days) Days {
	s, ok := t.text(key)
	switch {
	case !ok:
		return fallback
	case s == "0":
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSuffix(s, "d"))
	if err != nil || !strings.HasSuffix(s, "d") || n < 1 || n > 36_500 {
		t.fail(key, `%s is no number of days such as "14d", nor "0" for ever`, t.quoted(key))
		return fallback
	}
	return Days(n)
}

// listed is one string of an array.
type listed struct {
	key   string // full key, for failAt
	raw   string // as the file writes it
	value string
}

// list returns an array of strings that are not empty.
func (t *table) list(key string) []listed {
	v, ok := t.value(key)
	if !ok {
		return nil
	}
	array, ok := v.([]any)
	if !ok {
		t.fail(key, "want an array of strings, got %s", kind(v))
		return nil
	}
	out := make([]listed, 0, len(array))
	for i, v := range array {
		at := element(join(t.path, key), i)
		raw, ok := v.(string)
		if !ok {
			t.failAt(at, "", "want a string, got %s", kind(v))
			continue
		}
		s, ok := t.expand(at, raw)
		switch {
		case !ok:
		case s == "":
			t.failAt(at, "", "is empty")
		default:
			out = append(out, listed{key: at, raw: raw, value: s})
		}
	}
	return out
}

func (t *table) strs(key string) []string {
	var out []string
	for _, s := range t.list(key) {
		out = append(out, s.value)
	}
	return out
}

// table returns the table under key; an absent one is empty.
func (t *table) table(key string) *table {
	v, ok := t.value(key)
	values, isTable := v.(map[string]any)
	if ok && !isTable {
		t.fail(key, "want a table, got %s", kind(v))
	}
	return &table{loader: t.loader, path: join(t.path, key), values: values}
}

// each calls read for every table under key, in the order of their names.
func (t *table) each(key string, read func(name string, sub *table)) {
	group := t.table(key)
	for _, name := range slices.Sorted(maps.Keys(group.values)) {
		sub := group.table(name)
		if _, ok := group.values[name].(map[string]any); ok {
			read(name, sub)
			sub.done()
		}
	}
}

// array returns the tables of an array of tables, in the order of the file.
func (t *table) array(key string) []*table {
	v, ok := t.value(key)
	if !ok {
		return nil
	}
	var items []any
	switch v := v.(type) {
	case []map[string]any:
		for _, values := range v {
			items = append(items, values)
		}
	case []any:
		items = v
	default:
		t.fail(key, "want an array of tables ([[%s]]), got %s", key, kind(v))
	}
	var out []*table
	for i, item := range items {
		path := element(join(t.path, key), i)
		values, ok := item.(map[string]any)
		if !ok {
			t.failAt(path, "", "want a table, got %s", kind(item))
			continue
		}
		out = append(out, &table{loader: t.loader, path: path, values: values})
	}
	return out
}

// free returns a table whose keys are not ours to know, its strings expanded,
// with values that JSON can express.
func (t *table) free(key string) map[string]any {
	group := t.table(key)
	if len(group.values) == 0 {
		return nil
	}
	out, _ := t.freeValue(group.path, group.values).(map[string]any)
	return out
}

func (l *loader) freeValue(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, v := range v {
			out[name] = l.freeValue(join(key, name), v)
		}
		return out
	case []map[string]any:
		out := make([]any, len(v))
		for i, v := range v {
			out[i] = l.freeValue(element(key, i), v)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, v := range v {
			out[i] = l.freeValue(element(key, i), v)
		}
		return out
	case string:
		s, _ := l.expand(key, v)
		return s
	case bool, int64:
		return v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			l.failAt(key, "", "is no finite number")
		}
		return v
	default:
		l.failAt(key, "", "want a string, number, boolean, array or table, got %s", kind(v))
		return nil
	}
}

// kind names the TOML type of a decoded value.
func kind(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case int64:
		return "an integer"
	case float64:
		return "a float"
	case time.Time:
		return "a date"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "an array of tables"
	default:
		return "an array"
	}
}
