package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// within runs f as a command does.
func (w *world) within(f func(core.Invocation) error) {
	w.Helper()
	e := w.message("/look")
	e.In.Command, e.Command = true, &core.Command{Name: "look", Run: func(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
		return core.CommandReply{Text: "seen"}, f(inv)
	}}
	w.accept(e)
}

// tasks is what the viewer sees, as "state text".
func (w *world) tasks(v core.Viewer) (open, ended []string) {
	w.Helper()
	w.within(func(inv core.Invocation) error {
		now, past, err := inv.Desk.Tasks(v)
		open, ended = nil, nil
		for _, t := range now {
			open = append(open, fmt.Sprintf("%s %s", t.State(), t.Message.Text()))
		}
		for _, t := range past {
			ended = append(ended, fmt.Sprintf("%s %s", t.State(), t.Message.Text()))
		}
		return err
	})
	return open, ended
}

// People see the tasks of the place where they ask, and in a direct conversation
// their own of other places.
func TestTasksSeen(t *testing.T) {
	w := newWorld(t)
	dm, group := w.place, core.Place{Adapter: "chat", Channel: "group"}
	bob := core.PersonID("chat:bob")
	w.say("in private")
	w.place = group
	w.settle(w.pick(w.say("Ann's")...), failure())
	e := w.message("Bob's")
	e.In.From = core.Person{ID: bob, Name: "Bob"}
	first := w.accept(e).Items[0]
	w.must(w.store.Begin(t.Context(), w.pick(first)))
	for _, c := range []struct {
		v           core.Viewer
		open, ended []string
	}{
		{core.Viewer{Who: ann.ID, At: dm, Direct: true}, []string{"todo in private"}, []string{"failed Ann's"}},
		{core.Viewer{Who: ann.ID, At: dm}, []string{"todo in private"}, nil},
		{core.Viewer{Who: ann.ID, At: group}, []string{"doing Bob's"}, []string{"failed Ann's"}},
		{core.Viewer{Who: bob, At: group}, []string{"doing Bob's"}, []string{"failed Ann's"}},
		{core.Viewer{Who: bob, At: core.Place{Adapter: "chat", Channel: "bob"}, Direct: true}, []string{"doing Bob's"}, nil},
		{core.Viewer{Who: bob, At: core.Place{Adapter: "chat", Channel: "bob"}}, nil, nil},
		{core.Viewer{Who: "chat:eve", At: core.Place{Adapter: "chat", Channel: "eve"}, Direct: true}, nil, nil},
		{core.Viewer{At: core.Place{Adapter: "chat", Channel: "eve"}, Direct: true}, nil, nil},
	} {
		open, ended := w.tasks(c.v)
		if diff := cmp.Diff([][]string{c.open, c.ended}, [][]string{open, ended}); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.v, diff)
		}
		w.within(func(inv core.Invocation) error {
			_, ok, err := inv.Desk.Task(c.v, first.ID)
			if want := slices.Contains(c.open, "doing Bob's"); ok != want {
				t.Errorf("%+v sees Bob's: %v", c.v, ok)
			}
			return err
		})
	}
}

// What ended is listed for a day, the last one first, however much there was
// before; what is open is listed always.
func TestTasksBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		waits := w.place
		w.say("for ever")
		w.place.Channel = "other"
		for i := range 2 * 50 {
			w.settle(w.pick(w.say(fmt.Sprint("number ", i))...), end("done"))
			time.Sleep(time.Second)
		}
		v := core.Viewer{Who: ann.ID, At: waits, Direct: true}
		open, ended := w.tasks(v)
		if len(open) != 1 || len(ended) != 50 || ended[0] != "done number 99" || ended[49] != "done number 50" {
			t.Errorf("tasks are %q and %q", open, ended)
		}
		time.Sleep(24*time.Hour - 10*time.Second)
		if open, ended = w.tasks(v); len(open) != 1 || len(ended) != 10 {
			t.Errorf("a day later tasks are %q and %q", open, ended)
		}
	})
}

// A bot's hand-off is a task of its place, and of no person; so is what is tried
// again, of who asked for it first.
func TestTasksOfBots(t *testing.T) {
	w := newWorld(t)
	w.settle(w.pick(w.say("go on")...), end("@scout look"))
	w.accept(w.command("stop"))
	w.accept(w.command("retry"))
	var mine, others []string
	w.within(func(inv core.Invocation) error {
		open, ended, err := inv.Desk.Tasks(inv.Viewer())
		mine, others = nil, nil
		for _, task := range append(open, ended...) {
			line := task.State() + " " + task.Item.Bot
			if task.Mine {
				mine = append(mine, line)
			} else {
				others = append(others, line)
			}
		}
		return err
	})
	if diff := cmp.Diff([][]string{{"done chief"}, {"todo scout", "cancelled scout"}}, [][]string{mine, others}); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// The life of a task names its steps, what came of it, and what retries it.
func TestTaskLife(t *testing.T) {
	w := newWorld(t)
	item := w.say("one")[0]
	run := w.pick(item)
	for n := 1; n <= 7; n++ {
		w.must(w.store.Step(t.Context(), run, core.Step{Run: run.ID, N: n, Parts: []core.Part{core.Text(fmt.Sprint("step ", n))}}))
	}
	look := func(id core.ID) (l core.TaskLife, ok bool) {
		w.within(func(inv core.Invocation) (err error) {
			l, ok, err = inv.Desk.Task(inv.Viewer(), id)
			return err
		})
		return l, ok
	}
	if l, ok := look(item.ID); !ok || l.State() != "doing" || l.Run.Steps != 7 || len(l.Steps) != 5 || l.Steps[4].N != 7 || !l.Mine {
		t.Errorf("at work: %+v", l)
	}
	w.shown = "So far"
	w.accept(w.command("stop"))
	w.accept(w.command("retry"))
	l, _ := look(item.ID)
	if l.State() != "cancelled" || !strings.HasPrefix(l.Outcome, "So far") || len(l.Retries) != 1 {
		t.Errorf("stopped: %+v", l)
	}
	if again, _ := look(l.Retries[0]); again.Item.Parent != item.ID || again.State() != "todo" || again.Run.ID != "" {
		t.Errorf("tried again: %+v", again)
	}
	for _, id := range []core.ID{"", "i9z", item.Message} {
		if l, ok := look(id); ok {
			t.Errorf("%q is the task %+v", id, l)
		}
	}
}
