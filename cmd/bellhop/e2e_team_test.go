package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The team of config.toml.example, switched on as it says: nothing else is
// edited but what leads to the test's own servers.
func TestTeam(t *testing.T) {
	h := newHouse(t)
	example, err := os.ReadFile("../../config.toml.example")
	if err != nil {
		t.Fatal(err)
	}
	text := string(example)
	edit := func(old, now string) {
		t.Helper()
		if !regexp.MustCompile(old).MatchString(text) {
			t.Fatalf("the example has no %s", old)
		}
		text = regexp.MustCompile(old).ReplaceAllString(text, now)
	}
	block := regexp.MustCompile(`(?m)^# \[agents\.coordinator\](.*\n# .*)+`).FindString(text)
	edit(regexp.QuoteMeta(block), regexp.MustCompile(`(?m)^# `).ReplaceAllString(block, ""))
	edit(`default_agent = "assistant"`, `default_agent = "coordinator"`)
	served, err := os.ReadFile(h.start.args[2])
	if err != nil {
		t.Fatal(err)
	}
	url := func(key string) string { return regexp.MustCompile(key + ` = ".*"`).FindString(string(served)) }
	edit(`(?m)^# api_url = "https://api\.telegram.*$`, url("api_url"))
	edit(`(?m)^# base_url = .*$`, url("base_url"))
	edit(`(?m)^owners = \[\]`, `owners = ["telegram:1111"]`)
	h.configure(text)
	h.start.env = append(h.start.env, "TELEGRAM_TOKEN="+token, "OPENAI_API_KEY="+apiKey)

	turns := map[string][]string{
		"coordinator": {
			"@engineer goal: q1 is fixed in login.go. Done when TestLogin passes. Report the commit to @coordinator.",
			"@reviewer please review commit 4711 of login.go. Fine when it is small. Report to @coordinator.",
			"The login works again: commit 4711, reviewed.",
		},
		"engineer": {"@coordinator commit 4711 in login.go; TestLogin passes."},
		"reviewer": {"@coordinator fine."},
	}
	who := regexp.MustCompile(`^You are @(\w+):`)
	h.model.does(func(in inquiry) act {
		you := who.FindStringSubmatch(in.Messages[0].Content)
		if you == nil { // it names the conversation
			return act{pieces: []string{"A broken login"}}
		}
		name, said := you[1], 0
		for _, m := range in.Messages {
			if m.Role == "assistant" {
				said++
			}
		}
		return act{pieces: []string{turns[name][said]}}
	})
	p := h.run()
	h.direct.Say(h.owner, "The login is broken.")
	h.shows(h.direct, "The login works again: commit 4711, reviewed.")
	p.stop()

	asked := map[string][]string{}
	for _, in := range h.model.asks() {
		you := who.FindStringSubmatch(in.Messages[0].Content)
		if you == nil {
			continue
		}
		name := you[1]
		asked[name] = append(asked[name], in.Messages[len(in.Messages)-1].Content)
		system := in.Messages[0].Content
		if name == "coordinator" && !strings.Contains(system, "every hand-off carries the goal, the paths or numbers that it is about, the acceptance criteria, and what to report back") {
			t.Errorf("the coordinator is told %q", system)
		}
		if name != "coordinator" && !strings.Contains(system, "see only the messages that mention you") {
			t.Errorf("%s is told %q", name, system)
		}
		for _, colleague := range []string{"@coordinator", "@engineer", "@reviewer", "@tester", "@assistant"} {
			if !strings.Contains(system, colleague) {
				t.Errorf("%s does not know %s", name, colleague)
			}
		}
	}
	if len(asked["coordinator"]) != 3 || len(asked["engineer"]) != 1 || len(asked["reviewer"]) != 1 || len(asked["tester"]) != 0 {
		t.Fatalf("asked were %v", asked)
	}
	if got := asked["engineer"][0]; strings.Contains(got, "The login is broken.") || !strings.Contains(got, "q1 is fixed in login.go") ||
		!strings.Contains(got, "1 other message exists but is not shown; read_history reads it, recall_messages searches it.") {
		t.Errorf("the engineer reads %q", got)
	}
	if got := asked["reviewer"][0]; strings.Contains(got, "TestLogin passes.\n") || !strings.Contains(got, "commit 4711 of login.go") {
		t.Errorf("the reviewer reads %q", got)
	}
}
