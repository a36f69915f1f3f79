package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

const (
	// taskAge is how long ended tasks are listed.
	taskAge = 24 * time.Hour
	// taskReach is how many of the newest tasks of a person, and messages of a
	// thread, are looked at for those that have ended.
	taskReach = 50
)

// Tasks lists what the viewer may see: of what is open, everything; of what has
// ended, what the newest items of the viewer and the newest messages of the
// place's thread lead to.
func (d *desk) Tasks(v core.Viewer) (open, ended []core.Task, err error) {
	all, err := d.openItems()
	if err != nil {
		return nil, nil, err
	}
	viewer, err := d.tx.human(v.Who)
	if err != nil {
		return nil, nil, err
	}
	past, err := d.mine(viewer)
	if err != nil {
		return nil, nil, err
	}
	here, err := d.itemsAt(v.At)
	if err != nil {
		return nil, nil, err
	}
	for _, it := range here {
		if !slices.ContainsFunc(past, func(have core.Item) bool { return have.ID == it.ID }) {
			past = append(past, it)
		}
	}
	past = d.lately(past)
	if open, err = d.seen(viewer, v, all); err != nil {
		return nil, nil, err
	}
	ended, err = d.seen(viewer, v, past)
	return open, ended, err
}

// mine are the newest items of the messages of each of the human's identities.
func (t *tx) mine(who core.Human) ([]core.Item, error) {
	var items []core.Item
	for _, p := range who.People() {
		own := ownAt(string(p))
		kvs, err := t.ScanBack(own, after(own), taskReach)
		if err != nil {
			return nil, err
		}
		for _, kv := range kvs {
			it, ok, err := get[core.Item](t, idKey(famItem, core.NewID(core.KindItem, seqOf(kv.Key))))
			if err != nil {
				return nil, err
			}
			if ok {
				items = append(items, it)
			}
		}
	}
	return items, nil
}

// lately keeps those items of messages that have ended in the last day, the last
// one first.
func (t *tx) lately(items []core.Item) []core.Item {
	items = slices.DeleteFunc(items, func(it core.Item) bool {
		return it.Kind != core.MessageItem || it.External() || !it.State.Terminal() || t.Now().Sub(it.Ended) > taskAge
	})
	slices.SortFunc(items, func(x, y core.Item) int { return y.Ended.Compare(x.Ended) })
	return items
}

// Tasks lists all open tasks, oldest first, and of the newest that many items
// those that have ended in the last day, the last one first.
func (s *Store) Tasks(ctx context.Context, newest int) (open, ended []core.Task, err error) {
	err = s.view(ctx, func(t *tx) error {
		items, err := t.openItems()
		if err != nil {
			return err
		}
		kvs, err := t.ScanBack([]byte(famItem), after([]byte(famItem)), newest)
		if err != nil {
			return err
		}
		var past []core.Item
		for _, kv := range kvs {
			it, ok, err := get[core.Item](t, kv.Key)
			if err != nil {
				return err
			}
			if ok {
				past = append(past, it)
			}
		}
		if open, err = t.asTasks(items); err != nil {
			return err
		}
		ended, err = t.asTasks(t.lately(past))
		return err
	})
	return open, ended, err
}

// openItems are those of messages that have not ended, oldest first.
func (t *tx) openItems() ([]core.Item, error) {
	items, err := t.queued("", func(it core.Item) bool { return it.Kind == core.MessageItem && !it.External() })
	if err != nil {
		return nil, err
	}
	runs, err := t.openRuns("")
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		for _, id := range run.Items {
			it, ok, err := get[core.Item](t, idKey(famItem, id))
			if err != nil {
				return nil, err
			}
			if ok && it.Kind == core.MessageItem && !it.State.Terminal() {
				items = append(items, it)
			}
		}
	}
	slices.SortFunc(items, func(x, y core.Item) int { return cmp.Compare(x.ID.Seq(), y.ID.Seq()) })
	return items, nil
}

// itemsAt are those of the newest messages of the place's current thread.
func (t *tx) itemsAt(at core.Place) ([]core.Item, error) {
	th, ok, err := t.threadAt(at)
	if err != nil || !ok {
		return nil, err
	}
	prefix := idKey(famMessage, th.ID)
	kvs, err := t.ScanBack(prefix, after(prefix), taskReach)
	if err != nil {
		return nil, err
	}
	var items []core.Item
	var last core.ID
	for _, kv := range kvs {
		id := core.NewID(core.KindMessage, binary.BigEndian.Uint64(kv.Key[len(prefix):]))
		if id == last { // another version
			continue
		}
		last = id
		of, err := t.itemsOf(id)
		if err != nil {
			return nil, err
		}
		items = append(items, of...)
	}
	return items, nil
}

// seen are the items that the viewer may see, as tasks.
func (t *tx) seen(viewer core.Human, v core.Viewer, items []core.Item) ([]core.Task, error) {
	all, err := t.asTasks(items)
	var out []core.Task
	for _, task := range all {
		if look(viewer, v, &task) {
			out = append(out, task)
		}
	}
	return out, err
}

func (t *tx) asTasks(items []core.Item) ([]core.Task, error) {
	var out []core.Task
	for _, it := range items {
		task, err := t.asTask(it)
		if err != nil {
			return nil, err
		}
		out = append(out, task)
	}
	return out, nil
}

// asTask reads what an item is about.
func (t *tx) asTask(it core.Item) (core.Task, error) {
	task := core.Task{Item: it}
	var err error
	if task.Thread, _, err = get[core.Thread](t, idKey(famThread, it.Thread)); err == nil {
		task.Message, _, err = t.message(it.Thread, it.Message)
	}
	return task, err
}

// look notes whether the task is the viewer's, and reports whether they may see
// it.
func look(viewer core.Human, v core.Viewer, task *core.Task) bool {
	from := task.Message.Sender
	task.Mine = from.Kind == core.HumanActor && viewer.Is(core.PersonID(from.ID))
	here := bytes.Equal(placeKey(task.Thread.Place), placeKey(v.At))
	return task.Thread.ID != "" && (here || v.Direct && task.Mine)
}

// taskSteps is how many of a run's last steps are shown with a task.
const taskSteps = 5

// Task is the life of one task.
func (d *desk) Task(v core.Viewer, item core.ID) (core.TaskLife, bool, error) {
	var l core.TaskLife
	it, ok, err := get[core.Item](d.tx, idKey(famItem, item))
	if err != nil || !ok || it.Kind != core.MessageItem || it.External() {
		return l, false, err
	}
	viewer, err := d.tx.human(v.Who)
	if err != nil {
		return l, false, err
	}
	if l.Task, err = d.asTask(it); err != nil || !look(viewer, v, &l.Task) {
		return l, false, err
	}
	others, err := d.itemsOf(it.Message)
	if err != nil {
		return l, false, err
	}
	for _, other := range others {
		if other.Parent == it.ID {
			l.Retries = append(l.Retries, other.ID)
		}
	}
	if it.Run == "" {
		return l, true, nil
	}
	if l.Run, _, err = get[core.Run](d.tx, idKey(famRun, it.Run)); err != nil {
		return l, false, err
	}
	prefix := idKey(famStep, it.Run)
	kvs, err := d.ScanBack(prefix, after(prefix), taskSteps)
	if err != nil {
		return l, false, err
	}
	for _, kv := range slices.Backward(kvs) {
		st, ok, err := get[core.Step](d.tx, kv.Key)
		if err != nil {
			return l, false, err
		}
		if ok {
			l.Steps = append(l.Steps, st)
		}
	}
	l.Outcome, err = d.outcome(it)
	return l, err == nil, err
}

// outcome is the text of the item's outcome: what the bot said, or what a piece
// with buttons shows.
func (t *tx) outcome(it core.Item) (string, error) {
	post, _, err := get[core.Post](t, idKey(famPost, it.Outcome))
	switch {
	case err != nil:
		return "", err
	case post.Message != "":
		msg, _, err := t.message(post.Thread, post.Message)
		return strings.TrimSpace(msg.Text()), err
	case post.Card != nil:
		return post.Card.Text, nil
	}
	return "", nil
}
