package store

import "bellhop/core"

// Begin gives the place a thread, as its first message would.
func (d *desk) Begin(at core.Place) (core.Thread, error) {
	th, found, err := d.threadAt(at)
	if found || err != nil {
		return th, err
	}
	if th, err = d.newThread(at, d.entry.Agent, d.entry.In.Direct); err != nil {
		return th, err
	}
	th.Missed = true
	return th, d.put(idKey(famThread, th.ID), th)
}

// Adjust changes a thread's settings. The place's row says who leads, too: a
// lost thread is made from it.
func (d *desk) Adjust(thread core.ID, change func(*core.Thread)) error {
	th, err := need[core.Thread](d.tx, famThread, thread)
	if err != nil {
		return err
	}
	change(&th)
	if th.Archived.IsZero() {
		if err := d.put(placeKey(th.Place), placeOf(th)); err != nil {
			return err
		}
	}
	return d.put(idKey(famThread, th.ID), th)
}
