package script

import (
	"strings"
	"testing"
	"testing/synctest"

	"bellhop/core"
)

func TestDemo(t *testing.T) {
	user := func(text string) core.ChatMessage { return core.ChatMessage{Role: core.UserRole, Content: text} }
	before := []core.ChatMessage{user("[Alice]: hi"), {Role: core.AssistantRole, Content: hello}}
	history := []core.ToolSpec{{Name: "read_history"}}
	for name, c := range map[string]struct {
		messages []core.ChatMessage
		tools    []core.ToolSpec
		text     string
		tool     bool
	}{
		"first":        {messages: []core.ChatMessage{user("[Alice]: hi")}, text: hello + "\n\nYou said: hi"},
		"first lookup": {messages: []core.ChatMessage{user("[Alice]: what did I say before?")}, tools: history, text: hello + "\n\n", tool: true},
		"echo": {messages: append(before, user("[Bob]: one\n\n[Alice]: two\n\nthree\n\n⟦now⟧\nIt is late.\n⟦/now⟧")),
			text: "You said: two\n\nthree"},
		"plain":     {messages: append(before, user("no name")), text: "You said: no name"},
		"nothing":   {messages: append(before, user("⟦now⟧\nIt is late.\n⟦/now⟧")), text: nothing},
		"help":      {messages: append(before, user("[Alice]: Help!")), text: help},
		"count":     {messages: append(before, user("[Alice]: count")), text: counting},
		"look up":   {messages: append(before, user("[Alice]: What did I say before?")), tools: history, tool: true},
		"no lookup": {messages: append(before, user("[Alice]: What did I say before?")), text: noHistory},
		"found": {messages: append(before, user("[Alice]: What did I say before?"),
			core.ChatMessage{Role: core.AssistantRole, Calls: []core.ToolCall{{ID: "call_3", Name: "read_history"}}},
			core.ChatMessage{Role: core.ToolRole, CallID: "call_3", Content: "[Alice]: hi"}),
			text: "This is what I found:\n\n[Alice]: hi"},
		"no message": {text: hello + "\n\n" + nothing},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := listen(t, Demo(), t.Context(), core.Call{Messages: c.messages, Tools: c.tools})
				if got.Text != c.text || (len(got.Calls) == 1) != c.tool || (got.Finish == core.FinishTools) != c.tool {
					t.Errorf("%+v", got)
				}
				if !c.tool && got.Chunks <= strings.Count(c.text, " ") {
					t.Errorf("%d chunks: the words do not come one by one", got.Chunks)
				}
			})
		})
	}
}
