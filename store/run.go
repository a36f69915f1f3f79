package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"bellhop/core"
)

// Pick reads what a bot's run needs: the run made of the waiting items, which
// all belong to one thread (or of one resume item), and its scene, of at most
// about twice window messages. Of more than most messages that wait, the oldest
// join, and the scene ends before the first that does not. It writes nothing:
// the pick is stored with the run's first write, so a crash before that leaves
// the items queued. core.ErrRunOver: none of the items waits any more.
func (s *Store) Pick(ctx context.Context, items []core.Item, window, most int) (core.Run, core.Scene, error) {
	var run core.Run
	var scene core.Scene
	err := s.view(ctx, func(t *tx) error {
		mail := make([]core.Item, 0, len(items))
		var begun core.ID
		for _, it := range items {
			now, ok, err := get[core.Item](t, idKey(famItem, it.ID))
			if err != nil {
				return err
			}
			if ok && now.Bot == it.Bot && now.State == core.Doing {
				begun = now.Run // its pick is stored, and this one takes it over
			}
			if ok && now.Bot == it.Bot && (now.State == core.Queued || now.State == core.Doing) {
				mail = append(mail, now)
			}
		}
		if len(mail) == 0 {
			return core.ErrRunOver
		}
		th, err := need[core.Thread](t, famThread, mail[0].Thread)
		if err != nil {
			return err
		}
		if mail[0].Kind == core.ResumeItem {
			if run, err = t.resumed(mail[0]); err != nil {
				return err
			}
			run.Resumed = items[0].Left
			scene, err = t.scene(th, run, window)
			return err
		}
		if mail, scene, err = t.join(th, mail, window, most); err != nil {
			return err
		}
		if run, err = t.draft(th, mail); err != nil {
			return err
		}
		if begun != "" {
			run.ID, run.Post = begun, begun.As(core.KindPost)
		}
		run.Resumed = items[0].Left
		run.Open, err = t.receipt(run)
		return err
	})
	return run, scene, err
}

// join is the mail that a run takes, and what it reads: all that waits, or the
// items of the oldest messages and the thread up to the first that is left.
func (t *tx) join(th core.Thread, mail []core.Item, window, most int) ([]core.Item, core.Scene, error) {
	run := core.Run{Bot: mail[0].Bot, Thread: th.ID, Scoped: th.Scoped(mail[0].Bot), Late: th.Late}
	cut := th.Cuts[run.Bot]
	joined, upto := head(mail, most, cut)
	run.Upto = upto
	scene, err := t.scene(th, run, window)
	if err != nil || upto != "" {
		return joined, scene, err
	}
	if mail, err = t.latecomers(mail, scene); err != nil {
		return nil, scene, err
	}
	joined, upto = head(mail, most, cut)
	if upto == "" {
		return joined, scene, nil
	}
	run.Upto = upto
	scene, err = t.scene(th, run, window)
	return joined, scene, err
}

// head is the items of the oldest messages, and the number before the first
// message after them that is left and not older than the window anyway; upto is
// empty if there is none.
func head(mail []core.Item, most int, cut core.ID) (joined []core.Item, upto core.ID) {
	messages := map[core.ID]bool{}
	var newest uint64
	for i, it := range mail {
		if messages[it.Message] {
			continue
		}
		if len(messages) < most {
			messages[it.Message] = true
			newest = max(newest, it.Message.Seq())
			continue
		}
		for _, left := range mail[i:] {
			if n := left.Message.Seq(); n > newest && n >= cut.Seq() && (upto == "" || n <= upto.Seq()) {
				upto = core.NewID(core.KindMessage, n-1)
			}
		}
		return mail[:i], upto
	}
	return mail, ""
}

// latecomers adds to the mail what has been queued for the bot since its
// mailbox last heard: the run reads these messages, so it must answer them.
func (t *tx) latecomers(mail []core.Item, sc core.Scene) ([]core.Item, error) {
	last := mail[len(mail)-1]
	for _, m := range sc.Messages {
		if m.ID.Seq() <= last.Message.Seq() {
			continue
		}
		items, err := t.itemsOf(m.ID)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			known := slices.ContainsFunc(mail, func(have core.Item) bool { return have.ID == it.ID })
			if it.Bot == last.Bot && it.State == core.Queued && !known {
				mail = append(mail, it)
			}
		}
	}
	return mail, nil
}

// draft is the run that the items would begin. The oldest gives it its number, or
// the one of which people are told that it waits for a slot.
func (t *tx) draft(th core.Thread, mail []core.Item) (core.Run, error) {
	head := mail[max(0, slices.IndexFunc(mail, func(it core.Item) bool { return it.Waits }))].ID
	run := core.Run{ID: head.As(core.KindRun), Post: head.As(core.KindPost), Bot: mail[0].Bot,
		Thread: th.ID, State: core.Doing, Scoped: th.Scoped(mail[0].Bot), Late: th.Late, Reply: core.Reply{Place: th.Place, Direct: th.Direct}, Created: t.Now()}
	for _, it := range mail {
		run.Items, run.Usage = append(run.Items, it.ID), run.Usage.Add(it.Usage)
		msg, ok, err := t.message(it.Thread, it.Message)
		if err != nil {
			return run, err
		}
		if !ok || slices.Contains(run.Triggers, msg.ID) {
			continue
		}
		run.Triggers = append(run.Triggers, msg.ID)
		run.Versions = append(run.Versions, msg.Version)
		run.Hop = max(run.Hop, msg.Hop)
		if err := t.serve(&run, msg); err != nil {
			return run, err
		}
		if msg.PlatformID == "" {
			if err := t.handedOn(&run, msg); err != nil {
				return run, err
			}
			continue
		}
		if run.Reply.After == "" {
			run.Reply.After = msg.PlatformID
		}
		if !th.Direct {
			run.Reply.To = msg.PlatformID
		}
		run.Reply.Answers = append(run.Reply.Answers, msg.PlatformID)
	}
	return run, nil
}

// serve has the run work for whoever wrote the message, or for whom the run
// worked that did.
func (t *tx) serve(run *core.Run, msg core.Message) error {
	if msg.Sender.Kind == core.HumanActor {
		run.Serve(core.Requester{ID: core.PersonID(msg.Sender.ID), Name: msg.Name})
		return nil
	}
	origin, _, err := get[core.Run](t, idKey(famRun, msg.Run))
	for _, id := range origin.People {
		run.Serve(core.Requester{ID: id})
	}
	run.Serve(origin.For)
	return err
}

// handedOn gives the run that a bot's or an external's message begins its
// origin's address: what the run that wrote it replies to, and after which
// platform id to look for a lost post, which is that of the message if it is
// known yet.
func (t *tx) handedOn(run *core.Run, msg core.Message) error {
	origin, _, err := get[core.Run](t, idKey(famRun, msg.Run))
	if err != nil {
		return err
	}
	r := &run.Reply
	if r.To == "" {
		r.To = origin.Reply.To
	}
	if r.After != "" {
		return nil
	}
	post, _, err := get[core.Post](t, idKey(famPost, msg.Post))
	if err != nil {
		return err
	}
	if r.After = cmp.Or(newestOf(post), origin.Reply.After); r.After == "" { // an external's, not shown yet
		r.After, err = t.lastShown(msg.Thread)
	}
	return err
}

// resumed is the stored run that a resume item continues.
func (t *tx) resumed(it core.Item) (core.Run, error) {
	run, err := need[core.Run](t, famRun, it.Run)
	if err != nil {
		return run, err
	}
	if run.State.Terminal() {
		return run, core.ErrRunOver
	}
	if !slices.Contains(run.Items, it.ID) {
		run.Items = append(run.Items, it.ID)
	}
	run.Open, err = t.receipt(run)
	return run, err
}

// receipt is the stored one of the run's open post.
func (t *tx) receipt(run core.Run) (*core.Receipt, error) {
	post, _, err := get[core.Post](t, idKey(famPost, run.Post))
	return post.Open, err
}

// begin makes sure that the run is stored and open, storing the pick if
// nothing has yet, and returns it as stored.
func (t *tx) begin(run core.Run) (core.Run, error) {
	have, stored, err := get[core.Run](t, idKey(famRun, run.ID))
	if err != nil {
		return run, err
	}
	if stored && have.State.Terminal() {
		return run, core.ErrRunOver
	}
	if !stored {
		have = run
		have.Items = nil
		post, _, err := get[core.Post](t, idKey(famPost, run.Post))
		switch {
		case err != nil:
			return run, err
		case post.Chunks > 0: // it was retracted
			return run, core.ErrRunOver
		}
	}
	var join []core.Item
	for _, id := range run.Items {
		if slices.Contains(have.Items, id) {
			continue
		}
		it, found, err := get[core.Item](t, idKey(famItem, id))
		if err != nil {
			return run, err
		}
		if !found || it.State != core.Queued {
			continue
		}
		if it.Bot != run.Bot { // it was sorted since
			return run, core.ErrStale
		}
		if err := t.fresh(run, it); err != nil {
			return run, err
		}
		have.Items = append(have.Items, id)
		have.StoppedClean = have.StoppedClean && it.Kind != core.ResumeItem
		join = append(join, it)
	}
	switch {
	case len(join) == 0 && stored && run.Upto.Seq() <= have.Upto.Seq() && run.Scoped == have.Scoped:
		return have, nil
	case len(join) == 0 && !stored:
		return run, core.ErrRunOver
	case stored: // this pick has read more than the stored one
		have.Triggers, have.Versions, have.Reply, have.Hop, have.For, have.People = run.Triggers, run.Versions, run.Reply, run.Hop, run.For, run.People
		have.Scoped, have.Late, have.Upto, have.Cut, have.Tail = run.Scoped, run.Late, run.Upto, run.Cut, run.Tail
	default:
		if err := t.insert(idKey(famOpenRun, run.ID), openOf(run)); err != nil {
			return run, err
		}
	}
	for _, it := range join {
		if err := t.take(it, run.ID); err != nil {
			return run, err
		}
	}
	return have, errors.Join(t.put(idKey(famRun, run.ID), have), t.logPick(have, join))
}

// fresh reports core.ErrStale when the item's message is not the version any
// more that the run has read.
func (t *tx) fresh(run core.Run, it core.Item) error {
	i := slices.Index(run.Triggers, it.Message)
	if i < 0 {
		return nil
	}
	msg, found, err := t.message(it.Thread, it.Message)
	if err == nil && found && msg.Version != run.Versions[i] {
		err = core.ErrStale
	}
	return err
}

// Begin stores the pick alone: for work that an earlier process may have
// begun, so that a message which kills the process before the run's first
// write is counted.
func (s *Store) Begin(ctx context.Context, run core.Run) error {
	return s.update(ctx, func(t *tx) error {
		_, err := t.begin(run)
		return err
	})
}

// Await stores that people are told of a picked run that it waits for a slot, for
// the run that gets it to say the rest in the same post. It comes before the post
// is opened. core.ErrRunOver: what it would begin with waits no more.
func (s *Store) Await(ctx context.Context, run core.Run) error {
	return s.update(ctx, func(t *tx) error {
		it, _, err := get[core.Item](t, idKey(famItem, run.ID.As(core.KindItem)))
		switch {
		case err != nil:
			return err
		case it.State != core.Queued || it.Bot != run.Bot:
			return core.ErrRunOver
		}
		it.Waits, it.Unsorted = true, false // whose message it is, people are told
		return t.queue(it)
	})
}

// Opened stores the receipt of the run's open post, and the pick with it unless
// the run waits for a slot. core.ErrRunOver: it has ended, or what it would have
// begun with waits no more.
func (s *Store) Opened(ctx context.Context, run core.Run, r core.Receipt) error {
	return s.update(ctx, func(t *tx) error {
		goesOn := t.begin
		if run.Waits {
			goesOn = t.waits
		}
		if _, err := goesOn(run); err != nil {
			return err
		}
		return t.opened(run, r)
	})
}

// waits makes sure that the run still waits for its slot, or has begun since.
func (t *tx) waits(run core.Run) (core.Run, error) {
	it, _, err := get[core.Item](t, idKey(famItem, run.ID.As(core.KindItem)))
	if err != nil || it.State == core.Queued && it.Waits {
		return run, err
	}
	have, stored, err := get[core.Run](t, idKey(famRun, run.ID))
	if err == nil && (!stored || have.State.Terminal()) {
		err = core.ErrRunOver
	}
	return have, err
}

func (t *tx) opened(run core.Run, r core.Receipt) error {
	post, ok, err := get[core.Post](t, idKey(famPost, run.Post))
	if err != nil {
		return err
	}
	if !ok {
		post = core.Post{ID: run.Post, Kind: core.AnswerPost, Thread: run.Thread, Place: run.Reply.Place, Run: run.ID, Created: t.Now()}
	}
	post.Open = &r
	if err := t.put(t.platformKey(post.Place, r.ID), platformRow{Thread: run.Thread, Post: post.ID}); err != nil {
		return err
	}
	return t.put(idKey(famPost, post.ID), post)
}

// Step stores one step of the run, new or with more of its tools' results.
func (s *Store) Step(ctx context.Context, run core.Run, step core.Step) error {
	return s.update(ctx, func(t *tx) error {
		have, err := t.begin(run)
		if err != nil {
			return err
		}
		have.Steps = max(have.Steps, step.N)
		have.Usage, have.Cut = run.Usage, run.Cut
		if err := t.put(idKey(famRun, run.ID), have); err != nil {
			return err
		}
		return t.put(stepKey(run.ID, step.N), step)
	})
}

// Settle ends the run with its outcome in one transaction: the states of the
// run and its items, the reply in the thread, its chunks in the outbox, the
// fan-out, and hand-offs that may go now. core.ErrRunOver: somebody stopped it
// first; the outcome is discarded.
func (s *Store) Settle(ctx context.Context, run core.Run, open *core.Receipt, end core.Settlement) (core.Settled, error) {
	var out core.Settled
	var ended, parked bool
	err := s.update(ctx, func(t *tx) error {
		out, ended = core.Settled{}, false
		var err error
		if parked, err = s.untold(t, run.ID); err != nil {
			return err
		}
		have, err := t.begin(run)
		if errors.Is(err, core.ErrRunOver) {
			return s.settledBefore(t, run.ID, &out, err)
		}
		if err != nil {
			return err
		}
		if open != nil {
			if err := t.opened(run, *open); err != nil {
				return err
			}
		}
		have.Cut = run.Cut // an overflow may have moved it since the pick
		out, err = t.settle(have, end)
		ended = err == nil
		return err
	})
	s.settled.note(string(run.ID), out, ended, err)
	if err != nil {
		return core.Settled{}, err
	}
	rows, items := s.told(map[core.ID]bool{run.ID: parked})
	out.Rows, out.Items = append(rows, out.Rows...), append(items, out.Items...)
	return out, nil
}

// settledBefore is the result of a Settle of a run that is over: what an
// earlier one did that took itself for failed, else over.
func (s *Store) settledBefore(t *tx, id core.ID, out *core.Settled, over error) error {
	earlier, ok := s.settled.get(string(id))
	if !ok {
		return over
	}
	run, _, err := get[core.Run](t, idKey(famRun, id))
	if err == nil && run.State != core.Done && run.State != core.Failed {
		err = over
	}
	*out = earlier
	return err
}

func (t *tx) settle(run core.Run, end core.Settlement) (core.Settled, error) {
	var out core.Settled
	th, err := need[core.Thread](t, famThread, run.Thread)
	if err != nil {
		return out, err
	}
	for _, id := range run.Items {
		it, ok, err := get[core.Item](t, idKey(famItem, id))
		if err != nil {
			return out, err
		}
		if !ok || it.State.Terminal() {
			continue
		}
		if err := t.end(it, end.State, run.ID, run.Post); err != nil {
			return out, err
		}
	}
	run.State, run.Error, run.Usage, run.Steps = end.State, end.Error, end.Usage, end.Steps
	if run.Cut != "" && th.Cuts[run.Bot] != run.Cut {
		cuts := map[string]core.ID{run.Bot: run.Cut}
		for bot, cut := range th.Cuts {
			if bot != run.Bot {
				cuts[bot] = cut
			}
		}
		th.Cuts = cuts
	}
	rows, msg, err := t.finish(&th, run, end)
	if err != nil {
		return out, err
	}
	out.Rows = rows
	if out.Due, err = t.due(&th, run, end); err != nil {
		return out, err
	}
	if msg.ID != "" {
		if err := t.fanOut(&th, run, msg, end, &out); err != nil {
			return out, err
		}
	}
	released, err := t.release(&th, run.Bot)
	if err != nil {
		return out, err
	}
	out.Items = append(out.Items, released...)
	return out, t.put(idKey(famThread, th.ID), th)
}

// finish stores the run's end: the run out of the open ones, its words in the
// thread (the answer), and the outcome (the text) as rows of its post. The
// caller must put th.
func (t *tx) finish(th *core.Thread, run core.Run, end core.Settlement) ([]core.Row, core.Message, error) {
	dropped, err := t.dropAsk(run, end.Split)
	if err != nil {
		return nil, core.Message{}, err
	}
	run.Ended, run.Ask = t.Now(), ""
	if err := errors.Join(t.put(idKey(famRun, run.ID), run), t.logEnd(run), t.spend(th, run.Bot, run.For.ID, run.Usage)); err != nil {
		return nil, core.Message{}, err
	}
	if err := t.Delete(idKey(famOpenRun, run.ID)); err != nil {
		return nil, core.Message{}, err
	}
	var msg core.Message
	if strings.TrimSpace(end.Answer) != "" {
		var err error
		msg, err = t.addMessage(th, core.Message{Sender: core.Actor{Kind: core.BotActor, ID: run.Bot}, Name: end.Speaker.Name,
			Parts: []core.Part{core.Text(end.Answer)}, Mentions: core.MentionsOf(end.Answer, slices.Concat(end.Bots, end.Externals)), Hop: run.Hop + 1, Time: t.Now(),
			Run: run.ID, After: run.Upto, Digest: end.Digest, Post: run.Post})
		if err != nil {
			return nil, msg, err
		}
	}
	post, ok, err := get[core.Post](t, idKey(famPost, run.Post))
	if err != nil {
		return nil, msg, err
	}
	if !ok {
		post = core.Post{ID: run.Post, Thread: run.Thread, Place: run.Reply.Place, Run: run.ID, Created: t.Now()}
	}
	post.Kind, post.Message, post.Buttons = end.Kind, msg.ID, end.Buttons
	split := end.Outcome
	if split == nil {
		split = end.Split
	}
	head := core.Row{ReplyTo: run.Reply.To, After: run.Reply.After, Answers: run.Reply.Answers, Speaker: end.Speaker}
	rows, err := t.show(post, head, pieces(split, post.Place, end.Text))
	return append(dropped, rows...), msg, err
}

// openRuns are the runs in progress in the thread; empty: in all.
func (t *tx) openRuns(thread core.ID) ([]core.Run, error) {
	var ids []core.ID
	if err := each(t, []byte(famOpenRun), 0, func(key []byte, r openRow) error {
		if thread == "" || r.Thread == thread {
			ids = append(ids, core.NewID(core.KindRun, seqOf(key)))
		}
		return nil
	}); err != nil {
		return nil, err
	}
	var runs []core.Run
	for _, id := range ids {
		run, ok, err := get[core.Run](t, idKey(famRun, id))
		if err != nil {
			return nil, err
		}
		if ok && !run.State.Terminal() {
			runs = append(runs, run)
		}
	}
	return runs, nil
}
