package store

import (
	"bellhop/core"
)

// CancelTask implements core.Desk. What waits gets the outcome of the run that
// it alone would have begun; what a run has joined ends with the run. Hand-offs
// that waited for nothing else go.
func (d *desk) CancelTask(at core.Place, id core.ID, by string) (core.TaskEnd, error) {
	var end core.TaskEnd
	ids, err := d.tasks(id)
	if err != nil {
		return end, err
	}
	for _, id := range ids {
		it, ok, err := get[core.Item](d.tx, idKey(famItem, id)) // as it is now: the one before may have ended its run
		if err != nil {
			return end, err
		}
		if !ok {
			continue
		}
		th, ok, err := d.Thread(at, it.Thread)
		if err != nil {
			return end, err
		}
		if !ok {
			continue // of another place: who is here need not know of it
		}
		end.Known = true
		switch {
		case it.State.Terminal():
			end.State = it.State
		default:
			n, err := d.cancel(&th, it, by)
			if err != nil {
				return end, err
			}
			end.Messages += n
		}
	}
	return end, nil
}

// tasks are the items that an ID stands for: an item's own, those of a message,
// or one of a run. A run that has only been picked has the number of its oldest
// item.
func (d *desk) tasks(id core.ID) ([]core.ID, error) {
	switch id.Kind() {
	case core.KindItem:
		return []core.ID{id}, nil
	case core.KindRun:
		run, ok, err := get[core.Run](d.tx, idKey(famRun, id))
		if ok && len(run.Items) > 0 {
			return run.Items[:1], err
		}
		return []core.ID{id.As(core.KindItem)}, err
	case core.KindMessage:
		items, err := d.itemsOf(id)
		var ids []core.ID
		for _, it := range items {
			if !it.External() {
				ids = append(ids, it.ID)
			}
		}
		return ids, err
	}
	return nil, nil
}

// cancel ends an item that waits, or the run that has it, and says how many
// messages go without an answer.
func (d *desk) cancel(th *core.Thread, it core.Item, by string) (messages int, err error) {
	if it.External() {
		return 1, d.endErrand(it, core.Cancelled, "")
	}
	var run core.Run
	var mail []core.Item
	if it.Run == "" {
		mail = []core.Item{it}
		run, err = d.wouldBe(*th, mail)
	} else {
		if run, err = need[core.Run](d.tx, famRun, it.Run); err != nil {
			return 0, err
		}
		mail, err = d.queued(run.Bot, func(q core.Item) bool { return q.Run == run.ID }) // one that resumes it
	}
	if err != nil {
		return 0, err
	}
	for _, it := range mail {
		d.out.Ended = append(d.out.Ended, it.ID)
	}
	if err := d.stop(th, run, mail, by); err != nil {
		return 0, err
	}
	released, err := d.release(th, run.Bot)
	if err != nil {
		return 0, err
	}
	d.out.Items = append(d.out.Items, released...)
	return len(run.Triggers), d.put(idKey(famThread, th.ID), *th)
}
