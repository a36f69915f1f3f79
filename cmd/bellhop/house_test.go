package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bellhop/adapters/adaptertest"
	"bellhop/core"
	"bellhop/store"
	"bellhop/store/boltkv"
)

// Secrets of the tests, which nothing may print.
const (
	token  = "987654:a-token-that-nobody-prints"
	apiKey = "sk-a-key-that-nobody-prints"
)

// house is what a process of the tests lives in: a folder with a
// configuration, a Telegram, a model, and the owner's private chat.
type house struct {
	t      *testing.T
	dir    string
	tg     *adaptertest.Telegram
	model  *model
	owner  *adaptertest.TelegramUser
	direct *adaptertest.TelegramChat
	start  invocation // of bellhop run
}

// newHouse furnishes a house whose model answers everything.
func newHouse(t *testing.T) *house {
	h := &house{t: t, dir: t.TempDir(), tg: adaptertest.NewTelegram(adaptertest.TelegramOptions{Token: token}), model: &model{act: answers}}
	h.owner = h.tg.User(1111, "Olga")
	h.direct = h.tg.Private(h.owner)
	h.configure(fmt.Sprintf(`
[log]
level = "debug"
[adapters.telegram]
token = "${TOKEN}"
api_url = %q
[providers.fake]
type = "openai"
api_key = "${KEY}"
base_url = "%s/v1"
[agents.assistant]
model = "fake/fake"
[access]
owners = ["telegram:1111"]
`, h.tg.Serve(t), serve(t, h.model)))
	return h
}

// configure writes the configuration.
func (h *house) configure(toml string) {
	path := write(h.t, h.dir, "config.toml", toml)
	h.start = invocation{dir: h.dir, env: []string{"TOKEN=" + token, "KEY=" + apiKey}, args: []string{"run", "--config", path}}
}

// amend changes a part of the configuration.
func (h *house) amend(old, now string) {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, "config.toml"))
	if err != nil || !strings.Contains(string(text), old) {
		h.t.Fatalf("the configuration does not say %q (%v)", old, err)
	}
	h.configure(strings.Replace(string(text), old, now, 1))
}

// run starts the appliance and waits until it receives.
func (h *house) run() *program {
	h.t.Helper()
	before := len(h.tg.Calls("getUpdates"))
	p := launch(h.t, h.start)
	eventually(h.t, "a poll", func() bool { return p.ended() || len(h.tg.Calls("getUpdates")) > before })
	if p.ended() {
		h.t.Fatalf("the process ended at once:\n%s", p.log.String())
	}
	return p
}

// invoke runs another command with the same configuration to its end.
func (h *house) invoke(stdin string, args ...string) (code int, out, errs string) {
	h.t.Helper()
	in := h.start
	in.stdin, in.args = stdin, append(args, in.args[1:]...)
	return invoke(h.t, in)
}

// shows waits until the bot shows a message with the text in the chat.
func (h *house) shows(c *adaptertest.TelegramChat, text string) adaptertest.Shown {
	h.t.Helper()
	var found adaptertest.Shown
	eventually(h.t, fmt.Sprintf("%q to be shown", text), func() bool {
		for _, s := range own(c) {
			if strings.Contains(s.Text, text) {
				found = s
				return true
			}
		}
		return false
	})
	return found
}

// own lists what the bot shows in the chat.
func own(c *adaptertest.TelegramChat) (list []adaptertest.Shown) {
	for _, s := range c.Shown() {
		if s.Own {
			list = append(list, s)
		}
	}
	return list
}

// books reads the house's store, which no process may hold.
func (h *house) books() (b store.Books) {
	h.t.Helper()
	withStore(h.t, filepath.Join(h.dir, "data"), func(_ *store.Store, books store.Books) { b = books })
	return b
}

// withStore reads a store that no process may hold, and closes it after use.
func withStore(t *testing.T, path string, use func(*store.Store, store.Books)) {
	t.Helper()
	engine, err := boltkv.Open(path, boltkv.Options{Who: "the test"})
	if err != nil {
		t.Fatal(err)
	}
	var o store.Options
	numbered(&o, func(adapter string) bool { return adapter == "telegram" })
	s, err := store.Open(t.Context(), engine, o)
	if err != nil {
		t.Fatal(err)
	}
	books, err := s.Audit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	use(s, books)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// idOf is the ledger's id of a person's message.
func idOf(b store.Books, text string) core.ID {
	for _, m := range b.Messages {
		if m.Sender.Kind == core.HumanActor && strings.Contains(m.Text(), text) {
			return m.ID
		}
	}
	return ""
}
