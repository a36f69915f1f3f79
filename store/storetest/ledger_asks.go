package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"bellhop/core"
	"bellhop/store/memkv"
)

// bob talks in the same places as ann. What is done for one of them the other
// may not allow.
var bob = core.Person{ID: "chat:bob", Name: "Bob"}

const (
	askRemind = 2 * time.Minute
	askLife   = 5 * time.Minute
)

// ask is what a run waits for, or has waited for.
type ask struct {
	id      core.ID
	th      *thread
	run     *run
	whose   core.PersonID
	kind    core.AskKind
	choices []string
	nonce   string // in the values of its buttons
	state   core.AskState
	made    time.Time
	remind  time.Time // zero: people were reminded
	expires time.Time
	told    []core.PersonID
	post    core.ID
	shown   string // platform id of its card; empty: it is not shown yet
	dead    bool   // … and never will be again
}

func (r *run) open() bool { return r.state == core.Doing || r.state == core.Waiting }

// hop is that of what the run says.
func (r *run) hop() int {
	hop := 0
	for _, it := range r.items {
		hop = max(hop, it.line.hop)
	}
	return hop + 1
}

// requester is whose work a message is: its author's, or that of the run which
// wrote it; was, if it is nobody's.
func (ln *line) requester(was core.PersonID) core.PersonID {
	switch {
	case ln.by == "":
		return ln.from
	case ln.run != nil && !ln.run.pruned && ln.run.whose != "":
		return ln.run.whose
	}
	return was
}

// waits is the bot's run that waits in the thread.
func (th *thread) waits(bot string) *run {
	for _, r := range th.runs {
		if r.bot == bot && r.state == core.Waiting {
			return r
		}
	}
	return nil
}

// openAsks are those of the thread that are open, oldest first; nil: all.
func (l *ledger) openAsks(th *thread) []*ask {
	var out []*ask
	for _, a := range l.asks {
		if a.state == core.AskOpen && (th == nil || a.th == th) {
			out = append(out, a)
		}
	}
	return out
}

// next is when an ask is to be looked at.
func (l *ledger) next() time.Time {
	var next time.Time
	for _, a := range l.openAsks(nil) {
		at := a.remind
		if at.IsZero() {
			at = a.expires
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// park has a run wait. A question is a message of the thread.
func (l *ledger) park(th *thread, r *run, a *ask, text string) []*item {
	a.th, a.run, a.whose, a.state = th, r, r.whose, core.AskOpen
	a.made, a.remind, a.expires = l.now, l.now.Add(askRemind), l.now.Add(askLife)
	l.asks = append(l.asks, a)
	r.state, r.ask = core.Waiting, a
	for _, it := range r.items {
		it.state = core.Waiting
	}
	l.say(th.channel, "Hm.", text)
	box := l.outbox[th.channel]
	box[len(box)-1].card = a
	if a.kind == core.ApprovalAsk {
		return nil
	}
	ln, _ := th.write("Hm.|"+text, r.hop())
	ln.by, ln.run = r.bot, r
	return ln.inform(false)
}

// may reports whether a person may decide it now. Who writes must have been able
// to read it.
func (l *ledger) may(a *ask, in core.Inbound, here bool, verdict string) bool {
	grants := a.kind == core.ApprovalAsk && verdict != deny
	read := in.Kind == core.InButton || (a.shown != "" || a.dead) && !(a.dead && grants) && !in.Time.Before(a.made)
	return read && a.state == core.AskOpen && l.now.Before(a.expires) && (in.From.ID == a.whose || a.kind == core.QuestionAsk && here)
}

// decide has a person decide it by an event, if they may. A message of theirs
// is the answer.
func (l *ledger) decide(a *ask, in core.Inbound, here bool, verdict string) (woken []*item, ok bool) {
	if !l.may(a, in, here, verdict) {
		return nil, false
	}
	state := core.AskAnswered
	switch {
	case a.kind == core.QuestionAsk:
		ln, _ := a.th.write(verdict, 0)
		ln.from, ln.answers, ln.named = in.From.ID, a.run, nil
		if in.Text != "" {
			l.lines[in.MessageID] = ln
		}
		woken = ln.inform(false)
	case verdict == deny:
		state = core.AskDenied
	default:
		state = core.AskAllowed
		l.always[a.run.bot] = l.always[a.run.bot] || verdict == core.GrantAlways
	}
	l.conclude(a, state)
	return woken, true
}

// conclude has the run go on.
func (l *ledger) conclude(a *ask, state core.AskState) {
	r := a.run
	for _, it := range r.items {
		it.state = core.Doing
	}
	r.state, r.clean = core.Doing, true
	l.goOn = append(l.goOn, r)
	l.close(a, state)
}

// drop closes what a run that has ended waits for.
func (l *ledger) dropAsk(r *run) {
	if r.ask != nil {
		l.close(r.ask, core.AskDropped)
	}
}

// close has the card, if it is shown, show what became of it.
func (l *ledger) close(a *ask, state core.AskState) {
	a.state, a.run.ask = state, nil
	if a.shown != "" && !a.dead {
		l.say(a.th.channel, redrawn)
	}
}

// lapse is what time does to what is open.
func (l *ledger) lapse() {
	for _, a := range l.openAsks(nil) {
		switch now := l.now; {
		case !now.Before(a.expires):
			l.conclude(a, core.AskExpired)
		case !a.remind.IsZero() && !now.Before(a.remind):
			a.remind = time.Time{}
			l.say(a.th.channel, notice)
		}
	}
}

// meant is what a message decides, and how; nil: it is none of an answer.
func (l *ledger) meant(channel string, who core.PersonID, text, re string) (a *ask, verdict string) {
	open := l.openAsks(nil)
	replied := slices.IndexFunc(open, func(a *ask) bool { return re != "" && a.shown == re && a.th.channel == channel })
	if replied >= 0 {
		a = open[replied]
	} else {
		if l.current[channel] == nil {
			return nil, ""
		}
		open = l.openAsks(l.current[channel])
		if named := addressed(text); len(named) > 0 {
			open = slices.DeleteFunc(open, func(a *ask) bool { return !slices.Contains(named, a.run.bot) })
			if len(open) < len(inside(named)) { // it is for another bot, too
				return nil, ""
			}
		}
		if len(open) != 1 {
			return nil, ""
		}
		a = open[0]
	}
	if a.kind == core.ApprovalAsk {
		verdict, ok := map[string]string{"yes": core.GrantOnce, "no": deny}[text]
		if !ok {
			return nil, ""
		}
		return a, verdict
	}
	if i := slices.Index([]string{"1", "2"}, text); i >= 0 && i < len(a.choices) {
		return a, a.choices[i]
	}
	if replied >= 0 || slices.Contains(a.choices, text) || len(a.choices) == 0 && (who == a.whose || a.whose == "") {
		return a, text
	}
	return nil, ""
}

// remindOf tells who wrote something else what their bots wait for, once.
func (l *ledger) remindOf(th *thread, who core.PersonID, woken []*item) {
	for _, a := range l.openAsks(th) {
		theirs := slices.ContainsFunc(woken, func(it *item) bool { return it.bot == a.run.bot })
		if theirs && !slices.Contains(a.told, who) && l.now.Before(a.expires) {
			a.told = append(a.told, who)
			l.say(th.channel, notice)
		}
	}
}

// deny is the verdict on a call that is not allowed.
const deny = "deny"

// verdicts are what people can decide.
func (a *ask) verdicts() []string {
	if a.kind == core.QuestionAsk {
		return []string{"red", "at noon"}
	}
	return []string{core.GrantOnce, core.GrantTask, core.GrantAlways, deny}
}

// asking is what a run asks with its next step, in the call.
func asking(kind, call string, run core.Run) (*ask, core.Step, core.Parking) {
	a := &ask{kind: core.QuestionAsk, nonce: call}
	p := core.Parking{Said: "Hm.|" + kind, Pieces: split(run.Reply.Place, "Hm.|"+kind), Remind: askRemind, Life: askLife, Externals: []string{ci}}
	switch kind {
	case "choice":
		a.choices = []string{"red", "blue"}
	case "approval":
		a.kind, p.Said = core.ApprovalAsk, ""
		p.Ask.Grant = &core.Grantable{Tool: "tool", Hash: "hash", Class: "class", Always: &core.Remembered{Agent: run.Bot, Tool: "tool", Hash: "hash"}}
	}
	p.Ask.Kind, p.Ask.CallID, p.Ask.Text, p.Ask.Choices = a.kind, call, kind, a.choices
	for _, v := range a.verdicts() {
		p.Buttons = append(p.Buttons, core.Button{Label: v, Value: v + " " + a.nonce})
	}
	use := core.ToolUse{CallID: call, Name: "tool", Args: "{}", State: core.ToolPending}
	return a, core.Step{Run: run.ID, N: run.Steps + 1, Parts: []core.Part{core.Text("Hm."), {Kind: core.ToolPart, Tool: &use}}}, p
}

// askPeople has a run wait for people. Where the commit seems to fail, the run
// may end before it is tried again.
func (h *house) askPeople(t *rapid.T) {
	at, ok := h.busy(t)
	if !ok {
		return
	}
	f := h.at[at]
	kind := rapid.SampledFrom([]string{"question", "choice", "approval"}).Draw(t, "kind")
	a, step, p := asking(kind, fmt.Sprint("c", len(h.asks)), f.run)
	var got core.Parked
	var woken []*item
	park := func() (err error) {
		got, err = h.store.Park(h.ctx, f.run, step, nil, p)
		return err
	}
	apply := func() { woken = h.park(at.th, f.model, a, kind) }
	learn := func() {
		if got.Run != f.run.ID || got.Bot != at.bot || got.Thread != at.th.id || !h.twice && !got.Next.Equal(h.next()) {
			h.Fatalf("parked is %+v, to be looked at %s", got, h.next())
		}
		h.told(woken, got.Items)
		h.took(got.Rows)
		delete(h.at, at)
	}
	if rapid.IntRange(0, 9).Draw(t, "is tried again") == 0 {
		h.write(at, func() error {
			h.fault(memkv.After, func() {})
			defer h.engine.SetFault(nil)
			if err := park(); !errors.Is(err, errFault) {
				return err
			}
			return nil
		}, apply, func() {
			h.forsake(t, at, woken, func() {
				if err := park(); err != nil {
					h.Fatal(err)
				}
				learn()
			})
		})
		return
	}
	h.write(at, park, apply, learn)
}

// forsake goes on where the ledger has a run wait, and the run does not know: it
// tries again, or somebody ends it.
func (h *house) forsake(t *rapid.T, at desk, woken []*item, again func()) {
	switch rapid.SampledFrom([]string{"again", "stopped", "failed"}).Draw(t, "the run") {
	case "again":
		again()
	case "stopped":
		h.untold = woken
		h.events++
		key := fmt.Sprint("e", h.events)
		e := core.Entry{Role: core.Member, Agent: chief, Command: h.command("cancel"), Args: string(h.at[at].run.ID),
			In: core.Inbound{Key: key, Kind: core.InMessage, Direct: true, From: ann, MessageID: key, Place: core.Place{Adapter: "chat", Channel: at.th.channel}}}
		h.offer([]string{"cancel"}, []core.Entry{e})
		delete(h.at, at)
	case "failed":
		h.untold = woken
		h.end(at, "")
	}
}

// pass lets time pass, and has what is due looked at.
func (h *house) pass(t *rapid.T) {
	h.now = h.now.Add(rapid.SampledFrom([]time.Duration{time.Millisecond, time.Minute, askRemind, askLife}).Draw(t, "time"))
	if rapid.Bool().Draw(t, "nobody looks") {
		return
	}
	var got core.Accepted
	var next time.Time
	h.do(func() (err error) {
		got, next, err = h.store.Lapse(h.ctx, split)
		return err
	}, h.lapse, func() {
		h.told(nil, got.Items)
		h.took(got.Rows)
		if !next.Equal(h.next()) {
			h.Fatalf("to be looked at %s, want %s", next, h.next())
		}
	})
}

// decision draws an event with which a person decides, or tries to, by a press
// or a command.
func (h *house) decision(t *rapid.T, kind string, e *core.Entry) bool {
	var all []*ask
	for _, a := range h.asks {
		if a.id != "" && (kind == "answer" || a.shown != "") {
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		return false
	}
	if open := slices.DeleteFunc(slices.Clone(all), func(a *ask) bool { return a.state != core.AskOpen }); len(open) > 0 && rapid.Bool().Draw(t, "of what is open") {
		all = open
	}
	a := rapid.SampledFrom(all).Draw(t, "ask")
	verdict := rapid.SampledFrom(a.verdicts()).Draw(t, "verdict")
	e.Command, e.Args = h.command("answer"), string(a.id)+" "+verdict
	switch kind {
	case "press":
		e.In.Kind, e.In.MessageID, e.In.Place.Channel = core.InButton, a.shown, a.th.channel
		e.In.Button = verdict + " " + rapid.SampledFrom([]string{a.nonce, a.nonce, "guessed"}).Draw(t, "nonce")
	case "reply":
		e.Command, e.Args = nil, ""
		e.In.ReplyTo, e.In.Place.Channel = a.shown, a.th.channel
		e.In.Text = rapid.SampledFrom([]string{"yes", "no", "1", "red", "hello"}).Draw(t, "text")
	}
	return true
}

// decideBy is what such an event does to the model.
func (h *house) decideBy(kind string, in core.Inbound, args string) (core.Fate, []*item) {
	id, verdict, _ := strings.Cut(args, " ")
	a := h.asks[slices.IndexFunc(h.asks, func(a *ask) bool { return string(a.id) == id })]
	if kind == "press" {
		if a.state == core.AskOpen && !strings.HasSuffix(in.Button, " "+a.nonce) {
			return core.FateIgnored, nil
		}
		if woken, ok := h.decide(a, in, true, verdict); ok {
			return core.FateAnswer, woken
		}
		return core.FateIgnored, nil
	}
	channel := h.canonical(in.Place.Channel)
	woken, _ := h.decide(a, in, channel == a.th.channel, verdict)
	h.say(channel, replied)
	return core.FateCommand, woken
}

// answerAs has an external actor answer a question, or try to: only what takes
// part may, and it decides about no call.
func (h *house) answerAs(t *rapid.T) {
	var all []*ask
	for _, a := range h.asks {
		if a.id != "" {
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		return
	}
	a := rapid.SampledFrom(all).Draw(t, "ask")
	in := core.ExternalAnswer{From: rapid.SampledFrom([]string{ci, ci, night}).Draw(t, "from"), Ask: a.id, Text: "red", Externals: []string{ci}, Split: split}
	may := a.kind == core.QuestionAsk && a.state == core.AskOpen && h.now.Before(a.expires) && in.From == ci && a.th.external
	var got core.Said
	h.do(func() (err error) {
		got, err = h.store.AnswerAs(h.ctx, in)
		if _, refused := errors.AsType[*core.UserError](err); refused == may {
			h.Fatalf("%s answers %s: %v, want %v", in.From, a.id, err, may)
		} else if refused {
			return nil
		}
		return err
	}, func() {
		if may {
			ln, _ := a.th.write(in.Text, 0)
			ln.by, ln.answers = ci, a.run
			h.conclude(a, core.AskAnswered)
		}
	}, func() {
		h.told(nil, got.Items)
		h.took(got.Rows)
	})
}

// sameAsks compares what was asked, what became of it, and what its run knows of
// that.
func (h *house) sameAsks(asks []core.Ask, steps map[core.ID][]core.Step) {
	h.Helper()
	kept := slices.DeleteFunc(slices.Clone(h.asks), func(a *ask) bool { return a.run.pruned })
	if len(asks) != len(kept) {
		h.Fatalf("%d asks, want %d", len(asks), len(kept))
	}
	for _, bot := range team {
		if len(h.threads) == 0 {
			break
		}
		if _, have, err := h.store.Permits(h.ctx, h.threads[0].id, bot); err != nil || (len(have) == 1) != h.always[bot] {
			h.Fatalf("%s may always do %v, %v; want any: %v", bot, have, err, h.always[bot])
		}
	}
	for i, got := range asks {
		a := kept[i]
		a.id, a.post = got.ID, got.Post
		if got.State != a.state || got.Kind != a.kind || got.For.ID != a.whose || got.Run != a.run.id || got.Remind.IsZero() != a.remind.IsZero() || !slices.Equal(got.Told, a.told) {
			h.Fatalf("%+v, want %+v", got, a)
		}
		if len(steps[got.Run]) == 0 && !a.run.open() {
			continue // they are not kept any more
		}
		use := steps[got.Run][got.Step-1].Parts[1].Tool
		want := map[core.AskState]core.ToolUse{core.AskAnswered: {State: core.ToolDone}, core.AskAllowed: {State: core.ToolPending, Allowed: "hash"},
			core.AskDenied: {State: core.ToolFailed}, core.AskExpired: {State: core.ToolFailed}}[a.state]
		if want.State == "" {
			want.State = core.ToolPending
		}
		if use.Ask != got.ID || use.State != want.State || use.Allowed != want.Allowed || (use.Output == "") != (want.State == core.ToolPending) {
			h.Fatalf("%s is %s, and its call %+v", got.ID, got.State, use)
		}
	}
}
