package mailbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

const (
	// mostOpen is how many open tasks /tasks shows.
	mostOpen = 20
	// mostEnded is how many ended ones it shows.
	mostEnded = 10
)

// tasks lists what is to do, is done, and was done lately.
func tasks(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	open, ended, err := inv.Desk.Tasks(inv.Viewer())
	if err != nil {
		return core.CommandReply{}, err
	}
	if len(open)+len(ended) == 0 {
		return nothing("There are no tasks here, nor were there any in the last day.")
	}
	rank := []core.State{core.Waiting, core.Doing, core.Queued}
	slices.SortStableFunc(open, func(x, y core.Task) int {
		return cmp.Or(mineFirst(x, y), slices.Index(rank, x.Item.State)-slices.Index(rank, y.Item.State))
	})
	slices.SortStableFunc(ended, mineFirst)
	var b strings.Builder
	list := func(head string, all []core.Task, most int) {
		if len(all) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s:\n\n", head)
		for _, task := range all[:min(len(all), most)] {
			fmt.Fprintf(&b, "- %s\n", taskLine(inv, task))
		}
		if left := len(all) - most; left > 0 {
			fmt.Fprintf(&b, "\n… and %d more.\n", left)
		}
		b.WriteByte('\n')
	}
	list("Open", open, mostOpen)
	list("In the last day", ended, mostEnded)
	first := append(open, ended...)[0]
	fmt.Fprintf(&b, "%stask %s shows the first more closely.", inv.Mark, first.Item.ID)
	return core.CommandReply{Text: b.String()}, nil
}

func mineFirst(x, y core.Task) int {
	switch {
	case x.Mine == y.Mine:
		return 0
	case x.Mine:
		return -1
	}
	return 1
}

func taskLine(inv core.Invocation, task core.Task) string {
	it := task.Item
	when := "asked " + ago(it.Created)
	if it.State.Terminal() {
		when = ago(it.Ended)
	}
	return fmt.Sprintf("%s: %s, %s, %s (%s)%s", task.State(), title(task.Message), it.Bot, when, it.ID, elsewhere(inv, task))
}

// elsewhere says where a task of another place is.
func elsewhere(inv core.Invocation, task core.Task) string {
	if task.Thread.Place == inv.Place {
		return ""
	}
	return ", in " + code(task.Thread.Place.String())
}

// task shows one task more closely, with what can be done about it.
func task(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	if inv.Args == "" {
		return nothing("Which one? " + inv.Mark + "tasks lists them.")
	}
	l, err := named(inv)
	if err != nil {
		return core.CommandReply{}, err
	}
	var b strings.Builder
	it := l.Item
	fmt.Fprintf(&b, "%s (%s)%s\n\n", title(l.Message), it.ID, elsewhere(inv, l.Task))
	line := func(format string, args ...any) { fmt.Fprintf(&b, "- "+format+"\n", args...) }
	asker := "you"
	if !l.Mine {
		asker = code(l.Message.Name)
	}
	line("%s, for %s; %s asked %s", l.State(), it.Bot, asker, ago(it.Created))
	switch {
	case it.State.Terminal() && l.Run.ID != "":
		line("ended %s; it took %s", ago(it.Ended), it.Ended.Sub(l.Run.Created).Round(time.Second))
	case it.State.Terminal():
		line("ended %s", ago(it.Ended))
	case l.Run.ID != "":
		line("begun %s", ago(l.Run.Created))
	}
	if l.Run.Steps > 0 {
		line("%s%s", plural(l.Run.Steps, "step"), lately(l.Steps))
	}
	switch {
	case it.State == core.Cancelled && l.Run.Error != "":
		line("%s", code(l.Run.Error))
	case l.Outcome != "":
		line("what came of it: %s", code(l.Outcome))
	}
	if it.Parent != "" {
		line("tries %s again", it.Parent)
	}
	if len(l.Retries) > 0 {
		line("tried again as %s", idList(l.Retries))
	}
	var name, does string
	switch {
	case retryable(l):
		name, does = "retry", "tries it again"
	case !it.State.Terminal():
		name, does = "cancel", "cancels it"
	}
	var buttons []core.Button
	switch {
	case name == "":
	case inv.Buttons:
		buttons = []core.Button{{Label: strings.ToUpper(name[:1]) + name[1:], Value: name + " " + string(it.ID)}}
	case name == "cancel" && l.Thread.Place != inv.Place:
		fmt.Fprintf(&b, "\n%scancel %s, said there, cancels it.", inv.Mark, it.ID)
	default:
		fmt.Fprintf(&b, "\n%s%s %s %s.", inv.Mark, name, it.ID, does)
	}
	return core.CommandReply{Text: b.String(), Buttons: buttons}, nil
}

// retryable reports whether the task has failed or was stopped, and nobody has
// tried it again.
func retryable(l core.TaskLife) bool {
	return (l.Item.State == core.Failed || l.Item.State == core.Cancelled) && len(l.Retries) == 0 && l.Thread.Archived.IsZero()
}

// named is the task whose id the arguments are, or the one that gave its number
// to a run or a post.
func named(inv core.Invocation) (core.TaskLife, error) {
	unknown := unknownTask(inv, inv.Args)
	id, err := core.ParseID(inv.Args)
	if err != nil || !strings.ContainsRune("irp", rune(id.Kind())) {
		return core.TaskLife{}, unknown
	}
	l, ok, err := inv.Desk.Task(inv.Viewer(), id.As(core.KindItem))
	if err == nil && !ok {
		err = unknown
	}
	return l, err
}

// lately says which tools the last steps have used.
func lately(steps []core.Step) string {
	var names []string
	for _, st := range steps {
		for _, p := range st.Parts {
			if p.Tool != nil && !slices.Contains(names, p.Tool.Name) {
				names = append(names, p.Tool.Name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", lately with " + code(strings.Join(names, ", "))
}

func idList(ids []core.ID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = string(id)
	}
	return strings.Join(names, ", ")
}

func unknownTask(inv core.Invocation, id string) error {
	return &core.UserError{Text: "There is no task " + code(id) + " here. " + inv.Mark + "tasks lists them."}
}
