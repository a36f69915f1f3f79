// Package report tells people what the appliance did and why: /trace and /why
// in chat, and the same on the command line. It makes text of what the ledger
// and its activity log have.
//
// It imports core alone and starts no goroutine.
package report

import (
	"context"
	"fmt"
	"strings"
	"time"

	"bellhop/core"
)

// Commands are /trace and /why. Times are told in the zone.
func Commands(zone *time.Location) []core.Command {
	return []core.Command{
		{Name: "trace", Help: "what became of a message, step by step", Role: core.Member, Run: func(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
			l, none, err := find(inv)
			if err != nil || none.Text != "" {
				return none, err
			}
			return core.CommandReply{Text: inChat(l, zone)}, nil
		}},
		{Name: "why", Help: "why a bot answered, or did not", Role: core.Member, Run: func(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
			l, none, err := find(inv)
			if err != nil || none.Text != "" {
				return none, err
			}
			return core.CommandReply{Text: Why(l)}, nil
		}},
	}
}

// find is the life of what the person means: what has the ID that they gave,
// what they reply to, or else the last of the conversation about which something
// was decided. none is what to say where there is nothing.
func find(inv core.Invocation) (l core.Life, none core.CommandReply, err error) {
	id := meant(inv)
	if word := strings.Trim(strings.TrimSpace(inv.Args), "`"); word != "" {
		if id = named(word); id == "" {
			return l, nothing(code(word) + " is not the id of a message, a task or a run: those look like m3k9, i3k9 or r3ka."), nil
		}
	}
	if id == "" {
		var aside core.Activity
		if id, aside, err = inv.Desk.Latest(inv.Place, inv.Thread.ID); err != nil {
			return l, none, err
		}
		switch {
		case aside.ID != "":
			return core.Life{Thread: inv.Thread, Log: []core.Activity{aside}}, none, nil
		case id == "":
			return l, nothing("Nothing was said here that I know of."), nil
		}
	}
	l, ok, err := inv.Desk.Life(inv.Thread.ID, id)
	if err == nil && (!ok || inv.Role < core.Admin && !l.At(inv.Place)) {
		none = nothing(fmt.Sprintf("I know of nothing here that has the id %s.", id))
	}
	return l, none, err
}

// named is the ID that a word is, if it can have a life; else empty.
func named(word string) core.ID {
	id, err := core.ParseID(word)
	if err != nil || !strings.ContainsRune("mirp", rune(id.Kind())) {
		return ""
	}
	return id
}

// meant is what the person points at; empty: nothing that is known.
func meant(inv core.Invocation) core.ID {
	of := inv.Of
	if inv.Re != nil {
		of = *inv.Re
	}
	if of.Message != "" {
		return of.Message
	}
	return of.Run
}

func nothing(text string) core.CommandReply { return core.CommandReply{Text: text, Idle: true} }

// code is a short text on one line, as code so that nothing in it is rendered.
func code(text string) string {
	return "`" + strings.ReplaceAll(OneLine(text, 50), "`", "'") + "`"
}

// OneLine is a text on one line, of at most so many characters.
func OneLine(s string, most int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return string(r)
}

// Visible shows control characters instead of sending them to a terminal.
func Visible(s string) string {
	q := fmt.Sprintf("%q", s)
	if q = q[1 : len(q)-1]; q != s && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u009b' }) {
		return s
	}
	return q
}
