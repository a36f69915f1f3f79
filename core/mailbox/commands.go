package mailbox

import (
	"context"
	"fmt"
	"strings"

	"bellhop/core"
)

// Commands are the ones about conversations and the work in them. What they
// change, they change in the transaction that accepts them.
func Commands() []core.Command {
	return append(asks(), []core.Command{
		{Name: "new", Usual: true, Help: "start over: a fresh conversation here", Role: core.Member, Run: fresh},
		{Name: "threads", Usual: true, Help: "earlier conversations here", Role: core.Member, Run: threads},
		{Name: "resume", Help: "go back to an earlier conversation", Role: core.Member, Run: resume},
		{Name: "fork", Help: "a new conversation that begins with this one", Role: core.Member, Run: fork},
		{Name: "stop", Usual: true, Help: "stop what I am doing here", Role: core.Member, Run: stop},
		{Name: "cancel", Help: "cancel one task, by its id", Role: core.Member, Run: cancel},
		{Name: "purge", Help: "drop what waits for an agent: @NAME here, @NAME all everywhere", Role: core.Admin, Run: purge},
		{Name: "tasks", Usual: true, Help: "what there is to do, and was done lately", Role: core.Member, Run: tasks},
		{Name: "task", Help: "one task, more closely", Role: core.Member, Run: task},
		{Name: "retry", Usual: true, Help: "try again what failed or was stopped last", Role: core.Member, Run: retry},
	}...)
}

func fresh(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	if inv.Opens {
		return core.CommandReply{Text: "Mention me with what you want, and I open a thread for it. Inside a thread, " + inv.Mark + "new gives it a fresh start."}, nil
	}
	if inv.Thread.ID != "" {
		if _, _, err := inv.Desk.Cancel(inv.Thread.ID, core.Subject{}, name(inv.From)); err != nil {
			return core.CommandReply{}, err
		}
		if err := inv.Desk.Archive(inv.Thread.ID); err != nil {
			return core.CommandReply{}, err
		}
	}
	return core.CommandReply{Text: "A fresh start: from here on I no longer see what was said before."}, nil
}

func stop(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	if inv.Thread.ID == "" {
		return nothing("There is nothing to stop here.")
	}
	runs, items, err := inv.Desk.Cancel(inv.Thread.ID, inv.Of, name(inv.From))
	switch {
	case err != nil:
		return core.CommandReply{}, err
	case runs+items == 0:
		return nothing("There is nothing to stop here.")
	case items > 0:
		return core.CommandReply{Text: fmt.Sprintf("Stopped, and dropped %s that waited. %sretry takes it up again.", plural(items, "message"), inv.Mark)}, nil
	}
	return core.CommandReply{Text: "Stopped. " + inv.Mark + "retry takes it up again."}, nil
}

func retry(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	thread, of := inv.Thread, inv.Of
	if inv.Args != "" && of == (core.Subject{}) {
		l, err := named(inv)
		switch {
		case err != nil:
			return core.CommandReply{}, err
		case !retryable(l):
			return nothing("That has not failed or been stopped, or it has been tried again, or its conversation is over.")
		}
		thread, of = l.Thread, core.Subject{Run: l.Item.Run}
	}
	if thread.ID == "" {
		return nothing("There is nothing to retry here.")
	}
	msg, ok, err := inv.Desk.Retry(thread.ID, of)
	switch {
	case err != nil:
		return core.CommandReply{}, err
	case !ok:
		return nothing("There is nothing to retry here: nothing has failed or was stopped lately.")
	}
	return core.CommandReply{Text: "Trying again: " + title(msg)}, nil
}

func nothing(text string) (core.CommandReply, error) {
	return core.CommandReply{Text: text, Idle: true}, nil
}

// name is who stopped it, as shown to others.
func name(p core.Person) string {
	if n := strings.Join(strings.Fields(p.Name), " "); n != "" {
		return n
	}
	return string(p.ID)
}

// title is what a message is called: the beginning of its text, or else the
// name of its file.
func title(m core.Message) string {
	text := m.Text()
	for _, p := range m.Parts {
		if strings.TrimSpace(text) == "" && p.File != nil {
			text = p.File.Name
		}
	}
	if strings.TrimSpace(text) == "" {
		return "a message without text"
	}
	return code(text)
}

// code is the first 50 characters of a text, on one line, as code so that
// nothing in it is rendered.
func code(text string) string {
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "`", "'")
	r := []rune(text)
	if len(r) > 50 {
		text = string(r[:50]) + "…"
	}
	return "`" + text + "`"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
