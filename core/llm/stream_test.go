package llm

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"bellhop/core"
)

func TestStream(t *testing.T) {
	tool := func(s string) string { return delta(`{"tool_calls":[` + s + `]}`) }
	a := core.ToolCall{ID: "1", Name: "a", Args: `{"x":1}`}
	b := core.ToolCall{ID: "2", Name: "b", Args: `{}`}
	for name, c := range map[string]struct {
		stream string
		want   heard
	}{
		"text":                {whole, heard{Text: "hello", Finish: core.FinishStop}},
		"in pieces":           {sse(delta(`{"role":"assistant","content":""}`), says("hel"), says("lo"), ends("stop"), "[DONE]"), heard{Text: "hello", Finish: core.FinishStop}},
		"null fields":         {sse(`{"choices":[{"delta":{"content":null,"tool_calls":null},"finish_reason":null}],"usage":null,"error":null}`, ends("stop")), heard{Finish: core.FinishStop}},
		"null error first":    {sse(`{"error":null,"choices":[{"delta":{"content":"x"},"error":null}]}`, ends("stop")), heard{Text: "x", Finish: core.FinishStop}},
		"reasoning_content":   {sse(delta(`{"reasoning_content":"hm"}`), says("x"), ends("stop")), heard{Text: "x", Reasoning: "hm", Finish: core.FinishStop}},
		"reasoning":           {sse(delta(`{"reasoning":"hm"}`), says("x"), ends("stop")), heard{Text: "x", Reasoning: "hm", Finish: core.FinishStop}},
		"both are one":        {sse(delta(`{"reasoning":"hm","reasoning_content":"hm"}`), ends("stop")), heard{Reasoning: "hm", Finish: core.FinishStop}},
		"refusal":             {sse(delta(`{"refusal":"No."}`), ends("stop")), heard{Text: "No.", Finish: core.FinishStop}},
		"no space, CRLF":      {"data:" + says("x") + "\r\n\r\ndata:" + ends("stop") + "\r\n\r\ndata:[DONE]\r\n\r\n", heard{Text: "x", Finish: core.FinishStop}},
		"other fields":        {"event: message\nid: 1\nretry: 5\ndata: " + says("x") + "\n\n" + sse(ends("stop")), heard{Text: "x", Finish: core.FinishStop}},
		"empty data":          {"data:\n\ndata: \n\n" + whole, heard{Text: "hello", Finish: core.FinishStop}},
		"comments":            {strings.Repeat(": OPENROUTER PROCESSING\n\n", 10_000) + whole, heard{Text: "hello", Finish: core.FinishStop}},
		"no end mark":         {sse(says("x"), ends("stop")), heard{Text: "x", Finish: core.FinishStop}},
		"no last line end":    {strings.TrimSpace(sse(says("x"), ends("stop"))), heard{Text: "x", Finish: core.FinishStop}},
		"after the end":       {whole + sse(says("x"), "nonsense"), heard{Text: "hello", Finish: core.FinishStop}},
		"length":              {sse(says("x"), ends("length")), heard{Text: "x", Finish: core.FinishLength}},
		"max_tokens":          {sse(says("x"), ends("MAX_TOKENS")), heard{Text: "x", Finish: core.FinishLength}},
		"content_filter":      {sse(ends("content_filter")), heard{Finish: core.FinishFilter}},
		"another stop":        {sse(says("x"), ends("eos")), heard{Text: "x", Finish: core.FinishStop}},
		"the word null":       {sse(`{"choices":[{"delta":{"content":"x"},"finish_reason":"null"}]}`, ends("stop")), heard{Text: "x", Finish: core.FinishStop}},
		"tools without calls": {sse(says("x"), ends("tool_calls")), heard{Text: "x", Finish: core.FinishStop}},
		"length in a call":    {sse(tool(`{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}}`), ends("length")), heard{Calls: []core.ToolCall{a}, Finish: core.FinishLength}},
		"usage": {sse(says("x"), ends("stop"), `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":30},"completion_tokens_details":{"reasoning_tokens":8}}}`, "[DONE]"),
			heard{Text: "x", Finish: core.FinishStop, Usage: &core.Usage{Calls: 1, Input: 100, Output: 20, CacheRead: 60, CacheWrite: 30, Reasoning: 8}}},
		"usage grows": {sse(`{"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, `{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_cache_hit_tokens":5}}`),
			heard{Text: "x", Finish: core.FinishStop, Usage: &core.Usage{Calls: 1, Input: 9, Output: 2, CacheRead: 5}}},
		"calls": {sse(says("x"), tool(`{"index":0,"id":"1","type":"function","function":{"name":"a","arguments":""}}`), tool(`{"index":0,"function":{"arguments":"{\"x\""}}`),
			tool(`{"index":1,"id":"2","function":{"name":"b"}}`), tool(`{"index":0,"function":{"arguments":":1}"}}`), tool(`{"index":1,"function":{"arguments":"{}"}}`), ends("tool_calls")),
			heard{Text: "x", Calls: []core.ToolCall{a, b}, Finish: core.FinishTools}},
		"calls in one event": {sse(tool(`{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}},{"index":1,"id":"2","function":{"name":"b","arguments":"{}"}}`), ends("function_call")),
			heard{Calls: []core.ToolCall{a, b}, Finish: core.FinishTools}},
		"calls, but stop": {sse(tool(`{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}}`), ends("stop")),
			heard{Calls: []core.ToolCall{a}, Finish: core.FinishTools}},
		"indices from 1": {sse(tool(`{"index":1,"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}}`), tool(`{"index":7,"id":"2","function":{"name":"b","arguments":"{}"}}`), ends("stop")),
			heard{Calls: []core.ToolCall{a, b}, Finish: core.FinishTools}},
		"no index": {sse(tool(`{"id":"1","function":{"name":"a","arguments":"{\"x\""}}`), tool(`{"function":{"arguments":":1}"}}`), tool(`{"id":"2","function":{"name":"b","arguments":"{}"}}`), ends("stop")),
			heard{Calls: []core.ToolCall{a, b}, Finish: core.FinishTools}},
		"always index 0": {sse(tool(`{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}}`), tool(`{"index":0,"id":"2","function":{"name":"b","arguments":"{}"}}`), ends("stop")),
			heard{Calls: []core.ToolCall{a, b}, Finish: core.FinishTools}},
		"id and name again": {sse(tool(`{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}`), tool(`{"index":0,"id":"1","function":{"name":"a","arguments":":1}"}}`), ends("stop")),
			heard{Calls: []core.ToolCall{a}, Finish: core.FinishTools}},
		"name after the id": {sse(tool(`{"index":0,"id":"1"}`), tool(`{"index":0,"function":{"name":"a","arguments":"{\"x\":1}"}}`), ends("stop")),
			heard{Calls: []core.ToolCall{a}, Finish: core.FinishTools}},
	} {
		t.Run(name, func(t *testing.T) {
			got := listen(t, t.Context(), &server{answers: []answer{text(c.stream)}}, OpenAIOptions{Tries: -1}, core.Call{})
			if diff := gocmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Calls without an id get one each.
func TestMissingIDs(t *testing.T) {
	stream := sse(delta(`{"tool_calls":[{"function":{"name":"a","arguments":"{}"}},{"id":"","function":{"name":"a","arguments":"{}"}}]}`), ends("stop"))
	got := listen(t, t.Context(), &server{answers: []answer{text(stream)}}, OpenAIOptions{}, core.Call{})
	if len(got.Calls) != 2 || got.Calls[0].ID == "" || got.Calls[0].ID == got.Calls[1].ID {
		t.Errorf("calls %+v", got.Calls)
	}
}

func TestBrokenStream(t *testing.T) {
	lost := []piece{{text: sse(says("x"))}, {err: io.ErrUnexpectedEOF}}
	for name, c := range map[string]struct {
		pieces []piece
		want   core.ModelError
	}{
		"empty":              {nil, core.ModelError{Fault: core.FaultTruncated, Msg: "the reply ended without a finish reason"}},
		"comments only":      {text(": hello\n\n").pieces, core.ModelError{Fault: core.FaultTruncated, Msg: "the reply ended without a finish reason"}},
		"no finish reason":   {text(sse(says("x"))).pieces, core.ModelError{Fault: core.FaultTruncated, Msg: "the reply ended without a finish reason"}},
		"end mark alone":     {text(sse(says("x"), "[DONE]")).pieces, core.ModelError{Fault: core.FaultTruncated, Msg: "the reply ended without a finish reason"}},
		"half a line":        {text(sse(says("x")) + `data: {"choices":[{"del`).pieces, core.ModelError{Fault: core.FaultTruncated, Msg: "the reply ended without a finish reason"}},
		"lost":               {lost, core.ModelError{Fault: core.FaultTransport, Msg: "unexpected EOF"}},
		"lost in a line":     {[]piece{{text: "data: {"}, {err: io.ErrUnexpectedEOF}}, core.ModelError{Fault: core.FaultTransport, Msg: "unexpected EOF"}},
		"nonsense":           {text(sse("x", ends("stop"))).pieces, core.ModelError{Fault: core.FaultReply, Msg: "an event is not JSON of the right shape: x"}},
		"wrong shape":        {text(sse(`{"choices":"x"}`)).pieces, core.ModelError{Fault: core.FaultReply, Msg: `an event is not JSON of the right shape: {"choices":"x"}`}},
		"endless line":       {text("data: " + strings.Repeat("x", maxLine)).pieces, core.ModelError{Fault: core.FaultReply, Msg: "an event is too long"}},
		"a page":             {text("<html>\n<head><title>Sign\nin</title></head></html>").pieces, core.ModelError{Fault: core.FaultReply, Msg: "the reply is not an event stream: Sign in"}},
		"plain text":         {text("Bad Gateway").pieces, core.ModelError{Fault: core.FaultReply, Msg: "the reply is not an event stream: Bad Gateway"}},
		"plain JSON":         {text(`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`).pieces, core.ModelError{Fault: core.FaultReply, Msg: `the reply is not an event stream: {"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`}},
		"JSON error":         {text("{\"error\": {\n\"code\": 401, \"message\": \"No key\"}}").pieces, core.ModelError{Fault: core.FaultAuth, Status: 401, Msg: "No key"}},
		"error":              {text(sse(says("x"), `{"error":{"message":"Overloaded","type":"overloaded_error"}}`)).pieces, core.ModelError{Fault: core.FaultOverload, Msg: "Overloaded"}},
		"error after remark": {text(": PROCESSING\n\n" + sse(`{"error":{"message":"Provider down","code":502}}`)).pieces, core.ModelError{Fault: core.FaultOverload, Status: 502, Msg: "Provider down"}},
		"error as a string":  {text(sse(`{"error":"boom"}`)).pieces, core.ModelError{Fault: core.FaultOverload, Msg: "boom"}},
		"error in a choice":  {text(sse(`{"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":"429","message":"Slow down. Retry in 3s"}}]}`)).pieces, core.ModelError{Fault: core.FaultRate, Status: 429, After: 3e9, Msg: "Slow down. Retry in 3s"}},
		"finish reason only": {text(sse(says("x"), ends("error"))).pieces, core.ModelError{Fault: core.FaultOverload, Msg: "the reply broke off"}},
		"overflow":           {text(sse(`{"error":{"code":"context_length_exceeded","message":"Too long"}}`)).pieces, core.ModelError{Fault: core.FaultOverflow, Msg: "Too long"}},
		"rate":               {text(sse(`{"error":{"type":"rate_limit_error","message":"x"}}`)).pieces, core.ModelError{Fault: core.FaultRate, Msg: "x"}},
		"request":            {text(sse(`{"error":{"type":"invalid_request_error","message":"x"}}`)).pieces, core.ModelError{Fault: core.FaultRequest, Msg: "x"}},
		"Anthropic's":        {text("event: error\n" + sse(`{"type":"error","error":{"type":"authentication_error","message":"x"}}`)).pieces, core.ModelError{Fault: core.FaultAuth, Msg: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.Model, c.want.Tries = "p/m", 1
			s := &server{answers: []answer{{pieces: c.pieces}}}
			got := listen(t, t.Context(), s, OpenAIOptions{Name: "p", Tries: -1}, core.Call{Model: "m"})
			if diff := gocmp.Diff(error(&c.want), got.Err); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A reply that is whole counts, whatever happens to the connection after it.
func TestLostAfterFinish(t *testing.T) {
	s := &server{answers: []answer{{pieces: []piece{{text: sse(says("x"), ends("stop"))}, {err: errors.New("reset")}}}}}
	if got := listen(t, t.Context(), s, OpenAIOptions{}, core.Call{}); got.Text != "x" || got.Retries != 0 {
		t.Errorf("got %+v", got)
	}
}

func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		whole, "", "data:", ": x\n\n", "data: {", sse(`{"error":{}}`), sse(`{"error":null}`), sse("[]"), sse("null"), sse("{}"),
		sse(delta(`{"tool_calls":[{"index":-5,"id":"x"},{"index":0,"function":{"name":"a","arguments":"{}"}},{}]}`), ends("stop")),
		sse(`{"choices":[{"error":{"code":429,"metadata":{"raw":"{\"detail\":[{\"loc\":[\"body\",1]}]}"}}}]}`),
		sse(`{"choices":[{"finish_reason":"error"},{"finish_reason":"length"}],"usage":{"prompt_tokens_details":null}}`),
		"event: error\r\ndata: {\"error\":\"x\"}", "[{\"error\":[[\"x\"]]}]", "<title>\xff</title>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		got := listen(t, t.Context(), &server{answers: []answer{text(stream)}}, OpenAIOptions{Tries: -1}, core.Call{})
		if e, ok := errors.AsType[*core.ModelError](got.Err); got.Err != nil && (!ok || e.Msg == "" || len([]rune(e.Msg)) > maxMsg+1) {
			t.Errorf("error %#v", got.Err)
		}
		if f := refused(500, http.Header{}, []byte(stream)); f.Status != 500 {
			t.Errorf("status %d", f.Status)
		}
	})
}
