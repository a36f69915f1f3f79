package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"bellhop/core"
)

// openAsk is what is looked at without reading an ask.
type openAsk struct {
	Thread core.ID   `json:"thread"`
	At     time.Time `json:"at"` // when it is to be looked at next
}

func openAskOf(a core.Ask) openAsk {
	if !a.Remind.IsZero() {
		return openAsk{a.Thread, a.Remind}
	}
	return openAsk{a.Thread, a.Expires}
}

// putAsk stores an ask, and that it is open while it is.
func (t *tx) putAsk(a core.Ask) error {
	if err := t.put(idKey(famAsk, a.ID), a); err != nil {
		return err
	}
	if a.State != core.AskOpen {
		return t.Delete(idKey(famOpenAsk, a.ID))
	}
	return t.put(idKey(famOpenAsk, a.ID), openAskOf(a))
}

// openAsks are those of the thread that are open, oldest first; empty: all.
func (t *tx) openAsks(thread core.ID) ([]core.Ask, error) {
	var ids []core.ID
	if err := each(t, []byte(famOpenAsk), 0, func(key []byte, o openAsk) error {
		if thread == "" || o.Thread == thread {
			ids = append(ids, core.NewID(core.KindAsk, seqOf(key)))
		}
		return nil
	}); err != nil {
		return nil, err
	}
	var out []core.Ask
	for _, id := range ids {
		a, ok, err := get[core.Ask](t, idKey(famAsk, id))
		if err != nil {
			return nil, err
		}
		if ok && a.State == core.AskOpen {
			out = append(out, a)
		}
	}
	return out, nil
}

// nextLook is when an ask is to be looked at first; zero: none is open.
func (t *tx) nextLook() (time.Time, error) {
	var next time.Time
	err := each(t, []byte(famOpenAsk), 0, func(_ []byte, o openAsk) error {
		if next.IsZero() || o.At.Before(next) {
			next = o.At
		}
		return nil
	})
	return next, err
}

// Park has a run wait for a person, in one transaction: the step with the call
// that asks, the ask, its post with what the run has said so far, the states of
// the run and its items. The run's later words stand in a post of their own.
// Until the ask is decided or the run is stopped, the thread's other messages
// for the bot wait.
func (s *Store) Park(ctx context.Context, run core.Run, step core.Step, open *core.Receipt, p core.Parking) (core.Parked, error) {
	var out core.Parked
	var ended, before bool
	err := s.update(ctx, func(t *tx) error {
		out, ended, before = core.Parked{}, false, false
		have, err := t.begin(run)
		if err != nil {
			return err
		}
		if have.Ask != "" || have.Steps >= step.N && t.asked(run.ID, step.N, p.Ask.CallID) { // it took itself for failed
			before = true
			return nil
		}
		if open != nil {
			if err := t.opened(run, *open); err != nil {
				return err
			}
		}
		have.Usage, have.Cut = run.Usage, run.Cut
		out, err = t.park(have, step, p)
		ended = err == nil
		return err
	})
	if before && err == nil {
		out, _ = s.parked.take(string(run.ID))
		out.Run, out.Bot, out.Thread = run.ID, run.Bot, run.Thread
	}
	s.parked.note(string(run.ID), out, ended, err)
	return out, err
}

// untold is what a Park of the run has stored and told nobody of, since it took
// itself for failed. Whoever ends the run then tells of it: in its transaction
// it finds out that it is stored, and once that is done, takes it with told.
func (s *Store) untold(t *tx, run core.ID) (bool, error) {
	p, _ := s.parked.get(string(run))
	rows, err := t.waiting(p.Rows)
	return len(rows) > 0, err
}

// waiting are those of the rows that wait to be delivered: of a transaction that
// took itself for failed, all if it was stored, else none.
func (t *tx) waiting(rows []core.Row) ([]core.Row, error) {
	keys := make([][]byte, len(rows))
	for i, r := range rows {
		keys[i] = rowKey(r.Place, r.Seq, r.Chunk)
	}
	have, err := t.Get(keys...)
	if err != nil {
		return nil, err
	}
	var out []core.Row
	for i, r := range rows {
		if have[i] != nil {
			out = append(out, r)
		}
	}
	return out, nil
}

// told takes what the Parks of runs that have ended told nobody of: the rows and
// items of those that were stored.
func (s *Store) told(ended map[core.ID]bool) (rows []core.Row, items []core.Item) {
	for run, stored := range ended {
		if p, ok := s.parked.take(string(run)); ok && stored {
			rows, items = append(rows, p.Rows...), append(items, p.Items...)
		}
	}
	return rows, items
}

// asked reports whether the step's call has asked already.
func (t *tx) asked(run core.ID, n int, call string) bool {
	st, _, err := get[core.Step](t, stepKey(run, n))
	use := useOf(&st, call)
	return err == nil && use != nil && use.Ask != ""
}

// useOf is the step's call with the ID.
func useOf(st *core.Step, call string) *core.ToolUse {
	for _, p := range st.Parts {
		if p.Tool != nil && p.Tool.CallID == call {
			return p.Tool
		}
	}
	return nil
}

func (t *tx) park(run core.Run, step core.Step, p core.Parking) (core.Parked, error) {
	out := core.Parked{Run: run.ID, Bot: run.Bot, Thread: run.Thread}
	th, err := need[core.Thread](t, famThread, run.Thread)
	if err != nil {
		return out, err
	}
	a := p.Ask
	if a.ID, err = t.id(core.KindAsk); err != nil {
		return out, err
	}
	a.Bot, a.Run, a.Thread, a.Place, a.Direct, a.Post = run.Bot, run.ID, run.Thread, run.Reply.Place, run.Reply.Direct, run.Post
	a.Step, a.State, a.For, a.Whose = step.N, core.AskOpen, run.For, run.People
	a.Created, a.Expires = t.Now(), t.Now().Add(p.Life)
	if p.Remind > 0 {
		a.Remind = t.Now().Add(p.Remind)
	}
	post, ok, err := get[core.Post](t, idKey(famPost, run.Post))
	if err != nil {
		return out, err
	}
	if !ok {
		post = core.Post{ID: run.Post, Thread: run.Thread, Place: run.Reply.Place, Run: run.ID, Created: t.Now()}
	}
	post.Kind, post.Ask, post.Buttons = core.AskPost, a.ID, p.Buttons
	if strings.TrimSpace(p.Said) != "" {
		msg, err := t.addMessage(&th, core.Message{Sender: core.Actor{Kind: core.BotActor, ID: run.Bot}, Name: p.Speaker.Name,
			Parts: []core.Part{core.Text(p.Said)}, Hop: run.Hop + 1, Time: t.Now(), Run: run.ID, After: run.Upto, Post: post.ID})
		if err != nil {
			return out, err
		}
		post.Message = msg.ID
		if out.Items, err = t.inform(&th, msg, p.Externals, nil); err != nil {
			return out, err
		}
	}
	head := core.Row{ReplyTo: run.Reply.To, After: run.Reply.After, Answers: run.Reply.Answers, Speaker: p.Speaker, Plain: p.Plain}
	if out.Rows, err = t.show(post, head, p.Pieces); err != nil {
		return out, err
	}
	for _, id := range run.Items {
		if err := t.mark(id, core.Waiting); err != nil {
			return out, err
		}
	}
	useOf(&step, a.CallID).Ask = a.ID
	run.State, run.Ask, run.Steps = core.Waiting, a.ID, max(run.Steps, step.N)
	run.Worked += p.Worked
	if run.Post, err = t.id(core.KindPost); err != nil {
		return out, err
	}
	for key, row := range map[string]any{string(idKey(famThread, th.ID)): th, string(stepKey(run.ID, step.N)): step, string(idKey(famRun, run.ID)): run} {
		if err := t.put([]byte(key), row); err != nil {
			return out, err
		}
	}
	if err := t.putAsk(a); err != nil {
		return out, err
	}
	if err := t.logWait(run, a); err != nil {
		return out, err
	}
	out.Post = run.Post
	out.Next, err = t.nextLook()
	return out, err
}

// mark moves an item that has not ended between doing and waiting.
func (t *tx) mark(id core.ID, state core.State) error {
	it, ok, err := get[core.Item](t, idKey(famItem, id))
	if err != nil || !ok || it.State.Terminal() || it.State == core.Queued {
		return err
	}
	it.State = state
	return t.put(idKey(famItem, id), it)
}

// decided is how an ask ends.
type decided struct {
	state   core.AskState
	result  string        // for the model
	failed  bool          // the result is a failure
	outcome string        // for people: a line
	allow   string        // Grantable.Hash of the call that may be made now
	refuse  bool          // calls of the class, for the rest of the run
	grant   bool          // likewise: allowed
	always  bool          // the call is allowed for good
	answer  core.Answer   // empty: nobody's
	message *core.Message // the answer as a message of the thread; nil: there is none
	tell    []string      // external actors that can be told of the message
	after   string        // platform id of the message that answers; empty: none
}

// conclude ends an open ask and has its run go on: in the caller's transaction, so
// that it is decided once. It returns what is to be delivered and who to wake.
func (t *tx) conclude(a core.Ask, d decided, split func(core.Place, string) []core.Piece) ([]core.Row, []core.Item, error) {
	run, ok, err := get[core.Run](t, idKey(famRun, a.Run))
	if err != nil {
		return nil, nil, err
	}
	if !ok || run.State != core.Waiting || run.Ask != a.ID {
		rows, err := t.close(a, core.AskDropped, "", split)
		return rows, nil, err
	}
	key := stepKey(run.ID, a.Step)
	step, ok, err := get[core.Step](t, key)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		step = t.lostStep(run.ID, a.Step)
	}
	if use := useOf(&step, a.CallID); use != nil {
		use.Allowed = d.allow
		if d.allow == "" {
			use.State, use.Output, use.Ended = core.ToolDone, d.result, t.Now()
			if d.failed {
				use.State = core.ToolFailed
			}
		}
	} else {
		step = told(step, a, d)
	}
	if err := t.put(key, step); err != nil {
		return nil, nil, err
	}
	var items []core.Item
	if d.message != nil {
		if items, err = t.say(run, *d.message, d.tell); err != nil {
			return nil, nil, err
		}
	}
	for _, id := range run.Items {
		if err := t.mark(id, core.Doing); err != nil {
			return nil, nil, err
		}
	}
	run.State, run.Ask, run.StoppedClean = core.Doing, "", true
	if d.state == core.AskAnswered {
		run.Hear(d.answer.By.ID)
	}
	if d.always {
		r := *a.Grant.Always
		r.By = d.answer.By.ID
		if _, err := t.remember(r); err != nil {
			return nil, nil, err
		}
	}
	if d.grant {
		run.Granted = append(run.Granted, a.Grant.Class)
	}
	if d.refuse {
		run.Refused = append(run.Refused, a.Grant.Class)
	}
	post, _, err := get[core.Post](t, idKey(famPost, a.Post))
	if err != nil {
		return nil, nil, err
	}
	if n := len(post.Shown); n > 0 { // a lost send of what comes now lies after this
		run.Reply.After = post.Shown[n-1].ID
	}
	if d.after != "" {
		run.Reply.After = d.after
	}
	if err := t.put(idKey(famRun, run.ID), run); err != nil {
		return nil, nil, err
	}
	a.Answer, a.By = cmp.Or(d.answer.Text, d.answer.Grant), d.answer.By
	rows, err := t.close(a, d.state, d.outcome, split)
	if err != nil {
		return nil, nil, err
	}
	id, err := t.id(core.KindItem)
	if err != nil {
		return nil, nil, err
	}
	it := core.Item{ID: id, Kind: core.ResumeItem, Bot: run.Bot, Adapter: run.Reply.Place.Adapter, Thread: run.Thread, Run: run.ID, State: core.Queued, Created: t.Now()}
	return rows, append(items, it), t.queue(it)
}

// say adds the answer to a run's question to its thread, and tells the external
// actors there.
func (t *tx) say(run core.Run, msg core.Message, listening []string) ([]core.Item, error) {
	th, err := need[core.Thread](t, famThread, run.Thread)
	if err != nil {
		return nil, err
	}
	msg.Answers, msg.For, msg.After = run.ID, run.Bot, run.Upto
	if msg, err = t.addMessage(&th, msg); err != nil {
		return nil, err
	}
	if msg.PlatformID != "" {
		if err := t.put(t.platformKey(th.Place, msg.PlatformID), platformRow{Thread: th.ID, Message: msg.ID}); err != nil {
			return nil, err
		}
	}
	items, err := t.inform(&th, msg, listening, nil)
	if err != nil {
		return nil, err
	}
	return items, t.put(idKey(famThread, th.ID), th)
}

// close stores the ask's end and has its post show it.
func (t *tx) close(a core.Ask, state core.AskState, outcome string, split func(core.Place, string) []core.Piece) ([]core.Row, error) {
	a.State, a.Ended = state, t.Now()
	if err := errors.Join(t.putAsk(a), t.logAsk(a)); err != nil {
		return nil, err
	}
	return t.redraw(a.Post, func(card string) string { return withOutcome(a.Place, card, outcome, split) })
}

// withOutcome is a card's text with the line below it that says what became of
// it, as long as that is one piece; else the line alone.
func withOutcome(at core.Place, card, outcome string, split func(core.Place, string) []core.Piece) string {
	if outcome == "" {
		outcome = "(not needed any more)"
	}
	whole := card + "\n\n" + outcome
	if len(split(at, whole)) > 1 {
		return outcome
	}
	return whole
}

// dropAsk closes what the run waits for, since the run has ended.
func (t *tx) dropAsk(run core.Run, split func(core.Place, string) []core.Piece) ([]core.Row, error) {
	if run.Ask == "" {
		return nil, nil
	}
	a, ok, err := get[core.Ask](t, idKey(famAsk, run.Ask))
	if err != nil || !ok || a.State != core.AskOpen {
		return nil, err
	}
	return t.close(a, core.AskDropped, "", split)
}

// Lapse is called when an ask is to be looked at: people are told again of one
// that has been open for long, and one that nobody has answered expires. It
// returns what follows and when to look next.
func (s *Store) Lapse(ctx context.Context, split func(core.Place, string) []core.Piece) (core.Accepted, time.Time, error) {
	var did []lapse
	var next time.Time
	var ended bool
	err := s.update(ctx, func(t *tx) error {
		ended = false
		earlier, _ := s.lapsed.get("")
		var err error
		if did, err = t.confirmed(earlier); err != nil {
			return err
		}
		open, err := t.openAsks("")
		if err != nil {
			return err
		}
		for _, a := range open {
			l, due, err := t.lapse(a, split)
			if err != nil {
				return err
			}
			if due {
				did = append(did, l)
			}
		}
		next, err = t.nextLook()
		ended = err == nil
		return err
	})
	s.lapsed.note("", did, ended, err)
	if err != nil {
		return core.Accepted{}, time.Time{}, err
	}
	return follow(did), next, nil
}

func expired(a core.Ask) decided {
	if a.Lost {
		return decided{state: core.AskExpired, failed: true, outcome: "⚠ This was damaged in my store, so nobody can decide it any more.",
			result: "What was asked here was damaged in the store before a person could decide it: nobody has answered, and nothing was allowed or done. Ask again if you still need it."}
	}
	after := span(a.Expires.Sub(a.Created))
	if a.Kind == core.ApprovalAsk {
		return decided{state: core.AskExpired, failed: true, refuse: true, outcome: "⌛ Nobody allowed this within " + after + ", so it was not done.",
			result: "Nobody allowed this call within " + after + ", so it was not made. Do not try it again."}
	}
	return decided{state: core.AskExpired, failed: true, outcome: "⌛ Nobody answered within " + after + ".",
		result: "Nobody answered within " + after + ". Go on without an answer as well as you can, or say what you need."}
}

// mostAsked is how many characters of what is asked are told when people are told
// of it again.
const mostAsked = 200

func reminder(a core.Ask, now time.Time) string {
	who := ""
	if a.For.Name != "" {
		who = shownName(a.For.Name) + ", "
	}
	return fmt.Sprintf("⏳ %s@%s still waits: %s (%s, for another %s)", who, a.Bot, a.Line(mostAsked), a.ID, span(a.Expires.Sub(now)))
}

// span is a duration in words, of one unit.
func span(d time.Duration) string {
	unit := func(n int, name string) string {
		if n == 1 {
			return "a" + map[string]string{"hour": "n"}[name] + " " + name
		}
		return fmt.Sprintf("%d %ss", n, name)
	}
	switch {
	case d >= 48*time.Hour:
		return unit(int(d.Round(24*time.Hour)/(24*time.Hour)), "day")
	case d >= 90*time.Minute:
		return unit(int(d.Round(time.Hour)/time.Hour), "hour")
	}
	return unit(max(1, int(d.Round(time.Minute)/time.Minute)), "minute")
}

// clip is text on one line, of at most so many characters.
func clip(text string, most int) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) <= most {
		return string(r)
	}
	return strings.TrimSpace(string(r[:most-1])) + "…"
}
