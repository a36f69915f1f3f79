package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"bellhop/core"
	"bellhop/core/report"
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
func trace(l core.Life) string { return report.Trace(l, clock) }

const blankClock = "                       "

// clock is a time in the machine's zone, to the millisecond.
func clock(t time.Time) string {
	if t.IsZero() {
		return blankClock
	}
	return t.Local().Format("2006-01-02 15:04:05.000")
}

func visible(s string) string { return report.Visible(s) }
