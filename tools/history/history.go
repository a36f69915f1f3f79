// Package history is the tools with which a bot reads the messages of its thread
// that it is not shown: page by page, or those that a search finds. It imports
// core and tools.
package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/tools"
)

// History is where messages are stored. Before returns at most limit messages
// of the thread, the newest that are older than before (empty: the newest of
// all), and whether there are older ones still.
type History interface {
	Before(ctx context.Context, thread, before core.ID, limit int) ([]core.Message, bool, error)
}

// How much is shown.
const (
	usual      = 20   // messages, when the model does not say
	textLength = 1000 // characters of a message's text
)

type arguments struct {
	Before core.ID `json:"before,omitempty" doc:"ID of a message: read what is older than it. Without it: the newest messages"`
	Limit  int     `json:"limit,omitempty" doc:"how many messages, 20 if not given" min:"1" max:"50"`
}

// New is the tool read_history. Times are shown in the call's zone, else in loc;
// nil means UTC.
func New(h History, loc *time.Location) core.Tool {
	spec := core.ToolSpec{
		Name:        "read_history",
		Description: "Reads messages of this conversation that you were not shown, oldest first. Page back with before.",
		Status:      "reading the earlier conversation",
		ReadOnly:    true,
		Idempotent:  true,
	}
	return tools.Func(spec, func(ctx context.Context, env *core.Env, in arguments) (core.ToolResult, error) {
		var before core.ID
		if in.Before != "" {
			id, _ := core.ParseID(string(in.Before)) // what is no ID is no message's either
			if id.Kind() != core.KindMessage {
				return core.ToolResult{Text: fmt.Sprintf("Invalid arguments for read_history: before must be the ID of a message, like m3k9, not %q", in.Before), Failed: true}, nil
			}
			before = id
		}
		messages, older, err := h.Before(ctx, env.Thread, before, cmp.Or(in.Limit, usual))
		if err != nil {
			return core.ToolResult{}, fmt.Errorf("read history: %w", err)
		}
		return core.ToolResult{Text: page(messages, older, before, cmp.Or(env.Zone, loc, time.UTC))}, nil
	})
}

// page is messages as lines, oldest first.
func page(messages []core.Message, older bool, before core.ID, loc *time.Location) string {
	if len(messages) == 0 {
		if before == "" {
			return "There are no messages."
		}
		return fmt.Sprintf("There are no messages before %s.", before)
	}
	messages = slices.SortedFunc(slices.Values(messages), func(a, b core.Message) int {
		return cmp.Compare(a.ID.Seq(), b.ID.Seq())
	})
	var b strings.Builder
	for i := range messages {
		line(&b, &messages[i], loc)
	}
	if older {
		fmt.Fprintf(&b, "There are older messages: call read_history with before=%s.", messages[0].ID)
	} else {
		b.WriteString("There are no older messages.")
	}
	return b.String()
}

// begin writes a message's ID, time and sender.
func begin(b *strings.Builder, m *core.Message, loc *time.Location) {
	fmt.Fprintf(b, "%s %s %s", m.ID, m.Time.In(loc).Format("2006-01-02 15:04"), speaker(m))
	if m.Corrects != "" {
		fmt.Fprintf(b, " corrects %s", m.Corrects)
	}
	b.WriteString(": ")
}

// line writes a message. What goes on in further lines is indented, so that no
// text can pass for another message.
func line(b *strings.Builder, m *core.Message, loc *time.Location) {
	begin(b, m, loc)
	b.WriteString(tools.Indent(tools.Cap(strings.TrimSpace(m.Text()), textLength)))
	if m.Earlier != nil {
		for _, q := range m.Earlier.Quotes {
			fmt.Fprintf(b, "\n  (before it %s said: %s)", tools.Name(q.Author), tools.Indent(tools.Cap(q.Text, textLength/4)))
		}
	}
	for _, p := range m.Parts {
		switch {
		case p.Kind == core.QuotePart && p.Quote != nil:
			fmt.Fprintf(b, "\n  (quotes %s: %s)", tools.Name(p.Quote.Author), tools.Indent(tools.Cap(p.Quote.Text, textLength/4)))
		case p.Kind == core.FilePart && p.File != nil:
			fmt.Fprintf(b, "\n  (file %s)", tools.Name(p.File.Name))
		}
	}
	if m.Digest != "" {
		fmt.Fprintf(b, "\n  (tools used: %s)", tools.Indent(m.Digest))
	}
	b.WriteByte('\n')
}

// speaker is who sent the message: a person in brackets, a bot or an external in
// brackets with an @ that no person's name begins with, the system without brackets.
func speaker(m *core.Message) string {
	switch m.Sender.Kind {
	case core.SystemActor:
		return "system notice"
	case core.BotActor, core.ExternalActor:
		return "[@" + m.Sender.ID + "]"
	}
	return "[" + tools.Name(m.Name) + "]"
}
