package script

import (
	"context"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"bellhop/core"
)

// pace is the pause between two words of the demo: slow enough to be seen.
const pace = 40 * time.Millisecond

const (
	hello = "Hi! I am a demo: no model stands behind me, I only play back a few fixed replies, " +
		"so that you can try everything else. Say \"help\" to see what I can do."
	help = "I can do three things:\n\n" +
		"- say **count**, and I count slowly, so that you see words arrive\n" +
		"- ask **what did I say before?**, and I look it up with a tool\n" +
		"- say anything else, and I repeat it\n\n" +
		"For real answers, set a provider and a model in the configuration."
	counting  = "One … two … three … four … five … six … seven. That is as far as I go."
	noHistory = "I would look that up with the tool read_history, but I have not been given it here."
	nothing   = "You said nothing that I could repeat. Say \"help\" to see what I can do."
)

// Demo is a provider that answers without any model, and says so in its first
// answer of a thread. It depends on nothing but the call.
func Demo() core.Provider { return demo{} }

type demo struct{}

func (demo) Stream(ctx context.Context, call core.Call) iter.Seq2[core.Chunk, error] {
	return func(yield func(core.Chunk, error) bool) {
		// Ids of tool calls need to differ within a thread.
		play(ctx, call, answer(call), len(call.Messages), yield)
	}
}

func answer(call core.Call) Reply {
	last := call.Messages[max(0, len(call.Messages)-1):]
	if len(last) > 0 && last[0].Role == core.ToolRole {
		return slowly("This is what I found:\n\n" + last[0].Content)
	}
	reply := trick(call)
	if !slices.ContainsFunc(call.Messages, isAssistant) {
		reply = append(slowly(hello+"\n\n"), reply...)
	}
	return reply
}

// trick is what the demo does about the last thing that a person said.
func trick(call core.Call) Reply {
	said := said(call.Messages)
	switch asks := strings.ToLower(said); {
	case said == "":
		return slowly(nothing)
	case strings.Contains(asks, "help"):
		return slowly(help)
	case strings.Contains(asks, "count"):
		return Reply{{verb: verbSlow, pause: 10 * pace, text: counting}}
	case strings.Contains(asks, "say before"), strings.Contains(asks, "said before"):
		if !slices.ContainsFunc(call.Tools, func(t core.ToolSpec) bool { return t.Name == "read_history" }) {
			return slowly(noHistory)
		}
		return Reply{{verb: verbTool, name: "read_history", text: `{"limit":5}`}}
	}
	return slowly("You said: " + said)
}

// speaker is how a message begins in what a model reads.
var speaker = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\[[^\]\n]+\]: `) })

// said is what a person said last, without what was added for a model: the
// names, and the block in double brackets at the end.
func said(messages []core.ChatMessage) string {
	for _, m := range slices.Backward(messages) {
		if m.Role != core.UserRole {
			continue
		}
		text, _, _ := strings.Cut(m.Content, "⟦")
		if at := speaker().FindAllStringIndex(text, -1); at != nil {
			text = text[at[len(at)-1][1]:]
		}
		return strings.TrimSpace(text)
	}
	return ""
}

func isAssistant(m core.ChatMessage) bool { return m.Role == core.AssistantRole }

func slowly(text string) Reply { return Reply{{verb: verbSlow, pause: pace, text: text}} }
