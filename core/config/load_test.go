package config

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// minimal is a valid file that every other test builds upon.
const minimal = `
[providers.openai]
api_key = "${OPENAI_API_KEY}"

[adapters.telegram]
token = "${TELEGRAM_TOKEN}"

[adapters.console]

[agents.assistant]
model = "openai/gpt-5"
`

// canaries are the secrets of the tests. None may ever be printed.
var canaries = map[string]string{
	"OPENAI_API_KEY": "sk-canary-0123456789",
	"TELEGRAM_TOKEN": "4711:canary-abcdefghij",
	"CANARY":         "canary-klmnopqrst",
	"MULTILINE":      "canary-first\ncanary-second",
}

// variables returns a lookup of the canaries and more.
func variables(more map[string]string) lookup {
	vars := maps.Clone(canaries)
	maps.Copy(vars, more)
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

// folder makes a fresh folder with files the current one, so that messages show
// short names. A name may end in a mode, ".env 0644", or be a link, "a -> b".
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name, mode, _ := strings.Cut(name, " ")
		if to, ok := strings.CutPrefix(mode, "-> "); ok {
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if mode == "0644" {
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	switch t := t.(type) {
	case *testing.T:
		t.Chdir(dir)
	}
	return dir
}

func noCanary(t *testing.T, text string) {
	t.Helper()
	for name, value := range canaries {
		for piece := range strings.SplitSeq(value, "\n") {
			if strings.Contains(text, piece) {
				t.Errorf("the value of %s is shown in:\n%s", name, text)
			}
		}
	}
}

func TestDefaults(t *testing.T) {
	dir := folder(t, map[string]string{"config.toml": minimal})
	got, err := Load("config.toml", variables(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		DefaultAgent: "assistant",
		Store:        Store{Path: filepath.Join(dir, "data")},
		Log:          Log{Format: "auto"},
		Adapters: map[string]Adapter{
			"telegram": {Type: "telegram", Token: "4711:canary-abcdefghij", APIURL: "https://api.telegram.org", Rich: "auto"},
			"console":  {Type: "console", User: "you"},
		},
		Providers: map[string]Provider{
			"openai": {Type: "openai", APIKey: "sk-canary-0123456789", BaseURL: "https://api.openai.com/v1"},
		},
		Models: map[string]Model{},
		Agents: map[string]Agent{
			"assistant": {
				Model:   "openai/gpt-5",
				Mode:    "primary",
				Busy:    "queue",
				History: History{Tokens: 24000, Messages: 80},
				Limits:  AgentLimits{Steps: 40, RunTime: 15 * time.Minute},
			},
		},
		Router:    Router{Mode: "mention", Threshold: 0.6},
		Webhooks:  map[string]Webhook{},
		Access:    Access{Approvers: []string{"requester"}, Pairing: true},
		Limits:    Limits{MaxRuns: 64, MaxHops: 20},
		Media:     Media{MaxBytes: 20 << 20},
		Retention: Retention{Activity: 14, Transcripts: 14, Tasks: 30, Media: 90},
		shown:     got.shown,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Config{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEveryKey(t *testing.T) {
	dir := folder(t, map[string]string{
		"conf/config.toml": `
default_agent = "chief"
owner_place = "tg:1111"
[store]
path = "../state"
[log]
level = "debug"
format = "json"
[adapters.tg]
type = "telegram"
token_file = "token"
api_url = "http://127.0.0.1:8081"
rich = "off"
[adapters.console]
user = "ada"
[providers.local]
type = "openai"
base_url = "http://localhost:11434/v1"
headers = { "X-Title" = "bellhop ${WHO}" }
model_params = { temperature = 0.3, stop = ["${WHO}", "$${WHO}"], extra = { deep = true, n = 3 } }
[providers.script]
[models."local/llama/3"]
context = 8192
vision = true
price = { input = 1, output = 10.5, cache_read = 0.125 }
[purposes]
small = "script/small"
[agents.chief]
description = "Leads"
model = "local/llama/3"
instructions_file = "~/chief.md"
tools = ["read_file"]
denied_tools = ["exec"]
workers = 1
busy = "steer"
history = { tokens = 1000, messages = 10 }
name = "The ${WHO}"
model_params.seed = 7
limits = { steps = 3, run_time = "90s" }
workspace = "../state/workspaces/lead"
[[agents.chief.rules]]
tool = "exec"
pattern = "git ${WHO}*"
action = "allow"
[[agents.chief.rules]]
tool = "exec"
pattern = ""
action = "ask"
role = ""
[agents.helper]
mode = "subagent"
instructions = "Help ${WHO}."
[router]
mode = "classifier"
threshold = 0.75
[[bindings]]
place = "tg:-100*/7"
agent = "chief"
reply = "always"
thinking = "quote"
context_messages = 0
workspace = "../site"
mode = "smart"
[[bindings.rules]]
tool = "web_*"
action = "deny"
role = "member"
[[bindings]]
place = "*:ops"
[[rules]]
tool = "*"
pattern = "{a,b}/**"
action = "deny"
[webhooks.ci]
description = "Builds"
url = "https://ci.example.org/hook?token=${WHO}"
secret_file = "hook"
[webhooks.cron]
[access]
owners = ["tg:1111", "console:ada"]
admins = ["tg:2222"]
members = ["tg:*"]
approvers = ["admin", "tg:3333", "not-requester"]
pairing = false
guests = true
[limits]
max_runs = 2
max_hops = 3
messages_per_minute = 4
[media]
max_bytes = 4096
[retention]
activity = "7d"
transcripts = "1d"
tasks = "0"
media = "0"
[schedule]
timezone = "America/New_York"
`,
		"conf/token":    " 1:token \n",
		"conf/hook":     "canary-hook\n",
		"home/chief.md": "Lead ${NOT_EXPANDED}.\n",
		"site/x":        "",
	})
	got, err := Load("conf/config.toml", variables(map[string]string{"WHO": "Ada", "HOME": filepath.Join(dir, "home")}))
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		DefaultAgent: "chief",
		OwnerPlace:   "tg:1111",
		Store:        Store{Path: filepath.Join(dir, "state")},
		Log:          Log{Level: -4, Format: "json"},
		Adapters: map[string]Adapter{
			"tg":      {Type: "telegram", Token: "1:token", APIURL: "http://127.0.0.1:8081", Rich: "off"},
			"console": {Type: "console", User: "ada"},
		},
		Providers: map[string]Provider{
			"local": {
				Type:    "openai",
				BaseURL: "http://localhost:11434/v1",
				Headers: map[string]Secret{"X-Title": "bellhop Ada"},
				ModelParams: map[string]any{
					"temperature": 0.3,
					"stop":        []any{"Ada", "${WHO}"},
					"extra":       map[string]any{"deep": true, "n": int64(3)},
				},
			},
			"script": {Type: "script"},
		},
		Models:   map[string]Model{"local/llama/3": {Context: 8192, Vision: true, Price: &core.Price{Input: 1, Output: 10.5, CacheRead: 0.125, CacheWrite: 1, CacheWrite1h: 1}}},
		Purposes: Purposes{Small: "script/small"},
		Agents: map[string]Agent{
			"chief": {
				Description:  "Leads",
				Model:        "local/llama/3",
				Instructions: "Lead ${NOT_EXPANDED}.\n",
				Mode:         "primary",
				Tools:        []string{"read_file"},
				DeniedTools:  []string{"exec"},
				Workers:      1,
				Busy:         "steer",
				History:      History{Tokens: 1000, Messages: 10},
				Name:         "The Ada",
				ModelParams:  map[string]any{"seed": int64(7)},
				Limits:       AgentLimits{Steps: 3, RunTime: 90 * time.Second},
				Workspace:    filepath.Join(dir, "state/workspaces/lead"),
				Rules:        []Rule{{Tool: "exec", Pattern: "git Ada*", Action: "allow"}, {Tool: "exec", Action: "ask"}},
			},
			"helper": {
				Model:        "local/llama/3",
				Instructions: "Help Ada.",
				Mode:         "subagent",
				ReadOnly:     true,
				Busy:         "queue",
				History:      History{Tokens: 24000, Messages: 80},
				Limits:       AgentLimits{Steps: 40, RunTime: 15 * time.Minute},
			},
		},
		Router: Router{Mode: "classifier", Threshold: 0.75},
		Bindings: []Binding{
			{Place: "tg:-100*/7", Agent: "chief", Reply: "always", Thinking: "quote", Workspace: filepath.Join(dir, "site"), Mode: "smart",
				Rules: []Rule{{Tool: "web_*", Action: "deny", Role: "member"}}},
			{Place: "*:ops", Agent: "chief", Thinking: "off", Mode: "default", ContextMessages: 10},
		},
		Rules: []Rule{{Tool: "*", Pattern: "{a,b}/**", Action: "deny"}},
		Webhooks: map[string]Webhook{
			"ci":   {Description: "Builds", URL: "https://ci.example.org/hook?token=Ada", Secret: "canary-hook"},
			"cron": {},
		},
		Access:    Access{Owners: []string{"tg:1111", "console:ada"}, Admins: []string{"tg:2222"}, Members: []string{"tg:*"}, Approvers: []string{"admin", "tg:3333", "not-requester"}, Guests: true},
		Schedule:  Schedule{Timezone: "America/New_York"},
		Retention: Retention{Activity: 7, Transcripts: 1},
		Limits:    Limits{MaxRuns: 2, MaxHops: 3, MessagesPerMinute: 4},
		Media:     Media{MaxBytes: 4096},
		shown:     got.shown,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Config{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestExample loads config.toml.example as it stands, and again with every key
// that is commented out.
func TestExample(t *testing.T) {
	text, err := os.ReadFile("../../config.toml.example")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"asis.toml": string(text),
		"full.toml": regexp.MustCompile(`(?m)^# (\[|[a-z_]+ = )`).ReplaceAllString(string(text), "$1"),
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(path, func(name string) (string, bool) {
			switch name {
			case "TELEGRAM_TOKEN", "OPENAI_API_KEY", "DISCORD_TOKEN", "CI_SECRET":
				return "canary-example", true
			case "SLACK_BOT_TOKEN":
				return "xoxb-canary", true
			case "SLACK_APP_TOKEN":
				return "xapp-canary", true
			}
			return "", false
		})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(c.Redacted(), "canary") {
			t.Errorf("a secret is shown in:\n%s", c.Redacted())
		}
	}
	for _, key := range []string{
		"default_agent", "owner_place", "path", "level", "format", "type", "token", "api_url", "user", "api_key",
		"base_url", "headers", "model_params", "context", "description", "model", "instructions", "name", "tools",
		"denied_tools", "workers", "busy", "history", "limits", "place", "agent", "reply", "owners", "admins", "members", "guests", "pairing", "max_runs", "max_hops", "messages_per_minute",
		"bot_token", "app_token", "command", "short_commands", "rich", "mode", "threshold", "tool", "pattern", "action", "role", "vision", "price", "small", "workspace", "max_bytes", "media", "url", "secret",
	} {
		if !regexp.MustCompile(`(?m)^(# )?` + key + ` = `).Match(text) {
			t.Errorf("the example does not show %s", key)
		}
	}
}

func TestRedacted(t *testing.T) {
	dir := folder(t, map[string]string{
		"config.toml": minimal + `
instructions = "Never say ${CANARY}."
model_params = { user = "${CANARY}", nested = [{ deep = "x ${CANARY}" }] }
[store]
path = "${CANARY}"
[providers.gateway]
type = "openai"
base_url = "https://example.org/${CANARY}"
headers = { Authorization = "Bearer ${CANARY}", X-Literal = "canary-klmnopqrst" }
[[bindings]]
place = "telegram:${CANARY}"
[access]
owners = ["console:${CANARY}"]
`,
	})
	c, err := Load("config.toml", variables(nil))
	if err != nil {
		t.Fatal(err)
	}
	got := c.Redacted()
	noCanary(t, got)
	const want = `default_agent = "assistant"
owner_place = ""

[access]
approvers = ["requester"]
guests = false
owners = ["console:${CANARY}"]
pairing = true

[adapters]
[adapters.console]
type = "console"
user = "you"
[adapters.telegram]
api_url = "https://api.telegram.org"
rich = "auto"
token = "[secret]"
type = "telegram"

[agents]
[agents.assistant]
busy = "queue"
description = ""
instructions = "Never say ${CANARY}."
mode = "primary"
model = "openai/gpt-5"
name = ""
workers = 0
[agents.assistant.history]
messages = 80
tokens = 24000
[agents.assistant.limits]
run_time = "15m0s"
steps = 40
[agents.assistant.model_params]
user = "${CANARY}"

[[agents.assistant.model_params.nested]]
deep = "x ${CANARY}"

[[bindings]]
agent = "assistant"
context_messages = 10
mode = "default"
place = "telegram:${CANARY}"
thinking = "off"

[limits]
max_hops = 20
max_runs = 64
messages_per_minute = 0

[log]
format = "auto"
level = "INFO"

[media]
max_bytes = 20971520

[providers]
[providers.gateway]
base_url = "https://example.org/${CANARY}"
type = "openai"
[providers.gateway.headers]
Authorization = "[secret]"
X-Literal = "[secret]"
[providers.openai]
api_key = "[secret]"
base_url = "https://api.openai.com/v1"
type = "openai"

[purposes]
small = ""

[retention]
activity = "14d"
media = "90d"
tasks = "30d"
transcripts = "14d"

[router]
mode = "mention"
threshold = 0.6

[schedule]
timezone = ""

[store]
path = "${CANARY}"
`
	if diff := cmp.Diff(want, strings.ReplaceAll(got, dir, "DIR")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestCredential(t *testing.T) {
	dir := folder(t, map[string]string{
		"config.toml":     strings.Replace(minimal, `api_key = "${OPENAI_API_KEY}"`, `api_key_credential = "openai"`, 1),
		"run/openai 0644": "sk-from-systemd\n",
	})
	c, err := Load("config.toml", variables(map[string]string{"CREDENTIALS_DIRECTORY": filepath.Join(dir, "run")}))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Providers["openai"].APIKey.Reveal(); got != "sk-from-systemd" {
		t.Errorf("api_key = %q", got)
	}
}
