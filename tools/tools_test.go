package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"bellhop/core"

	"github.com/google/go-cmp/cmp"
)

type arguments struct {
	Path  string            `json:"path" doc:"file to read"`
	Limit int               `json:"limit,omitempty" doc:"most lines" min:"1" max:"100"`
	Mode  string            `json:"mode,omitempty" enum:"text,hex"`
	Count uint8             `json:"count,omitzero"`
	Ratio *float64          `json:"ratio,omitempty" max:"1"`
	Force bool              `json:"force,omitempty"`
	Edits []edit            `json:"edits,omitempty"`
	Env   map[string]string `json:"env,omitempty"`
	Any   json.RawMessage   `json:"any,omitempty"`
	Skip  chan int          `json:"-"`
}

type edit struct {
	Old string `json:"old"`
	New any    `json:"new"`
}

func reader(readOnly bool) core.Tool {
	return Func(core.ToolSpec{Name: "read_file", ReadOnly: readOnly}, func(_ context.Context, env *core.Env, in arguments) (core.ToolResult, error) {
		b, err := json.Marshal(in)
		return core.ToolResult{Text: env.Bot + string(b)}, err
	})
}

func TestSchema(t *testing.T) {
	want := `{"type":"object","properties":{` +
		`"path":{"type":"string","description":"file to read"},` +
		`"limit":{"type":"integer","description":"most lines","minimum":1,"maximum":100},` +
		`"mode":{"type":"string","enum":["text","hex"]},` +
		`"count":{"type":"integer","minimum":0},` +
		`"ratio":{"type":"number","maximum":1},` +
		`"force":{"type":"boolean"},` +
		`"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"new":{}},"required":["old","new"],"additionalProperties":false}},` +
		`"env":{"type":"object","additionalProperties":{"type":"string"}},` +
		`"any":{}},"required":["path"],"additionalProperties":false}`
	if diff := cmp.Diff(want, string(reader(true).Spec().Parameters)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	none := Func(core.ToolSpec{Name: "none"}, func(context.Context, *core.Env, struct{}) (core.ToolResult, error) {
		return core.ToolResult{}, nil
	})
	if got := string(none.Spec().Parameters); got != `{"type":"object","properties":{},"additionalProperties":false}` {
		t.Errorf("without arguments: %s", got)
	}
}

func TestSchemaPanics(t *testing.T) {
	for name, make := range map[string]func() *schema{
		"no struct": schemaFor[int],
		"channel": schemaFor[struct {
			C chan int `json:"c"`
		}],
		"no name": schemaFor[struct{ C int }],
		"integer keys": schemaFor[struct {
			C map[int]int `json:"c"`
		}],
		"bad bound": schemaFor[struct {
			C int `json:"c" min:"x"`
		}],
		"enum": schemaFor[struct {
			C int `json:"c" enum:"1,2"`
		}],
		"embedded": schemaFor[struct{ edit }],
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "tools: ") {
					t.Errorf("panicked with %q", s)
				}
			}()
			make()
		})
	}
}

func TestFunc(t *testing.T) {
	for _, c := range []struct {
		args, want string
	}{
		{`{"path":"a"}`, `chief{"path":"a"}`},
		{`{"path":"a","limit":null,"mode":"hex","ratio":0.5,"force":true}`, `chief{"path":"a","limit":0,"mode":"hex","ratio":0.5,"force":true}`},
		{"```\n{path: 'a', limit: 20.0}\n```", `chief{"path":"a","limit":20}`},
		{`{"path":"a","path":"b"}`, `chief{"path":"b"}`},
		{`{"path":"a","edits":[{"old":"x","new":null},{"old":"y","new":[1]}],"env":{"k":"v"},"any":{"z":[1.50]}}`,
			`chief{"path":"a","edits":[{"old":"x","new":null},{"old":"y","new":[1]}],"env":{"k":"v"},"any":{"z":[1.50]}}`},
		{`{"path":"a`, `chief{"path":"a"}`}, // it only reads
		{``, `path is required`},
		{`{"path":null}`, `path is required`},
		{`{"path":7,"limit":0}`, `path must be text; limit must be a whole number between 1 and 100`},
		{`{"path":"a","limit":1.5}`, `limit must be a whole number between 1 and 100`},
		{`{"path":"a","limit":"9"}`, `limit must be a whole number between 1 and 100`},
		{`{"path":"a","count":-1}`, `count must be a whole number of at least 0`},
		{`{"path":"a","ratio":1.5}`, `ratio must be a number of at most 1`},
		{`{"path":"a","mode":"octal"}`, `mode must be one of text, hex`},
		{`{"path":"a","force":"yes","edits":{},"env":[]}`, `force must be true or false; edits must be a list; env must be an object`},
		{`{"path":"a","edits":[{"old":"x","new":1},{"old":2}],"env":{"k":1}}`, `edits[1].old must be text; edits[1].new is required; env.k must be text`},
		{`{"path":"a","Limit":3,"x":1}`, `there is no "Limit"; it takes path, limit, mode, count, ratio, force, edits, env, any; there is no "x"; it takes path, limit, mode, count, ratio, force, edits, env, any`},
		{`[1]`, `they must be one JSON object`},
	} {
		got, err := reader(true).Call(t.Context(), &core.Env{Bot: "chief"}, core.ToolCall{Args: c.args})
		if err != nil {
			t.Fatal(err)
		}
		want := core.ToolResult{Text: c.want}
		if !strings.HasPrefix(c.want, "chief") {
			want = core.ToolResult{Text: "Invalid arguments for read_file: " + c.want, Failed: true}
		}
		got.Text = strings.Replace(got.Text, `,"any":null`, "", 1)
		if diff := cmp.Diff(normal(want), normal(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.args, diff)
		}
	}
}

// normal drops what json writes for zero values, which is not the point.
func normal(r core.ToolResult) core.ToolResult {
	for _, zero := range []string{`,"limit":0`} {
		r.Text = strings.Replace(r.Text, zero, "", 1)
	}
	return r
}

func TestCutOffArgumentsChangeNothing(t *testing.T) {
	for _, args := range []string{`{"path":"a`, `{"path":"a"`, `{'path': 'a'`, "```json\n{\"path\":\"a\""} {
		got, err := reader(false).Call(t.Context(), &core.Env{}, core.ToolCall{Args: args})
		if err != nil || !got.Failed || !strings.Contains(got.Text, "cut off") {
			t.Errorf("%s: got %+v, %v", args, got, err)
		}
	}
	if got, err := reader(false).Call(t.Context(), &core.Env{}, core.ToolCall{Args: `{'path': 'a'}`}); err != nil || got.Failed {
		t.Errorf("malformed but whole: %+v, %v", got, err)
	}
}

func named(name string) core.Tool {
	return Func(core.ToolSpec{Name: name}, func(context.Context, *core.Env, struct{}) (core.ToolResult, error) {
		return core.ToolResult{}, nil
	})
}

func TestSet(t *testing.T) {
	set, err := NewSet(named("web"), named("exec"), named("read_history"))
	if err != nil {
		t.Fatal(err)
	}
	bot := core.Bot{DeniedTools: []string{"exec"}}
	var names []string
	for _, spec := range set.Specs(bot) {
		names = append(names, spec.Name)
	}
	if diff := cmp.Diff([]string{"read_history", "web"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if tool, err := set.Find(bot, "web"); err != nil || tool.Spec().Name != "web" {
		t.Errorf("web: %v, %v", tool, err)
	}
	for _, name := range []string{"exec", "nothing", ""} {
		want := fmt.Sprintf("there is no tool %q; available: read_history, web", name)
		if _, err := set.Find(bot, name); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (Set{}).Find(bot, "x"); err == nil || err.Error() != `there is no tool "x", nor any other` {
		t.Errorf("empty set: %v", err)
	}
	for _, bad := range [][]core.Tool{{named("a"), named("a")}, {named("")}, {named("a b")}, {named(strings.Repeat("x", 65))}} {
		if _, err := NewSet(bad...); err == nil {
			t.Errorf("%q is fine", bad[0].Spec().Name)
		}
	}
}

func TestCap(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
	}{
		{"short", 5, "short"},
		{"日本語", 3, "日本語"},
		{"日本語", 2, "日本"},
		{strings.Repeat("a", 50) + strings.Repeat("é", 50), 40, "aaaaa\n[… 91 characters left out …]\néééé"},
	} {
		if got := Cap(c.in, c.most); got != c.want {
			t.Errorf("Cap(%q, %d) = %q, want %q", c.in, c.most, got, c.want)
		}
	}
	long := strings.Repeat("ж", MaxOutput*2)
	for _, most := range []int{-1, 0, MaxOutput * 3} {
		if n := utf8.RuneCountInString(Cap(long, most)); n > MaxOutput || n < MaxOutput-10 {
			t.Errorf("Cap(…, %d) has %d characters", most, n)
		}
	}
}
