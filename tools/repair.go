package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/kaptinlin/jsonrepair"
)

// What is too large or too deep to be repaired. The library's time grows with
// the square of the text (the worst of this size takes it some tenths of a
// second) and its stack with the depth. Arguments that are whole JSON may be as
// large as they like.
const (
	repairSize  = 16 << 10 // bytes
	repairDepth = 100
)

// Repair makes one JSON object of what a model wrote as arguments: it takes
// away prose and code fences around it, unwraps an object that was written as a
// string, and mends what is malformed or was cut off. Nothing at all is an empty
// object. What is a JSON object already stays as it is. It reports false when
// there is no object in there.
func Repair(args string) (string, bool) {
	args = strings.TrimSpace(strings.ToValidUTF8(args, "\ufffd"))
	if args == "" || args == "null" {
		return "{}", true
	}
	var wrapped string
	if args[0] == '"' && json.Unmarshal([]byte(args), &wrapped) == nil {
		args = strings.TrimSpace(wrapped)
	}
	object, err := first(args)
	if err == nil {
		return object, true
	}
	if len(object) > repairSize || depth(object) > repairDepth {
		return "", false
	}
	if end := strings.LastIndexByte(object, '}') + 1; end > 0 && !errors.Is(err, io.ErrUnexpectedEOF) &&
		!strings.HasPrefix(strings.TrimSpace(object[end:]), ",") {
		if mended, ok := mend(object[:end]); ok {
			return mended, true
		}
	}
	return mend(strings.TrimRight(object, "` \n"))
}

// first is the JSON object that text holds, without what stands before and
// after it; with an error, everything from where one seems to begin.
func first(text string) (string, error) {
	start := strings.IndexByte(text, '{')
	if start < 0 {
		return "", errors.New("no object")
	}
	text = text[start:]
	var object json.RawMessage
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&object); err != nil {
		return text, err
	}
	return string(object), nil
}

// cutOff reports whether args end before their object does: they were cut off,
// and Repair would have to guess the rest.
func cutOff(args string) bool {
	object, err := first(args)
	return errors.Is(err, io.ErrUnexpectedEOF) || object != "" && !strings.Contains(object, "}")
}

// mend repairs text that begins with a brace.
func mend(text string) (string, bool) {
	fixed, err := jsonrepair.Repair(text)
	fixed = strings.TrimSpace(fixed)
	if err != nil || !strings.HasPrefix(fixed, "{") || !json.Valid([]byte(fixed)) {
		return "", false
	}
	return fixed, true
}

// depth is how deep the brackets in text are nested, at most; those in strings
// count as well, since in malformed text nobody can tell.
func depth(text string) int {
	now, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			now++
			most = max(most, now)
		case '}', ']':
			now--
		}
	}
	return most
}

// Canonical is one form for all ways to write the same arguments: repaired,
// compact, with sorted keys; of keys that occur twice, the last counts. Text that
// cannot be repaired is its own form. It serves to notice repeated calls.
func Canonical(args string) string {
	object, ok := Repair(args)
	if !ok {
		return strings.TrimSpace(args)
	}
	m, err := decode(object)
	if err != nil {
		return object
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return object
	}
	return strings.TrimSpace(b.String())
}

// decode reads an object and keeps its numbers as they were written.
func decode(object string) (map[string]any, error) {
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(object))
	d.UseNumber()
	return m, d.Decode(&m)
}
