package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"bellhop/core"
)

// What stands for results that do not exist.
const (
	unknownResult = "This tool was started before a restart and whether it finished is unknown. Check before you repeat it."
	pendingResult = "not run"
	emptyResult   = "(no output)"
)

// goOn asks for the rest of a reply that the model's output limit cut.
const goOn = "⟦Your reply was cut off by the length limit. Go on exactly where it stopped, without repeating anything.⟧"

// meanwhile stands before what joined a run while it worked.
const meanwhile = "⟦This came while you worked on the above. Your answer is to this as well.⟧"

// transcript writes the run's own steps: what the model wrote and called, then
// exactly one result for each call, in order, whatever became of it; then the
// view's messages that joined the run there, as Unroll writes them. Reasoning is
// never sent back. What a provider would refuse for ever (a call without an ID
// or with one that was used already, arguments that are no object, a tool's name
// that cannot be one) is put right.
func (w *writer) transcript(steps []core.Step) {
	ids := make(map[string]bool)
	for i := range steps {
		w.out = append(w.done(), exchange(&steps[i], ids)...)
		if len(steps[i].Joined) == 0 {
			continue
		}
		w.begin(core.UserRole)
		w.text.WriteString(meanwhile)
		messages := w.names.view.Messages
		for j := range messages {
			if slices.Contains(steps[i].Joined, messages[j].ID) {
				w.begin(core.UserRole)
				w.speech(&messages[j])
			}
		}
	}
}

// exchange is one step as chat messages. ids are those of the calls before it.
func exchange(s *core.Step, ids map[string]bool) []core.ChatMessage {
	m := core.ChatMessage{Role: core.AssistantRole, Content: clean(s.Text())}
	var results []core.ChatMessage
	for _, p := range s.Parts {
		if p.Kind != core.ToolPart || p.Tool == nil {
			continue
		}
		id := p.Tool.CallID
		for n := len(ids) + 1; id == "" || ids[id]; n++ {
			id = fmt.Sprintf("call_%d", n)
		}
		ids[id] = true
		m.Calls = append(m.Calls, core.ToolCall{ID: id, Name: toolName(p.Tool.Name), Args: object(p.Tool.Args)})
		results = append(results, core.ChatMessage{Role: core.ToolRole, CallID: id, Content: result(p.Tool)})
	}
	if strings.TrimSpace(m.Content) == "" {
		m.Content = ""
	}
	if m.Content == "" && len(m.Calls) == 0 {
		if s.Finish != core.FinishLength {
			return nil
		}
		m.Content = noText
	}
	out := append([]core.ChatMessage{m}, results...)
	if s.Finish == core.FinishLength {
		out = append(out, core.ChatMessage{Role: core.UserRole, Content: goOn})
	}
	return out
}

// result is what the model reads of how a call went.
func result(t *core.ToolUse) string {
	switch text := clean(t.Output); {
	case strings.TrimSpace(text) != "":
		return text
	case t.State == core.ToolPending:
		return pendingResult
	case t.State == core.ToolRunning, t.State == core.ToolUnknown:
		return unknownResult
	}
	return emptyResult
}

// toolName is the name as all providers take it: 1 to 64 letters, digits,
// underscores and dashes. Models do ask for tools that cannot exist.
func toolName(name string) string {
	name = head(strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, name), 64)
	if name == "" {
		return "unnamed"
	}
	return name
}

// object is args, or an empty object if they are none.
func object(args string) string {
	args = clean(strings.TrimSpace(args))
	if !strings.HasPrefix(args, "{") || !json.Valid([]byte(args)) {
		return "{}"
	}
	return args
}

// digestLength is the most characters of a digest.
const digestLength = 240

// Digest names the tools that the steps used, in the order of their first use:
// "read_history ×2, exec". It is stored with the reply, and later runs read it
// after the reply's text. It is empty when no tool ran.
func Digest(steps []core.Step) string {
	var order []string
	uses := make(map[string]int)
	for _, s := range steps {
		for _, p := range s.Parts {
			if p.Kind != core.ToolPart || p.Tool == nil || p.Tool.State == core.ToolPending {
				continue
			}
			name := toolName(p.Tool.Name)
			if uses[name]++; uses[name] == 1 {
				order = append(order, name)
			}
		}
	}
	var b strings.Builder
	for i, name := range order {
		if n := uses[name]; n > 1 {
			name = fmt.Sprintf("%s ×%d", name, n)
		}
		if i > 0 {
			name = ", " + name
		}
		more := fmt.Sprintf(", and %d more", len(order)-i)
		if b.Len()+len(name)+len(more) > digestLength && i > 0 {
			return b.String() + more
		}
		b.WriteString(name)
	}
	return b.String()
}
