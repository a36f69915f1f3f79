package mailbox

import (
	"context"
	"fmt"
	"strings"

	"bellhop/core"
)

// fork begins a conversation with what was said in another up to a message: the
// one that the person replies to or names, else the newest.
func fork(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	if inv.Opens {
		return nothing("Every thread here is a conversation of its own. Inside one, " + inv.Mark + "fork begins another with what was said in it.")
	}
	at, err := forkedAt(inv)
	if err != nil {
		return core.CommandReply{}, err
	}
	if inv.Branch {
		return branch(inv, at)
	}
	f, ok, err := inv.Desk.Fork(inv.Place, at)
	switch {
	case err != nil:
		return core.CommandReply{}, err
	case !ok:
		return noFork(at)
	}
	text := fmt.Sprintf("This is a fork (%s): I see what was said here up to %s (%s), and no longer what came after.", f.Thread.ID, title(f.Message), f.Message.ID)
	if at == "" {
		text = fmt.Sprintf("This is a fork (%s): I see what was said here so far, and what comes now is not in the conversation that it comes from.", f.Thread.ID)
	}
	if f.Left.Said() > 0 {
		text += fmt.Sprintf(" %sresume %s goes back.", inv.Mark, f.Left.ID)
	}
	load, err := inv.Desk.Load(f.Left.ID)
	if load.Running+load.Queued > 0 {
		text += " What I am doing there goes on, and I still answer it here."
	}
	return core.CommandReply{Text: text}, err
}

// branch begins the fork in a thread of its own.
func branch(inv core.Invocation, at core.ID) (core.CommandReply, error) {
	msg, ok, err := inv.Desk.Branch(inv.Place, at, func(msg core.Message) (text, called string) {
		text = fmt.Sprintf("🔀 %s goes on here from %s (%s), in a thread of its own.", name(inv.From), title(msg), msg.ID)
		return text, strings.Trim(title(msg), "`")
	})
	switch {
	case err != nil:
		return core.CommandReply{}, err
	case !ok:
		return noFork(at)
	}
	return core.CommandReply{Text: fmt.Sprintf("I begin a thread of its own in this channel, which knows what was said here up to %s (%s). This one stays as it is.", title(msg), msg.ID)}, nil
}

// noFork says why there is none.
func noFork(at core.ID) (core.CommandReply, error) {
	if at == "" {
		return nothing("There is nothing to fork here: nothing has been said yet.")
	}
	return nothing(fmt.Sprintf("I know no message %s of the latest conversations here.", at))
}

// forkedAt is the message that the person means; empty: the newest.
func forkedAt(inv core.Invocation) (core.ID, error) {
	if inv.Args != "" {
		id, err := core.ParseID(inv.Args)
		if err != nil || id.Kind() != core.KindMessage {
			return "", &core.UserError{Text: code(inv.Args) + " is no message. Reply to the message with " + inv.Mark + "fork, or name its id, such as m3k."}
		}
		return id, nil
	}
	if inv.Re == nil {
		return "", nil
	}
	if inv.Re.Message == "" {
		return "", &core.UserError{Text: "That message is not in a conversation that I know, so I cannot fork one there."}
	}
	return inv.Re.Message, nil
}
