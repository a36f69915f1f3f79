package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// problems is what is wrong with arguments, in an order that is always the
// same.
type problems []string

func (p *problems) add(format string, args ...any) {
	*p = append(*p, fmt.Sprintf(format, args...))
}

func (p problems) Error() string { return strings.Join(p, "; ") }

// check notes what is wrong with the value at path and returns it as it is to
// be decoded: whole numbers written as whole numbers, without the nulls of what
// is optional.
func (s *schema) check(p *problems, path string, value any) any {
	fits := true
	switch s.Type {
	case "string":
		var text string
		if text, fits = value.(string); fits && len(s.Enum) > 0 {
			fits = slices.Contains(s.Enum, text)
		}
	case "boolean":
		_, fits = value.(bool)
	case "integer", "number":
		var n json.Number
		if n, fits = value.(json.Number); fits {
			value, fits = s.number(n)
		}
	case "array":
		var list []any
		list, fits = value.([]any)
		for i, item := range list {
			list[i] = s.Items.check(p, fmt.Sprintf("%s[%d]", path, i), item)
		}
	case "object":
		var m map[string]any
		if m, fits = value.(map[string]any); fits {
			s.object(p, path, m)
		}
	}
	if !fits {
		p.add("%s must be %s", path, s.wants())
	}
	return value
}

// object checks the members of an object, in place.
func (s *schema) object(p *problems, path string, m map[string]any) {
	at := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	if values, ok := s.Additional.(*schema); ok {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			m[name] = values.check(p, at(name), m[name])
		}
		return
	}
	for _, prop := range s.Properties {
		value, ok := m[prop.name]
		switch {
		case ok && (value != nil || prop.Type == ""):
			m[prop.name] = prop.check(p, at(prop.name), value)
		case slices.Contains(s.Required, prop.name):
			p.add("%s is required", at(prop.name))
		default:
			delete(m, prop.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if s.Properties.find(name) == nil {
			p.add("there is no %q; it takes %s", at(name), s.Properties.names())
		}
	}
}

// number is n as it is to be decoded, if it fits.
func (s *schema) number(n json.Number) (json.Number, bool) {
	f, err := n.Float64()
	if err != nil || s.Minimum != nil && f < *s.Minimum || s.Maximum != nil && f > *s.Maximum {
		return n, false
	}
	if _, err := n.Int64(); err == nil || s.Type == "number" {
		return n, true
	}
	const exact = 1 << 53 // above, a float stands for several whole numbers
	if f != math.Trunc(f) || math.Abs(f) > exact {
		return n, false
	}
	return json.Number(strconv.FormatInt(int64(f), 10)), true
}

// wants says what a value must be.
func (s *schema) wants() string {
	switch s.Type {
	case "string":
		if len(s.Enum) > 0 {
			return "one of " + strings.Join(s.Enum, ", ")
		}
		return "text"
	case "boolean":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	noun := "a number"
	if s.Type == "integer" {
		noun = "a whole number"
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("%s between %v and %v", noun, *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		return fmt.Sprintf("%s of at least %v", noun, *s.Minimum)
	case s.Maximum != nil:
		return fmt.Sprintf("%s of at most %v", noun, *s.Maximum)
	}
	return noun
}
