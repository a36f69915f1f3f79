package mailbox

import (
	"context"
	"fmt"
	"strings"

	"bellhop/core"
)

// purge drops what waits for a bot, here or everywhere.
func purge(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	words := strings.Fields(strings.ToLower(inv.Args))
	everywhere := len(words) == 2 && words[1] == "all"
	if len(words) != 1 && !everywhere {
		return nothing(fmt.Sprintf("Whose mail? %[1]spurge @NAME drops what waits for that agent here, %[1]spurge @NAME all everywhere.", inv.Mark))
	}
	bot := strings.TrimPrefix(words[0], "@")
	thread, where := inv.Thread.ID, "here"
	switch {
	case everywhere:
		thread, where = "", "anywhere"
	case thread == "":
		return nothing("There is no conversation here yet.")
	}
	done, err := inv.Desk.Purge(thread, bot, name(inv.From))
	switch {
	case err != nil:
		return core.CommandReply{}, err
	case !done.Known:
		return nothing(fmt.Sprintf("There is no agent %s. %sagents lists them.", code(bot), inv.Mark))
	case done.Messages == 0:
		return nothing(fmt.Sprintf("Nothing waits for @%s %s.", bot, where))
	}
	text := fmt.Sprintf("Dropped %s that waited for @%s", plural(done.Messages, "message"), bot)
	if everywhere {
		text += ", in " + plural(done.Threads, "conversation")
	}
	if text += "."; done.More {
		text += " There is more: say it again."
	} else {
		text += " " + inv.Mark + "stop, said there, ends what it works on."
	}
	return core.CommandReply{Text: text}, nil
}
