package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"bellhop/core"
)

// listThreads is the table of the command threads.
func listThreads(threads []core.Thread) string {
	if len(threads) == 0 {
		return "No conversations yet.\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tPLACE\tAGENT\tMESSAGES\tLAST\t")
	for _, th := range threads {
		state := ""
		if !th.Archived.IsZero() {
			state = "archived"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", th.ID, visible(th.Place.String()), th.Agent, th.Messages, clock(th.Active), state)
	}
	_ = w.Flush() // into a builder, which takes everything
	return b.String()
}

// listTasks is the table of the command tasks.
func listTasks(open, ended []core.Task) string {
	if len(open)+len(ended) == 0 {
		return "Nothing is to do, and nothing was done in the last day.\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tAGENT\tPLACE\tASKED\tENDED\tTASK")
	for _, task := range append(open, ended...) {
		it := task.Item
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", it.ID, task.State(), it.Bot, visible(task.Thread.Place.String()),
			clock(it.Created), clock(it.Ended), visible(oneLine(task.Message.Text(), 50)))
	}
	_ = w.Flush() // into a builder, which takes everything
	return b.String()
}

// listMessages is what trace shows of a thread.
func listMessages(thread core.ID, msgs []core.Message, more bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "thread %s; `bellhop trace ID` shows a message's life\n", thread)
	if more {
		fmt.Fprintln(&b, "(older messages are left out)")
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, m := range msgs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.ID, clock(m.Time), visible(oneLine(m.Name, 20)), visible(oneLine(m.Text(), 60)))
	}
	_ = w.Flush() // into a builder, which takes everything
	return b.String()
}

// trace is a message's life, in the order in which it happened.
func trace(l core.Life) string {
	var b strings.Builder
	line := func(at time.Time, format string, args ...any) {
		fmt.Fprintf(&b, "%s  %s\n", clock(at), fmt.Sprintf(format, args...))
	}
	if m := l.Message; m.ID != "" {
		fmt.Fprintf(&b, "message %s in %s at %s\n", m.ID, m.Thread, visible(l.Thread.Place.String()))
		line(m.Time, "sent by %s %s: %s", m.Sender.Kind, visible(m.Sender.ID), visible(oneLine(m.Text(), 60)))
		if m.Version > 0 {
			line(m.Time, "edited %d times before a run read it", m.Version)
		}
	}
	for _, it := range l.Items {
		fmt.Fprintf(&b, "\nitem %s for @%s (%s)\n", it.ID, it.Bot, it.Kind)
		line(it.Created, "queued")
		if it.Parent != "" {
			line(it.Created, "retries %s", it.Parent)
		}
		switch {
		case it.External() && it.State.Terminal():
			line(it.Ended, "%s after %d tries%s", it.State, it.Tries, because(it.Error))
		case it.External() && it.Tries > 0:
			line(it.Next, "is tried again, after %d tries%s", it.Tries, because(it.Error))
		case it.State.Terminal():
			line(it.Ended, "%s, in run %s, with outcome %s", it.State, it.Run, it.Outcome)
		default:
			fmt.Fprintf(&b, "%s  is %s\n", blankClock, it.State)
		}
	}
	for _, r := range l.Runs {
		fmt.Fprintf(&b, "\nrun %s of @%s, %d model calls, %d tokens in, %d out\n", r.ID, r.Bot, r.Usage.Calls, r.Usage.Input, r.Usage.Output)
		line(r.Created, "picked %s", joined(r.Items))
		for _, st := range l.Steps[r.ID] {
			line(st.Time, "step %d: %s", st.N, describe(st))
		}
		if r.Resumes > 0 {
			fmt.Fprintf(&b, "%s  resumed after %d crashes\n", blankClock, r.Resumes)
		}
		switch {
		case r.State.Terminal():
			line(r.Ended, "%s%s", r.State, because(r.Error))
		default:
			fmt.Fprintf(&b, "%s  is %s\n", blankClock, r.State)
		}
	}
	for _, p := range l.Posts {
		fmt.Fprintf(&b, "\npost %s (%s) at %s\n", p.ID, p.Kind, visible(p.Place.String()))
		if p.Open != nil {
			line(p.Open.Time, "opened as platform message %s", visible(p.Open.ID))
		}
		for i, r := range p.Shown {
			line(r.Time, "chunk %d of %d shown as platform message %s", i+1, p.Chunks, visible(r.ID))
		}
		for _, row := range l.Rows {
			if row.Post == p.ID {
				fmt.Fprintf(&b, "%s  chunk %d is not delivered yet\n", blankClock, row.Chunk+1)
			}
		}
		switch {
		case p.Dead != "":
			line(p.Ended, "given up: %s", visible(p.Dead))
		case !p.Ended.IsZero():
			line(p.Ended, "delivered")
		}
		for _, f := range p.Feedback {
			line(f.Time, "%s from %s", visible(f.Emoji), visible(string(f.From)))
		}
	}
	return b.String()
}

func describe(st core.Step) string {
	var parts []string
	for _, p := range st.Parts {
		if p.Tool != nil {
			parts = append(parts, fmt.Sprintf("%s(%s) %s", p.Tool.Name, visible(oneLine(p.Tool.Args, 60)), p.Tool.State))
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
	return ": " + visible(oneLine(err, 200))
}

func joined(ids []core.ID) string {
	s := make([]string, len(ids))
	for i, id := range ids {
		s[i] = string(id)
	}
	return strings.Join(s, ", ")
}

const blankClock = "                       "

// clock is a time in the machine's zone, to the millisecond.
func clock(t time.Time) string {
	if t.IsZero() {
		return blankClock
	}
	return t.Local().Format("2006-01-02 15:04:05.000")
}

// visible shows control characters instead of sending them to the terminal.
func visible(s string) string {
	q := fmt.Sprintf("%q", s)
	if q = q[1 : len(q)-1]; q != s && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u009b' }) {
		return s
	}
	return q
}
