package mailbox

import (
	"context"
	"fmt"
	"strings"

	"bellhop/core"
)

// cancel ends one task by its ID: of an item, of a message or of a run.
func cancel(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	word := strings.Trim(strings.TrimSpace(inv.Args), "`")
	if word == "" {
		return nothing(fmt.Sprintf("Which task? %scancel takes its id, such as i3k9; %sstop stops everything here.", inv.Mark, inv.Mark))
	}
	id, err := core.ParseID(word)
	if err != nil || !strings.ContainsRune("imr", rune(id.Kind())) {
		return nothing(code(word) + " is not the id of a task: those look like i3k9, m3k9 or r3ka.")
	}
	end, err := inv.Desk.CancelTask(inv.Place, id, name(inv.From))
	switch {
	case err != nil:
		return core.CommandReply{}, err
	case end.Messages > 1 && id.Kind() != core.KindRun:
		return core.CommandReply{Text: fmt.Sprintf("Cancelled %s, and %s that the same run was about. %sretry takes it up again.",
			id, plural(end.Messages-1, "other message"), inv.Mark)}, nil
	case end.Messages > 0:
		return core.CommandReply{Text: fmt.Sprintf("Cancelled %s. %sretry takes it up again.", id, inv.Mark)}, nil
	case end.Known:
		return nothing(fmt.Sprintf("%s has ended already: it is %s.", id, end.State))
	}
	return core.CommandReply{}, unknownTask(inv, string(id))
}
