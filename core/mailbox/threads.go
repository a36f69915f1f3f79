package mailbox

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"bellhop/core"
)

// mostThreads is how many archived conversations /threads shows.
const mostThreads = 10

// threads lists the conversations of the place.
func threads(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	if inv.Opens {
		return nothing("Every thread here is a conversation of its own. Inside one, " + inv.Mark + "threads lists its earlier ones.")
	}
	earlier, err := inv.Desk.Archived(inv.Place, mostThreads+1)
	if err != nil {
		return core.CommandReply{}, err
	}
	var b strings.Builder
	if inv.Thread.Messages > 0 {
		subject, err := about(inv, inv.Thread)
		if err != nil {
			return core.CommandReply{}, err
		}
		fmt.Fprintf(&b, "This conversation: %s, %s (%s).\n\n", subject, plural(inv.Thread.Messages, "message"), inv.Thread.ID)
	}
	if len(earlier) == 0 {
		b.WriteString("There are no earlier conversations here.")
		return core.CommandReply{Text: b.String()}, nil
	}
	b.WriteString("Earlier ones here:\n\n")
	for i, th := range earlier[:min(len(earlier), mostThreads)] {
		subject, err := about(inv, th)
		if err != nil {
			return core.CommandReply{}, err
		}
		fmt.Fprintf(&b, "%d. %s, %s, ended %s (%s)\n", i+1, subject, plural(th.Messages, "message"), ago(th.Archived), th.ID)
	}
	if len(earlier) > mostThreads {
		b.WriteString("\nThere are older ones, too.")
	}
	fmt.Fprintf(&b, "\n%sresume 1 goes back to the first.", inv.Mark)
	return core.CommandReply{Text: b.String()}, nil
}

// about is what a conversation is about, as far as people can tell it by.
func about(inv core.Invocation, th core.Thread) (string, error) {
	msg, err := inv.Desk.Opening(th.ID)
	subject := title(msg)
	if th.Title != "" {
		subject = code(th.Title)
	}
	if th.Fork != "" {
		subject += ", forked at " + string(th.Fork)
	}
	return subject, err
}

// resume goes back to an archived conversation of the place.
func resume(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	if inv.Args == "" {
		return nothing("Which one? " + inv.Mark + "threads lists them, and " + inv.Mark + "resume 1 goes back to the first.")
	}
	th, err := chosen(inv)
	if err != nil {
		return core.CommandReply{}, err
	}
	subject, err := about(inv, th)
	if err != nil {
		return core.CommandReply{}, err
	}
	if err := inv.Desk.Resume(th.ID, name(inv.From)); err != nil {
		return core.CommandReply{}, err
	}
	return core.CommandReply{Text: fmt.Sprintf("Back in %s (%s): I see what was said there again, and no longer what came after.", subject, th.ID)}, nil
}

// chosen is the archived conversation that the arguments name: by its number in
// the list, or by its id.
func chosen(inv core.Invocation) (core.Thread, error) {
	unknown := &core.UserError{Text: "There is no conversation " + code(inv.Args) + " here. " + inv.Mark + "threads lists them."}
	if n, err := strconv.Atoi(inv.Args); err == nil {
		if n < 1 || n > mostThreads {
			return core.Thread{}, unknown
		}
		list, err := inv.Desk.Archived(inv.Place, n)
		switch {
		case err != nil:
			return core.Thread{}, err
		case len(list) < n:
			return core.Thread{}, unknown
		}
		return list[n-1], nil
	}
	id, err := core.ParseID(inv.Args)
	if err != nil || id.Kind() != core.KindThread {
		return core.Thread{}, unknown
	}
	th, ok, err := inv.Desk.Thread(inv.Place, id)
	switch {
	case err != nil:
		return th, err
	case !ok:
		return th, unknown
	case th.Archived.IsZero():
		return th, &core.UserError{Text: "That is the conversation that we are in."}
	}
	return th, nil
}

// ago is how long ago something was, in the largest unit that is full.
func ago(t time.Time) string {
	switch d := time.Since(t); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return plural(int(d/time.Minute), "minute") + " ago"
	case d < 24*time.Hour:
		return plural(int(d/time.Hour), "hour") + " ago"
	default:
		return plural(int(d/(24*time.Hour)), "day") + " ago"
	}
}
