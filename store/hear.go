package store

import "bellhop/core"

// mostEarlier is how many messages of a thread are asked for, at most, when it
// is read for the first time, or again after some went by unheard. Source:
// Discord gives no more at once.
const mostEarlier = 100

// hear notes that a message has been heard up to which nothing of its place is
// missing any more, once what its Earlier says has been read. Of a direct
// conversation nothing is ever missing, but for the beginning of a thread in it,
// which was said outside. The caller must put th.
func hear(e *core.Entry, th *core.Thread) *core.Earlier {
	in := &e.In
	top := th.Place.Topic == "" || th.Place.Topic == in.MessageID
	if !e.Reads || in.Direct && top {
		th.Missed = false
		return nil
	}
	since, missed := th.Heard, th.Missed
	th.Heard, th.Missed = in.MessageID, false
	most := mostEarlier
	if top {
		most = e.Context
	}
	if !missed || most == 0 {
		return nil
	}
	return &core.Earlier{Since: since, Most: most}
}

// miss notes that something was said at the place which its thread, if there is
// one, does not get.
func (a *acceptance) miss(e *core.Entry, place core.Place) error {
	if !e.Reads || e.In.Direct {
		return nil
	}
	th, found, err := a.threadAt(place)
	if err != nil || !found || th.Missed {
		return err
	}
	th.Missed = true
	return a.put(idKey(famThread, th.ID), th)
}
