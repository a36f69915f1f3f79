package store

import (
	"errors"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

// The private rows, and the small steps that the transactions share.

// journalRow says what became of an event. The text of an event that was not
// for us is not kept.
type journalRow struct {
	Fate    core.Fate `json:"fate"`
	Message core.ID   `json:"message,omitempty"`
	Post    core.ID   `json:"post,omitempty"`
	Raw     []byte    `json:"raw,omitempty"` // of an unreadable event
}

// platformRow says which message a platform id stands for: a person's, or the
// post that shows it.
type platformRow struct {
	Thread  core.ID `json:"thread,omitempty"`
	Message core.ID `json:"message,omitempty"`
	Post    core.ID `json:"post,omitempty"`
}

// placeRow says a place's current thread, or one of its archived ones, and what
// that began with.
type placeRow struct {
	Thread   core.ID    `json:"thread"`
	Place    core.Place `json:"place"`
	Agent    string     `json:"agent"`
	Direct   bool       `json:"direct,omitempty"`
	Archived time.Time  `json:"archived,omitzero"`
}

// openRow is what start-up and Cancel need of a run without reading it.
type openRow struct {
	Bot     string  `json:"bot"`
	Adapter string  `json:"adapter"`
	Thread  core.ID `json:"thread"`
}

func openOf(run core.Run) openRow { return openRow{run.Bot, run.Reply.Place.Adapter, run.Thread} }

// canonical is the place as stored keys know it: under the first id that its
// channel had.
func (t *tx) canonical(p core.Place) (core.Place, error) {
	m, ok, err := get[core.Moving](t, aliasKey(p.Adapter, p.Channel))
	if ok {
		p.Channel = m.Old
	}
	return p, err
}

func (t *tx) threadAt(p core.Place) (core.Thread, bool, error) {
	row, ok, err := get[placeRow](t, placeKey(p))
	if err != nil || !ok {
		return core.Thread{}, false, err
	}
	return get[core.Thread](t, idKey(famThread, row.Thread))
}

func placeOf(th core.Thread) placeRow {
	return placeRow{th.ID, th.Place, th.Agent, th.Direct, th.Archived}
}

func (t *tx) newThread(p core.Place, agent string, direct bool) (core.Thread, error) {
	id, err := t.id(core.KindThread)
	if err != nil {
		return core.Thread{}, err
	}
	th := core.Thread{ID: id, Place: p, Agent: agent, Direct: direct, Created: t.Now(), Active: t.Now()}
	return th, t.put(placeKey(p), placeOf(th))
}

// addMessage stores msg as the thread's next and notes it in th, which the
// caller must put.
func (t *tx) addMessage(th *core.Thread, msg core.Message) (core.Message, error) {
	id, err := t.id(core.KindMessage)
	if err != nil {
		return msg, err
	}
	th.Messages++
	th.Active = t.Now()
	msg.ID, msg.Thread, msg.N = id, th.ID, th.Messages
	bots := msg.Mentions
	if msg.Sender.Kind == core.BotActor {
		bots = append(slices.Clone(bots), msg.Sender.ID)
	}
	if msg.For != "" {
		bots = append(slices.Clone(bots), msg.For)
	}
	if err := t.forBots(th.ID, id, bots...); err != nil {
		return msg, err
	}
	return msg, t.insert(messageKey(th.ID, id, 0), msg)
}

// message reads the latest version.
func (t *tx) message(thread, id core.ID) (core.Message, bool, error) {
	kvs, err := t.ScanBack(messageKey(thread, id, 0), after(messageKey(thread, id, 0)[:len(famMessage)+16]), 1)
	if err != nil || len(kvs) == 0 {
		return core.Message{}, false, err
	}
	return get[core.Message](t, kvs[0].Key)
}

// newItem puts an item for the message into a mailbox. What it is given says
// whose that is.
func (t *tx) newItem(th *core.Thread, msg core.ID, it core.Item) (core.Item, error) {
	id, err := t.id(core.KindItem)
	if err != nil {
		return it, err
	}
	it.ID, it.Kind, it.Adapter, it.Thread, it.Message = id, core.MessageItem, th.Place.Adapter, th.ID, msg
	it.State, it.Created = core.Queued, t.Now()
	if err := t.queue(it); err != nil {
		return it, err
	}
	return it, t.Put(itemsOfKey(msg, id), nil)
}

// enqueue puts an item for the message into each bot's mailbox, and the bots
// among the thread's participants. The caller must put th.
func (t *tx) enqueue(th *core.Thread, msg core.ID, bots []string, parent core.ID) ([]core.Item, error) {
	var items []core.Item
	for _, bot := range bots {
		it, err := t.newItem(th, msg, core.Item{Bot: bot, Parent: parent})
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	if err := t.forBots(th.ID, msg, bots...); err != nil {
		return nil, err
	}
	enter(th, bots)
	return items, nil
}

// enter has the bots take part in the thread, which the caller must put.
func enter(th *core.Thread, bots []string) {
	for _, bot := range bots {
		if !slices.Contains(th.Bots, bot) {
			th.Bots = append(slices.Clone(th.Bots), bot)
		}
	}
}

// own notes new items as those of the person who wrote their message.
func (t *tx) own(sender core.Actor, items []core.Item) error {
	if sender.Kind != core.HumanActor {
		return nil
	}
	for _, it := range items {
		if err := t.Put(ownKey(sender.ID, it.ID), nil); err != nil {
			return err
		}
	}
	return nil
}

// queue stores a new item that waits.
func (t *tx) queue(it core.Item) error {
	b, err := encode(it)
	if err != nil {
		return err
	}
	return errors.Join(t.Put(idKey(famItem, it.ID), b), t.Put(queueKey(it.Bot, it.ID), b))
}

// itemsOf lists a message's items, oldest first.
func (t *tx) itemsOf(msg core.ID) ([]core.Item, error) {
	prefix := idKey(famItemsOf, msg)
	kvs, err := t.Scan(prefix, after(prefix), 0)
	if err != nil {
		return nil, err
	}
	var items []core.Item
	for _, kv := range kvs {
		it, ok, err := get[core.Item](t, append([]byte(famItem), kv.Key[len(prefix):]...))
		if err != nil {
			return nil, err
		}
		if ok {
			items = append(items, it)
		}
	}
	return items, nil
}

// end brings an item to a terminal state, out of its queue.
func (t *tx) end(it core.Item, state core.State, run, outcome core.ID) error {
	if it.State == core.Queued || it.External() {
		if err := t.Delete(queueKey(it.Bot, it.ID)); err != nil {
			return err
		}
	}
	it.State, it.Outcome, it.Ended, it.Next, it.Waits = state, outcome, t.Now(), time.Time{}, false
	if run != "" {
		it.Run = run
	}
	return t.put(idKey(famItem, it.ID), it)
}

// queued lists the waiting items of one bot (empty: of all), oldest first per
// bot, that keep accepts.
func (t *tx) queued(bot string, keep func(core.Item) bool) ([]core.Item, error) {
	prefix := famQueue
	if bot != "" {
		prefix += bot + "\x00"
	}
	var items []core.Item
	err := each(t, []byte(prefix), 0, func(_ []byte, it core.Item) error {
		if keep(it) {
			items = append(items, it)
		}
		return nil
	})
	return items, err
}

// show turns an outcome's pieces into outbox rows and stores the post. head
// carries what the rows share.
func (t *tx) show(p core.Post, head core.Row, pieces []core.Piece) ([]core.Row, error) {
	seq, err := t.Seq()
	if err != nil {
		return nil, err
	}
	if p.ID == "" {
		p.ID = core.NewID(core.KindPost, seq)
		p.Created = t.Now()
	}
	p.Chunks = len(pieces)
	if n := len(pieces); n > 0 && pieces[n-1].File != nil {
		p.Buttons = nil // not every platform lets a file's text be edited
	}
	var rows []core.Row
	for i, piece := range pieces {
		row := head
		row.Seq, row.Chunk, row.Post, row.Kind, row.Place = seq, i, p.ID, p.Kind, p.Place
		row.Text, row.File, row.Thinking = piece.Text, piece.File, piece.Thinking
		if row.Last = i == len(pieces)-1; row.Last && (len(p.Buttons) > 0 || p.Ask != "") {
			row.Buttons, p.Card = p.Buttons, &core.Card{Text: piece.Text, Thinking: piece.Thinking}
		}
		if len(row.Buttons) == 0 {
			row.Plain = ""
		}
		if i > 0 {
			row.ReplyTo, row.Edit = "", ""
		} else if p.Open != nil {
			row.Edit = p.Open.ID
		}
		if err := t.insert(rowKey(row.Place, row.Seq, row.Chunk), row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, t.put(idKey(famPost, p.ID), p)
}

// pieces is a piece list for text that may be blank only by mistake: an outcome
// is never silence.
func pieces(split func(core.Place, string) []core.Piece, p core.Place, text string) []core.Piece {
	if out := split(p, text); len(out) > 0 {
		return out
	}
	if text = strings.TrimSpace(text); text == "" {
		text = "(done, no text)"
	}
	return []core.Piece{{Text: text}}
}
