package bus

import (
	"context"
	"fmt"
	"strings"
	"time"

	"bellhop/core"
)

// LinkCommand is /link, with which a person shows that several identities are
// theirs. code makes codes.
func LinkCommand(code func() string) core.Command {
	l := linker{code}
	return core.Command{Name: "link", Usual: true, Help: "use me on several platforms as one person", Role: core.Member, Codes: true, Run: l.run}
}

type linker struct{ code func() string }

func (l linker) run(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	word, rest, _ := strings.Cut(inv.Args, " ")
	switch {
	case !inv.Direct:
		return l.aloud(inv)
	case inv.From.Guest || inv.From.Bot:
		return idle("I link no guests: who is one here belongs to somebody else's workspace.")
	case inv.Args == "":
		return l.open(inv)
	case strings.EqualFold(word, "list"):
		return core.CommandReply{Text: links(inv)}, nil
	case strings.EqualFold(word, "remove"):
		return l.remove(inv, core.PersonID(strings.Trim(rest, "` ")))
	}
	return l.link(inv)
}

// aloud is for who uses it among others. A code that was shown there works no
// more: any of them could send it.
func (l linker) aloud(inv core.Invocation) (core.CommandReply, error) {
	if inv.Code == nil {
		return idle("Send me that in a direct message: here, others would see what is only for you.")
	}
	if err := inv.Desk.CloseLink(inv.Code); err != nil {
		return core.CommandReply{}, err
	}
	return idle("Others can see that code here, so it works no more. Get a new one, and send it to me in a direct message.")
}

func (l linker) open(inv core.Invocation) (core.CommandReply, error) {
	code := l.code()
	ok, err := inv.Desk.OpenLink(hashCode(code), inv.Mark)
	switch {
	case err != nil:
		return core.CommandReply{}, err
	case !ok:
		return idle("Too many people link identities right now. Try again in ten minutes.")
	}
	return core.CommandReply{Text: fmt.Sprintf("Send me this in a direct message from your other identity, within ten minutes: `%slink %s`\n\n"+
		"Whoever sends it is you from then on, so show it to nobody. %[1]slink list shows what is linked.", inv.Mark, showCode(code))}, nil
}

func (l linker) link(inv core.Invocation) (core.CommandReply, error) {
	if _, ok := readCode(inv.Args); !ok {
		return idle("That is no code. A code has %d letters and digits; %slink makes one.", codeLength, inv.Mark)
	}
	if inv.Code == nil {
		return idle("Too many codes were tried. Wait an hour before the next.")
	}
	done, err := inv.Desk.Link(inv.Code)
	if err != nil {
		return core.CommandReply{}, err
	}
	with := core.ShowPerson(done.With.Person, done.With.Name)
	switch done.End {
	case core.LinkUnknown:
		return idle("That code does not work, or not any more: each works once, for ten minutes. /link, sent to me from an identity that I know, makes a new one.")
	case core.LinkSame:
		return idle("That is your own code. Send it from another identity of yours.")
	case core.LinkLesser:
		return idle("%s may do less than you, and would do as much as you from then on. If it is you, do it the other way round: send me %slink here, and the code from there.", with, inv.Mark)
	case core.LinkFull:
		return idle("That would be more than %d identities. %slink remove ID parts one from the others.", core.MaxIdentities, inv.Mark)
	}
	return core.CommandReply{Text: fmt.Sprintf("You are linked with %s: both are one person to me now. %slink list shows what is linked.", with, inv.Mark)}, nil
}

func (l linker) remove(inv core.Invocation, who core.PersonID) (core.CommandReply, error) {
	if who == "" {
		return idle("Which one? %[1]slink remove ID takes an id that %[1]slink list shows.", inv.Mark)
	}
	ok, err := inv.Desk.Unlink(who)
	switch {
	case err != nil:
		return core.CommandReply{}, err
	case !ok:
		return idle("None of your linked identities has that id. %slink list shows them.", inv.Mark)
	}
	return core.CommandReply{Text: core.ShowPerson(who, "") + " is not linked with your other identities any more."}, nil
}

// links lists a person's identities.
func links(inv core.Invocation) string {
	if len(inv.Human.Identities) == 0 {
		return fmt.Sprintf("Nothing is linked with `%s`. %slink makes a code for your other identity.", inv.From.ID, inv.Mark)
	}
	var b strings.Builder
	b.WriteString("These are one person to me:\n\n")
	for _, id := range inv.Human.Identities {
		here := ""
		if id.Person == inv.From.ID {
			here = ", this one"
		}
		fmt.Fprintf(&b, "- %s, since %s%s\n", core.ShowPerson(id.Person, id.Name), id.Time.UTC().Format(time.DateOnly), here)
	}
	fmt.Fprintf(&b, "\n%slink remove ID parts one from the others.", inv.Mark)
	return b.String()
}
