// Package channel is the tool with which a bot reads what was said around it,
// in its own channel and nowhere else: from the platform, where that lets a bot
// read, else what the ledger has of it. It imports core and tools.
package channel

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/tools"
)

// Read is core.Features.Read.
type Read = func(ctx context.Context, p core.Place, before string, limit int) (core.Page, error)

// Ledger is where the messages of platforms are that do not let a bot read. See
// store.Seen.
type Ledger interface {
	Seen(ctx context.Context, p core.Place, whole bool, before core.ID, limit int) ([]core.Message, bool, error)
}

// How much is shown.
const (
	usual      = 20   // messages, when the model does not say
	textLength = 1000 // characters of a message's text
)

// patience is how long the platform may take.
const patience = 15 * time.Second

//go:embed read_channel.md
var description string

type arguments struct {
	Where  string `json:"where,omitempty" doc:"channel if not given" enum:"channel,thread"`
	Before string `json:"before,omitempty" doc:"what the page before said: read what is older than it. Without it: the newest messages"`
	Limit  int    `json:"limit,omitempty" doc:"how many messages, 20 if not given" min:"1" max:"50"`
}

// New is the tool read_channel. reader finds an adapter's way to read; it may
// find nil. Times are shown in the call's zone, else in loc; nil means UTC.
func New(reader func(adapter string) Read, ledger Ledger, loc *time.Location) core.Tool {
	spec := core.ToolSpec{Name: "read_channel", Description: strings.TrimSpace(description), ReadOnly: true, Idempotent: true, Status: "reading the channel"}
	return tools.Func(spec, func(ctx context.Context, env *core.Env, in arguments) (core.ToolResult, error) {
		whole := in.Where != "thread"
		limit, loc := cmp.Or(in.Limit, usual), cmp.Or(env.Zone, loc, time.UTC)
		read := reader(env.Place.Adapter)
		if read == nil {
			return seen(ctx, ledger, env.Place, whole, in.Before, limit, loc)
		}
		p := env.Place
		if whole {
			p.Topic = ""
		}
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		page, err := read(ctx, p, in.Before, limit)
		if err != nil {
			return unread(ctx, err)
		}
		return core.ToolResult{Text: show(page, loc)}, nil
	})
}

// unread is what the model is told of a page that cannot be had; the run goes
// on, unless it is over.
func unread(ctx context.Context, err error) (core.ToolResult, error) {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return core.ToolResult{}, cause
	}
	return core.ToolResult{Text: "It cannot be read: " + err.Error(), Failed: true}, nil
}

// seen reads from the ledger.
func seen(ctx context.Context, ledger Ledger, p core.Place, whole bool, before string, limit int, loc *time.Location) (core.ToolResult, error) {
	id, _ := core.ParseID(before) // what is no ID is no message's either
	if before != "" && id.Kind() != core.KindMessage {
		return core.ToolResult{Text: fmt.Sprintf("Invalid arguments for read_channel: before must be what the page before said, not %q", before), Failed: true}, nil
	}
	messages, more, err := ledger.Seen(ctx, p, whole, id, limit)
	if err != nil {
		return core.ToolResult{}, fmt.Errorf("read channel: %w", err)
	}
	var page core.Page
	for i := range messages {
		page.Quotes = append(page.Quotes, quote(&messages[i]))
	}
	if more {
		page.Before = string(messages[0].ID)
	}
	return core.ToolResult{Text: "Only what was said to you here is known:\n" + show(page, loc)}, nil
}

// quote is a message of the ledger as one that is read back.
func quote(m *core.Message) core.Quote {
	q := core.Quote{Author: m.Name, Text: m.Text(), Time: m.Time}
	switch m.Sender.Kind {
	case core.BotActor, core.ExternalActor:
		q.Author, q.Own = m.Sender.ID, true
	case core.SystemActor:
		q.Author, q.Own = "system", true
	}
	for _, p := range m.Parts {
		if p.Kind == core.FilePart && p.File != nil {
			q.Files = append(q.Files, *p.File)
		}
	}
	return q
}

// show is a page as lines. What goes on in further lines is indented, so that
// no text can pass for another message, and only our own names begin with @.
func show(page core.Page, loc *time.Location) string {
	var b strings.Builder
	for _, q := range page.Quotes {
		if !q.Time.IsZero() {
			b.WriteString(q.Time.In(loc).Format("2006-01-02 15:04 "))
		}
		at := ""
		if q.Own {
			at = "@"
		}
		fmt.Fprintf(&b, "[%s%s]: %s", at, tools.Name(q.Author), tools.Indent(tools.Cap(strings.TrimSpace(q.Text), textLength)))
		for _, f := range q.Files {
			fmt.Fprintf(&b, "\n  (file %s)", tools.Name(f.Name))
		}
		b.WriteByte('\n')
	}
	switch {
	case page.Before != "":
		fmt.Fprintf(&b, "There are older messages: call read_channel with before=%s.", page.Before)
	case len(page.Quotes) == 0:
		b.WriteString("There are no messages.")
	default:
		b.WriteString("There are no older messages.")
	}
	return b.String()
}
