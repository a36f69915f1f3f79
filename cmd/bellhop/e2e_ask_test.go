package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bellhop/adapters/adaptertest"
	"bellhop/core"
	"bellhop/store"
)

// counter is a person's direct conversation with the bot.
type counter struct {
	shown func() []adaptertest.Shown
	say   func(text string)
	press func(message, label string) error
}

// counters makes two of them on each platform.
var counters = []struct {
	name string
	make func() (town, [2]counter)
}{
	{"telegram", func() (town, [2]counter) {
		s := adaptertest.NewTelegram(adaptertest.TelegramOptions{Token: token})
		at := func(id int64, name string) counter {
			u := s.User(id, name)
			c := s.Private(u)
			return counter{c.Shown, func(text string) { c.Say(u, text) }, func(message, label string) error {
				n, err := strconv.Atoi(message)
				if err == nil {
					_, err = c.Press(u, n, label)
				}
				return err
			}}
		}
		return telegramTown{s}, [2]counter{at(11, "Ann"), at(12, "Bob")}
	}},
	{"slack", func() (town, [2]counter) {
		s := adaptertest.NewSlack(adaptertest.SlackOptions{})
		at := func(name string) counter {
			u := s.User(name)
			c := s.Direct(u)
			return counter{c.Shown, func(text string) { c.Say(u, text) }, func(message, label string) error { return c.PressValue(u, message, label) }}
		}
		return slackTown{s}, [2]counter{at("Ann"), at("Bob")}
	}},
	{"discord", func() (town, [2]counter) {
		s := adaptertest.NewDiscord(adaptertest.DiscordOptions{Eager: true})
		at := func(name string) counter {
			u := s.User(name)
			c := s.Direct(u)
			return counter{c.Shown, func(text string) { c.Post(u, adaptertest.DiscordPost{Text: text}) }, func(message, label string) error { return c.Press(u, message, label) }}
		}
		return discordTown{s}, [2]counter{at("Ann"), at("Bob")}
	}},
}

// reads waits until the bot shows a text that matches, and returns the message
// and what the pattern has found in it.
func (c counter) reads(t *testing.T, pattern string) (m adaptertest.Shown, found []string) {
	t.Helper()
	want := regexp.MustCompile(pattern)
	if !within(patience, func() bool {
		for _, m = range slices.Backward(c.shown()) {
			if found = want.FindStringSubmatch(m.Text); m.Own && found != nil {
				return true
			}
		}
		return false
	}) {
		t.Fatalf("nothing like %q is shown; there is %+v", pattern, c.shown())
	}
	return m, found
}

// A question and an approval outlive a kill -9: in the next process each is
// decided once, by press, whoever comes later is told by whom, and each run ends
// with one outcome.
func TestAsksOutliveAKill(t *testing.T) {
	for _, where := range counters {
		t.Run(where.name, func(t *testing.T) {
			town, at := where.make()
			c := newChaos(t, 1, town)
			rule, err := os.OpenFile(filepath.Join(c.start.dir, "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := rule.WriteString("[[rules]]\ntool = \"read_history\"\naction = \"ask\"\n"); err != nil {
				t.Fatal(err)
			}
			if err := rule.Close(); err != nil {
				t.Fatal(err)
			}
			c.model.does(func(a inquiry) act {
				switch {
				case a.afterTool():
					return act{pieces: []string{a.answer(), " I was told: " + a.Messages[len(a.Messages)-1].Content}}
				case slices.Contains(a.open(), "1"):
					return act{tool: "ask_human", args: `{"question":"Which colour?","choices":["red","blue"]}`}
				}
				return act{tool: "read_history"}
			})
			start := func() *program {
				p := c.launch()
				c.ready(p)
				eventually(t, "it to be online", town.online)
				return p
			}

			p := start()
			at[0].say("Please tell me q1")
			at[1].say("Please tell me q2")
			question, _ := at[0].reads(t, "Which colour")
			card, _ := at[1].reads(t, "asks for Bob, in .*, whether it may use read_history")
			if !slices.Equal(question.Buttons, []string{"red", "blue"}) || !slices.Equal(card.Buttons, []string{"Allow once", "Allow for this task", "Deny"}) {
				t.Errorf("the buttons are %q and %q", question.Buttons, card.Buttons)
			}
			var ids [2]string
			for i := range at {
				at[i].say("!inbox")
				_, found := at[i].reads(t, `(a\w+): assistant asks:`)
				ids[i] = found[1]
			}
			p.kill()

			p = start()
			if err := at[0].press(question.ID, "red"); err != nil {
				t.Error(err)
			}
			if err := at[1].press(card.ID, "Allow once"); err != nil {
				t.Error(err)
			}
			at[0].reads(t, "✅ Ann: red")
			at[1].reads(t, "✅ Allowed once by Bob")
			at[0].reads(t, `a1\. I was told: Ann answered: red`)
			at[1].reads(t, `a2\. I was told: `)
			at[0].say("!answer " + ids[0] + " blue")
			at[1].say("!deny " + ids[1])
			at[0].reads(t, "Ann has answered it already")
			at[1].reads(t, "Bob has allowed it already")
			if code := p.stop(); code != 0 {
				t.Errorf("exit code %d:\n%s", code, tail(p.log.String()))
			}

			for i, n := range []string{" a1.", " a2."} {
				shown := at[i].shown()
				if answers := slices.DeleteFunc(shown, func(m adaptertest.Shown) bool { return !m.Own || !strings.Contains(m.Text, n) }); len(answers) != 1 {
					t.Errorf("there are %d answers with%s: %+v", len(answers), n, answers)
				}
			}
			withStore(t, c.store, func(s *store.Store, b store.Books) {
				if wrong, err := s.Check(t.Context()); err != nil || len(wrong) > 0 {
					t.Errorf("%v, %v", wrong, err)
				}
				for _, r := range b.Runs {
					if r.State != core.Done {
						t.Errorf("run %s is %s", r.ID, r.State)
					}
				}
				if len(b.Runs) != 2 || len(b.Asks) != 2 || b.Asks[0].State == core.AskOpen || b.Asks[1].State == core.AskOpen {
					t.Errorf("%d runs have asked %+v", len(b.Runs), b.Asks)
				}
			})
		})
	}
}
