package adaptertest_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	gocmp "github.com/google/go-cmp/cmp"

	"bellhop/adapters/adaptertest"
	"bellhop/core"
)

// actors are who comes, in the columns of ways.
var actors = []string{"owner", "admin", "member", "stranger", "guest", "program"}

// The verdicts of ways, one a column.
const (
	answered = 'A' // a model is asked, and its answer shown
	command  = 'C' // a command is done, and its reply shown
	beneath  = 'B' // a command is for others, and they are told so
	noted    = 'N' // they alone are told why not
	refused  = 'R' // they are told why not, directly
	kept     = 'K' // it is kept, without a word
	nothing  = '.' // nothing is said, nor kept, nor asked of anybody
	never    = '-' // no platform has that
)

// ways are all ways in, each with what becomes of it by who comes: an owner, an
// admin, a member, a stranger, a guest, another program. What a platform cannot
// do is left out there. Our own account comes in with every answer, where the
// platform tells us of that: a model that is asked once more has no reply, and
// says so. The terminal and the control socket are an owner's: see cmd/bellhop.
var ways = []struct {
	name     string
	verdicts string
	kind     core.InboundKind
	do       func(*visit) error
	discord  string // there, if it is not the same: who gives a command waits for an answer, so one is whispered
}{
	//                                 owner
	//                                  admin
	//                                   member
	//                                    stranger
	//                                     guest
	//                                      program
	{"direct message", "AAARR-", core.InMessage, (*visit).direct, ""},
	{"mention", "AAA...", core.InMessage, (*visit).mention, ""},
	{"mention in a topic", "AAA...", core.InMessage, (*visit).topic, ""},
	{"message to nobody", "......", core.InMessage, (*visit).aside, ""},
	{"reply to the bot", "AAA...", core.InMessage, (*visit).reply, ""},
	{"file without text", "AAARR-", core.InMessage, (*visit).file, ""},
	{"voice message", "AAARR-", core.InMessage, (*visit).voice, ""},
	{"typed command", "CCCRR-", core.InMessage, (*visit).typed, ""},
	{"typed command among others", "CCC...", core.InMessage, (*visit).typedAmong, "CCCNNN"},
	{"command of the platform", "CCC..-", core.InMessage, (*visit).ordered, "CCCNN-"},
	{"owners' command", "CBBRR-", core.InMessage, (*visit).owners, ""},
	{"owners' command among others", "CBB...", core.InMessage, (*visit).ownersAmong, "CBBNNN"},
	{"owners' command among others, again", "C.....", core.InMessage, (*visit).ownersAgain, "CNNNNN"},
	{"owners' command of the platform", "CBB..-", core.InMessage, (*visit).ownersOrdered, "CBBNN-"},
	{"message shortcut", "CCC..-", core.InMessage, (*visit).shortcut, ""},
	{"start with a wrong code", "CCCRR-", core.InMessage, (*visit).startWrong, ""},
	{"start with an invitation", "CCCCC-", core.InMessage, (*visit).startInvited, ""},
	{"link with a member's code", "CCCCR-", core.InMessage, (*visit).link, ""},
	{"link with a code among others", "CCC...", core.InMessage, (*visit).linkAmong, "CCCNNN"},
	{"button", "AAANNN", core.InButton, (*visit).press, ""},
	{"answer by a button", "AAANNN", core.InButton, (*visit).choose, ""},
	{"answer by a reply", "AAA...", core.InMessage, (*visit).answer, ""},
	{"answer by a command", "AAA...", core.InMessage, (*visit).answerByCommand, "AAANNN"},
	{"leave by a button", "AANNNN", core.InButton, (*visit).allow, ""},
	{"leave by a reply", "AAC...", core.InMessage, (*visit).allowByReply, ""},
	{"leave by a command", "AAC...", core.InMessage, (*visit).allowByCommand, "AACNNN"},
	{"reaction that retries", "AAA...", core.InReaction, (*visit).retry, ""},
	{"reaction", "KKK...", core.InReaction, (*visit).react, ""},
	{"edit of an answered message", "AAA..-", core.InEdit, (*visit).edit, ""},
	{"deletion", ".....-", core.InDelete, (*visit).delete, ""},
	{"letting us in", "CCC...", core.InAdded, (*visit).invite, ""},
}

// unasked are the kinds of events with which nobody wants anything of us.
var unasked = []core.InboundKind{core.InMoved, core.InNamed, core.InUnreadable, core.InIgnored}

// lists are ways to say who is let in. Where a pattern lets in everybody, a
// stranger is a member, but guests and programs stay out. An empty list lets in
// nobody.
var lists = []struct {
	name string
	as   string // the actor whose column holds, by column
	of   func(adapter string, who map[string]adaptertest.Account) core.Access
}{
	{"named", "012345", func(adapter string, who map[string]adaptertest.Account) core.Access {
		id := func(name string) []string { return []string{adapter + ":" + who[name].ID} }
		return core.Access{Owners: append(id("owner"), id("host")...), Admins: id("admin"), Members: append(id("member"), append(id("mate"), adapter+"x:*", "other:*")...)}
	}},
	{"pattern", "012245", func(adapter string, who map[string]adaptertest.Account) core.Access {
		id := func(name string) []string { return []string{adapter + ":" + who[name].ID} }
		return core.Access{Owners: append(id("owner"), id("host")...), Admins: id("admin"), Members: []string{adapter + ":*"}}
	}},
	{"empty", "333345", func(string, map[string]adaptertest.Account) core.Access { return core.Access{} }},
}

// TestEveryWayIn lets every kind of actor come in by every way, on every
// platform, through its real adapter, and holds what they see, what is stored,
// what is fetched, and what a model is asked against the table.
func TestEveryWayIn(t *testing.T) {
	held := 0
	ran := map[string]map[string]bool{} // by way and actor
	var missing []string                // cells that a platform lacks, and why
	for _, way := range ways {
		ran[way.name] = map[string]bool{}
	}
	for _, face := range faces {
		for _, list := range lists {
			for _, way := range ways {
				t.Run(face.name+"/"+list.name+"/"+way.name, func(t *testing.T) {
					held++
					verdicts := way.verdicts
					if face.name == "discord" {
						verdicts = cmp.Or(way.discord, verdicts)
					}
					for i, actor := range actors {
						want := rune(verdicts[list.as[i]-'0'])
						if list.name == "empty" && want == command {
							want = refused // nobody can have made the code
						}
						var lacks error
						synctest.Test(t, func(t *testing.T) { lacks = enter(t, face.name, face.harness, list.of, actor, way.do, want) })
						if lacks != nil {
							if list.name == "named" {
								missing = append(missing, fmt.Sprintf("%s: %s: %s: %v", face.name, way.name, actor, lacks))
							}
						} else {
							ran[way.name][actor] = true
						}
					}
				})
			}
		}
	}
	if held < len(faces)*len(lists)*len(ways) {
		return // not all of it was to be run
	}
	lackingAsSaid(t, missing)
	for _, way := range ways {
		for i, actor := range actors {
			if is := way.verdicts[i] != never; is != ran[way.name][actor] {
				t.Errorf("%s: there is a platform that has it for the %s: %t, by the table %t", way.name, actor, !is, is)
			}
		}
	}
}

// lackingAsSaid compares the cells that the platforms lack with the list of them: a
// cell that is not held there any more, or is at last, is seen.
func lackingAsSaid(t *testing.T, missing []string) {
	t.Helper()
	const file = "testdata/ways_lacking.txt"
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(missing, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(strings.Split(strings.TrimSpace(string(want)), "\n"), missing); diff != "" {
		t.Errorf("cells that a platform lacks (-want +got):\n%s", diff)
	}
}

// TestWaysAreComplete: every kind of event has its row.
func TestWaysAreComplete(t *testing.T) {
	var kinds []core.InboundKind
	for _, w := range ways {
		kinds = append(kinds, w.kind)
		if len(w.verdicts) != len(actors) {
			t.Errorf("the row %q has %d verdicts", w.name, len(w.verdicts))
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../../core/adapter.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "InboundKind" {
			found++
			kind := core.InboundKind(strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
			if !slices.Contains(kinds, kind) && !slices.Contains(unasked, kind) {
				t.Errorf("no row speaks of events of the kind %q", kind)
			}
		}
		return true
	})
	if found < 9 {
		t.Errorf("only %d kinds of events were found", found)
	}
}
