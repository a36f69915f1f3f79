package script

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"bellhop/core"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// heard is what a caller has at the end of a reply.
type heard struct {
	Text, Reasoning string
	Calls           []core.ToolCall
	Finish          core.Finish
	Usage           core.Usage
	Retry           int
	Chunks          int
	Err             error
}

func listen(t *testing.T, p core.Provider, ctx context.Context, call core.Call) heard {
	t.Helper()
	var h heard
	for c, err := range p.Stream(ctx, call) {
		if h.Err != nil || h.Finish != "" {
			t.Errorf("the reply goes on after its end: %+v %v", c, err)
		}
		if c.Reset {
			h = heard{Retry: c.Retry}
		}
		h.Err = err
		h.Text += c.Text
		h.Reasoning += c.Reasoning
		h.Finish = c.Finish
		h.Chunks++
		if d := c.Call; d != nil {
			if d.Index == len(h.Calls) {
				h.Calls = append(h.Calls, core.ToolCall{ID: d.ID, Name: d.Name})
			}
			h.Calls[d.Index].Args += d.Args
		}
		if c.Usage != nil {
			h.Usage = *c.Usage
		}
	}
	if (h.Err != nil) == (h.Finish != "") {
		t.Errorf("the reply ends with finish %q and error %v", h.Finish, h.Err)
	}
	return h
}

func modelError(fault core.ModelFault, status int, after time.Duration) error {
	return &core.ModelError{Fault: fault, Model: "script/chief", Status: status, After: after,
		Tries: 1, Msg: "script: as written"}
}

func TestReplies(t *testing.T) {
	for line, want := range map[string]heard{
		`say hello there`: {Text: "hello there", Finish: core.FinishStop, Usage: core.Usage{Calls: 1, Input: 3, Output: 3}},
		`reason "hm" text "a\nb" usage 1000 20`: {Text: "a\nb", Reasoning: "hm", Finish: core.FinishStop,
			Usage: core.Usage{Calls: 1, Input: 1000, Output: 20}},
		`text "thinking" tool a {"x": "} tool b"} tool b {}`: {Text: "thinking", Finish: core.FinishTools,
			Calls: []core.ToolCall{{ID: "call_1", Name: "a", Args: `{"x": "} tool b"}`}, {ID: "call_2", Name: "b", Args: `{}`}},
			Usage: core.Usage{Calls: 1, Input: 3, Output: 8}},
		`tool a "{\"x\": "`:              {Finish: core.FinishTools, Calls: []core.ToolCall{{ID: "call_1", Name: "a", Args: `{"x": `}}, Usage: core.Usage{Calls: 1, Input: 3, Output: 2}},
		`length "first half"`:            {Text: "first half", Finish: core.FinishLength, Usage: core.Usage{Calls: 1, Input: 3, Output: 3}},
		`filter`:                         {Finish: core.FinishFilter, Usage: core.Usage{Calls: 1, Input: 3}},
		`empty`:                          {Finish: core.FinishStop, Usage: core.Usage{Calls: 1, Input: 3}},
		`text "a" retry 1 say ab`:        {Text: "ab", Retry: 1, Finish: core.FinishStop, Usage: core.Usage{Calls: 1, Input: 3, Output: 1}},
		`tool a {} retry 1 tool b {}`:    {Retry: 1, Finish: core.FinishTools, Calls: []core.ToolCall{{ID: "call_2", Name: "b", Args: `{}`}}, Usage: core.Usage{Calls: 1, Input: 3, Output: 1}},
		`text "half" truncated`:          {Text: "half", Err: modelError(core.FaultTruncated, 0, 0)},
		`error rate 2s`:                  {Err: modelError(core.FaultRate, 429, 2*time.Second)},
		`error auth`:                     {Err: modelError(core.FaultAuth, 401, 0)},
		`error transport`:                {Err: modelError(core.FaultTransport, 0, 0)},
		`error overflow`:                 {Err: modelError(core.FaultOverflow, 400, 0)},
		`wait 1s text "late" error auth`: {Text: "late", Err: modelError(core.FaultAuth, 401, 0)},
	} {
		t.Run(line, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := listen(t, New(line), t.Context(), core.Call{Model: "chief"})
				got.Chunks = 0
				if diff := cmp.Diff(want, got, cmp.Comparer(sameError)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func sameError(a, b error) bool {
	x, ok := errors.AsType[*core.ModelError](a)
	y, ok2 := errors.AsType[*core.ModelError](b)
	if ok && ok2 {
		return *x == *y
	}
	return errors.Is(a, b)
}

func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got := listen(t, New("slow 200ms word by word"), t.Context(), core.Call{})
		if got.Text != "word by word" || got.Chunks != 4 || time.Since(start) != 600*time.Millisecond {
			t.Errorf("%+v after %s", got, time.Since(start))
		}
	})
}

func TestContextEnds(t *testing.T) {
	why := errors.New("why")
	for _, line := range []string{"hang", "wait 1h say late", "slow 1h late", `text "a" hang`} {
		t.Run(line, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, why)
				defer cancel()
				if got := listen(t, New(line), ctx, core.Call{}); !errors.Is(got.Err, why) {
					t.Errorf("error %v", got.Err)
				}
			})
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if got := listen(t, New("say hello"), ctx, core.Call{}); !errors.Is(got.Err, why) {
		t.Errorf("with a context that is over: %+v", got)
	}
}

func TestConsumerStops(t *testing.T) {
	line := `text "a" reason "b" tool c {} retry 1 slow 1ns d`
	for stop := range 8 {
		n := 0
		for _, err := range New(line).Stream(t.Context(), core.Call{}) {
			if err != nil {
				t.Error(err)
			}
			if n++; n > stop {
				break // a yield after this panics
			}
		}
	}
}

func TestQueues(t *testing.T) {
	p := New("say for anyone")
	p.Queue("chief", Say("one"), MustParse(`tool a {}`), MustParse(`tool a {}`))
	say := func(model, text, id string) {
		t.Helper()
		got := listen(t, p, t.Context(), core.Call{Model: model})
		if got.Text != text || id != "" && got.Calls[0].ID != id {
			t.Errorf("%s: %+v", model, got)
		}
	}
	say("chief", "one", "")
	say("aide", "for anyone", "")
	if n := p.Pending("chief"); n != 2 {
		t.Errorf("%d pending", n)
	}
	say("chief", "", "call_1")
	say("chief", "", "call_2")
	want := &core.ModelError{Fault: core.FaultRequest, Model: "script/chief", Tries: 1, Msg: "script: no reply is queued"}
	if got := listen(t, p, t.Context(), core.Call{Model: "chief"}); !sameError(got.Err, want) {
		t.Errorf("error %v", got.Err)
	}
	p.Default = func(call core.Call) Reply { return Say("default for " + call.Model) }
	say("aide", "default for aide", "")
	if all, chief := len(p.Calls("")), len(p.Calls("chief")); all != 6 || chief != 4 {
		t.Errorf("%d calls, %d of chief", all, chief)
	}
}

func TestCallsAreCopies(t *testing.T) {
	p := New("empty")
	messages := []core.ChatMessage{{Role: core.UserRole, Content: "before"}}
	listen(t, p, t.Context(), core.Call{Messages: messages})
	messages[0].Content = "after"
	if got := p.Calls("")[0].Messages[0].Content; got != "before" {
		t.Errorf("recorded %q", got)
	}
}

func TestParseErrors(t *testing.T) {
	for line, want := range map[string]string{
		``:                    `a reply needs a block`,
		`shout hello`:         `unknown block "shout"`,
		`text hello`:          `a quoted text is missing`,
		`tool a`:              `arguments: EOF`,
		`tool a {"x":`:        `arguments: unexpected EOF`,
		`wait long`:           `invalid duration`,
		`error bad`:           `"bad" is no fault: [auth rate overload`,
		`error rate soon`:     `invalid duration`,
		`usage 1`:             `invalid syntax`,
		`retry x`:             `invalid syntax`,
		`empty say more`:      `nothing can follow empty`,
		`hang truncated`:      `nothing can follow hang`,
		`error auth 2s empty`: `nothing can follow error`,
	} {
		if _, err := Parse(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", line, err, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a bad line in the source does not panic")
		}
	}()
	New("shout hello")
}

func TestRender(t *testing.T) {
	got := Render(core.Call{
		Model:  "chief",
		User:   "u1",
		System: "You are chief.\nBe brief.\n",
		Params: map[string]any{"temperature": 0, "stop": []string{"x"}},
		Tools:  []core.ToolSpec{{Name: "a"}, {Name: "read_history"}},
		Messages: []core.ChatMessage{
			{Role: core.UserRole, Content: "[Alice]: hi\n\nthere"},
			{Role: core.AssistantRole, Content: "looking", Calls: []core.ToolCall{{ID: "call_1", Name: "a", Args: "{}"}, {ID: "call_2", Name: "b", Args: `{"x":1}`}}},
			{Role: core.ToolRole, CallID: "call_1", Content: "found"},
			{Role: core.ToolRole, CallID: "call_2"},
		},
	})
	golden(t, "render.golden", got)
}

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
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s:\n%s", path, diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{`say hi`, `text "a" tool b {"c":[1,{"d":"}"}]} tool e "x"`, `error rate 2s`,
		`slow 1ms a b`, `usage 1 2 length "x"`, `text "\x00" hang`, "wait 1s\tretry 2 empty"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		reply, err := Parse(line)
		if (err == nil) != (len(reply) > 0) {
			t.Errorf("%d blocks, error %v", len(reply), err)
		}
	})
}
