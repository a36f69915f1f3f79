package bus

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"bellhop/core"
)

// status says what the conversation does, how much there is to do everywhere,
// what it has cost, and how the adapters are.
func status(health func() []AdapterHealth) func(context.Context, core.Invocation) (core.CommandReply, error) {
	return func(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
		load, err := inv.Desk.Load(inv.Thread.ID)
		if err != nil {
			return core.CommandReply{}, err
		}
		spent, err := inv.Desk.Spent(inv.Thread.ID)
		if err != nil {
			return core.CommandReply{}, err
		}
		var b strings.Builder
		line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
		if inv.Thread.ID == "" {
			line("No conversation here yet.")
		} else {
			parked := 0
			for _, w := range load.Works {
				if w.Ask.ID != "" {
					parked++
				}
			}
			line("This conversation (%s): %s, %s.", inv.Thread.ID, doing(len(load.Works)-parked, parked), waiting(load.Queued, load.More))
			for _, w := range load.Works {
				line("%s", work(w))
			}
		}
		line("Everywhere: %s, %s.", doing(load.Running, load.Parked), waiting(load.Waiting, load.More))
		if spent != (core.Spent{}) {
			line("%s", costs(spent))
		}
		for _, h := range health() {
			line("%s: %s", h.Name, h.words())
		}
		return core.CommandReply{Text: b.String()}, nil
	}
}

// work is what a run does now.
func work(w core.Work) string {
	does, detail, since := "works", fmt.Sprintf("step %d", w.Run.Steps+1), w.Run.Created
	switch w.Ask.Kind {
	case core.QuestionAsk:
		does, detail, since = "waits for an answer", string(w.Ask.ID), w.Ask.Created
	case core.ApprovalAsk:
		does, detail, since = "waits for an approval", string(w.Ask.ID), w.Ask.Created
	}
	if d := span(since); d != "" {
		detail += ", " + d
	}
	return fmt.Sprintf("@%s %s (%s).", w.Run.Bot, does, detail)
}

func doing(running, parked int) string {
	var out []string
	if running > 0 {
		out = append(out, plural(running, "run")+" in progress")
	}
	if parked > 0 {
		out = append(out, plural(parked, "run")+" waiting for people")
	}
	return cmp.Or(strings.Join(out, ", "), "idle")
}

func waiting(n int, more bool) string {
	if more {
		return fmt.Sprintf("%d or more messages waiting", n)
	}
	return plural(n, "message") + " waiting"
}

// words say how the adapter is, in a line.
func (h AdapterHealth) words() string {
	since := ""
	if d := span(h.Since); d != "" {
		since = " for " + d
	}
	switch h.State {
	case core.AdapterDown:
		return fmt.Sprintf("down%s: %v", since, h.Dead)
	case core.AdapterDeaf:
		return fmt.Sprintf("in trouble%s: %s", since, h.Trouble)
	case core.AdapterUp:
		if h.LastInbound.IsZero() { // it does not say
			return "up" + since
		}
		if d := span(h.LastInbound); d != "" {
			return "up" + since + ", last heard " + d + " ago"
		}
		return "up" + since + ", last heard just now"
	}
	return "connecting" + since
}

// span is how long something has been so; empty if it has just begun, or nobody
// knows since when.
func span(since time.Time) string {
	d := time.Since(since)
	switch {
	case since.IsZero() || d < time.Second:
		return ""
	case d < time.Minute:
		return plural(int(d/time.Second), "second")
	case d < time.Hour:
		return plural(int(d/time.Minute), "minute")
	case d < 48*time.Hour:
		return plural(int(d/time.Hour), "hour")
	}
	return plural(int(d/(24*time.Hour)), "day")
}
