package report

import (
	"fmt"
	"slices"
	"strings"

	"bellhop/core"
)

// Why says in one to three plain sentences why a message woke a bot, or did not,
// and what came of it. l is the life of a message, of one of its items or runs,
// or an entry of the log alone.
func Why(l core.Life) string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, a := range about(l) {
		names := handles(a.Bots)
		who := "@" + a.Actor.ID
		switch a.Event {
		case core.MessageAccepted, core.MessageEdited, core.MessageCorrected:
			switch a.Event {
			case core.MessageEdited:
				add("The message was edited: its new text counts.")
			case core.MessageCorrected:
				add("%s is what its author made of it after it had been read.", a.Messages[0])
			}
			because := "it is the default bot here"
			switch {
			case a.Why == core.ByMention:
				because = "the message mentions " + them(a.Bots)
			case a.Why == core.ByOnly:
				because = "it is the only bot here"
			}
			switch {
			case len(a.Bots) > 0:
				add("%s", becauseOf(l, a, because))
			case a.Event != core.MessageEdited:
				add("It woke nobody.")
			}
		case core.MessageKept:
			why := aloof[a.Why]
			if a.Why == core.NoBot && l.Message.Sender.Kind == core.ExternalActor {
				why = "a program must name a bot, unless there is just one here"
			}
			add("Nobody was woken: %s.", why)
		case core.MessageIgnored:
			add("I did not answer: %s.", aloof[a.Why])
		case core.MessageRefused:
			add("I did not answer: whoever wrote it is not a member.")
		case core.MessageLimited:
			add("I did not answer: whoever wrote it had sent more than I take in a minute (rate limit).")
		case core.MessageWithdrawn:
			if len(a.Items) == 0 {
				add("The message was deleted.")
			} else {
				add("The message was deleted before a bot had read it.")
			}
		case core.MessageSorted: // which stands in the place of why it was the default bot's
			out = append(out[:max(0, len(out)-1)], becauseOf(l, a, "a model chose it: the message mentions nobody"))
		case core.HandOffSent:
			add("%s", becauseOf(l, a, who+" mentioned it"))
		case core.HandOffHeld:
			add("The hand-off to %s was held: %s had other messages waiting here.", names, who)
		case core.HoldReleased:
			add("When %s had read them, it went on. %s", who, becauseOf(l, a, who+" mentioned it"))
		case core.HoldReplaced:
			add("A later hand-off to %s went instead.", names)
		case core.HoldDropped:
			add("It was dropped, since %s was stopped.", who)
		case core.HopLimit:
			add("%s was not woken: bots had handed this on too often without a person (hop limit).", names)
		case core.ItemRetried:
			add("Somebody had it tried again, as %s: it %s.", a.Items[1], became(l, a.Items[1]))
		}
	}
	if l.Message.Sender.Kind == core.BotActor && len(out) == 0 {
		add("@%s wrote this in %s, and it woke nobody: it mentions no other bot.", l.Message.Sender.ID, l.Message.Run)
	}
	if len(out) == 0 {
		for _, it := range l.Items {
			if !it.External() {
				add("Why @%s was woken is not known any more. It %s.", it.Bot, became(l, it.ID))
			}
		}
	}
	out = append(out, errands(l)...)
	if len(out) == 0 {
		return "I do not know that any more."
	}
	return strings.Join(out, " ")
}

// about is what the log says of the life's message itself; where only runs are
// known, of the messages that they answered.
func about(l core.Life) []core.Activity {
	id := l.Message.ID
	if id == "" {
		return l.Log
	}
	return slices.DeleteFunc(slices.Clone(l.Log), func(a core.Activity) bool { return !slices.Contains(a.Messages, id) })
}

// becauseOf says what the bots that an activity woke have done, and why they were
// woken.
func becauseOf(l core.Life, a core.Activity, why string) string {
	names, are := handles(a.Bots), "was"
	if len(a.Bots) > 1 {
		are = "were"
	}
	states := make([]string, len(a.Items))
	answered := true
	for i, id := range a.Items {
		states[i] = became(l, id)
		answered = answered && states[i] == answer
	}
	if answered {
		return fmt.Sprintf("%s answered because %s.", names, why)
	}
	var text strings.Builder
	text.WriteString(fmt.Sprintf("%s %s woken because %s.", names, are, why))
	for i, state := range states {
		who := "It"
		if len(states) > 1 {
			who = "@" + a.Bots[i]
		}
		text.WriteString(fmt.Sprintf(" %s %s.", who, state))
	}
	return text.String()
}

// errands are what became of telling external actors: what is worth a word where a
// bot was woken as well, else all.
func errands(l core.Life) []string {
	var out []string
	woken := slices.ContainsFunc(l.Items, func(it core.Item) bool { return !it.External() })
	for _, a := range about(l) {
		switch a.Event {
		case core.ErrandDone:
			if told := fmt.Sprintf("@%s was told of it.", a.Actor.ID); !woken && !slices.Contains(out, told) { // an edit is told again
				out = append(out, told)
			}
		case core.ErrandFailed:
			out = append(out, fmt.Sprintf("@%s could not be told of it: %s.", a.Actor.ID, code(a.Detail)))
		case core.ErrandDropped:
			out = append(out, fmt.Sprintf("Somebody stopped it before @%s was told of it.", a.Actor.ID))
		}
	}
	for _, it := range l.Items {
		if it.External() && !it.State.Terminal() {
			out = append(out, fmt.Sprintf("@%s has not been told of it yet.", it.Bot))
		}
	}
	return out
}

const answer = "answered"

// became is what became of an item, as it follows the name of its bot.
func became(l core.Life, id core.ID) string {
	state := core.Queued
	for _, it := range l.Items {
		if it.ID == id {
			state = it.State
		}
	}
	detail := ""
	for _, a := range l.Log {
		if !slices.Contains(a.Items, id) {
			continue
		}
		switch a.Event {
		case core.RunDone:
			state = core.Done
		case core.RunFailed:
			state, detail = core.Failed, a.Detail
		case core.RunStopped:
			state, detail = core.Cancelled, a.Detail
		case core.MessageWithdrawn, core.MessageTaken:
			state = core.Withdrawn
		}
	}
	switch state {
	case core.Done:
		return answer
	case core.Failed:
		return "tried to answer and failed: " + code(detail)
	case core.Cancelled:
		return "was stopped: " + code(detail)
	case core.Withdrawn:
		return "has nothing to answer any more"
	case core.Waiting:
		return "waits for a person before it answers"
	}
	return "has not answered yet"
}

func them(bots []string) string {
	if len(bots) == 1 {
		return "it"
	}
	return "them"
}

// aloof says why a message woke nobody.
var aloof = map[core.Reason]string{
	core.ForOthers:   "the message mentions only others",
	core.NoBot:       "the message names no bot, and none is the default one here",
	core.OtherBot:    "the message is a command for another bot",
	core.Blank:       "there is nothing in the message that I can read",
	core.Unmentioned: "nobody mentioned me",
}
