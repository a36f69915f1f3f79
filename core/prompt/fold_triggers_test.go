package prompt

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// A run's triggers stay in its window while they fit, also when the bot has
// spoken after them: a retry takes up what was stopped.
func TestFoldKeepsTriggers(t *testing.T) {
	v := View{Bot: core.Bot{Handle: "chief", History: core.Budget{Tokens: 24_000, Messages: 80}}}
	add := func(n int, own bool) {
		for range n {
			m := core.Message{ID: core.NewID(core.KindMessage, uint64(len(v.Messages)+1)), Sender: core.Actor{Kind: core.HumanActor, ID: "chat:ann"}, Name: "Ann", Parts: []core.Part{core.Text("hello")}}
			if own {
				m.Sender = core.Actor{Kind: core.BotActor, ID: "chief"}
			}
			v.Messages = append(v.Messages, m)
		}
	}
	add(50, false)
	add(15, false)
	first := len(v.Messages) - 15
	add(1, true) // "(stopped by Ann)"
	add(40, false)
	for i, m := range v.Messages[first:] {
		if i != 15 {
			v.Triggers = append(v.Triggers, m.ID)
		}
	}
	folded, cut := Fold(v)
	if cut == "" || folded.Messages[0].ID.Seq() > v.Triggers[0].Seq() {
		t.Errorf("the window begins at %s, after the oldest trigger %s", cut, v.Triggers[0])
	}
	v.Triggers = nil
	if _, cut := Fold(v); cut.Seq() <= uint64(first+1) {
		t.Errorf("without triggers the window begins at %s: this test shows nothing", cut)
	}
}

// What is yet to be read before a message has its share of the window kept free,
// and what was read takes what it takes.
func TestEarlierCounts(t *testing.T) {
	cost := func(e *core.Earlier) int {
		k := newTalk()
		k.Bot.History = core.Budget{Tokens: 4000, Messages: 80}
		k.say("Ann", "hello").Earlier = e
		w := writer{names: newNames(&k.View), limit: k.Bot.History.Tokens / 2}
		return w.cost(&k.View, &k.Messages[0])
	}
	plain := cost(nil)
	for _, c := range []struct {
		e    core.Earlier
		want int
	}{
		{core.Earlier{Most: 10}, 400},
		{core.Earlier{Most: 100}, 1000}, // no more than will be shown
		{core.Earlier{Most: 100, Read: true}, 0},
	} {
		if got := cost(&c.e) - plain; got != c.want {
			t.Errorf("%+v costs %d tokens, want %d", c.e, got, c.want)
		}
	}
	var read core.Earlier
	for read.Read = true; len(read.Quotes) < 100; {
		read.Quotes = append(read.Quotes, core.Quote{Author: "Bob", Text: strings.Repeat("word ", 40)})
	}
	if got := cost(&read) - plain; got < 900 || got > 1030 {
		t.Errorf("what was read costs %d tokens", got)
	}
}

// A reply to what lies before the window stands before all of it: it is left out,
// and nothing else is.
func TestReplyBeforeTheWindow(t *testing.T) {
	bot := core.Actor{Kind: core.BotActor, ID: "chief"}
	ann := core.Actor{Kind: core.HumanActor, ID: "chat:ann"}
	message := func(n uint64, from core.Actor, after uint64, text string) core.Message {
		m := core.Message{ID: core.NewID(core.KindMessage, n), Sender: from, Name: from.ID, Parts: []core.Part{core.Text(text)}}
		if after > 0 {
			m.After = core.NewID(core.KindMessage, after)
		}
		return m
	}
	v := View{Bot: core.Bot{Handle: "chief", History: core.Budget{Tokens: 1000, Messages: 80}}, Messages: []core.Message{
		message(20, ann, 0, "first"), message(30, bot, 10, "of old"), message(31, ann, 0, "second"), message(40, bot, 20, "answer"),
	}}
	v, _ = Fold(v) // which does not fold it
	var all []string
	for _, m := range Unroll(v, "") {
		all = append(all, m.Content)
	}
	if got := strings.Join(all, "\n"); strings.Contains(got, "of old") || !strings.Contains(got, "first\nanswer\n[chat:ann]: second") {
		t.Errorf("the model reads:\n%s", got)
	}
}

// A window can be read again from its first message on: what was asked in a
// thread stands, with its answer, where the run that asked had read to, although
// both are newer than messages that stand after them.
func TestFoldedWindowReadAgain(t *testing.T) {
	bot := core.Actor{Kind: core.BotActor, ID: "chief"}
	ann := core.Actor{Kind: core.HumanActor, ID: "chat:ann"}
	message := func(n uint64, from core.Actor, after uint64, text string) core.Message {
		m := core.Message{ID: core.NewID(core.KindMessage, n), Sender: from, Name: from.ID, Parts: []core.Part{core.Text(text)}}
		if after > 0 {
			m.After, m.For = core.NewID(core.KindMessage, after), "chief"
		}
		return m
	}
	all := View{Bot: core.Bot{Handle: "chief", History: core.Budget{Tokens: 24_000, Messages: 4}}, Triggers: []core.ID{core.NewID(core.KindMessage, 4)}, Messages: []core.Message{
		message(1, ann, 0, "first"), message(2, ann, 0, "second"), message(4, ann, 0, "third"),
		message(8, bot, 2, "Which?"), message(9, ann, 2, "this one"), message(10, bot, 2, "done"),
	}}
	folded, cut := Fold(all)
	if cut == "" {
		t.Fatal("the window does not move: this test shows nothing")
	}
	again := all
	again.Messages = slices.DeleteFunc(slices.Clone(all.Messages), func(m core.Message) bool { return m.ID.Seq() < cut.Seq() })
	if diff := cmp.Diff(Unroll(folded, "now"), Unroll(again, "now")); diff != "" {
		t.Errorf("read again from %s on (-first +again):\n%s", cut, diff)
	}
	if text := Unroll(folded, "now")[0].Content; !strings.Contains(text, "third") {
		t.Errorf("what is to be answered is missing in %q", text)
	}
}
