package store

import (
	"errors"
	"fmt"
	"slices"

	"bellhop/core"
)

// heldRow is a bot's hand-offs that wait until its queue in the thread is
// empty, oldest first.
type heldRow struct {
	HandOffs []handOff `json:"hand_offs"`
}

type handOff struct {
	Message core.ID `json:"message"`
	Target  string  `json:"target"`
}

// fanOut wakes the bot that a reply hands off to.
func (t *tx) fanOut(th *core.Thread, run core.Run, msg core.Message, end core.Settlement, out *core.Settled) error {
	r := core.Routing{Sender: msg.Sender, Text: msg.Text(), Bots: end.Bots, Externals: end.Externals, Participants: th.Bots, Default: th.Agent,
		TriggerHop: run.Hop, MaxHops: end.MaxHops, HopTold: th.HopTold}
	routed := core.Route(r)
	told, err := t.inform(th, msg, end.Externals, routed.Tell)
	if err != nil {
		return err
	}
	out.Items = append(out.Items, told...)
	if len(routed.Wake) > 0 {
		waiting, err := t.queued(run.Bot, func(it core.Item) bool { return it.Thread == th.ID && it.Kind == core.MessageItem })
		if err != nil {
			return err
		}
		if r.SenderQueued = len(waiting) > 0; r.SenderQueued {
			routed = core.Route(r)
		}
	}
	switch {
	case routed.HopLimit && !routed.Notice:
		return t.handOff(core.HopLimit, th, msg, dropped(routed, run.Bot), nil)
	case routed.Notice:
		th.HopTold = true
		if err := t.handOff(core.HopLimit, th, msg, dropped(routed, run.Bot), nil); err != nil {
			return err
		}
		return t.notice(th, run, hopNotice(end.MaxHops), end, out)
	case len(routed.Held) > 0:
		enter(th, routed.Held)
		if err := errors.Join(t.hold(th, run.Bot, &handOff{msg.ID, routed.Held[0]}, routed.Held[0]), t.handOff(core.HandOffHeld, th, msg, routed.Held[0], nil)); err != nil {
			return err
		}
		return t.notice(th, run, fmt.Sprintf("The hand-off from @%s to @%s waits until @%s has read its other messages here.", run.Bot, routed.Held[0], run.Bot), end, out)
	case len(routed.Wake) > 0:
		items, err := t.enqueue(th, msg.ID, routed.Wake, "")
		if err != nil {
			return err
		}
		out.Items = append(out.Items, items...)
		return errors.Join(t.hold(th, run.Bot, nil, routed.Wake[0]), t.handOff(core.HandOffSent, th, msg, routed.Wake[0], items))
	}
	return nil
}

// hopNotice is what is said when bots have handed on as often as they may.
func hopNotice(most int) string {
	return fmt.Sprintf("Bots have handed this on %d times without a person. I stop here; write something to let them go on.", most)
}

// hold adds a hand-off (nil: none) to those that the bot has held in the
// thread. It supersedes an older one to the same target, as a real delivery
// does.
func (t *tx) hold(th *core.Thread, bot string, h *handOff, target string) error {
	key := heldKey(th.ID, bot)
	held, ok, err := get[heldRow](t, key)
	if err != nil || !ok && h == nil {
		return err
	}
	for _, old := range held.HandOffs {
		if old.Target != target {
			continue
		}
		if err := t.handOff(core.HoldReplaced, th, core.Message{ID: old.Message, Sender: core.Actor{ID: bot}}, target, nil); err != nil {
			return err
		}
	}
	held.HandOffs = slices.DeleteFunc(held.HandOffs, func(h handOff) bool { return h.Target == target })
	if h != nil {
		held.HandOffs = append(held.HandOffs, *h)
	}
	if len(held.HandOffs) == 0 {
		return t.Delete(key)
	}
	return t.put(key, held)
}

// release delivers the bot's held hand-offs, unchanged, once no message waits
// for the bot in the thread. The caller must put th.
func (t *tx) release(th *core.Thread, bot string) ([]core.Item, error) {
	held, ok, err := get[heldRow](t, heldKey(th.ID, bot))
	if err != nil || !ok {
		return nil, err
	}
	waiting, err := t.queued(bot, func(it core.Item) bool { return it.Thread == th.ID && it.Kind == core.MessageItem })
	if err != nil || len(waiting) > 0 {
		return nil, err
	}
	var out []core.Item
	for _, h := range held.HandOffs {
		items, err := t.enqueue(th, h.Message, []string{h.Target}, "")
		if err != nil {
			return nil, err
		}
		if err := t.handOff(core.HoldReleased, th, core.Message{ID: h.Message, Sender: core.Actor{ID: bot}}, h.Target, items); err != nil {
			return nil, err
		}
		out = append(out, items...)
	}
	return out, t.Delete(heldKey(th.ID, bot))
}

// drop forgets the hand-offs that the bot has held in the thread.
func (t *tx) drop(th *core.Thread, bot string) error {
	held, ok, err := get[heldRow](t, heldKey(th.ID, bot))
	if err != nil || !ok {
		return err
	}
	for _, h := range held.HandOffs {
		if err := t.handOff(core.HoldDropped, th, core.Message{ID: h.Message, Sender: core.Actor{ID: bot}}, h.Target, nil); err != nil {
			return err
		}
	}
	return t.Delete(heldKey(th.ID, bot))
}

// handOff notes what became of a bot's hand-off to a target.
func (t *tx) handOff(e core.Event, th *core.Thread, msg core.Message, target string, items []core.Item) error {
	ids, _ := woken(items, msg.ID)
	return t.log(core.Activity{Event: e, Actor: msg.Sender, Thread: th.ID, Place: th.Place, Messages: []core.ID{msg.ID}, Items: ids, Bots: []string{target}})
}

// dropped is the bot that a reply at the hop limit does not wake.
func dropped(r core.Routed, sender string) string {
	i := slices.IndexFunc(r.Mentions, func(h string) bool { return h != sender })
	return r.Mentions[max(i, 0)]
}

// notice says something in the thread, after the run's outcome, on the
// appliance's own account.
func (t *tx) notice(th *core.Thread, run core.Run, text string, end core.Settlement, out *core.Settled) error {
	rows, err := t.show(core.Post{Kind: core.NoticePost, Thread: th.ID, Place: th.Place}, core.Row{After: run.Reply.After}, pieces(end.Split, th.Place, text))
	out.Rows = append(out.Rows, rows...)
	return err
}
