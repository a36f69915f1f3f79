//go:build peers

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestPeers walks through the journeys on the platform that the environment
// names, whose server, as the model's, others wrote. Everything is on the
// loopback interface of a network namespace; see .ci/peers/run.
func TestPeers(t *testing.T) {
	isolate(t)
	name := os.Getenv("BELLHOP_PEER")
	start, ok := map[string]func(*testing.T) peer{"slack": newSlack, "discord": newDiscord, "telegram": newTelegram}[name]
	if !ok {
		t.Fatalf("there is no peer for %q", name)
	}
	s := &scene{peer: start(t), model: newMock(t)}
	s.bellhop = launch(t, invocation{dir: t.TempDir(), env: s.peer.secrets(), args: []string{"run", "--config", write(t, t.TempDir(), "config.toml", fmt.Sprintf(`
[log]
level = "debug"
[providers.mock]
type = "openai"
base_url = "%s/v1"
[models."mock/gpt-5"]
context = 100000
vision = true
[agents.assistant]
model = "mock/gpt-5"
%s`, s.model.url, s.peer.config()))}})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("bellhop wrote\n%s", s.bellhop.log.String())
		}
	})
	eventually(t, "bellhop to listen", func() bool { return s.bellhop.ended() || s.peer.listens(t) })
	if s.bellhop.ended() {
		t.Fatal("bellhop has ended")
	}
	for _, j := range journeys {
		t.Run(j.name, func(t *testing.T) {
			if why := s.peer.lacks(j.name); why != "" {
				t.Skip(why)
			}
			j.walk(s, t)
		})
	}
	if code := s.bellhop.stop(); code != 0 {
		t.Errorf("bellhop ends with exit code %d", code)
	}
}

// scene is everything that a journey goes through.
type scene struct {
	peer    peer
	model   *mock
	bellhop *program
}

// peer is a platform's server from the side of one of its people.
type peer interface {
	// config is what bellhop's configuration needs for it, secrets what its
	// environment does.
	config() string
	secrets() []string
	// lacks says why a journey is not to be had there; "" if it is.
	lacks(journey string) string

	// listens reports whether the bot would miss nothing.
	listens(t *testing.T) bool

	// shared is a place of many, direct the person's own with the bot.
	shared() spot
	direct() spot
	// say writes a message and returns its id; at mentions the bot.
	say(t *testing.T, s spot, at bool, text string) string
	// attach writes a message with a file.
	attach(t *testing.T, s spot, text string, f shownFile)
	edit(t *testing.T, s spot, id, text string)
	// command gives the bot's command of that name.
	command(t *testing.T, s spot, name string)
	press(t *testing.T, s spot, m shownMessage, b shownButton)
	// thread is where the answer to a message in a shared place appears.
	thread(s spot, id string) spot
	// follow says something about the newest answer there, without naming the
	// bot, and returns where the answer to that appears.
	follow(t *testing.T, s spot, text string) spot
	// shown is what the bot shows the person in that very spot, in order.
	shown(t *testing.T, s spot) []shownMessage
}

// spot is where people write: a channel, or a thread in it.
type spot struct{ channel, thread string }

// shownMessage is a message of the bot as a person sees it.
type shownMessage struct {
	id, text string
	buttons  []shownButton
	files    []shownFile
}

type shownButton struct{ id, label string }

type shownFile struct {
	name, kind string
	content    []byte
}

// shows waits until the bot shows a message there that contains the text.
func (s *scene) shows(t *testing.T, where spot, text string) (found shownMessage) {
	t.Helper()
	eventually(t, fmt.Sprintf("%q to be shown", text), func() bool {
		list := s.peer.shown(t, where)
		i := slices.IndexFunc(list, func(m shownMessage) bool { return strings.Contains(m.text, text) })
		if i >= 0 {
			found = list[i]
		}
		return i >= 0
	})
	return found
}
