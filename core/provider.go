package core

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"
)

// Provider is a model endpoint. Stream makes one call and yields its reply as
// it comes. A call that succeeds ends with a Chunk whose Finish is set; a
// reply that just stops is ErrTruncated, never success. Retries of passing
// faults are the provider's own; when some text has been yielded already, it
// yields a Chunk with Reset before it begins again. The error, always last, is
// a *ModelError, or the context's cause.
type Provider interface {
	Stream(ctx context.Context, call Call) iter.Seq2[Chunk, error]
}

// Call is one request to a model.
type Call struct {
	Model    string // the provider's own name for it, without the provider
	System   string // stable: the same bytes for every call of a bot
	Messages []ChatMessage
	Tools    []ToolSpec // sorted by name
	Params   map[string]any
	User     string // opaque, for the provider's abuse and cache routing; may be empty
}

// ChatRole is who speaks in a Call.
type ChatRole string

// The roles in a Call.
const (
	UserRole      ChatRole = "user"
	AssistantRole ChatRole = "assistant"
	ToolRole      ChatRole = "tool"
)

// ChatMessage is one message of a Call. Every tool call of an assistant
// message is answered by exactly one tool message that follows it.
type ChatMessage struct {
	Role    ChatRole
	Content string
	Images  []Image    // user only; in the order of their places in Content
	Calls   []ToolCall // assistant only
	CallID  string     // tool only
}

// Finish is why a model stopped.
type Finish string

// The ways a reply ends.
const (
	FinishStop   Finish = "stop"
	FinishTools  Finish = "tools"
	FinishLength Finish = "length" // the reply is cut at the model's output limit
	FinishFilter Finish = "filter" // the provider refused
)

// Chunk is a piece of a reply. Any fields may be set together.
type Chunk struct {
	Text      string
	Reasoning string
	Call      *CallDelta
	Finish    Finish
	Usage     *Usage
	Reset     bool // forget what this call has yielded so far: it begins again
	Retry     int  // with Reset: the number of the new try, from 1
}

// CallDelta is a piece of a tool call. Index tells parallel calls apart; ID
// and Name come whole, Args in pieces.
type CallDelta struct {
	Index int
	ID    string
	Name  string
	Args  string
}

// Usage counts tokens. Input includes CacheRead and CacheWrite. What they cost is
// reckoned when they are used, for prices change: see At.
type Usage struct {
	Calls      int `json:"calls,omitempty"`
	Input      int `json:"input,omitempty"`
	Output     int `json:"output,omitempty"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
	Reasoning  int `json:"reasoning,omitempty"`

	Priced   int    `json:"priced,omitempty"`   // of Input and Output, those whose price was known
	Cost     int64  `json:"cost,omitempty"`     // of these, in millionths of a USD
	Unpriced string `json:"unpriced,omitempty"` // "provider/model" that used the last of the others; empty: nobody knows
}

// Add sums two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Calls + v.Calls, u.Input + v.Input, u.Output + v.Output,
		u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Reasoning + v.Reasoning,
		u.Priced + v.Priced, u.Cost + v.Cost, cmp.Or(v.Unpriced, u.Unpriced)}
}

// Tokens are all that were read and written.
func (u Usage) Tokens() int { return u.Input + u.Output }

// ModelFault classifies why a model call failed.
type ModelFault string

// The faults.
const (
	FaultAuth      ModelFault = "auth"       // the key is refused: 401, 403
	FaultRate      ModelFault = "rate"       // 429
	FaultOverload  ModelFault = "overload"   // 5xx, 529
	FaultOverflow  ModelFault = "overflow"   // the request is larger than the model's window
	FaultRequest   ModelFault = "request"    // the request is refused: other 4xx
	FaultTransport ModelFault = "transport"  // not reachable, cut off, or silent too long
	FaultTruncated ModelFault = "truncated"  // the stream ended without saying why
	FaultReply     ModelFault = "unreadable" // the reply is not what the protocol says
)

// ModelError is a model call that failed for good: retries are over, or would
// not help.
type ModelError struct {
	Fault  ModelFault
	Model  string
	Status int           // HTTP; 0: no answer
	After  time.Duration // what Retry-After said; 0: nothing
	Tries  int
	Msg    string // the provider's words, shortened; holds no secret
}

func (e *ModelError) Error() string {
	s := fmt.Sprintf("model %s: %s", e.Model, e.Fault)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Msg != "" {
		s += ": " + e.Msg
	}
	return s
}

// ToolSpec is what a model is told of a tool, and what the run loop must know.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON schema of the arguments object
	// Status is what people see while it works, as it follows "is": "reading the
	// earlier conversation". Empty: "using" and the name.
	Status string `json:"-"`
	// Effect is what people are told of what it does when they are asked whether
	// it may: "It sends a message to another conversation." May be empty.
	Effect string `json:"-"`
	// ReadOnly tools change nothing: their call needs no durable record before
	// it starts, and may simply run again.
	ReadOnly bool `json:"-"`
	// Idempotent tools may run again when a crash hid whether they finished.
	Idempotent bool `json:"-"`
	// MaxOutput is the most characters of output; 0: the loop's own limit.
	MaxOutput int `json:"-"`
}

// ToolCall is one call as the model wrote it.
type ToolCall struct {
	ID   string
	Name string
	Args string // JSON object
}

// Tool is something a model can call.
type Tool interface {
	Spec() ToolSpec
	// Call does it. A failure that the model should see and work around is a
	// ToolResult with Failed; an error means that the run cannot go on.
	Call(ctx context.Context, env *Env, call ToolCall) (ToolResult, error)
}

// Env is where a tool call takes place.
type Env struct {
	Bot    string
	Thread ID
	Run    ID
	Place  Place
	Zone   *time.Location // of the times that the model is told; nil: the tool's own
	// Workspace is the folder in which the run works, which exists; empty: none.
	Workspace string
}

// ToolResult is what the model gets back.
type ToolResult struct {
	Text   string
	Failed bool
	// Question has the run wait for a person, whose answer the model gets instead.
	Question *Question
}

// Question is what a bot asks a person.
type Question struct {
	Text    string
	Choices []string // each once, whatever its case; empty: any answer
}
