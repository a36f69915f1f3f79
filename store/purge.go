package store

import (
	"slices"

	"bellhop/core"
)

// maxPurged is of how many threads one Purge empties the mail: each gets an
// outcome, and who asks for thousands of them holds up who writes.
const maxPurged = 50

// Purge implements core.Desk. What waits in a thread gets the outcome of the run
// that it would have begun; a run that has begun goes on, unless nothing of it is
// stored: that is what would have been. Hand-offs that waited for nothing else
// go.
func (d *desk) Purge(thread core.ID, bot, by string) (core.Purged, error) {
	out := core.Purged{Known: slices.Contains(d.batch.Bots, bot)}
	if !out.Known {
		return out, nil
	}
	mail, err := d.queued(bot, func(it core.Item) bool {
		return it.Kind == core.MessageItem && (thread == "" || it.Thread == thread)
	})
	if err != nil {
		return out, err
	}
	var threads []core.ID
	waits := map[core.ID][]core.Item{}
	for _, it := range mail {
		if waits[it.Thread] == nil {
			threads = append(threads, it.Thread)
		}
		waits[it.Thread] = append(waits[it.Thread], it)
	}
	for _, id := range threads {
		if out.Threads == maxPurged {
			out.More = true
			break
		}
		if err := d.purge(id, bot, waits[id], by); err != nil {
			return out, err
		}
		out.Threads++
		out.Messages += len(waits[id])
	}
	return out, nil
}

// purge ends what waits for a bot in one thread.
func (d *desk) purge(thread core.ID, bot string, mail []core.Item, by string) error {
	th, err := need[core.Thread](d.tx, famThread, thread)
	if err != nil {
		return err
	}
	run, err := d.wouldBe(th, mail)
	if err != nil {
		return err
	}
	for _, it := range mail {
		d.out.Ended = append(d.out.Ended, it.ID)
	}
	if err := d.stop(&th, run, mail, by); err != nil {
		return err
	}
	released, err := d.release(&th, bot)
	if err != nil {
		return err
	}
	d.out.Items = append(d.out.Items, released...)
	return d.put(idKey(famThread, th.ID), th)
}
