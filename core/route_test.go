package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"bellhop/core"
)

var (
	ann      = core.Actor{Kind: core.HumanActor, ID: "chat:ann"}
	engineer = core.Actor{Kind: core.BotActor, ID: "engineer"}
)

func TestRoute(t *testing.T) {
	team := []string{"chief", "engineer", "qa"}
	for _, c := range []struct {
		name string
		in   core.Routing
		want core.Routed
	}{
		{"a person without a mention: the default bot",
			core.Routing{Sender: ann, Text: "hello", Default: "chief"},
			core.Routed{Wake: []string{"chief"}, Open: true, Why: core.ByDefault}},
		{"no default: the thread's only bot",
			core.Routing{Sender: ann, Text: "hello", Participants: []string{"qa"}},
			core.Routed{Wake: []string{"qa"}, Open: true, Why: core.ByOnly}},
		{"no default, two bots: nobody",
			core.Routing{Sender: ann, Text: "hello", Participants: []string{"qa", "chief"}},
			core.Routed{Why: core.NoBot}},
		{"a default that cannot act falls back to the only bot",
			core.Routing{Sender: ann, Text: "hello", Default: "gone", Participants: []string{"qa"}},
			core.Routed{Wake: []string{"qa"}, Open: true, Why: core.ByOnly}},
		{"a person wakes all they mention",
			core.Routing{Sender: ann, Text: "@engineer and @qa, go", Default: "chief"},
			core.Routed{Mentions: []string{"engineer", "qa"}, Wake: []string{"engineer", "qa"}, Why: core.ByMention}},
		{"mentions of other people only: nobody",
			core.Routing{Sender: ann, Text: "@bob look", Default: "chief", Others: true},
			core.Routed{Why: core.ForOthers}},
		{"a word that looks like a mention of nobody: the default bot",
			core.Routing{Sender: ann, Text: "@nobody look", Default: "chief"},
			core.Routed{Wake: []string{"chief"}, Open: true, Why: core.ByDefault}},
		{"a person who mentions a delegate: the default bot hands on",
			core.Routing{Sender: ann, Text: "@qa, go", Default: "chief", Delegates: []string{"qa"}},
			core.Routed{Mentions: []string{"qa"}, Wake: []string{"chief"}, Open: true, Why: core.ByDefault}},
		{"a delegate beside another bot: that one",
			core.Routing{Sender: ann, Text: "@qa and @engineer, go", Default: "chief", Delegates: []string{"qa"}},
			core.Routed{Mentions: []string{"qa", "engineer"}, Wake: []string{"engineer"}, Why: core.ByMention}},
		{"a delegate is no default, nor the only bot",
			core.Routing{Sender: ann, Text: "hello", Default: "qa", Participants: []string{"qa"}, Delegates: []string{"qa"}},
			core.Routed{Why: core.NoBot}},
		{"a bot wakes a delegate",
			core.Routing{Sender: engineer, Text: "@qa, go", Delegates: []string{"qa"}},
			core.Routed{Mentions: []string{"qa"}, Wake: []string{"qa"}, Hop: 1}},
		{"an external sender gets only the sole-bot rule",
			core.Routing{Sender: core.Actor{Kind: core.ExternalActor, ID: "ci"}, Text: "red", Default: "chief", Participants: []string{"qa"}},
			core.Routed{Wake: []string{"qa"}, Why: core.ByOnly}},
		{"a bot's reply without a mention ends the exchange",
			core.Routing{Sender: engineer, Text: "done", Default: "chief", TriggerHop: 3},
			core.Routed{Hop: 4}},
		{"a bot wakes only the first it mentions",
			core.Routing{Sender: engineer, Text: "@qa test, then @chief"},
			core.Routed{Mentions: []string{"qa", "chief"}, Wake: []string{"qa"}, Hop: 1}},
		{"a bot never wakes itself: the next one is the first that can act",
			core.Routing{Sender: engineer, Text: "@engineer asks @qa"},
			core.Routed{Mentions: []string{"engineer", "qa"}, Wake: []string{"qa"}, Hop: 1}},
		{"a bot with queued mail holds its hand-off",
			core.Routing{Sender: engineer, Text: "@qa test", SenderQueued: true},
			core.Routed{Mentions: []string{"qa"}, Held: []string{"qa"}, Hop: 1}},
		{"at the hop limit targets are dropped, with a notice",
			core.Routing{Sender: engineer, Text: "@qa test", TriggerHop: 19},
			core.Routed{Mentions: []string{"qa"}, Hop: 20, HopLimit: true, Notice: true}},
		{"and with one notice only",
			core.Routing{Sender: engineer, Text: "@qa test", TriggerHop: 25, HopTold: true},
			core.Routed{Mentions: []string{"qa"}, Hop: 26, HopLimit: true}},
		{"at the hop limit a reply without a mention is no news",
			core.Routing{Sender: engineer, Text: "done", TriggerHop: 30},
			core.Routed{Hop: 31}},
		{"who mentions an external only wakes nobody, and it takes part",
			core.Routing{Sender: ann, Text: "@ci build it", Default: "chief"},
			core.Routed{Mentions: []string{"ci"}, Tell: []string{"ci"}, Why: core.ForOthers}},
		{"a person has bots woken and externals told",
			core.Routing{Sender: ann, Text: "@ci build it, @qa test it, @pager", Default: "chief"},
			core.Routed{Mentions: []string{"ci", "qa", "pager"}, Wake: []string{"qa"}, Tell: []string{"ci", "pager"}, Why: core.ByMention}},
		{"a bot hands off to the first it mentions, which is an external",
			core.Routing{Sender: engineer, Text: "@ci build it, then @qa"},
			core.Routed{Mentions: []string{"ci", "qa"}, Tell: []string{"ci"}, Hop: 1}},
		{"or a bot: the external has no part in it",
			core.Routing{Sender: engineer, Text: "@qa test it, then @ci"},
			core.Routed{Mentions: []string{"qa", "ci"}, Wake: []string{"qa"}, Hop: 1}},
		{"what an external is told is not held",
			core.Routing{Sender: engineer, Text: "@ci build it", SenderQueued: true},
			core.Routed{Mentions: []string{"ci"}, Tell: []string{"ci"}, Hop: 1}},
		{"at the hop limit an external is not told either",
			core.Routing{Sender: engineer, Text: "@ci build it", TriggerHop: 19},
			core.Routed{Mentions: []string{"ci"}, Hop: 20, HopLimit: true, Notice: true}},
		{"an external wakes all the bots it mentions, and does not hear itself",
			core.Routing{Sender: core.Actor{Kind: core.ExternalActor, ID: "ci"}, Text: "@ci says: @qa and @engineer and @pager", Participants: []string{"chief"}},
			core.Routed{Mentions: []string{"ci", "qa", "engineer", "pager"}, Wake: []string{"qa", "engineer"}, Tell: []string{"pager"}, Why: core.ByMention}},
		{"an external's answer goes on counting",
			core.Routing{Sender: core.Actor{Kind: core.ExternalActor, ID: "ci"}, Text: "@qa test it", Reply: true, TriggerHop: 3},
			core.Routed{Mentions: []string{"qa"}, Wake: []string{"qa"}, Hop: 4, Why: core.ByMention}},
		{"up to the limit",
			core.Routing{Sender: core.Actor{Kind: core.ExternalActor, ID: "ci"}, Text: "@qa test it", Reply: true, TriggerHop: 19},
			core.Routed{Mentions: []string{"qa"}, Hop: 20, HopLimit: true, Notice: true, Why: core.ByMention}},
		{"the system wakes nobody",
			core.Routing{Sender: core.Actor{Kind: core.SystemActor}, Text: "@qa restarted", Default: "chief"},
			core.Routed{Mentions: []string{"qa"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.in.Bots, c.in.Externals, c.in.MaxHops = team, []string{"ci", "pager"}, 20
			if diff := cmp.Diff(c.want, core.Route(c.in)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestRouteInvariants holds Route to invariants 6 and 7 for any input.
func TestRouteInvariants(t *testing.T) {
	names := []string{"chief", "engineer", "qa", "ops", "disabled"}
	rapid.Check(t, func(t *rapid.T) {
		pick := rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string])
		words := rapid.SliceOf(rapid.Custom(func(t *rapid.T) string {
			w := rapid.SampledFrom(append([]string{"hello", "stranger", "ci", "pager"}, names...)).Draw(t, "word")
			return rapid.SampledFrom([]string{"", "@", "`@", "x@"}).Draw(t, "before") + w
		})).Draw(t, "words")
		r := core.Routing{
			Sender:       core.Actor{Kind: rapid.SampledFrom([]core.ActorKind{core.BotActor, core.HumanActor, core.ExternalActor, core.SystemActor}).Draw(t, "kind"), ID: rapid.SampledFrom(append([]string{"ci"}, names...)).Draw(t, "sender")},
			Text:         strings.Join(words, " "),
			Bots:         pick.Draw(t, "bots"),
			Delegates:    pick.Draw(t, "delegates"),
			Externals:    rapid.SampledFrom([][]string{nil, {"ci"}, {"ci", "pager"}}).Draw(t, "externals"),
			Reply:        rapid.Bool().Draw(t, "reply"),
			Participants: pick.Draw(t, "participants"),
			Default:      rapid.SampledFrom(append([]string{""}, names...)).Draw(t, "default"),
			Others:       rapid.Bool().Draw(t, "others"),
			SenderQueued: rapid.Bool().Draw(t, "queued"),
			TriggerHop:   rapid.IntRange(0, 25).Draw(t, "hop"),
			MaxHops:      20,
			HopTold:      rapid.Bool().Draw(t, "told"),
		}
		got := core.Route(r)
		bot := r.Sender.Kind == core.BotActor
		delegate := func(h string) bool { return slices.Contains(r.Delegates, h) }
		external := func(h string) bool { return slices.Contains(r.Externals, h) }
		reach := slices.DeleteFunc(slices.Clone(got.Mentions), func(h string) bool { return delegate(h) || external(h) })
		named := slices.DeleteFunc(slices.Clone(got.Mentions), func(h string) bool { return !external(h) })
		counts := bot || r.Reply && r.Sender.Kind == core.ExternalActor
		for _, h := range got.Tell {
			if !external(h) || h == r.Sender.ID && r.Sender.Kind != core.HumanActor {
				t.Fatalf("%s is told", h)
			}
		}
		for _, h := range slices.Concat(got.Wake, got.Held) {
			if !slices.Contains(r.Bots, h) {
				t.Fatalf("%s cannot act and is woken", h)
			}
			if bot && h == r.Sender.ID {
				t.Fatal("the sender wakes itself")
			}
		}
		switch {
		case r.Sender.Kind == core.SystemActor && len(got.Wake)+len(got.Held)+len(got.Tell) > 0:
			t.Fatal("the system wakes somebody")
		case bot && len(got.Wake)+len(got.Held)+len(got.Tell) > 1:
			t.Fatal("a bot hands off to more than one")
		case counts && got.Hop != r.TriggerHop+1, !counts && got.Hop != 0:
			t.Fatalf("hop %d after %d", got.Hop, r.TriggerHop)
		case bot && r.SenderQueued && len(got.Wake) > 0:
			t.Fatal("a hand-off that should be held is not")
		case got.Hop >= r.MaxHops && len(got.Wake)+len(got.Held)+len(got.Tell) > 0:
			t.Fatal("the hop limit does not hold")
		case !bot && len(got.Held) > 0:
			t.Fatal("a person's message is held")
		case r.Sender.Kind == core.HumanActor && !got.Open && !slices.Equal(got.Wake, reach):
			t.Fatal("a person does not wake all they mention and can wake, in order")
		case r.Sender.Kind == core.HumanActor && !slices.Equal(got.Tell, named):
			t.Fatal("a person does not tell all they mention")
		case got.Open && (r.Sender.Kind != core.HumanActor || len(got.Wake) != 1 || len(reach) > 0):
			t.Fatal("whom a message wakes is no default")
		case !bot && slices.ContainsFunc(got.Wake, delegate):
			t.Fatal("a delegate is woken by somebody who is no bot")
		case got.Notice && (r.HopTold || !got.HopLimit):
			t.Fatal("a notice too many")
		}
	})
}

func TestAccess(t *testing.T) {
	a := core.Access{Owners: []string{"telegram:1"}, Admins: []string{"telegram:3"}, Members: []string{"telegram:2", "telegram:3", "slack:*", "slack:UGUEST"}}
	for _, c := range []struct {
		p    core.Person
		want core.Role
	}{
		{core.Person{ID: "telegram:1"}, core.Owner},
		{core.Person{ID: "telegram:2"}, core.Member},
		{core.Person{ID: "telegram:3"}, core.Admin},
		{core.Person{ID: "telegram:12", Name: "telegram:1"}, core.Stranger},
		{core.Person{ID: "slack:U1"}, core.Member},
		{core.Person{ID: "slack:U1", Guest: true}, core.Stranger},
		{core.Person{ID: "slack:UGUEST", Guest: true}, core.Member},
		{core.Person{ID: "slack:U1", Bot: true}, core.Stranger},
		{core.Person{ID: "slackx:U1"}, core.Stranger},
		{core.Person{ID: "", Name: "anonymous"}, core.Stranger},
	} {
		if got := a.Role(c.p); got != c.want {
			t.Errorf("%+v is %s, want %s", c.p, got, c.want)
		}
		if got := (core.Access{}).Role(c.p); got != core.Stranger {
			t.Errorf("an empty list lets %+v in as %s", c.p, got)
		}
	}
}

func TestGuests(t *testing.T) {
	a := core.Access{Members: []string{"slack:*"}, Guests: true}
	for _, c := range []struct {
		p    core.Person
		want core.Role
	}{
		{core.Person{ID: "slack:U1", Guest: true}, core.Member},
		{core.Person{ID: "slack:U1", Guest: true, Bot: true}, core.Stranger},
		{core.Person{Name: "anonymous", Guest: true}, core.Stranger},
		{core.Person{ID: "telegram:1", Guest: true}, core.Stranger},
	} {
		if got := a.Role(c.p); got != c.want {
			t.Errorf("%+v is %s, want %s", c.p, got, c.want)
		}
	}
}

func TestBindingMatches(t *testing.T) {
	for _, c := range []struct {
		glob, place string
		want        bool
	}{
		{"telegram:-100", "telegram:-100", true},
		{"telegram:-100", "telegram:-100/7", true},
		{"telegram:-100/7", "telegram:-100", false},
		{"telegram:*", "telegram:-100", true},
		{"telegram:*", "telegram:-100/7", true},
		{"slack:*", "telegram:-100", false},
		{"[", "telegram:1", false},
	} {
		p, err := core.ParsePlace(c.place)
		if err != nil {
			t.Fatal(err)
		}
		if got := (core.Binding{Place: c.glob}).Matches(p); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.glob, c.place, got, c.want)
		}
	}
}

func TestBotMay(t *testing.T) {
	for _, c := range []struct {
		tools, denied []string
		want          bool
	}{
		{nil, nil, true},
		{[]string{"exec"}, nil, false},
		{[]string{"read_history"}, nil, true},
		{nil, []string{"read_history"}, false},
		{[]string{"read_history"}, []string{"read_history"}, false},
	} {
		b := core.Bot{Tools: c.tools, DeniedTools: c.denied}
		if got := b.May("read_history"); got != c.want {
			t.Errorf("tools %q, denied %q: %v, want %v", c.tools, c.denied, got, c.want)
		}
	}
	b := core.Bot{Hidden: func(tool string) bool { return tool == "exec" }}
	if b.May("exec") || !b.May("read_history") {
		t.Error("a hidden tool is not the one that may not be used")
	}
}

func ExampleNewID() {
	fmt.Println(core.NewID(core.KindMessage, 114601))
	// Output: m3fx9
}
