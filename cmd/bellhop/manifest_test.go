package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"bellhop/core/config"
)

func TestSlackManifest(t *testing.T) {
	for _, short := range []bool{true, false} {
		text, err := json.Marshal(slackManifest(config.Adapter{Type: "slack", Command: "/bell", ShortCommands: short}))
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields() // what the library does not know, Slack does not either
		var m slack.Manifest
		if err := d.Decode(&m); err != nil {
			t.Fatal(err)
		}
		var commands []string
		for _, c := range m.Features.SlashCommands {
			commands = append(commands, c.Command)
		}
		want := "/bell"
		if short {
			want = "/bell /new /help"
		}
		if got := strings.Join(commands, " "); got != want {
			t.Errorf("commands %q, want %q", got, want)
		}
		if !m.Settings.SocketModeEnabled {
			t.Error("Socket Mode is off: the bot would need a public address")
		}
	}
}

func TestManifestAndInvite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".env", "B=xoxb-1\nA=xapp-1\nD="+base64.RawStdEncoding.EncodeToString([]byte("112233"))+".x.y\nBAD=nonsense\n")
	write("config.toml", `
[adapters.slack-ops]
type = "slack"
bot_token = "${B}"
app_token = "${A}"
[adapters.discord]
token = "${D}"
[adapters.other]
type = "discord"
token = "${BAD}"
[providers.script]
[agents.demo]
model = "script/demo"
`)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"manifest", "slack"}, 0, `"socket_mode_enabled": true`},
		{[]string{"manifest", "slack-ops"}, 0, `"/bellhop"`},
		{[]string{"manifest", "discord"}, 2, "no adapter discord of type slack: there is slack-ops"},
		{[]string{"manifest"}, 2, "takes 1 arguments"},
		{[]string{"invite", "discord"}, 0, "client_id=112233"},
		{[]string{"invite", "other"}, 1, "no Discord bot token"},
		{[]string{"invite", "nobody"}, 2, "there is discord, other"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append(c.args, "--config", path), strings.NewReader(""), &out, &errs)
		if text := out.String() + errs.String(); code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%q: exit %d, %q; want exit %d and %q", c.args, code, text, c.code, c.want)
		}
		if strings.Contains(out.String()+errs.String(), "xoxb-1") {
			t.Errorf("%q shows a token", c.args)
		}
	}
}
