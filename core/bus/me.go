package bus

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"bellhop/core"
)

// MeCommands are /me, with which a person sees how they are known and says what
// they want, and /whoami. zone is the time zone of people of whom the platform
// tells none.
func MeCommands(zone *time.Location) []core.Command {
	m := mirror{zone}
	return []core.Command{
		{Name: "me", Usual: true, Help: "who you are to me; your time zone and language", Role: core.Member, Run: m.run},
		{Name: "whoami", Help: "your id, and what you may do", Role: core.Member, Run: whoami},
	}
}

type mirror struct{ zone *time.Location }

func (m mirror) run(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	word, rest, _ := strings.Cut(inv.Args, " ")
	want := inv.Human.Preferences
	var text string
	switch rest = strings.Trim(strings.TrimSpace(rest), "`\""); strings.ToLower(word) {
	case "":
		return core.CommandReply{Text: m.show(inv)}, nil
	case "reset":
		want = core.Preferences{}
		text = "I have forgotten your time zone and language."
	case "zone":
		loc, ok := zoneNamed(rest)
		if !ok {
			return idle("%s is no time zone that I know. Write it like this: %sme zone Europe/Berlin", quoted(rest), inv.Mark)
		}
		want.Zone = loc.String()
		text = fmt.Sprintf("Your time zone is %s: it is %s there.", want.Zone, time.Now().In(loc).Format("15:04"))
	case "language":
		if !isLanguage(rest) {
			return idle("%s is no language. Write its name, or its tag, like this: %sme language de", quoted(rest), inv.Mark)
		}
		want.Language = rest
		text = "I answer you in this language from now on: " + want.Language
	default:
		return idle("I know %[1]sme, %[1]sme zone NAME, %[1]sme language NAME and %[1]sme reset.", inv.Mark)
	}
	return core.CommandReply{Text: text}, inv.Desk.Prefer(want)
}

// show is what is known of a person. What they have linked is not for others.
func (m mirror) show(inv core.Invocation) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "- "+format+"\n", args...) }
	line("%s", core.ShowPerson(inv.From.ID, inv.From.Name))
	line("%s", standing(inv))
	switch {
	case len(inv.Human.Identities) == 0:
	case inv.Direct:
		for _, id := range inv.Human.Identities {
			if id.Person != inv.From.ID {
				line("linked with %s", core.ShowPerson(id.Person, id.Name))
			}
		}
	default:
		line("linked with other identities of yours, which I show directly")
	}
	switch p := inv.Human.Preferences; {
	case p.Zone != "":
		line("time zone: %s, as you have said", p.Zone)
	case inv.From.Zone != "":
		line("time zone: %s, as the platform says", inv.From.Zone)
	default:
		line("time zone: %s, which is everybody's here; %sme zone NAME changes yours", zoneName(m.zone), inv.Mark)
	}
	if l := inv.Human.Language; l != "" {
		line("language: %s", l)
	} else {
		line("language: that in which you write; %sme language NAME fixes one", inv.Mark)
	}
	return b.String()
}

func whoami(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	return core.CommandReply{Text: fmt.Sprintf("You are `%s`, %s.", inv.From.ID, standing(inv))}, nil
}

// standing says what a person may do, and why.
func standing(inv core.Invocation) string {
	s := inv.Standing
	why := "by my configuration"
	switch {
	case s.Grant != nil && s.Grant.By == "":
		why = "with the first code"
	case s.Grant != nil:
		why = "let in by `" + string(s.Grant.By) + "`"
	}
	if s.Of != inv.From.ID {
		if inv.Direct {
			why = "as `" + string(s.Of) + "`, " + why
		} else {
			why = "as another identity of yours"
		}
	}
	return s.Role.String() + ", " + why
}

// zoneNamed finds a time zone, in any case, with or without underscores.
func zoneNamed(name string) (*time.Location, bool) {
	name = strings.ReplaceAll(name, " ", "_")
	title := strings.Map(func() func(rune) rune {
		first := true
		return func(r rune) rune {
			out := unicode.ToLower(r)
			if first {
				out = unicode.ToUpper(r)
			}
			first = !unicode.IsLetter(r)
			return out
		}
	}(), name)
	for _, n := range []string{name, strings.ToUpper(name), title} {
		if loc, err := time.LoadLocation(n); err == nil && n != "" && !strings.EqualFold(n, "local") {
			return loc, true
		}
	}
	return nil, false
}

// maxLanguage is the longest name of a language, in characters.
const maxLanguage = 40

// isLanguage reports whether a text may be the name of a language, or its tag: a
// model reads it, so it is a few words and nothing else.
func isLanguage(s string) bool {
	if s == "" || utf8.RuneCountInString(s) > maxLanguage || len(strings.Fields(s)) > 3 {
		return false
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '-' && r != ' ' && r != '(' && r != ')' {
			return false
		}
	}
	return unicode.IsLetter([]rune(s)[0])
}

// quoted is what a person has typed, as code.
func quoted(s string) string {
	switch r := []rune(s); {
	case s == "":
		return "That"
	case len(r) > maxLanguage:
		s = string(r[:maxLanguage]) + "…"
	}
	return core.ShowPerson(core.PersonID(strings.Join(strings.Fields(s), " ")), "")
}

// zoneName is what people call a zone; that of the machine has no name of its
// own.
func zoneName(z *time.Location) string {
	if z == time.Local {
		return time.Now().Format("MST")
	}
	return z.String()
}
