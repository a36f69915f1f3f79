package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/core/perm"
)

const (
	// A call waits ten minutes to be allowed, and people are told again halfway.
	// Source: security, T4.
	approvalLife   = 10 * time.Minute
	approvalRemind = 5 * time.Minute
	// maxCard is how many messages a card may take. What takes more is not asked
	// about: nobody reads it.
	maxCard = 4
	// maxName is how many characters of a person's name a card shows.
	maxName = 60
)

// permit decides whether the call may be made. When it may not, the call has
// its result; when a person must say so, the run waits and the error is
// core.ErrWaiting.
func (t *turn) permit(ctx context.Context, st *core.Step, use *core.ToolUse, spec core.ToolSpec) (bool, error) {
	if t.o.Rules == nil {
		return true, nil
	}
	rules, err := t.o.Rules(ctx, t.run)
	if err != nil {
		return false, err
	}
	call := perm.Call{Agent: t.bot.Handle, Workspace: t.folder, Tool: use.Name, Args: t.o.Canonical(use.Args), ReadOnly: spec.ReadOnly, Role: rules.Role}
	refuse := func(why string) (bool, error) {
		use.State, use.Output = core.ToolFailed, why
		return false, nil
	}
	d := perm.Decide(rules.Levels, call)
	class := perm.Class(call)
	switch {
	case d.Action == core.ActionDeny:
		t.log.Info("call denied", "tool", use.Name, "level", d.Level)
		return refuse(d.Refusal(use.Name))
	case use.Allowed != "" && use.Allowed != perm.Fingerprint(call):
		return refuse("This is not the call that was allowed, so it was not made.")
	case d.Action == core.ActionAllow, use.Allowed != "", slices.Contains(t.run.Granted, class):
		return true, nil
	case slices.Contains(t.run.Refused, class):
		return refuse("People have refused such a call in this task, so it was not made. Do not try it again. Say what you could not do.")
	case rules.Nobody:
		return refuse("A person must allow this call, and nobody may here, so it was not made. Do not try it again. Say what you could not do.")
	}
	p, ok := t.card(cmp.Or(strings.TrimSpace(st.Text()), t.said()), call, spec, d)
	if !ok {
		return refuse("This call must be allowed by a person and is too long to be shown to one, so it was not made. Do it in smaller parts.")
	}
	p.Ask.Grant.Class = class
	return false, t.park(ctx, st, use, p)
}

// card is what people see of a call that they are asked about; false: it does
// not fit.
func (t *turn) card(said string, call perm.Call, spec core.ToolSpec, d perm.Decision) (core.Parking, bool) {
	place := t.run.Reply.Place
	features := t.o.Outbox.Features(place.Adapter)
	whom := ""
	if name := clip(oneLine(t.run.For.Name), maxName); name != "" {
		whom = " for " + core.Unmarked(name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "🔐 @%s asks%s, in %s (%s), whether it may use %s:\n\n%s\n\n", t.bot.Handle, whom, plainCode(place.String()), t.run.Thread, plainCode(call.Tool), fenced(display(call)))
	b.WriteString(strings.TrimSpace(spec.Effect + " " + d.Why()))
	grants := []string{core.GrantOnce, core.GrantTask}
	labels := []string{"Allow once", "Allow for this task"}
	line := call.Tool + " " + unbroken.Replace(perm.Spell(perm.Shown(call)))
	p := core.Parking{Life: approvalLife, Remind: approvalRemind, Ask: core.Ask{Kind: core.ApprovalAsk, Text: clip(line, core.MaxLine),
		Grant: &core.Grantable{Tool: call.Tool, Hash: perm.Fingerprint(call)}}}
	p.Ask.Clipped = p.Ask.Text != line
	if d.Always {
		grants, labels = append(grants, core.GrantAlways), append(labels, "Always")
		always := perm.Remember(call)
		p.Ask.Grant.Always = &always
	}
	plain := fmt.Sprintf("Write %s (%s), or %s and perhaps a reason, within %d minutes.", t.command("allow"), strings.Join(grants, ", "), t.command("deny"), int(approvalLife.Minutes()))
	if features.Buttons {
		p.Plain = plain
		nonce := newNonce()
		for i, g := range grants {
			p.Buttons = append(p.Buttons, core.Button{Label: labels[i], Value: "allow " + g + " " + nonce})
		}
		p.Buttons = append(p.Buttons, core.Button{Label: "Deny", Value: "deny " + nonce})
	} else {
		b.WriteString("\n\n" + plain)
	}
	card := t.pieces(b.String())
	whole := !slices.ContainsFunc(card, func(q core.Piece) bool { return q.File != nil })
	if said != "" { // in a message of its own: nothing in it may change how the call looks
		p.Pieces = t.o.Outbox.Split(place, said)
	}
	p.Pieces = append(p.Pieces, card...)
	return p, whole && len(card) <= maxCard
}

// display is all of a call's arguments as they can be told apart by looking at
// them: a command as it stands, unless it looks like JSON, and anything else as
// JSON.
func display(call perm.Call) string {
	var args map[string]any
	if json.Unmarshal([]byte(call.Args), &args) == nil && len(args) == 1 && call.Tool == "exec" {
		if command, ok := args["command"].(string); ok && !strings.HasPrefix(command, "{") {
			return perm.Spell(command)
		}
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(call.Args), "", "  ") != nil {
		return perm.Spell(call.Args)
	}
	return perm.Spell(b.String())
}

// fenced is text as a block of code that nothing in it ends.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

// unbroken has breaks of a line spelt, as Spell does other characters: what is in
// one line must not look like what is in two.
var unbroken = strings.NewReplacer("\n", `\u{a}`, "\t", `\u{9}`)

func plainCode(text string) string { return "`" + strings.ReplaceAll(oneLine(text), "`", "'") + "`" }

func oneLine(text string) string { return strings.Join(strings.Fields(perm.Spell(text)), " ") }

// clip is at most so many characters of a text.
func clip(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
