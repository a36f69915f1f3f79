package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bellhop/core"
)

// Render writes a call for people and golden files: the same call is always the
// same text, and a text of many lines is indented under its role.
func Render(call core.Call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %s\n", call.Model)
	if call.User != "" {
		fmt.Fprintf(&b, "user id %s\n", call.User)
	}
	for _, name := range slices.Sorted(maps.Keys(call.Params)) {
		fmt.Fprintf(&b, "param %s = %s\n", name, value(call.Params[name]))
	}
	if len(call.Tools) > 0 {
		names := make([]string, len(call.Tools))
		for i, t := range call.Tools {
			names[i] = t.Name
		}
		fmt.Fprintf(&b, "tools %s\n", strings.Join(names, " "))
	}
	if call.System != "" {
		entry(&b, "system", call.System)
	}
	for _, m := range call.Messages {
		head := string(m.Role)
		if m.CallID != "" {
			head += " " + m.CallID
		}
		if m.Content != "" || len(m.Images) > 0 || len(m.Calls) == 0 {
			entry(&b, head, content(m))
		}
		for _, c := range m.Calls {
			entry(&b, head, fmt.Sprintf("[%s %s %s]", c.ID, c.Name, c.Args))
		}
	}
	return b.String()
}

// content is a message's text, with a line for each image where it stands.
func content(m core.ChatMessage) string {
	var b strings.Builder
	done := 0
	for _, image := range m.Images {
		b.WriteString(m.Content[done:image.At])
		if done = image.At; b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "[image %s %d bytes]", image.MIME, len(image.Data))
	}
	b.WriteString(m.Content[done:])
	return b.String()
}

func entry(b *strings.Builder, head, text string) {
	b.WriteString(head + ":")
	indent := " "
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			b.WriteString(indent + line)
		}
		b.WriteByte('\n')
		indent = "    "
	}
	if text == "" {
		b.WriteByte('\n')
	}
}

func value(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
