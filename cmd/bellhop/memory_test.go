package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bellhop/adapters/adaptertest"
)

// BenchmarkIdleMemory states the memory of the program itself, built as it is
// released, that is connected to all three platforms and at rest. The goal is 16
// MB.
func BenchmarkIdleMemory(b *testing.B) {
	dir := b.TempDir()
	program := filepath.Join(dir, "bellhop")
	build := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for b.Loop() {
		tg, sl, dc := adaptertest.NewTelegram(adaptertest.TelegramOptions{Token: token}), adaptertest.NewSlack(adaptertest.SlackOptions{}),
			adaptertest.NewDiscord(adaptertest.DiscordOptions{})
		path := filepath.Join(dir, "config.toml")
		config := fmt.Sprintf(`
[adapters.telegram]
token = "${TOKEN}"
api_url = %q
[adapters.slack]
bot_token = "${BOT_TOKEN}"
app_token = "${APP_TOKEN}"
api_url = %q
[adapters.discord]
token = "${DISCORD_TOKEN}"
api_url = %q
[providers.fake]
type = "openai"
api_key = "${KEY}"
base_url = "http://127.0.0.1:9/v1"
[agents.assistant]
model = "fake/fake"
[access]
members = ["telegram:*", "slack:*", "discord:*"]
`, tg.Serve(b), sl.Serve(b), dc.Serve(b))
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			b.Fatal(err)
		}
		var log bytes.Buffer
		run := exec.CommandContext(b.Context(), program, "run", "--config", path)
		run.Dir, run.Stderr = dir, &log
		run.Env = []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "TOKEN=" + token, "KEY=" + apiKey,
			"BOT_TOKEN=" + sl.BotToken(), "APP_TOKEN=" + sl.AppToken(), "DISCORD_TOKEN=" + dc.Token()}
		if err := run.Start(); err != nil {
			b.Fatal(err)
		}
		tg.Wait(b, "a poll", func() bool { return len(tg.Calls("getUpdates")) > 0 })
		sl.Wait(b, "a socket", func() bool { return sl.Sockets() > 0 })
		dc.Wait(b, "the commands", func() bool { return len(dc.Calls("command.set")) > 0 })
		// What it has used to start is given back within some seconds.
		own, all := math.Inf(1), math.Inf(1)
		within(5*time.Second, func() bool {
			own = min(own, memory(b, run.Process.Pid, "RssAnon:"))
			all = min(all, memory(b, run.Process.Pid, "VmRSS:"))
			return false
		})
		b.ReportMetric(own, "MB-own")
		b.ReportMetric(all, "MB-with-program-and-store")
		b.ReportMetric(0, "ns/op")
		if err := run.Process.Kill(); err != nil {
			b.Fatalf("%v\n%s", err, log.String())
		}
		_ = run.Wait() // killed
	}
}

// memory is what Linux says of a process's memory, in MB. RssAnon is its own;
// VmRSS counts in the pages of the program and the store that the page cache
// shares with it.
func memory(tb testing.TB, pid int, field string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		tb.Skip(err)
	}
	_, rest, _ := strings.Cut(string(status), field)
	var kb float64
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		tb.Fatal(err)
	}
	return kb / 1000
}
