package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"bellhop/core"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s:\n%s", path, diff)
	}
}

// sent is the body that a call is sent as.
func sent(t *testing.T, o OpenAIOptions, call core.Call) string {
	t.Helper()
	s := &server{answers: []answer{text(whole)}}
	if got := listen(t, t.Context(), s, o, call); got.Err != nil {
		t.Fatal(got.Err)
	}
	return s.sent[0]
}

var conversation = core.Call{
	Model:  "m",
	System: "You are \"chief\".\n\tBe <brief>.",
	User:   "u1",
	Tools: []core.ToolSpec{
		{Name: "list", Description: "Lists files."},
		{Name: "read", Description: "Reads a file.", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
	},
	Messages: []core.ChatMessage{
		{Role: core.UserRole, Content: "[Zoë]: what is in a & b?\r\n"},
		{Role: core.AssistantRole, Calls: []core.ToolCall{{ID: "1", Name: "read", Args: `{"path":"a"}`}, {ID: "2", Name: "list"}}},
		{Role: core.ToolRole, CallID: "1", Content: "\x00\xff\u2028"},
		{Role: core.ToolRole, CallID: "2"},
		{Role: core.AssistantRole, Content: "wait", Calls: []core.ToolCall{{ID: "3", Name: "read", Args: `{"path": "b`}}},
		{Role: core.ToolRole, CallID: "3", Content: "not JSON"},
		{Role: core.AssistantRole, Content: "done"},
	},
}

func TestRequest(t *testing.T) {
	body := sent(t, OpenAIOptions{}, conversation)
	golden(t, "conversation.json", body)
	golden(t, "empty.json", sent(t, OpenAIOptions{}, core.Call{Model: "m"}))
	if !json.Valid([]byte(body)) {
		t.Error("not JSON")
	}
	for range 20 {
		if again := sent(t, OpenAIOptions{}, conversation); again != body {
			t.Fatalf("the same call is sent as\n%s\nand as\n%s", body, again)
		}
	}
}

func TestParams(t *testing.T) {
	tools := []core.ToolSpec{{Name: "a"}}
	for name, c := range map[string]struct {
		model    string
		tools    []core.ToolSpec
		user     string
		defaults map[string]any
		params   map[string]any
		want     string // between stream_options and tools
	}{
		"none":              {model: "m"},
		"zero temperature":  {model: "m", params: map[string]any{"temperature": 0.0}, want: `,"temperature":0`},
		"false":             {model: "m", params: map[string]any{"store": false}, want: `,"store":false`},
		"call wins":         {model: "m", defaults: map[string]any{"temperature": 0.3, "seed": 1}, params: map[string]any{"temperature": 0.5}, want: `,"seed":1,"temperature":0.5`},
		"unknown":           {model: "m", params: map[string]any{"top_k": int64(40), "provider": map[string]any{"sort": "price", "order": []any{"b", "a"}}}, want: `,"provider":{"order":["b","a"],"sort":"price"},"top_k":40`},
		"user":              {model: "m", user: "u1", want: `,"user":"u1"`},
		"user by parameter": {model: "m", user: "u1", params: map[string]any{"user": "u2"}, want: `,"user":"u2"`},
		"max_tokens":        {model: "llama3", params: map[string]any{"max_tokens": 10}, want: `,"max_tokens":10`},
		"both":              {model: "llama3", params: map[string]any{"max_tokens": 10, "max_completion_tokens": 9}, want: `,"max_completion_tokens":9,"max_tokens":10`},
		"o3":                {model: "o3-mini", params: map[string]any{"max_tokens": 10}, want: `,"max_completion_tokens":10`},
		"gpt-5":             {model: "gpt-5", params: map[string]any{"max_tokens": 10}, want: `,"max_completion_tokens":10`},
		"gpt-5, OpenRouter": {model: "openai/gpt-5.2", params: map[string]any{"max_tokens": 10}, want: `,"max_completion_tokens":10`},
		"gpt-5, both":       {model: "gpt-5", defaults: map[string]any{"max_completion_tokens": 9}, params: map[string]any{"max_tokens": 10}, want: `,"max_completion_tokens":10`},
		"gpt-4o":            {model: "gpt-4o", params: map[string]any{"max_tokens": 10}, want: `,"max_tokens":10`},
		"gpt-5 temperature": {model: "gpt-5", params: map[string]any{"temperature": 0}, want: `,"temperature":0`},
		"gpt-6":             {model: "gpt-6-sol", tools: tools, want: `,"reasoning_effort":"none"`},
		"gpt-6, no tools":   {model: "gpt-6-sol"},
	} {
		t.Run(name, func(t *testing.T) {
			got := sent(t, OpenAIOptions{Params: c.defaults}, core.Call{Model: c.model, Tools: c.tools, User: c.user, Params: c.params})
			_, got, _ = strings.Cut(got, `"stream_options":{"include_usage":true}`)
			got, _, _ = strings.Cut(got, `,"tools"`)
			got, _, _ = strings.Cut(got, `,"messages"`)
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// What cannot be sent fails at once, without a request.
func TestBadRequest(t *testing.T) {
	for name, c := range map[string]struct {
		call core.Call
		msg  string
	}{
		"reserved":      {core.Call{Params: map[string]any{"stream": false}}, "parameter stream cannot be set"},
		"not a number":  {core.Call{Params: map[string]any{"x": math.NaN()}}, "parameter x: json: unsupported value: NaN"},
		"Responses API": {core.Call{Model: "gpt-6-astra", Tools: []core.ToolSpec{{Name: "a"}}}, "tool calling with this model and reasoning effort requires the Responses API"},
		"old model":     {core.Call{Model: "text-davinci-003"}, "this model is not supported with this method, please use CreateCompletion client method instead"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{}
			got := listen(t, t.Context(), s, OpenAIOptions{Name: "p"}, c.call)
			e, ok := errors.AsType[*core.ModelError](got.Err)
			if !ok || e.Fault != core.FaultRequest || e.Msg != c.msg || len(s.sent) > 0 {
				t.Errorf("error %v after %d requests", got.Err, len(s.sent))
			}
		})
	}
}

// A request with one message more begins with all bytes of the one before, up
// to the end of its messages.
func TestPrefix(t *testing.T) {
	var before string
	for n := range len(conversation.Messages) + 1 {
		call := conversation
		call.Messages = slices.Clone(call.Messages[:n])
		body := strings.TrimSuffix(sent(t, OpenAIOptions{Params: map[string]any{"b": 1, "a": 2}}, call), "]}")
		if !strings.HasPrefix(body, before) {
			t.Fatalf("with %d messages:\n%s\nwith %d:\n%s", n-1, before, n, body)
		}
		before = body
	}
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "Zoë ⟦now⟧ \U0001f600\u2028", "\xff\xc0\xaf half \xe2\x82"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(appendString(nil, s), &got); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); got != want {
			t.Errorf("%q comes back as %q", want, got)
		}
		if args := arguments(s); !json.Valid([]byte(args)) || args[0] != '{' {
			t.Errorf("arguments %q are sent as %q", s, args)
		}
	})
}

// long is a call as agents make them: 80 messages, 20 tools, 40 KB.
func long() core.Call {
	call := core.Call{Model: "gpt-5", System: strings.Repeat("You are a helpful bot.\n", 150), Params: map[string]any{"temperature": 1.0, "max_tokens": 4000}}
	schema := json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"` + strings.Repeat("where it is ", 20) + `"}}}`)
	for i := range 20 {
		call.Tools = append(call.Tools, core.ToolSpec{Name: fmt.Sprintf("tool_%02d", i), Description: strings.Repeat("does things ", 20), Parameters: schema})
	}
	for i := range 20 {
		id := fmt.Sprint(i)
		call.Messages = append(call.Messages,
			core.ChatMessage{Role: core.UserRole, Content: "[Alice]: " + strings.Repeat("please look\n", 20)},
			core.ChatMessage{Role: core.AssistantRole, Calls: []core.ToolCall{{ID: id, Name: "tool_01", Args: `{"path":"` + strings.Repeat("a/", 50) + `"}`}}},
			core.ChatMessage{Role: core.ToolRole, CallID: id, Content: strings.Repeat("line of a \"file\"\n", 40)},
			core.ChatMessage{Role: core.AssistantRole, Content: strings.Repeat("It says so — ", 30)})
	}
	return call
}

func BenchmarkEncode(b *testing.B) {
	call := long()
	b.ReportAllocs()
	for b.Loop() {
		params, err := mergeParams(call, nil)
		if err != nil {
			b.Fatal(err)
		}
		body, err := encode(call, params, true)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(body)))
	}
}

// The size is guessed well enough that a body is allocated once.
func TestEncodeAllocs(t *testing.T) {
	call := long()
	params, err := mergeParams(call, nil)
	if err != nil {
		t.Fatal(err)
	}
	var body []byte
	allocs := testing.AllocsPerRun(10, func() { body, _ = encode(call, params, true) })
	if len(call.Messages) != 80 || !json.Valid(body) || bytes.Count(body, []byte(`"role"`)) != 81 {
		t.Error("the call is not what it should be")
	}
	if allocs > 30 {
		t.Errorf("%v allocations for %d bytes", allocs, len(body))
	}
}
