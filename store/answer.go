package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"bellhop/core"
)

// Asks implements core.Desk.
func (d *desk) Asks(v core.Viewer) ([]core.Ask, error) {
	open, err := d.openAsks("")
	return slices.DeleteFunc(open, func(a core.Ask) bool { return a.Place != v.At && !(v.Direct && d.Awaits(a)) }), err
}

// Awaits implements core.Desk.
func (d *desk) Awaits(a core.Ask) bool {
	return a.Awaits(d.human, d.standing.Role, d.batch.Access.Approvers)
}

// Ask implements core.Desk.
func (d *desk) Ask(id core.ID) (core.Ask, bool, error) {
	return get[core.Ask](d.tx, idKey(famAsk, id))
}

// Decide implements core.Desk.
func (d *desk) Decide(ask core.ID, ans core.Answer) (bool, error) {
	a, ok, err := d.Ask(ask)
	if err != nil || !ok {
		return false, err
	}
	ans.Human, ans.Program = d.human, d.entry.In.From.Bot
	if why, err := d.unread(d.entry, a, ans); err != nil {
		return false, err
	} else if why != "" && a.May(ans, d.batch.Access.Approvers) {
		return false, &core.UserError{Text: why}
	}
	return d.answer(a, ans, nil)
}

// unread says why who has written something cannot have read before what is
// asked; empty: they can. A "yes" to what they were about to write an answer to
// anyway must not allow a call that nobody has seen. Who presses a button has
// read: it stands below all of it.
func (a *acceptance) unread(e *core.Entry, ask core.Ask, ans core.Answer) (why string, err error) {
	if e.In.Kind == core.InButton {
		return "", nil
	}
	post, _, err := get[core.Post](a.tx, idKey(famPost, ask.Post))
	switch {
	case err != nil:
		return "", err
	case post.Dead != "" && ans.Grant != "":
		return "That could not be shown, so nobody can allow it.", nil
	case post.Ended.IsZero(), e.In.Time.Before(ask.Created.Truncate(time.Second)): // some platforms tell whole seconds
		return "You wrote that before it was shown in full. Read it first, then decide.", nil
	}
	return "", nil
}

// answer has a person decide an ask, if they may and it is open; msg is the
// message that says so, if any.
func (a *acceptance) answer(ask core.Ask, ans core.Answer, msg *core.Message) (bool, error) {
	if ask.State != core.AskOpen || !a.Now().Before(ask.Expires) || !ask.May(ans, a.batch.Access.Approvers) {
		return false, nil
	}
	d := verdict(ask, ans, msg)
	d.tell = a.batch.Externals
	rows, items, err := a.conclude(ask, d, a.batch.Split)
	a.out.Rows, a.out.Items = append(a.out.Rows, rows...), append(a.out.Items, items...)
	return err == nil, err
}

// verdict is what a person's answer makes of an ask.
func verdict(ask core.Ask, ans core.Answer, msg *core.Message) decided {
	by := clip(cmp.Or(ans.By.Name, string(ans.By.ID)), maxName)
	shown := shownName(by)
	d := decided{answer: ans}
	switch reason := strings.TrimSpace(ans.Text); {
	case ask.Kind == core.QuestionAsk:
		d.state, d.result, d.outcome = core.AskAnswered, by+" answered: "+ans.Text, "✅ "+shown+": "+clip(ans.Text, 200)
		d.message = msg
		if msg == nil {
			d.message = &core.Message{Sender: core.Actor{Kind: core.HumanActor, ID: string(ans.By.ID)}, Name: ans.By.Name, Parts: []core.Part{core.Text(ans.Text)}}
		} else {
			d.after = msg.PlatformID
		}
	case ans.Grant == "":
		d.state, d.refuse, d.failed = core.AskDenied, true, true
		d.result, d.outcome = by+" did not allow this call, so it was not made. Do not try it again.", "🚫 Not allowed by "+shown
		if reason != "" {
			d.result, d.outcome = d.result+" The reason: "+reason, d.outcome+": "+clip(reason, 200)
		}
	default:
		d.state, d.allow, d.grant, d.always = core.AskAllowed, ask.Grant.Hash, ans.Grant == core.GrantTask, ans.Grant == core.GrantAlways
		d.outcome = map[string]string{core.GrantOnce: "✅ Allowed once by ", core.GrantTask: "✅ Allowed for this task by ", core.GrantAlways: "✅ Always allowed by "}[ans.Grant] + shown
	}
	return d
}

// said takes a message for the answer to what is open at its place, if it is one:
// the reply to a question, what the person writes for whom the work is done, or a
// choice or "yes" by whoever may say so. done: it needs no run.
func (a *acceptance) said(e *core.Entry, th core.Thread, msg core.Message, ours bool) (done bool, err error) {
	blank := strings.TrimSpace(e.In.Text) == "" && len(e.In.Files) == 0
	if blank || e.In.ForOthers() {
		return false, nil
	}
	ask, replied, err := a.repliedAsk(e)
	if err == nil && !replied {
		ask, err = a.meantAsk(e, th, ours)
	}
	if err != nil || ask.ID == "" {
		return false, err
	}
	ans := core.Answer{By: core.Requester{ID: e.In.From.ID, Name: e.In.From.Name}, Human: a.human, Role: a.standing.Role, Program: e.In.From.Bot, Here: true}
	if !answers(ask, &ans, e.In.Text, replied) {
		return false, nil
	}
	if why, err := a.unread(e, ask, ans); err != nil || why != "" {
		return false, err
	}
	if ans.Text != strings.TrimSpace(e.In.Text) { // the number of a choice says nothing to who reads it later
		msg.Parts = []core.Part{core.Text(ans.Text)}
	}
	if names := fileNames(e.In.Files); names != "" {
		ans.Text = strings.TrimSpace(ans.Text + "\n(with " + names + ", to be seen in the conversation)")
	}
	if done, err = a.answer(ask, ans, &msg); done {
		a.thread = ask.Thread
	}
	return done, err
}

// repliedAsk is the open one that a message replies to, or to what reminds of it,
// whichever conversation of the place it is in; false: there is none.
func (a *acceptance) repliedAsk(e *core.Entry) (core.Ask, bool, error) {
	if e.In.ReplyTo == "" {
		return core.Ask{}, false, nil
	}
	ref, _, err := get[platformRow](a.tx, a.platformKey(e.In.Place, e.In.ReplyTo))
	if err != nil {
		return core.Ask{}, false, err
	}
	post, _, err := get[core.Post](a.tx, idKey(famPost, ref.Post))
	if err != nil {
		return core.Ask{}, false, err
	}
	ask, _, err := get[core.Ask](a.tx, idKey(famAsk, cmp.Or(post.Ask, post.About)))
	return ask, ask.State == core.AskOpen, err
}

// meantAsk is which of the thread's open ones a message is about: that of the bot
// which it mentions, or the only one; zero: none.
func (a *acceptance) meantAsk(e *core.Entry, th core.Thread, ours bool) (core.Ask, error) {
	var none core.Ask
	if th.ID == "" {
		return none, nil
	}
	open, err := a.openAsks(th.ID)
	if err != nil {
		return none, err
	}
	if named := core.MentionsOf(e.In.Text, slices.Concat(a.batch.Bots, a.batch.Externals)); len(named) > 0 {
		open = slices.DeleteFunc(open, func(q core.Ask) bool { return !slices.Contains(named, q.Bot) })
		if slices.ContainsFunc(named, func(h string) bool {
			return !slices.ContainsFunc(open, func(q core.Ask) bool { return q.Bot == h })
		}) {
			return none, nil // it is for another bot, too
		}
	}
	if len(open) != 1 {
		return none, nil
	}
	ask := open[0]
	if !ours { // nobody spoke to us: only what can be nothing else counts
		if _, choice := ask.Choice(spoken(strings.TrimSpace(e.In.Text), ask.Bot)); !choice || !ask.Concerns(a.human) {
			return none, nil
		}
	}
	return ask, nil
}

// answers reads a text as what it says to the ask.
func answers(ask core.Ask, ans *core.Answer, text string, replied bool) bool {
	text = strings.TrimSpace(text)
	said := spoken(text, ask.Bot)
	if ask.Kind == core.ApprovalAsk {
		word, reason := said, ""
		if i := strings.IndexFunc(said, unicode.IsSpace); i >= 0 {
			word, reason = said[:i], strings.TrimSpace(said[i:])
		}
		switch word = strings.ToLower(strings.Trim(word, ".,:;!")); {
		case (word == "no" || word == "deny") && (reason == "" || replied):
			ans.Text = reason
			return true
		case reason == "" && (word == "yes" || word == "allow"):
			ans.Grant = core.GrantOnce
			return true
		}
		return false
	}
	if choice, ok := ask.Choice(said); ok {
		ans.Text = choice
		return true
	}
	ans.Text = text
	return replied || len(ask.Choices) == 0 && (ans.Human.Is(ask.For.ID) || ask.For.ID == "")
}

// spoken is a text without the name of the bot that it is said to, before or
// after the rest.
func spoken(text, bot string) string {
	is := func(word string) bool { return strings.EqualFold(strings.Trim(word, ",:.!"), "@"+bot) }
	if i := strings.IndexFunc(text, unicode.IsSpace); i > 0 && is(text[:i]) {
		return strings.TrimSpace(text[i:])
	}
	if i := strings.LastIndexFunc(text, unicode.IsSpace); i > 0 && is(strings.TrimSpace(text[i:])) {
		return strings.TrimRight(text[:i], ", \t\r\n")
	}
	return text
}

func fileNames(files []core.File) string {
	var names []string
	for _, f := range files {
		names = append(names, clip(f.Name, 80))
	}
	return strings.Join(names, ", ")
}

// remindOf tells a person whose message waits since its bot waits for an
// answer, once for each ask, what that is.
func (a *acceptance) remindOf(e *core.Entry, th core.Thread, items []core.Item) error {
	if len(items) == 0 {
		return nil
	}
	open, err := a.openAsks(th.ID)
	if err != nil {
		return err
	}
	who := core.Answer{By: core.Requester{ID: e.In.From.ID}, Human: a.human, Role: a.standing.Role, Program: e.In.From.Bot, Here: true}
	for _, ask := range open {
		theirs := slices.ContainsFunc(items, func(it core.Item) bool { return it.Bot == ask.Bot })
		if !theirs || slices.Contains(ask.Told, e.In.From.ID) || len(ask.Told) >= maxTold || !a.Now().Before(ask.Expires) {
			continue
		}
		ask.Told = append(ask.Told, e.In.From.ID)
		if err := a.putAsk(ask); err != nil {
			return err
		}
		card, _, err := get[core.Post](a.tx, idKey(famPost, ask.Post))
		if err != nil {
			return err
		}
		notice := waitsUntil(ask)
		if ask.May(who, a.batch.Access.Approvers) {
			notice = waitsFor(ask, markOf(e), a.human, len(card.Buttons) > 0)
		}
		if err := a.tell(core.Post{Kind: core.NoticePost, Thread: th.ID, Place: th.Place, About: ask.ID}, &e.In, notice); err != nil {
			return err
		}
	}
	return nil
}

// maxName is how many characters of a person's name are shown beside what is asked.
const maxName = 60

// shownName is a person's name as it stands in Markdown.
func shownName(name string) string { return core.Unmarked(clip(name, maxName)) }

// maxTold bounds who is told of one ask.
const maxTold = 50

// waitsUntil says what an ask waits for to somebody who wrote something else and
// may not decide it.
func waitsUntil(ask core.Ask) string {
	return fmt.Sprintf("@%s waits until somebody who may decide it does: %s (%s). Your message waits until then.", ask.Bot, ask.Line(mostAsked), ask.ID)
}

// waitsFor is waitsUntil for somebody who may decide it, and says how.
func waitsFor(ask core.Ask, mark string, who core.Human, buttons bool) string {
	whose := "an answer"
	if ask.Kind == core.QuestionAsk && ask.For.Name != "" && !who.Is(ask.For.ID) {
		whose = shownName(ask.For.Name) + "'s answer"
	}
	how := fmt.Sprintf("reply to it, or write %sanswer %s and the answer", mark, ask.ID)
	if ask.Kind == core.ApprovalAsk {
		how = fmt.Sprintf("write %sallow %s or %sdeny %s", mark, ask.ID, mark, ask.ID)
		if buttons {
			how = "press a button, or " + how
		}
	}
	return fmt.Sprintf("@%s waits for %s: %s (%s). Your message waits until then.", ask.Bot, whose, ask.Line(mostAsked), how)
}
