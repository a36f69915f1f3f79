package llm

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"bellhop/core"
)

const (
	// maxLine is the longest event that is read.
	maxLine = 8 << 20
	// maxStray is how much is kept of lines that are no events.
	maxStray = 2 << 10
)

// read passes the answer's stream on. It returns nil when the reply is whole,
// and also when send did not want more of it.
func (x *exchange) read(send func(core.Chunk) bool) *failure {
	events := newEvents(x)
	var r reply
	for events.next() {
		if string(events.data) == "[DONE]" {
			break
		}
		var e event
		if err := json.Unmarshal(events.data, &e); err != nil {
			if events.cut {
				break
			}
			return unreadable("an event is not JSON of the right shape: " + string(events.data))
		}
		if text := e.fault(); text != nil {
			return reported(text)
		}
		if !r.take(e, send) {
			return nil
		}
		if r.finish != "" {
			x.limit = min(x.limit, tailLimit)
		}
	}
	switch {
	case r.finish != "":
		if send(core.Chunk{Finish: r.ending(), Usage: r.usage}) {
			x.drain()
		}
		return nil
	case errors.Is(events.err(), bufio.ErrTooLong):
		return unreadable("an event is too long")
	case events.err() != nil:
		return x.lost(events.err())
	case events.data == nil && len(events.stray) > 0:
		return stray(events.stray)
	}
	return &failure{
		ModelError: core.ModelError{Fault: core.FaultTruncated, Msg: "the reply ended without a finish reason"},
		passing:    true,
	}
}

// events splits a stream of server-sent events.
type events struct {
	lines *bufio.Scanner
	data  []byte // of the current event; nil before the first
	cut   bool   // the stream ended within the current event's line
	stray []byte // the beginning of what is not an event
}

func newEvents(r io.Reader) *events {
	e := &events{lines: bufio.NewScanner(r)}
	e.lines.Buffer(make([]byte, 0, 4<<10), maxLine)
	e.lines.Split(func(data []byte, end bool) (int, []byte, error) {
		e.cut = end && bytes.IndexByte(data, '\n') < 0
		return bufio.ScanLines(data, end)
	})
	return e
}

// next goes to the next event that has data. Comments and other fields are
// passed over, however many there are.
func (e *events) next() bool {
	for e.lines.Scan() {
		line := bytes.TrimSpace(e.lines.Bytes())
		name, data, field := bytes.Cut(line, []byte(":"))
		switch {
		case field && string(name) == "data":
			if data = bytes.TrimSpace(data); len(data) > 0 {
				e.data = data
				return true
			}
		case len(line) == 0 || field && isField(string(name)):
		case len(e.stray) < maxStray:
			e.stray = append(append(e.stray, line...), '\n')
		}
	}
	return false
}

// isField reports whether a line that begins so belongs to an event; "" is a
// comment.
func isField(name string) bool {
	return name == "" || name == "event" || name == "id" || name == "retry"
}

func (e *events) err() error { return e.lines.Err() }

// event is one piece of a streamed reply.
type event struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Delta struct {
		openai.ChatCompletionStreamChoiceDelta
		// Reasoning is OpenRouter's name for ReasoningContent.
		Reasoning string `json:"reasoning"`
	} `json:"delta"`
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`
}

type usage struct {
	openai.Usage
	Details struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	CacheHit int `json:"prompt_cache_hit_tokens"` // DeepSeek
}

// fault returns the error that an event carries, or nil.
func (e event) fault() json.RawMessage {
	if isSet(e.Error) {
		return e.Error
	}
	for _, c := range e.Choices {
		if isSet(c.Error) {
			return c.Error
		}
		if c.FinishReason == "error" {
			return json.RawMessage(`"the reply broke off"`)
		}
	}
	return nil
}

func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// reply is what the end of a stream must know of its beginning.
type reply struct {
	calls  []started
	byWire map[int]int // the wire's index of a call → ours
	finish core.Finish
	usage  *core.Usage
}

// started is a tool call that has begun.
type started struct {
	id    string
	named bool
}

// take passes an event on. It reports whether more is wanted.
func (r *reply) take(e event, send func(core.Chunk) bool) bool {
	if e.Usage != nil {
		r.usage = e.Usage.core()
	}
	for _, c := range e.Choices {
		chunk := core.Chunk{
			Text:      c.Delta.Content + c.Delta.Refusal,
			Reasoning: cmp.Or(c.Delta.ReasoningContent, c.Delta.Reasoning),
		}
		if chunk != (core.Chunk{}) && !send(chunk) {
			return false
		}
		for _, call := range c.Delta.ToolCalls {
			if !send(core.Chunk{Call: r.call(call)}) {
				return false
			}
		}
		if f := finish(c.FinishReason); f != "" {
			r.finish = f
		}
	}
	return true
}

// call says which call a delta belongs to. Some endpoints leave out the index,
// or the id, or give parallel calls the same index with other ids.
func (r *reply) call(c openai.ToolCall) *core.CallDelta {
	i, known := len(r.calls)-1, len(r.calls) > 0
	if c.Index != nil {
		i, known = r.byWire[*c.Index]
	}
	named := c.Function.Name != ""
	if !known || named && (c.ID != "" && c.ID != r.calls[i].id || c.ID == "" && c.Index == nil) {
		i = len(r.calls)
		r.calls = append(r.calls, started{cmp.Or(c.ID, "call_"+rand.Text()), named})
		if c.Index != nil {
			if r.byWire == nil {
				r.byWire = map[int]int{}
			}
			r.byWire[*c.Index] = i
		}
		return &core.CallDelta{Index: i, ID: r.calls[i].id, Name: c.Function.Name, Args: c.Function.Arguments}
	}
	d := &core.CallDelta{Index: i, Args: c.Function.Arguments}
	if named && !r.calls[i].named {
		r.calls[i].named = true
		d.Name = c.Function.Name
	}
	return d
}

// ending is the finish reason, set right where it contradicts the reply: some
// endpoints say stop after tool calls.
func (r *reply) ending() core.Finish {
	switch {
	case r.finish == core.FinishStop && len(r.calls) > 0:
		return core.FinishTools
	case r.finish == core.FinishTools && len(r.calls) == 0:
		return core.FinishStop
	}
	return r.finish
}

// finish maps a finish reason; "" is none yet. Endpoints have many names for a
// plain stop.
func finish(reason string) core.Finish {
	switch strings.ToLower(reason) {
	case "", "null":
		return ""
	case "tool_calls", "function_call", "tool_use":
		return core.FinishTools
	case "length", "max_tokens", "model_length":
		return core.FinishLength
	case "content_filter", "safety", "recitation", "refusal":
		return core.FinishFilter
	}
	return core.FinishStop
}

func (u usage) core() *core.Usage {
	c := &core.Usage{
		Calls:      1,
		Input:      u.PromptTokens,
		Output:     u.CompletionTokens,
		CacheRead:  cmp.Or(u.Details.Cached, u.CacheHit),
		CacheWrite: u.Details.Written,
	}
	if d := u.CompletionTokensDetails; d != nil {
		c.Reasoning = d.ReasoningTokens
	}
	return c
}
