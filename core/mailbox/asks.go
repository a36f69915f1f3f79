package mailbox

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"bellhop/core"
)

// asks are the commands with which people decide what runs have asked, also
// those that the buttons below a question are.
func asks() []core.Command {
	return []core.Command{
		{Name: "inbox", Usual: true, Help: "questions and approvals that wait for you", Role: core.Member, Run: inbox},
		{Name: "answer", Help: "answer a question of a bot", Role: core.Member, Run: answer},
		{Name: "allow", Help: "allow what a bot has asked leave for: once, task or always", Role: core.Member, Run: allow},
		{Name: "deny", Help: "do not allow it; a reason may follow", Role: core.Member, Run: deny},
	}
}

// mostAsks is how many /inbox shows.
const mostAsks = 20

func inbox(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	open, err := inv.Desk.Asks(inv.Viewer())
	if err != nil {
		return core.CommandReply{}, err
	}
	if len(open) == 0 {
		return nothing("Nothing waits for an answer.")
	}
	slices.SortStableFunc(open, func(x, y core.Ask) int { // those for the viewer first
		switch a, b := inv.Desk.Awaits(x), inv.Desk.Awaits(y); {
		case a == b:
			return 0
		case a:
			return -1
		}
		return 1
	})
	var b strings.Builder
	for _, a := range open[:min(len(open), mostAsks)] {
		where := ""
		if a.Place != inv.Place {
			where = ", in " + code(a.Place.String())
		}
		whom := ""
		if a.Kind == core.ApprovalAsk && a.For.ID != "" && !inv.Human.Is(a.For.ID) {
			whom = " for " + core.ShowPerson(a.For.ID, a.For.Name)
		}
		fmt.Fprintf(&b, "- %s: %s asks%s: %s (%s%s)\n", a.ID, a.Bot, whom, shown(a), ago(a.Created), where)
		for i, c := range a.Choices {
			fmt.Fprintf(&b, "  %d. %s\n", i+1, quoted(c))
		}
	}
	if left := len(open) - mostAsks; left > 0 {
		fmt.Fprintf(&b, "\n… and %d more.\n", left)
	}
	b.WriteByte('\n')
	if i := slices.IndexFunc(open, func(a core.Ask) bool { return a.Kind == core.QuestionAsk }); i >= 0 {
		fmt.Fprintf(&b, "%sanswer %s, and what you say, answers it. ", inv.Mark, open[i].ID)
	}
	if i := slices.IndexFunc(open, func(a core.Ask) bool { return a.Kind == core.ApprovalAsk && inv.Desk.Awaits(a) }); i >= 0 {
		fmt.Fprintf(&b, "%sallow %s or %sdeny %s decides.", inv.Mark, open[i].ID, inv.Mark, open[i].ID)
	}
	return core.CommandReply{Text: strings.TrimSpace(b.String())}, nil
}

// shown is what an ask is about: a call to the letter.
func shown(a core.Ask) string {
	if a.Kind == core.ApprovalAsk {
		return a.Line(core.MaxLine)
	}
	return quoted(a.Text)
}

// quoted is text of a bot's on one line, as code so that nothing in it is
// rendered.
func quoted(text string) string {
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "`", "'")
	if r := []rune(text); len(r) > 300 {
		text = string(r[:300]) + "…"
	}
	return "`" + text + "`"
}

func answer(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	a, rest, err := theAsk(inv, core.QuestionAsk)
	if err != nil {
		return core.CommandReply{}, err
	}
	text := rest
	if inv.Of.Ask != "" { // a button: the number of a choice, and what makes it hard to guess
		n, _, _ := strings.Cut(rest, " ")
		if i, err := strconv.Atoi(n); err == nil && 0 < i && i <= len(a.Choices) {
			text = a.Choices[i-1]
		}
	} else if c, ok := a.Choice(text); ok {
		text = c
	}
	if strings.TrimSpace(text) == "" {
		return nothing(fmt.Sprintf("What is the answer? %sanswer %s, and what you say.", inv.Mark, a.ID))
	}
	return decide(inv, a, core.Answer{Text: text}, "Answered.")
}

func allow(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	a, rest, err := theAsk(inv, core.ApprovalAsk)
	if err != nil {
		return core.CommandReply{}, err
	}
	grant, _, _ := strings.Cut(strings.ToLower(rest), " ")
	switch grant {
	case "":
		grant = core.GrantOnce
	case core.GrantOnce, core.GrantTask:
	case core.GrantAlways:
		if a.Grant.Always == nil {
			return nothing("This cannot be allowed for good: a rule says that it is asked each time.")
		}
	default:
		return nothing(fmt.Sprintf("For what? %sallow %s once, task (for the rest of this task) or always.", inv.Mark, a.ID))
	}
	return decide(inv, a, core.Answer{Grant: grant}, "Allowed.")
}

func deny(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	a, rest, err := theAsk(inv, core.ApprovalAsk)
	if err != nil {
		return core.CommandReply{}, err
	}
	if inv.Of.Ask != "" {
		rest = ""
	}
	return decide(inv, a, core.Answer{Text: rest}, "Not allowed.")
}

// theAsk is what the command is about: what the pressed button's post asks, what
// the first word names, or the only one of its kind that is open here. rest is
// the other words.
func theAsk(inv core.Invocation, kind core.AskKind) (a core.Ask, rest string, err error) {
	id, rest := inv.Of.Ask, strings.TrimSpace(inv.Args)
	if id == "" {
		word, after, _ := strings.Cut(rest, " ")
		named, ok, err := askNamed(inv, strings.Trim(word, "`"))
		if err != nil {
			return a, "", err
		}
		if ok {
			id, rest = named, strings.TrimSpace(after)
		}
	}
	if id == "" {
		open, err := inv.Desk.Asks(core.Viewer{Who: inv.From.ID, At: inv.Place})
		if err != nil {
			return a, "", err
		}
		open = slices.DeleteFunc(open, func(a core.Ask) bool { return a.Kind != kind })
		switch len(open) {
		case 0:
			return a, "", &core.UserError{Text: "Nothing waits for that here. " + inv.Mark + "inbox lists what does."}
		case 1:
			return open[0], rest, nil
		}
		return a, "", &core.UserError{Text: fmt.Sprintf("Which one? %s waits, for one; %sinbox lists them.", open[0].ID, inv.Mark)}
	}
	a, ok, err := inv.Desk.Ask(id)
	v := inv.Viewer()
	switch {
	case err != nil:
		return a, "", err
	case !ok, a.Place != v.At && !a.Concerns(inv.Human) && !inv.Desk.Awaits(a) && inv.Role < core.Admin:
		return a, "", &core.UserError{Text: fmt.Sprintf("Nothing here is called %s. %sinbox lists what waits.", id, inv.Mark)}
	case a.Kind != kind && kind == core.QuestionAsk:
		return a, "", &core.UserError{Text: fmt.Sprintf("That is a call to be allowed or not: %sallow %s or %sdeny %s.", inv.Mark, a.ID, inv.Mark, a.ID)}
	case a.Kind != kind:
		return a, "", &core.UserError{Text: fmt.Sprintf("That is a question: %sanswer %s, and what you say.", inv.Mark, a.ID)}
	}
	return a, rest, nil
}

// askNamed is the ask whose id the word is. Many words could be one (all, and,
// always), so one without a digit is an id only if it is that of an ask which is
// open, or was in the last day, there or for them: what they say of one that has
// just been decided must not count for another.
func askNamed(inv core.Invocation, word string) (core.ID, bool, error) {
	id, _ := core.ParseID(word) // what is no id is of no kind
	switch {
	case id.Kind() != core.KindAsk:
		return "", false, nil
	case strings.ContainsAny(word, "0123456789"):
		return id, true, nil
	case !strings.EqualFold(string(id), word):
		return "", false, nil
	}
	a, ok, err := inv.Desk.Ask(id)
	theirs := a.Place == inv.Place || a.Concerns(inv.Human) || inv.Desk.Awaits(a)
	return id, ok && (a.State == core.AskOpen || theirs && time.Since(a.Ended) < askedLately), err
}

// askedLately is how long the id of an ask that has ended is one, however it looks.
const askedLately = 24 * time.Hour

// decide has the person decide, and says what came of it.
func decide(inv core.Invocation, a core.Ask, ans core.Answer, done string) (core.CommandReply, error) {
	ans.By, ans.Human, ans.Role, ans.Here = core.Requester{ID: inv.From.ID, Name: name(inv.From)}, inv.Human, inv.Role, a.Place == inv.Place
	switch {
	case a.State != core.AskOpen:
		return nothing(ended(a))
	case !time.Now().Before(a.Expires): // it will be closed in a moment
		return nothing("That is too late: nobody had answered in time.")
	case ans.Grant != "" && a.Clipped && !ans.Here && !a.Concerns(inv.Human):
		return nothing(fmt.Sprintf("That is too long to be read here in full. It can be allowed where it is shown, in %s.", code(a.Place.String())))
	}
	ok, err := inv.Desk.Decide(a.ID, ans)
	switch {
	case err != nil:
		return core.CommandReply{}, err
	case !ok && a.Kind == core.ApprovalAsk:
		return nothing("This is not yours to decide.")
	case !ok:
		return nothing("This question is not for you.")
	}
	return core.CommandReply{Text: fmt.Sprintf("%s @%s goes on.", done, a.Bot)}, nil
}

// ended says how an ask that is not open any more has ended.
func ended(a core.Ask) string {
	switch a.State {
	case core.AskExpired:
		return "That is too late: nobody had answered in time, " + ago(a.Ended) + "."
	case core.AskDropped:
		return "That is not needed any more."
	}
	what := map[core.AskState]string{core.AskAnswered: "answered", core.AskAllowed: "allowed", core.AskDenied: "refused"}[a.State]
	return fmt.Sprintf("%s has %s it already, %s.", code(name(core.Person{ID: a.By.ID, Name: a.By.Name})), what, ago(a.Ended))
}
