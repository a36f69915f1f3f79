package store

import (
	"encoding/binary"
	"errors"

	"bellhop/core"
)

// Life implements core.Desk.
func (d *desk) Life(thread, id core.ID) (core.Life, bool, error) {
	if thread == everywhere {
		thread = nowhere
	}
	l, err := d.life(id, thread)
	if errors.Is(err, core.ErrNotFound) {
		return l, false, nil
	}
	return l, err == nil, err
}

// nowhere is a thread that has no messages: a command does not look for one in
// all threads, while everybody waits.
var nowhere = core.NewID(core.KindThread, 1<<62)

// latestReach is how many of a thread's newest rows Latest looks at.
const latestReach = 20

// Latest implements core.Desk.
func (d *desk) Latest(at core.Place, thread core.ID) (core.ID, core.Activity, error) {
	var none core.Activity
	var id core.ID
	var when uint64
	prefix := idKey(famMessage, thread)
	kvs, err := d.ScanBack(prefix, after(prefix), latestReach)
	if err != nil {
		return "", none, err
	}
	for _, kv := range kvs {
		m := core.NewID(core.KindMessage, binary.BigEndian.Uint64(kv.Key[len(prefix):]))
		said, err := d.about(m.Seq(), 1, func(a core.Activity) bool {
			return a.Event == core.MessageAccepted || a.Event == core.MessageKept || a.Event == core.MessageCorrected
		})
		if err != nil {
			return "", none, err
		}
		if len(said) > 0 {
			id, when = m, said[0].ID.Seq()
			break
		}
	}
	aside, err := d.about(placeNumber(at), 1, func(a core.Activity) bool { return a.Place == at })
	if err == nil && len(aside) > 0 && aside[0].ID.Seq() > when {
		return "", aside[0], nil
	}
	return id, none, err
}
