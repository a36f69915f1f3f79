package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

// line is one fact and when it was; zero: it is so now.
type line struct {
	at   time.Time
	text string
}

// Trace is a message's life, a fact a line, in the order in which they came
// about. clock says a time.
func Trace(l core.Life, clock func(time.Time) string) string {
	var b strings.Builder
	b.WriteString(head(l))
	for _, ln := range lines(l) {
		at := "now"
		if !ln.at.IsZero() {
			at = clock(ln.at)
		}
		fmt.Fprintf(&b, "%s  %s\n", at, ln.text)
	}
	return b.String()
}

func head(l core.Life) string {
	switch {
	case l.Message.ID != "":
		return fmt.Sprintf("message %s in %s at %s\n", l.Message.ID, l.Message.Thread, Visible(l.Thread.Place.String()))
	case l.Thread.ID != "":
		return fmt.Sprintf("in %s at %s\n", l.Thread.ID, Visible(l.Thread.Place.String()))
	}
	return ""
}

// mostLines is how many lines /trace shows: the first ones and the last.
const mostLines = 40

// inChat is a Trace in a message: as code, so that nothing in it is rendered,
// and of a bounded length.
func inChat(l core.Life, zone *time.Location) string {
	day := ""
	clock := func(t time.Time) string {
		t = t.In(zone)
		text := t.Format("15:04:05.000")
		if d := t.Format(time.DateOnly); d != day {
			day, text = d, d+" "+text
		}
		return text
	}
	all := strings.Split(strings.TrimSuffix(Trace(l, clock), "\n"), "\n")
	if left := len(all) - mostLines; left > 0 {
		all = slices.Concat(all[:mostLines/2], []string{fmt.Sprintf("… %d more …", left)}, all[len(all)-mostLines/2:])
	}
	return "```\n" + strings.ReplaceAll(strings.Join(all, "\n"), "```", "'''") + "\n```"
}

// lines are what the ledger and the log know, each fact once.
func lines(l core.Life) []line {
	var out []line
	add := func(at time.Time, format string, args ...any) {
		out = append(out, line{at, fmt.Sprintf(format, args...)})
	}
	told := map[string]bool{} // an ID that the log has brought to its beginning or end
	for _, a := range l.Log {
		if a.Event == core.FeedbackGiven && len(l.Posts) > 0 {
			continue // the post has what still holds of it
		}
		add(a.Time, "%s", Summary(a))
		switch a.Event {
		case core.MessageAccepted, core.MessageEdited, core.MessageCorrected, core.HandOffSent, core.HoldReleased, core.ItemRetried:
			for _, id := range a.Items {
				told["queued "+string(id)] = true
			}
		case core.RunDone, core.RunFailed, core.RunStopped:
			told["ended "+string(a.Run)] = true
			if !slices.ContainsFunc(l.Runs, func(r core.Run) bool { return r.ID == a.Run }) {
				add(a.Time.Add(-a.Took), "@%s begins %s with %s", a.Actor.ID, a.Run, list(a.Items))
			}
		case core.MessageWithdrawn, core.MessageTaken:
			for _, id := range a.Items {
				told["ended "+string(id)] = true
			}
		case core.PostDelivered, core.PostDead:
			told["ended "+string(a.Run.As(core.KindPost))] = true
		}
	}
	if m := l.Message; m.ID != "" {
		add(m.Time, "%s: %s", Visible(cmp.Or(OneLine(m.Name, 20), m.Sender.ID)), Visible(OneLine(m.Text(), 60)))
	}
	for _, it := range l.Items {
		if !told["queued "+string(it.ID)] {
			add(it.Created, "%s waits for @%s", it.ID, it.Bot)
		}
		switch {
		case it.External() && it.State.Terminal():
			add(it.Ended, "%s is %s after %d tries%s", it.ID, it.State, it.Tries, because(it.Error))
		case it.External() && it.Tries > 0:
			add(it.Next, "%s is tried again, after %d tries%s", it.ID, it.Tries, because(it.Error))
		case !it.State.Terminal():
			add(time.Time{}, "%s is %s", it.ID, it.State)
		case it.Run == "" && !told["ended "+string(it.ID)]:
			add(it.Ended, "%s is %s", it.ID, it.State)
		}
	}
	for _, r := range l.Runs {
		runLines(&l, r, told["ended "+string(r.ID)], add)
	}
	for _, p := range l.Posts {
		postLines(&l, p, told["ended "+string(p.ID)], add)
	}
	slices.SortStableFunc(out, func(x, y line) int {
		switch {
		case x.at.IsZero() != y.at.IsZero():
			if x.at.IsZero() {
				return 1
			}
			return -1
		}
		return x.at.Compare(y.at)
	})
	return out
}

func runLines(l *core.Life, r core.Run, ended bool, add func(time.Time, string, ...any)) {
	add(r.Created, "@%s begins %s with %s", r.Bot, r.ID, list(r.Items))
	for _, st := range l.Steps[r.ID] {
		add(st.Time, "%s, step %d: %s", r.ID, st.N, describe(st))
	}
	usage := ""
	if r.Usage.Calls > 0 {
		usage = fmt.Sprintf("model calls: %d, tokens: %d in, %d out", r.Usage.Calls, r.Usage.Input, r.Usage.Output)
	}
	switch {
	case !r.State.Terminal():
		add(time.Time{}, "%s is %s", r.ID, r.State)
	case !ended:
		add(r.Ended, "%s is %s%s", r.ID, r.State, because(r.Error))
	}
	if usage != "" {
		add(r.Ended, "%s, %s", r.ID, usage)
	}
}

func postLines(l *core.Life, p core.Post, ended bool, add func(time.Time, string, ...any)) {
	if p.Open != nil {
		add(p.Open.Time, "%s is opened as platform message %s", p.ID, Visible(p.Open.ID))
	}
	for i, r := range p.Shown {
		add(r.Time, "%s, piece %d of %d, is platform message %s", p.ID, i+1, p.Chunks, Visible(r.ID))
	}
	for _, row := range l.Rows {
		if row.Post == p.ID {
			add(time.Time{}, "%s, piece %d, is not delivered yet", p.ID, row.Chunk+1)
		}
	}
	switch {
	case ended:
	case p.Dead != "":
		add(p.Ended, "%s is given up: %s", p.ID, Visible(p.Dead))
	case !p.Ended.IsZero():
		add(p.Ended, "%s is delivered", p.ID)
	}
	for _, f := range p.Feedback {
		add(f.Time, "%s: %s from %s", p.ID, Visible(f.Emoji), Visible(string(f.From)))
	}
}

func describe(st core.Step) string {
	var parts []string
	for _, p := range st.Parts {
		if p.Tool != nil {
			parts = append(parts, fmt.Sprintf("%s(%s) %s", p.Tool.Name, Visible(OneLine(p.Tool.Args, 60)), p.Tool.State))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "text, cut at the output limit")
	}
	for _, m := range st.Joined {
		parts = append(parts, fmt.Sprintf("then %s joined", m))
	}
	return strings.Join(parts, ", ")
}

func because(err string) string {
	if err == "" {
		return ""
	}
	return ": " + Visible(OneLine(err, 200))
}
