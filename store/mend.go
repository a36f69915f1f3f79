package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"bellhop/core"
)

// mend moves damaged rows to the family x, where nothing reads them but a
// person, rebuilds from other rows what it can, and tells about them. Those of
// the other rows that turn out to be damaged, too, are mended with them.
func (s *Store) mend(ctx context.Context, bad []damage) error {
	var moved, more []damage
	err := errUnmended
	for errors.Is(err, errUnmended) {
		bad, more = append(bad, more...), nil
		err = s.engine.Update(context.WithoutCancel(ctx), func(e Tx) (err error) {
			t := &tx{Tx: e, series: s.o.Series}
			if moved, err = t.quarantine(bad); err != nil {
				return err
			}
			for _, d := range moved {
				if err := t.rebuild(d.key); err != nil {
					return err
				}
			}
			if more = t.bad; len(more) > 0 {
				return errUnmended
			}
			return nil
		})
	}
	if err != nil {
		s.o.Log.Error("damaged rows cannot be moved away", "rows", len(bad), "err", err)
		moved = bad
	}
	for _, d := range moved {
		s.o.Log.Error("damaged row", "key", fmt.Sprintf("%q", d.key), "err", d.err)
		s.o.Damaged(fmt.Sprintf("%q", d.key), d.err)
	}
	return err
}

// rebuilt are the families of which a row is made from others, in the order in
// which that is done: what others are made from comes first.
var rebuilt = []string{famThread, famPlace, famArchived, famMessage, famStep, famQueue, famItem, famOpenRun, famRun, famAsk, famOpenAsk, famPost, famOutbox}

// quarantine moves damaged rows away, and returns them in the order in which they
// are to be rebuilt; not those that another has mended meanwhile.
func (t *tx) quarantine(bad []damage) ([]damage, error) {
	var moved []damage
	for _, d := range bad {
		got, err := t.Get(d.key)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(got[0], d.raw) {
			continue
		}
		if err := errors.Join(t.Put(append([]byte(famBad), d.key...), d.raw), t.Delete(d.key)); err != nil {
			return nil, err
		}
		moved = append(moved, d)
	}
	slices.SortStableFunc(moved, func(x, y damage) int {
		return cmp.Compare(slices.Index(rebuilt, familyOf(x.key)), slices.Index(rebuilt, familyOf(y.key)))
	})
	return moved, nil
}

func familyOf(key []byte) string { return string(key[:bytes.IndexByte(key, '/')+1]) }

// What stands for text that is lost. People and models read it.
const (
	lostMessage = "(The message that stood here was damaged in my store and cannot be read any more. If it matters, ask for it again.)"
	lostStep    = "(What I did in this step was damaged in my store: what came of it is unknown. Check before you repeat anything.)"
	lostPiece   = "⚠ This part of my answer was damaged in my store before I could show it."
)

// nearby is how many of the newest rows a rebuilding looks at, where nothing
// leads to the right one.
const nearby = 1000

// rebuild writes a lost row anew from those that say the same, so that no work
// depends on it in vain. It does nothing when they are lost, too.
func (t *tx) rebuild(key []byte) error {
	id := func(kind byte) core.ID { return core.NewID(kind, seqOf(key)) }
	switch familyOf(key) {
	case famThread:
		return t.rebuildThread(id(core.KindThread))
	case famPlace:
		return t.rebuildPlace(key)
	case famArchived:
		th, ok, err := get[core.Thread](t, idKey(famThread, id(core.KindThread)))
		if err != nil || !ok || !bytes.Equal(archivedKey(placeOf(th)), key) {
			return err
		}
		return t.insert(key, placeOf(th))
	case famMessage:
		return t.rebuildMessage(key)
	case famItem:
		return t.rebuildItem(id(core.KindItem))
	case famQueue:
		it, ok, err := get[core.Item](t, idKey(famItem, id(core.KindItem)))
		if err != nil || !ok || it.State != core.Queued && (!it.External() || it.State.Terminal()) {
			return err
		}
		return t.insert(key, it)
	case famRun:
		return t.rebuildRun(id(core.KindRun))
	case famOpenRun:
		run, ok, err := get[core.Run](t, idKey(famRun, id(core.KindRun)))
		if err != nil || !ok || run.State.Terminal() {
			return err
		}
		return t.insert(key, openOf(run))
	case famStep:
		run := core.NewID(core.KindRun, binary.BigEndian.Uint64(key[len(famStep):]))
		n := int(binary.BigEndian.Uint16(key[len(famStep)+8:]))
		return t.insert(key, t.lostStep(run, n))
	case famAsk:
		return t.rebuildAsk(id(core.KindAsk))
	case famOpenAsk:
		return t.rebuildOpenAsk(id(core.KindAsk))
	case famPost:
		return t.rebuildPost(id(core.KindPost))
	case famOutbox:
		return t.rebuildRow(key)
	case famPlatform:
		return t.insert(key, platformRow{}) // known still, so that no probe touches it
	case famHuman:
		return t.rebuildHuman(key)
	case famAlias:
		return rebuildMoving(t, famCurrent, key, func(m core.Moving) []byte { return aliasKey(m.Adapter, m.New) })
	case famCurrent:
		return rebuildMoving(t, famAlias, key, func(m core.Moving) []byte { return currentKey(m.Adapter, m.Old) })
	}
	return nil
}

// rebuildMoving finds an alias's one direction in the other. Of several new
// ids any will do: the platform says what became of an old one.
func rebuildMoving(t *tx, family string, key []byte, at func(core.Moving) []byte) error {
	return each(t, []byte(family), 0, func(_ []byte, m core.Moving) error {
		if !bytes.Equal(at(m), key) {
			return nil
		}
		return t.insert(key, m)
	})
}

// rebuildThread finds a thread by its place. Where the bots' windows began is
// lost, and so is how freely they may use tools there: as the rules say, whatever
// else holds for the place.
func (t *tx) rebuildThread(id core.ID) error {
	var row placeRow
	for _, family := range []string{famPlace, famArchived} {
		if err := each(t, []byte(family), 0, func(_ []byte, r placeRow) error {
			if r.Thread == id {
				row = r
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if row.Thread == "" {
		return nil
	}
	th := core.Thread{ID: id, Place: row.Place, Agent: row.Agent, Direct: row.Direct, Archived: row.Archived, Mode: core.ModeDefault,
		Created: t.Now(), Active: t.Now()}
	if err := t.inherit(&th); err != nil {
		return err
	}
	msgs, err := t.newest(idKey(famMessage, id), after(idKey(famMessage, id)), nearby)
	if err != nil {
		return err
	}
	for _, m := range msgs {
		th.Messages = m.N
		if bot := m.Sender; bot.Kind == core.BotActor && !slices.Contains(th.Bots, bot.ID) { // its items may be gone
			th.Bots = append(th.Bots, bot.ID)
		}
		items, err := t.itemsOf(m.ID)
		if err != nil {
			return err
		}
		for _, it := range items {
			who := &th.Bots
			if it.External() {
				who = &th.Externals
			}
			if !slices.Contains(*who, it.Bot) {
				*who = append(*who, it.Bot)
			}
		}
	}
	return t.insert(idKey(famThread, id), th)
}

func (t *tx) rebuildPlace(key []byte) error {
	return each(t, []byte(famThread), 0, func(_ []byte, th core.Thread) error {
		if !th.Archived.IsZero() || !bytes.Equal(placeKey(th.Place), key) {
			return nil
		}
		return t.insert(key, placeOf(th))
	})
}

// rebuildMessage puts a word in the place of a lost message, unless an older
// version of it is there.
func (t *tx) rebuildMessage(key []byte) error {
	thread := core.NewID(core.KindThread, binary.BigEndian.Uint64(key[len(famMessage):]))
	id := core.NewID(core.KindMessage, binary.BigEndian.Uint64(key[len(famMessage)+8:]))
	version := int(binary.BigEndian.Uint16(key[len(famMessage)+16:]))
	m := core.Message{ID: id, Thread: thread, N: 1, Version: version, Sender: core.Actor{Kind: core.SystemActor},
		Parts: []core.Part{core.Text(lostMessage)}, Time: t.Now()}
	before, err := t.newest(idKey(famMessage, thread), key, 1)
	if err != nil {
		return err
	}
	th, _, err := get[core.Thread](t, idKey(famThread, thread))
	if err != nil {
		return err
	}
	m.N += th.Shared
	if len(before) > 0 {
		if before[0].ID == id {
			return nil
		}
		m.N, m.Time = before[0].N+1, before[0].Time
	}
	return t.insert(key, m)
}

// rebuildItem finds an item in the queue, or else makes it from its run.
func (t *tx) rebuildItem(id core.ID) error {
	key := idKey(famItem, id)
	queued, err := t.queued("", func(it core.Item) bool { return it.ID == id })
	if err != nil {
		return err
	}
	if len(queued) > 0 {
		return t.insert(key, queued[0])
	}
	runs, err := t.openRuns("")
	if err != nil {
		return err
	}
	run, ok, err := get[core.Run](t, idKey(famRun, id.As(core.KindRun)))
	if err != nil {
		return err
	}
	if ok {
		runs = append(runs, run)
	}
	i := slices.IndexFunc(runs, func(r core.Run) bool { return slices.Contains(r.Items, id) })
	if i < 0 {
		return nil
	}
	run = runs[i]
	it := core.Item{ID: id, Kind: core.ResumeItem, Bot: run.Bot, Adapter: run.Reply.Place.Adapter, Thread: run.Thread, Run: run.ID,
		State: run.State, Created: run.Created, Ended: run.Ended}
	if run.State.Terminal() {
		it.Outcome = run.Post
	}
	for _, msg := range run.Triggers {
		known, err := t.Get(itemsOfKey(msg, id))
		if err != nil {
			return err
		}
		if known[0] != nil {
			it.Kind, it.Message = core.MessageItem, msg
		}
	}
	return t.insert(key, it)
}

// rebuildRun makes an open run from its items, which are no older than it. One
// that is over has said all it had to say.
func (t *tx) rebuildRun(id core.ID) error {
	o, ok, err := get[openRow](t, idKey(famOpenRun, id))
	if err != nil || !ok {
		return err
	}
	th, ok, err := get[core.Thread](t, idKey(famThread, o.Thread))
	if err != nil || !ok {
		return err
	}
	waits := false
	var items []core.ID
	var mail []core.Item
	kvs, err := t.Scan(idKey(famItem, id), after([]byte(famItem)), 0)
	if err != nil {
		return err
	}
	for _, kv := range kvs {
		it, ok, err := get[core.Item](t, kv.Key)
		if err != nil {
			return err
		}
		if !ok || it.Run != id || it.State != core.Doing && it.State != core.Waiting {
			continue
		}
		waits = waits || it.State == core.Waiting
		items = append(items, it.ID)
		if it.Kind == core.MessageItem {
			mail = append(mail, it)
		}
	}
	if len(mail) == 0 {
		return nil
	}
	run, err := t.draft(th, mail)
	if err != nil {
		return err
	}
	run.ID, run.Items = id, items
	if n := len(run.Triggers); n > 0 {
		run.Upto = run.Triggers[n-1]
	}
	return t.insertRun(run, waits)
}
