package adaptertest_test

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"bellhop/adapters/adaptertest"
	"bellhop/adapters/discord"
	"bellhop/adapters/slack"
	"bellhop/adapters/telegram"
	"bellhop/core"
	"bellhop/core/coretest"
)

var update = flag.Bool("update", false, "rewrite the golden sections of testdata/face, and testdata/ways_lacking.txt")

// faces are the platforms that people know us from, each with the adapter that
// speaks it.
var faces = []struct {
	name    string
	harness func(commands []core.Command) adaptertest.Harness
}{
	{"telegram", func(commands []core.Command) adaptertest.Harness {
		return adaptertest.TelegramHarness(func(token string, c *http.Client) core.Adapter {
			return telegram.New(telegram.Options{Name: "telegram", Token: token, HTTP: c, Commands: commands})
		})
	}},
	{"slack", func(commands []core.Command) adaptertest.Harness {
		return adaptertest.SlackHarness(func(a adaptertest.SlackAccess) core.Adapter {
			return slack.New(slack.Options{Name: "slack", BotToken: a.BotToken, AppToken: a.AppToken, APIURL: a.URL,
				HTTP: a.HTTP, Dial: a.Dial, Cursors: a.Cursors, Commands: commands})
		})
	}},
	{"discord", func(commands []core.Command) adaptertest.Harness {
		return adaptertest.DiscordHarness(func(a adaptertest.DiscordAccess) core.Adapter {
			return discord.New(discord.Options{Name: "discord", Token: a.Token, APIURL: a.URL, HTTP: a.HTTP, Cursors: a.Cursors, Commands: commands})
		})
	}},
}

// TestFace holds the same conversation on every platform, with the real adapter,
// bus, ledger and runs, and shows what a person sees there.
//
// A script is a txtar file. Its lines, each of which runs until all waits:
//
//	say ROOM PERSON [re] [file=NAME] TEXT    TEXT may begin with @bot or /command;
//	                     re: it replies to our last message there
//	edit ROOM TEXT       the last message that a person said there is TEXT now
//	press ROOM PERSON LABEL    a button of our last message that has any
//	mark ROOM PERSON EMOJI     our last message
//	llm REPLY            what the model says next: see script.Parse; or
//	llm reply NAME       the section reply/NAME, as it is
//	llm long N           N characters of prose in numbered paragraphs
//	advance DURATION     time passes
//	look                 what people see now is part of the golden sections
//
// ROOM is dm, #team (a channel, or where the platform has none, a group) or
// thread: where the last mention in #team is answered. A golden section shows the
// rooms with all messages, those in a thread below its root, as they were sent to
// be shown. The section asked/PLATFORM shows the model's last call.
func TestFace(t *testing.T) {
	files, err := filepath.Glob("testdata/face/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			script := coretest.ParseArchive(data)
			for _, f := range faces {
				t.Run(f.name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := newStage(t, f.name, f.harness, &script)
						defer s.end()
						s.hold()
						s.compare(*update)
					})
				})
			}
			if *update && !t.Failed() {
				if err := os.WriteFile(file, script.Format(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// compare compares the golden sections of the platform with what is, or rewrites
// them.
func (s *stage) compare(update bool) {
	if t := s.t; t.Failed() {
		return
	}
	for i := range s.script.Sections {
		section := &s.script.Sections[i]
		got := ""
		switch section.Name {
		case s.name:
			got = s.seen.String() + s.render()
		case "asked/" + s.name:
			got = s.asked()
		default:
			continue
		}
		if update {
			section.Text = got + "\n"
		} else if diff := cmp.Diff(strings.Split(strings.TrimSpace(section.Text), "\n"), strings.Split(strings.TrimSpace(got), "\n")); diff != "" {
			s.t.Errorf("%s (-want +got):\n%s", section.Name, diff)
		}
	}
}
