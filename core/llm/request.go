package llm

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	openai "github.com/sashabaranov/go-openai"

	"bellhop/core"
)

// noOutput stands for an empty tool result, which some endpoints refuse.
const noOutput = "(no output)"

var emptySchema = json.RawMessage(`{"type":"object","properties":{}}`)

// reserved are the fields that a parameter cannot set.
var reserved = []string{"messages", "model", "stream", "stream_options", "tools"}

// reasons matches OpenAI's models that refuse max_tokens.
var reasons = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(openai/)?(o[1-9]|gpt-[5-9])`) })

// mergeParams returns the parameters of a call: later layers win.
func mergeParams(call core.Call, defaults map[string]any) (map[string]any, error) {
	params := map[string]any{}
	if call.User != "" {
		params["user"] = call.User
	}
	if len(call.Tools) > 0 && (call.Model == openai.GPT6Sol || call.Model == openai.GPT6Luna) {
		// They take tools over this API only when they do not reason.
		params["reasoning_effort"] = openai.ReasoningEffortNone
	}
	for _, layer := range []map[string]any{defaults, call.Params} {
		for _, name := range slices.Sorted(maps.Keys(layer)) {
			if slices.Contains(reserved, name) {
				return nil, fmt.Errorf("parameter %s cannot be set", name)
			}
			value := layer[name]
			if name == "max_tokens" && reasons().MatchString(call.Model) {
				name = "max_completion_tokens"
			}
			params[name] = value
		}
	}
	return params, nil
}

// outline is what go-openai checks before it sends: that it knows the model to
// be able to do this over chat completions. The body itself is encode's.
func outline(call core.Call, params map[string]any) openai.ChatCompletionRequest {
	effort, _ := params["reasoning_effort"].(string)
	return openai.ChatCompletionRequest{
		Model:           call.Model,
		ReasoningEffort: effort,
		Tools:           make([]openai.Tool, min(1, len(call.Tools))),
	}
}

// encode writes a call as a request body. go-openai's own encoding cannot be
// used: it drops empty contents and a temperature of 0, knows no further
// parameters, and encodes each message twice. The same call is always the same
// bytes, and everything that stays the same from call to call comes first: a
// call that only has further messages has the same bytes up to where they
// begin.
func encode(call core.Call, params map[string]any, usage bool) ([]byte, error) {
	b := make([]byte, 0, size(call))
	b = append(b, `{"model":`...)
	b = appendString(b, call.Model)
	b = append(b, `,"stream":true`...)
	if usage {
		b = append(b, `,"stream_options":{"include_usage":true}`...)
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value, err := json.Marshal(params[name])
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", name, err)
		}
		b = append(b, ',')
		b = appendString(b, name)
		b = append(b, ':')
		b = append(b, value...)
	}
	for i, tool := range call.Tools {
		b = append(b, separator(i, `,"tools":[`)...)
		b = appendTool(b, tool)
	}
	if len(call.Tools) > 0 {
		b = append(b, ']')
	}
	b = append(b, `,"messages":[`...)
	if call.System != "" {
		b = append(b, `{"role":"system","content":`...)
		b = appendString(b, call.System)
		b = append(b, '}')
	}
	for i, m := range call.Messages {
		if i > 0 || call.System != "" {
			b = append(b, ',')
		}
		b = appendMessage(b, m)
	}
	return append(b, `]}`...), nil
}

// size guesses the length of a body from above, escapes aside.
func size(call core.Call) int {
	n := 512 + len(call.System)
	for _, t := range call.Tools {
		n += 128 + len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	for _, m := range call.Messages {
		n += 96 + len(m.Content) + len(m.Content)/16
		for _, image := range m.Images {
			n += 128 + base64.StdEncoding.EncodedLen(len(image.Data))
		}
		for _, c := range m.Calls {
			n += 128 + len(c.Args) + len(c.Args)/4
		}
	}
	return n
}

func appendTool(b []byte, t core.ToolSpec) []byte {
	b = append(b, `{"type":"function","function":{"name":`...)
	b = appendString(b, t.Name)
	b = append(b, `,"description":`...)
	b = appendString(b, t.Description)
	b = append(b, `,"parameters":`...)
	if len(t.Parameters) == 0 {
		t.Parameters = emptySchema
	}
	b = append(b, t.Parameters...)
	return append(b, `}}`...)
}

func appendMessage(b []byte, m core.ChatMessage) []byte {
	b = append(b, `{"role":`...)
	b = appendString(b, string(m.Role))
	if m.CallID != "" {
		b = append(b, `,"tool_call_id":`...)
		b = appendString(b, m.CallID)
	}
	b = append(b, `,"content":`...)
	if m.Role == core.ToolRole && m.Content == "" {
		m.Content = noOutput
	}
	if len(m.Images) > 0 {
		b = appendParts(b, m)
	} else {
		b = appendString(b, m.Content)
	}
	for i, c := range m.Calls {
		b = append(b, separator(i, `,"tool_calls":[`)...)
		b = append(b, `{"id":`...)
		b = appendString(b, c.ID)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = appendString(b, c.Name)
		b = append(b, `,"arguments":`...)
		b = appendString(b, arguments(c.Args))
		b = append(b, `}}`...)
	}
	if len(m.Calls) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

// appendParts appends a content with images, each after the text that it
// follows.
func appendParts(b []byte, m core.ChatMessage) []byte {
	b = append(b, '[')
	done := 0
	text := func(end int) {
		if end > done {
			b = append(b, `{"type":"text","text":`...)
			b = appendString(b, m.Content[done:end])
			b = append(b, `},`...)
			done = end
		}
	}
	for _, image := range m.Images {
		text(image.At)
		b = append(b, `{"type":"image_url","image_url":{"url":"data:`...)
		b = append(b, image.MIME...)
		b = append(b, `;base64,`...)
		b = base64.StdEncoding.AppendEncode(b, image.Data)
		b = append(b, `"}},`...)
	}
	text(len(m.Content))
	b[len(b)-1] = ']' // instead of the last comma
	return b
}

// arguments returns what a model is shown of the arguments it wrote. They must
// be an object: llama.cpp, vLLM and Ollama refuse a whole conversation that
// holds others, for ever.
func arguments(args string) string {
	args = strings.TrimSpace(args)
	switch {
	case args == "":
		return "{}"
	case args[0] == '{' && json.Valid([]byte(args)):
		return args
	}
	return string(append(appendString([]byte(`{"invalid":`), args), '}'))
}

func separator(i int, first string) string {
	if i == 0 {
		return first
	}
	return ","
}

// appendString appends s as a JSON string; what is not UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	b = append(b, '"')
	done := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[done:i]...)
		done = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
	}
	return append(append(b, s[done:]...), '"')
}
