package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"bellhop/core"
)

// Func makes a tool of a function whose arguments are the struct In. The
// schema in spec.Parameters is derived from In:
//
//	type arguments struct {
//		Path  string `json:"path" doc:"file to read"`
//		Limit int    `json:"limit,omitempty" doc:"most lines" min:"1" max:"100"`
//		Mode  string `json:"mode,omitempty" enum:"text,hex"`
//	}
//
// A field is required unless it has omitempty or omitzero. Fields may be
// strings, booleans, numbers, structs, slices and string-keyed maps of these,
// and pointers to them; json.RawMessage and any take what comes. The order of
// the properties is the fields'. Func panics when In is something else, since
// that is a mistake in the program.
//
// Arguments that do not fit never reach f: the result tells the model what is
// wrong with them. Malformed arguments are repaired, but a tool that changes
// things is not called with arguments that were cut off.
func Func[In any](spec core.ToolSpec, f func(ctx context.Context, env *core.Env, in In) (core.ToolResult, error)) core.Tool {
	s := schemaFor[In]()
	parameters, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("tools: schema of %s: %v", spec.Name, err))
	}
	spec.Parameters = parameters
	return &typed[In]{spec, s, f}
}

type typed[In any] struct {
	spec   core.ToolSpec
	schema *schema
	f      func(context.Context, *core.Env, In) (core.ToolResult, error)
}

func (t *typed[In]) Spec() core.ToolSpec { return t.spec }

func (t *typed[In]) Call(ctx context.Context, env *core.Env, call core.ToolCall) (core.ToolResult, error) {
	in, err := t.arguments(call.Args)
	if err != nil {
		return core.ToolResult{Text: fmt.Sprintf("Invalid arguments for %s: %v", t.spec.Name, err), Failed: true}, nil
	}
	return t.f(ctx, env, in)
}

var (
	errNoObject = errors.New("they must be one JSON object")
	errCutOff   = errors.New("they were cut off, so nothing was done; write them again, or do it in smaller parts")
)

// arguments decodes args. The error is for the model to read.
func (t *typed[In]) arguments(args string) (in In, err error) {
	object, ok := Repair(args)
	if !ok {
		return in, errNoObject
	}
	if !t.spec.ReadOnly && cutOff(args) {
		return in, errCutOff
	}
	m, err := decode(object)
	if err != nil {
		return in, errNoObject
	}
	var p problems
	checked := t.schema.check(&p, "", m)
	if len(p) > 0 {
		return in, p
	}
	b, err := json.Marshal(checked)
	if err != nil {
		return in, err
	}
	return in, json.Unmarshal(b, &in)
}
