package config

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestErrors(t *testing.T) {
	// Each case replaces or extends the minimal file. want is what Load says,
	// "" for nothing. Lines count from the top of the whole file.
	tests := []struct {
		name  string
		old   string // text of minimal to replace; "": append
		with  string
		files map[string]string
		vars  map[string]string
		want  string
	}{
		{name: "minimal is valid"},

		// Unknown keys.
		{name: "a slip", with: `modle = "x"`, want: `config.toml:12: agents.assistant.modle: unknown key; did you mean "model"?`},
		{name: "nothing close", with: `zebra = 1`, want: `config.toml:12: agents.assistant.zebra: unknown key`},
		{name: "wrong case", with: `Tools = []`, want: `config.toml:12: agents.assistant.Tools: unknown key; did you mean "tools"?`},
		{name: "a later key of the specification", with: `icon = "x"`, want: `config.toml:12: agents.assistant.icon: unknown key`},
		{name: "top level", old: "\n[providers", with: "defualt_agent = \"assistant\"\n[providers", want: `config.toml:1: defualt_agent: unknown key; did you mean "default_agent"?`},
		{name: "table", with: "[acess]\nowners = []", want: `config.toml:12: acess: unknown key; did you mean "access"?`},
		{name: "key of another adapter's type", old: "[adapters.console]", with: "[adapters.console]\ntoken = \"${TELEGRAM_TOKEN}\"", want: `config.toml:9: adapters.console.token: unknown key`},
		{name: "dotted", with: `limits.step = 3`, want: `config.toml:12: agents.assistant.limits.step: unknown key; did you mean "steps"?`},
		{name: "quoted", with: `"mo.del" = "x"`, want: `config.toml:12: agents.assistant."mo.del": unknown key; did you mean "model"?`},
		{name: "quoted dotted", with: `'limits' . "st\u0065ep" = 1`, want: `config.toml:12: agents.assistant.limits.steep: unknown key`},
		{name: "inline table", with: `history = { tokens = 1000, mesages = 2 }`, want: `config.toml:12: agents.assistant.history.mesages: unknown key; did you mean "messages"?`},
		{name: "array of tables", with: "[[bindings]]\nplace = \"console:*\"\n[[bindings]]\nplace = \"console:x\"\n# agnt = 1\nagnt = \"assistant\"", want: `config.toml:17: bindings[1].agnt: unknown key; did you mean "agent"?`},
		{name: "in a multi-line string that looks like the key", with: "description = \"\"\"\nmodle = \"x\"\n\"\"\"\ninstructions = '''\n[agents.assistant]\nmodle = 1'''\nmodle = 2", want: `config.toml:18: agents.assistant.modle: unknown key; did you mean "model"?`},
		{name: "table header", with: "[agents.assistant.limit]\nsteps = 3", want: `config.toml:12: agents.assistant.limit: unknown key; did you mean "limits"?`},
		{
			name: "several at once, in the order of the file",
			with: "tool = []\nworkers = -1\n[limits]\nmax_run = 1\n[log]\nlevel = \"trace\"",
			want: `config.toml:12: agents.assistant.tool: unknown key; did you mean "tools"?
config.toml:13: agents.assistant.workers: -1 is out of bounds: 0 to 10000
config.toml:15: limits.max_run: unknown key; did you mean "max_runs"?
config.toml:17: log.level: "trace" is none of debug, info, warn, error`,
		},

		// Syntax and types.
		{name: "syntax", with: "[access\nowners = []", want: `config.toml:13: expected '.' or ']' to end table name, but got '\n' instead`},
		{name: "unquoted value", with: `name = canary`, want: `config.toml:12: agents.assistant.name: expected value but found "…" instead`},
		{name: "unquoted token", old: `"${TELEGRAM_TOKEN}"`, with: `4711:canary-abcdefghij`, want: `config.toml:6: adapters.telegram.token: invalid datetime: "…"`},
		{name: "key twice", with: "name = \"a\"\nname = \"b\"", want: `config.toml:13: agents.assistant.name: Key 'agents.assistant.name' has already been defined.`},
		{name: "string wanted", with: `name = 3`, want: `config.toml:12: agents.assistant.name: want a string, got an integer`},
		{name: "integer wanted", with: `workers = "3"`, want: `config.toml:12: agents.assistant.workers: want an integer, got a string`},
		{name: "integer wanted, float", with: `workers = 1.5`, want: `config.toml:12: agents.assistant.workers: want an integer, got a float`},
		{name: "array wanted", with: `tools = "exec"`, want: `config.toml:12: agents.assistant.tools: want an array of strings, got a string`},
		{name: "array of something else", with: "tools = [\n  \"exec\",\n  2,\n  true, \"\",\n]", want: "config.toml:14: agents.assistant.tools[1]: want a string, got an integer\nconfig.toml:15: agents.assistant.tools[2]: want a string, got a boolean\nconfig.toml:15: agents.assistant.tools[3]: is empty"},
		{name: "table wanted", with: `history = 80`, want: `config.toml:12: agents.assistant.history: want a table, got an integer`},
		{name: "group wanted", old: "[adapters.console]", with: "[adapters]\nconsole = 1", want: `config.toml:9: adapters.console: want a table, got an integer`},
		{name: "array of tables wanted", with: "[bindings]\nplace = 'console:x'", want: `config.toml:12: bindings: want an array of tables ([[bindings]]), got a table`},
		{name: "thinking", old: "\n[providers", with: "\n[[bindings]]\nplace = 'console:x'\nthinking = 'quotes'\n[providers", want: `config.toml:4: bindings[0].thinking: "quotes" is none of off, quote; did you mean "quote"?`},
		{name: "inline array of tables", old: "\n[providers", with: "bindings = [{ place = 'console:x', reply = 'allways' }]\n[providers", want: `config.toml:1: bindings[0].reply: "allways" is none of mention, thread, always; did you mean "always"?`},
		{name: "array of no tables", old: "\n[providers", with: "bindings = [1]\n[providers", want: `config.toml:1: bindings[0]: want a table, got an integer`},
		{name: "request field", with: "model_params = { a = 2026-01-02, b = nan, c = [inf] }", want: "config.toml:12: agents.assistant.model_params.a: want a string, number, boolean, array or table, got a date\nconfig.toml:12: agents.assistant.model_params.b: is no finite number\nconfig.toml:12: agents.assistant.model_params.c[0]: is no finite number"},

		// Variables.
		{name: "unset", with: `name = "I am ${NOBODY}"`, want: `config.toml:12: agents.assistant.name: variable NOBODY is not set: set it in the environment or in .env beside this file`},
		{name: "unset in an array", with: "tools = [\n\"${NOBODY}\"]", want: `config.toml:13: agents.assistant.tools[0]: variable NOBODY is not set: set it in the environment or in .env beside this file`},
		{name: "unset in a request field", with: `model_params.user.id = "${NOBODY}"`, want: `config.toml:12: agents.assistant.model_params.user.id: variable NOBODY is not set: set it in the environment or in .env beside this file`},
		{name: "malformed", with: `name = "${NO BODY}"`, want: `config.toml:12: agents.assistant.name: malformed variable: write "${NAME}", or "$${" for a literal "${"`},
		{name: "not closed", with: `name = "${CANARY"`, want: `config.toml:12: agents.assistant.name: malformed variable: write "${NAME}", or "$${" for a literal "${"`},
		{name: ".env is open to others", files: map[string]string{".env 0644": "A=canary-klmnopqrst"}, want: `.env: holds secrets but its mode is 0644: run chmod 600 on it`},
		{name: ".env is a folder", files: map[string]string{".env/x": ""}, want: `.env: is no regular file`},
		{name: ".env is malformed", files: map[string]string{".env": "canary-klmnopqrst\nA='canary-klmnopqrst\nB=\"canary-klmnopqrst\\\"\nC='a' canary-klmnopqrst\n1=2"}, want: ".env:1: want KEY=VALUE\n.env:2: A: want one value, its quotes closed, on one line\n.env:3: B: want one value, its quotes closed, on one line\n.env:4: C: want one value, its quotes closed, on one line\n.env:5: want KEY=VALUE"},

		// External actors.
		{name: "a handle that is none", with: "[webhooks.CI]", want: `config.toml:12: webhooks.CI: an external actor's handle has 2 to 32 of a-z, 0-9, _ and -`},
		{name: "a handle that an agent has", with: "[webhooks.assistant]", want: `config.toml:12: webhooks.assistant: an agent has the handle "assistant" too: people could not tell which of them they mention`},
		{name: "a secret for nothing", with: "[webhooks.ci]\nsecret = \"${CANARY}\"", want: `config.toml:12: webhooks.ci.url: is missing: a secret signs what is posted there`},
		{name: "no secret", with: "[webhooks.ci]\nurl = \"https://example.org/hook\"", want: `config.toml:12: webhooks.ci.secret: is missing: what is posted is signed with it, so make up a long random one and give it to the receiver, too`},
		{name: "a literal secret", with: "[webhooks.ci]\nurl = \"https://example.org/hook\"\nsecret = \"canary-klmnopqrst\"", want: `config.toml:14: webhooks.ci.secret: a secret never stands in this file: write secret = "${VAR}", or secret_file = "path" (mode 0600), or secret_credential = "name" (from $CREDENTIALS_DIRECTORY)`},
		{name: "no address", with: "[webhooks.ci]\nurl = \"example.org\"\nsecret = \"${CANARY}\"", want: `config.toml:13: webhooks.ci.url: "example.org" is no http or https URL of a host and path`},
		{name: "an address with a password", with: "[webhooks.ci]\nurl = \"https://a:${CANARY}@example.org\"\nsecret = \"${CANARY}\"", want: `config.toml:13: webhooks.ci.url: "https://a:${CANARY}@example.org" is no http or https URL of a host and path`},

		// Secrets.
		{name: "literal", old: `"${OPENAI_API_KEY}"`, with: `"sk-canary-0123456789"`, want: `config.toml:3: providers.openai.api_key: a secret never stands in this file: write api_key = "${VAR}", or api_key_file = "path" (mode 0600), or api_key_credential = "name" (from $CREDENTIALS_DIRECTORY)`},
		{name: "half literal", old: `"${TELEGRAM_TOKEN}"`, with: `"4711:canary-abcdefghij${CANARY}"`, want: `config.toml:6: adapters.telegram.token: a secret never stands in this file: write token = "${VAR}", or token_file = "path" (mode 0600), or token_credential = "name" (from $CREDENTIALS_DIRECTORY)`},
		{name: "no string", old: `"${OPENAI_API_KEY}"`, with: `4711`, want: `config.toml:3: providers.openai.api_key: want a string, got an integer`},
		{name: "no key at all", old: `api_key = "${OPENAI_API_KEY}"`},
		{name: "no Slack tokens", with: "[adapters.slack]", want: "config.toml:12: adapters.slack.app_token: is missing: the app's page Basic Information makes one with the scope connections:write\nconfig.toml:12: adapters.slack.bot_token: is missing: the app's page OAuth & Permissions has it once the app is installed"},
		{name: "Slack tokens swapped", vars: map[string]string{"BOT": "xapp-canary-abcdef", "APP": "xoxb-canary-abcdef"}, with: "[adapters.slack]\nbot_token = \"${BOT}\"\napp_token = \"${APP}\"", want: "config.toml:13: adapters.slack.bot_token: is a token of another kind: this one begins with xoxb-\nconfig.toml:14: adapters.slack.app_token: is a token of another kind: this one begins with xapp-"},
		{name: "slash command", vars: map[string]string{"BOT": "xoxb-1", "APP": "xapp-1"}, with: "[adapters.slack]\nbot_token = \"${BOT}\"\napp_token = \"${APP}\"\ncommand = \"bell\"\nshort_commands = 1", want: "config.toml:15: adapters.slack.command: \"bell\" is no slash command: want / and up to 32 of a-z, 0-9, _ and -\nconfig.toml:16: adapters.slack.short_commands: want true or false, got an integer"},
		{name: "days", with: "[retention]\nmedia = \"2w\"", want: `config.toml:13: retention.media: "2w" is no number of days such as "14d", nor "0" for ever`},
		{name: "no Discord token", with: "[adapters.discord]", want: "config.toml:12: adapters.discord.token: is missing: the application's page Bot in the developer portal has it"},
		{name: "no token", old: `token = "${TELEGRAM_TOKEN}"`, want: `config.toml:5: adapters.telegram.token: is missing: @BotFather gives one for each bot`},
		{name: "twice", old: `token = "${TELEGRAM_TOKEN}"`, with: "token = \"${TELEGRAM_TOKEN}\"\ntoken_file = \"t\"", want: `config.toml:7: adapters.telegram.token_file: token is set too: give only one of them`},
		{name: "unset", old: `TELEGRAM_TOKEN`, with: `NOBODY`, want: `config.toml:6: adapters.telegram.token: variable NOBODY is not set: set it in the environment or in .env beside this file`},
		{name: "empty", vars: map[string]string{"TELEGRAM_TOKEN": " \n"}, want: `config.toml:6: adapters.telegram.token: the secret is empty`},
		{name: "several lines", old: `TELEGRAM_TOKEN`, with: `MULTILINE`, want: `config.toml:6: adapters.telegram.token: the secret has a line break or another control character in it`},
		{name: "file", old: `token = "${TELEGRAM_TOKEN}"`, with: `token_file = "sub/token"`, files: map[string]string{"sub/token": "4711:canary-abcdefghij\n"}},
		{name: "file is open to others", old: `token = "${TELEGRAM_TOKEN}"`, with: `token_file = "token"`, files: map[string]string{"token 0644": "4711:canary-abcdefghij"}, want: `config.toml:6: adapters.telegram.token_file: "token": holds secrets but its mode is 0644: run chmod 600 on it`},
		{name: "file is a folder", old: `token = "${TELEGRAM_TOKEN}"`, with: `token_file = "sub"`, files: map[string]string{"sub/token": ""}, want: `config.toml:6: adapters.telegram.token_file: "sub": is no regular file`},
		{name: "file is absent", old: `token = "${TELEGRAM_TOKEN}"`, with: `token_file = "${CANARY}"`, want: `config.toml:6: adapters.telegram.token_file: "${CANARY}": no such file or directory`},
		{name: "file is too large", old: `token = "${TELEGRAM_TOKEN}"`, with: `token_file = "t"`, files: map[string]string{"t": strings.Repeat("canary-klmnopqrst", 5000)}, want: `config.toml:6: adapters.telegram.token_file: "t": is larger than 65536 bytes`},
		{name: "file has no name", old: `token = "${TELEGRAM_TOKEN}"`, with: `token_file = ""`, want: `config.toml:6: adapters.telegram.token_file: is empty`},
		{name: "no home", old: `token = "${TELEGRAM_TOKEN}"`, with: `token_file = "~/token"`, want: `config.toml:6: adapters.telegram.token_file: ~/ cannot be resolved: HOME is not set`},
		{name: "credential without systemd", old: `token = "${TELEGRAM_TOKEN}"`, with: `token_credential = "tg"`, want: `config.toml:6: adapters.telegram.token_credential: $CREDENTIALS_DIRECTORY is not set: it is there only under systemd with LoadCredential=`},
		{name: "credential that leaves its folder", old: `token = "${TELEGRAM_TOKEN}"`, with: `token_credential = "../tg"`, vars: map[string]string{"CREDENTIALS_DIRECTORY": "/"}, want: `config.toml:6: adapters.telegram.token_credential: "../tg" is no name of a credential`},
		{name: "credential that is absent", old: `token = "${TELEGRAM_TOKEN}"`, with: `token_credential = "tg"`, vars: map[string]string{"CREDENTIALS_DIRECTORY": "/nowhere/at/all"}, want: `config.toml:6: adapters.telegram.token_credential: "tg": no such file or directory`},

		// What the keys mean.
		{name: "no agent", old: "[agents.assistant]\nmodel = \"openai/gpt-5\"", want: `config.toml: agents: there is no agent: add a table [agents.NAME]`},
		{name: "two agents and no default", with: "[agents.other]\nmodel = \"openai/x\"", want: `config.toml: default_agent: is missing: with more than one agent, name one of assistant, other`},
		{name: "default agent unknown", old: "\n[providers", with: "default_agent = \"asistant\"\n[providers", want: `config.toml:1: default_agent: no agent "asistant": there is assistant; did you mean "assistant"?`},
		{name: "default agent from a variable", old: "\n[providers", with: "default_agent = \"${CANARY}\"\n[providers", want: `config.toml:1: default_agent: no agent "${CANARY}": there is assistant`},
		{name: "handle", with: "[agents.Chief]\nmodel = \"openai/x\"\n[agents.\"a\\nb\"]\nmodel = \"openai/x\"", want: "config.toml: default_agent: is missing: with more than one agent, name one of Chief, a b, assistant\nconfig.toml:12: agents.Chief: an agent's handle has 2 to 32 of a-z, 0-9, _ and -\nconfig.toml:14: agents.\"a\\nb\": an agent's handle has 2 to 32 of a-z, 0-9, _ and -"},
		{name: "no model", old: `model = "openai/gpt-5"`, with: `name = "x"`, want: `config.toml:10: agents.assistant.model: is missing: want "provider/model"`},
		{name: "no model beside the default agent's", with: "[agents.other]\n[bindings]", want: "config.toml: default_agent: is missing: with more than one agent, name one of assistant, other\nconfig.toml:13: bindings: want an array of tables ([[bindings]]), got a table"},
		{name: "no model of the default agent", old: "\n[providers", with: "default_agent = \"plan\"\n[agents.plan]\n[providers", want: `config.toml:2: agents.plan.model: is missing: want "provider/model"`},
		{name: "mode", with: `mode = "secondary"`, want: `config.toml:12: agents.assistant.mode: "secondary" is none of primary, subagent`},
		{name: "only a subagent", with: `mode = "subagent"`, want: `config.toml:10: agents: there is only assistant, a subagent, which only other agents talk to`},
		{name: "default agent is a subagent", old: "\n[providers", with: "default_agent = \"general\"\n[agents.general]\nmodel = \"openai/x\"\n[providers", want: `config.toml:1: default_agent: "general" is a subagent, which only other agents talk to`},
		{name: "binding to a subagent", old: "\n[providers", with: "default_agent = \"assistant\"\n[agents.general]\n[[bindings]]\nplace = 'telegram:*'\nagent = 'general'\n[providers", want: `config.toml:5: bindings[0].agent: "general" is a subagent, which only other agents talk to`},
		{name: "default agent is a preset without a table", old: "\n[providers", with: "default_agent = \"plan\"\n[providers", want: `config.toml:1: default_agent: no agent "plan": there is assistant; an empty table [agents.plan] adds the built-in one`},
		{name: "router", with: "[router]\nmode = 'clasifier'\nthreshold = 1.5", want: "config.toml:13: router.mode: \"clasifier\" is none of mention, classifier; did you mean \"classifier\"?\nconfig.toml:14: router.threshold: 1.5 is out of bounds: 0 to 1"},
		{name: "threshold", with: "[router]\nthreshold = 'high'\nmodel = 'x'", want: "config.toml:13: router.threshold: want a number, got a string\nconfig.toml:14: router.model: unknown key; did you mean \"mode\"?"},
		{name: "threshold that is none", with: "[router]\nthreshold = nan", want: `config.toml:13: router.threshold: NaN is out of bounds: 0 to 1`},
		{name: "threshold at its bounds", with: "[router]\nthreshold = 1"},
		{name: "model without provider", old: `"openai/gpt-5"`, with: `"gpt-5"`, want: `config.toml:11: agents.assistant.model: want "provider/model"`},
		{name: "unknown provider", old: `"openai/gpt-5"`, with: `"opnai/gpt-5"`, want: `config.toml:11: agents.assistant.model: no such provider: there is openai; did you mean "openai"?`},
		{name: "model from a variable", old: `"openai/gpt-5"`, with: `"${CANARY}/gpt-5"`, want: `config.toml:11: agents.assistant.model: no such provider: there is openai`},
		{name: "facts of an unknown provider", with: "[models.'x/y']\ncontext = 8000\n[models.z]", want: "config.toml:12: models.\"x/y\": no such provider: there is openai\nconfig.toml:14: models.z: want \"provider/model\""},
		{name: "workspace in the store", with: "workspace = \"data/workspaces/x\""},
		{name: "workspace with the configuration", with: "workspace = \".\"", want: `config.toml:12: agents.assistant.workspace: ".": my configuration is in it, which agents must not change: use a folder such as data/workspaces/NAME`},
		{name: "workspace above it", with: "workspace = \"../..\"", want: `config.toml:12: agents.assistant.workspace: "../..": my configuration is in it, which agents must not change: use a folder such as data/workspaces/NAME`},
		{name: "workspace through a link", with: "workspace = \"free\"", files: map[string]string{"free -> .": ""}, want: `config.toml:12: agents.assistant.workspace: "free": my configuration is in it, which agents must not change: use a folder such as data/workspaces/NAME`},
		{name: "workspace with the store", with: "[store]\npath = \"data\"\n[agents.bb]\nmodel = \"openai/x\"\nworkspace = \"data\"", want: "config.toml: default_agent: is missing: with more than one agent, name one of assistant, bb\nconfig.toml:16: agents.bb.workspace: \"data\": my store is there, which agents must not change: use a folder in its folder workspaces"},
		{name: "workspace in the store, elsewhere", with: "workspace = \"data/media\"", want: `config.toml:12: agents.assistant.workspace: "data/media": my store is there, which agents must not change: use a folder in its folder workspaces`},
		{name: "all workspaces", with: "workspace = \"data/workspaces\"", want: `config.toml:12: agents.assistant.workspace: "data/workspaces": my store is there, which agents must not change: use a folder in its folder workspaces`},
		{name: "workspace of a place with skills", with: "[[bindings]]\nplace = \"console:*\"\nworkspace = \"skills/x\"", files: map[string]string{"skills/x/y": ""}, want: `config.toml:14: bindings[0].workspace: "skills/x": agents must not change what is there`},
		{name: "workspace with instructions", with: "workspace = \"p\"\ninstructions_file = \"p/a.md\"", files: map[string]string{"p/a.md": "x"}, want: `config.toml:12: agents.assistant.workspace: "p": instructions are there (a.md), which agents must not change`},
		{name: "workspace beside instructions", with: "workspace = \"p/x\"\ninstructions_file = \"p/a.md\"", files: map[string]string{"p/a.md": "x", "p/x/y": ""}, want: `config.toml:12: agents.assistant.workspace: "p/x": instructions are there (a.md), which agents must not change`},
		{name: "workspace beside instructions in the configuration's folder", with: "workspace = \"x\"\ninstructions_file = \"a.md\"", files: map[string]string{"a.md": "x", "x/y": ""}},
		{name: "workspace that is a file", with: "workspace = \"x\"", files: map[string]string{"x": ""}, want: `config.toml:12: agents.assistant.workspace: "x": there is no such folder: make it, or use one in the store's folder workspaces, which I make myself`},
		{name: "workspace of nothing", with: "workspace = \"\"", want: `config.toml:12: agents.assistant.workspace: is empty`},
		{name: "purpose of an unknown provider", with: "[purposes]\nsmall = \"opnai/x\"", want: `config.toml:13: purposes.small: "opnai/x": no such provider: there is openai; did you mean "openai"?`},
		{name: "purpose without a model", with: "[purposes]\nsmall = \"\""},
		{name: "context", with: "[models.'openai/y']\ncontext = 1", want: `config.toml:13: models."openai/y".context: 1 is out of bounds: 1000 to 10000000`},
		{name: "price", with: "[models.'openai/y']\nprice = { input = -1, output = 'x', cash_read = 1 }", want: "config.toml:13: models.\"openai/y\".price.cash_read: unknown key; did you mean \"cache_read\"?\nconfig.toml:13: models.\"openai/y\".price.input: -1 is out of bounds: 0 to 100000\nconfig.toml:13: models.\"openai/y\".price.output: want a number, got a string"},
		{name: "half a price", with: "[models.'openai/y']\nprice = { input = 1 }", want: `config.toml:13: models."openai/y".price.output: is missing: want USD per million tokens`},
		{name: "price that is a number", with: "[models.'openai/y']\nprice = 1.25", want: `config.toml:13: models."openai/y".price: want a table, got a float`},
		{name: "price of nothing", with: "[models.'openai/y']\nprice = { input = 0, output = 0 }"},
		{name: "steps", with: "limits = { steps = 0 }", want: `config.toml:12: agents.assistant.limits.steps: 0 is out of bounds: 1 to 1000`},
		{name: "duration", with: `limits.run_time = "15 min"`, want: `config.toml:12: agents.assistant.limits.run_time: "15 min" is no duration such as "90s", "15m" or "1h30m"`},
		{name: "duration, number", with: `limits.run_time = 15`, want: `config.toml:12: agents.assistant.limits.run_time: want a string, got an integer`},
		{name: "duration, too long", with: `limits.run_time = "25h"`, want: `config.toml:12: agents.assistant.limits.run_time: "25h" is out of bounds: 1s to 24h0m0s`},
		{name: "both instructions", with: "instructions = \"\"\ninstructions_file = \"x\"", files: map[string]string{"x": ""}, want: `config.toml:13: agents.assistant.instructions_file: instructions is set too: give only one of them`},
		{name: "no instructions file", with: "instructions_file = \"x\"", want: `config.toml:12: agents.assistant.instructions_file: "x": no such file or directory`},
		{name: "adapter name", with: "[adapters.T]\ntype = \"console\"", want: `config.toml:12: adapters.T: an adapter's name has 2 to 32 of a-z, 0-9, _ and -`},
		{name: "provider name", with: "[providers.'a/b']\ntype = \"script\"", want: `config.toml:12: providers."a/b": a provider's name has 2 to 32 of a-z, 0-9, _ and -`},
		{name: "adapter type", with: "[adapters.chat]\ntype = \"telegramm\"\nwhatever = 1", want: `config.toml:13: adapters.chat.type: "telegramm" is none of telegram, slack, discord, console; did you mean "telegram"?`},
		{name: "adapter without type", with: "[adapters.chat]", want: `config.toml:12: adapters.chat.type: is missing: want one of telegram, slack, discord, console`},
		{name: "provider type", with: "[providers.ollama]\nbase_url = \"http://localhost\"", want: `config.toml:12: providers.ollama.type: is missing: want one of openai, script`},
		{name: "console user", old: "[adapters.console]", with: "[adapters.console]\nuser = \"a b\"", want: `config.toml:9: adapters.console.user: "a b" is no user id: want 1 to 64 characters, none of them a space, colon, slash or star`},
		{name: "url", old: "[adapters.console]", with: "api_url = \"${CANARY}\"\n[adapters.console]", want: `config.toml:8: adapters.telegram.api_url: "${CANARY}" is no http or https URL of a host and path`},
		{name: "header", old: "\n[adapters.telegram]", with: "headers = { \"a b\" = \"x\", C = \"${MULTILINE}\" }\n[adapters.telegram]", want: "config.toml:4: providers.openai.headers.\"a b\": is no name of a header\nconfig.toml:4: providers.openai.headers.C: has a line break in it"},
		{name: "binding's place", with: "[[bindings]]\nplace = \"ops\"", want: `config.toml:13: bindings[0].place: "ops" is no place: want "adapter:channel" or "adapter:channel/topic"`},
		{name: "binding without place", with: "[[bindings]]\n", want: `config.toml:12: bindings[0].place: is missing: want "adapter:channel" or "adapter:channel/topic"`},
		{name: "binding's adapter", with: "[[bindings]]\nplace = \"telegarm:*\"", want: `config.toml:13: bindings[0].place: "telegarm:*": no such adapter: there is console, telegram; did you mean "telegram"?`},
		{name: "binding's context", with: "[[bindings]]\nplace = \"t*:1\"\ncontext_messages = 101", want: `config.toml:14: bindings[0].context_messages: 101 is out of bounds: 0 to 100`},
		{name: "binding's glob", with: "[[bindings]]\nplace = \"t*:[\"", want: `config.toml:13: bindings[0].place: "t*:[" is no glob pattern`},
		{name: "binding's mode", with: "[[bindings]]\nplace = \"t*:1\"\nmode = \"smrt\"", want: `config.toml:14: bindings[0].mode: "smrt" is none of default, smart, bypass; did you mean "smart"?`},
		{name: "rule", with: "[[rules]]\ntool = \"exec\"\naction = \"deny\""},
		{name: "rule without anything", with: "[[rules]]", want: "config.toml:12: rules[0].action: is missing: want allow, ask or deny\nconfig.toml:12: rules[0].tool: is missing: want a glob over the names of tools, such as \"exec\" or \"github__*\""},
		{name: "rule's tool is empty", with: "[[rules]]\ntool = ''\naction = 'deny'", want: `config.toml:13: rules[0].tool: is missing: want a glob over the names of tools, such as "exec" or "github__*"`},
		{name: "rule's action", with: "[[agents.assistant.rules]]\ntool = \"exec\"\naction = \"alow\"", want: `config.toml:14: agents.assistant.rules[0].action: "alow" is none of allow, ask, deny; did you mean "allow"?`},
		{name: "rule's role", with: "[[rules]]\ntool = \"exec\"\naction = \"ask\"\nrole = \"admn\"", want: `config.toml:15: rules[0].role: "admn" is none of owner, admin, member; did you mean "admin"?`},
		{name: "rule's key", with: "[[bindings]]\nplace = \"t*:1\"\n[[bindings.rules]]\ntool = \"exec\"\naction = \"ask\"\npatern = \"x\"", want: `config.toml:17: bindings[0].rules[0].patern: unknown key; did you mean "pattern"?`},
		{name: "rule's pattern", with: "[[rules]]\ntool = \"*_file\"\naction = \"ask\"\npattern = \"a/{b\"", want: "config.toml:15: rules[0].pattern: \"a/{b\" is no pattern of paths: close every [ and {, and write \\[ for a bracket in a name"},
		{name: "rule's pattern of a command", with: "[[rules]]\ntool = \"exec\"\naction = \"ask\"\npattern = \"[ -f *\""},
		{name: "rule's types", with: "[[rules]]\ntool = 1\naction = 2\npattern = 3\nrole = 4", want: "config.toml:13: rules[0].tool: want a string, got an integer\nconfig.toml:14: rules[0].action: want a string, got an integer\nconfig.toml:15: rules[0].pattern: want a string, got an integer\nconfig.toml:16: rules[0].role: want a string, got an integer"},
		{name: "rules that are none", with: "[rules]\ntool = 'exec'", want: `config.toml:12: rules: want an array of tables ([[rules]]), got a table`},
		{name: "binding's agent", with: "[[bindings]]\nplace = \"t*:1\"\nagent = \"x\"", want: `config.toml:14: bindings[0].agent: no agent "x": there is assistant`},
		{name: "owner's place", old: "\n[providers", with: "owner_place = \"slack:1\"\n[providers", want: `config.toml:1: owner_place: "slack:1": no such adapter: there is console, telegram`},
		{name: "messages per minute", with: "[limits]\nmessages_per_minute = -1", want: `config.toml:13: limits.messages_per_minute: -1 is out of bounds: 0 to 10000`},
		{name: "person", with: "[access]\nowners = [\"1111\"]", want: `config.toml:13: access.owners[0]: "1111" is nobody: want "adapter:id", or for members also "adapter:*"`},
		{name: "everybody an owner", with: "[access]\nowners = [\"telegram:*\"]", want: `config.toml:13: access.owners[0]: "telegram:*" would make everybody an owner: list the people one by one`},
		{name: "everybody an admin", with: "[access]\nadmins = [\"telegram:*\"]", want: `config.toml:13: access.admins[0]: "telegram:*" would make everybody an admin: list the people one by one`},
		{name: "person of an unknown adapter", with: "[access]\nmembers = [\"slack:*\"]", want: `config.toml:13: access.members[0]: "slack:*": no such adapter: there is console, telegram`},
		{name: "user name", with: "[access]\nowners = [\"telegram:@ada\"]", want: `config.toml:13: access.owners[0]: "telegram:@ada" is a user name, which can change hands: use the immutable numeric id, as in telegram:1111 (the bot tells a stranger theirs)`},
		{name: "bare user name", with: "[access]\nmembers = [\"telegram:*\", \"@ada\"]", want: `config.toml:13: access.members[1]: "@ada" is a user name, which can change hands: use the immutable numeric id, as in telegram:1111 (the bot tells a stranger theirs)`},
		{name: "no number on Telegram", with: "[access]\nowners = [\"telegram:ada\"]", want: `config.toml:13: access.owners[0]: "telegram:ada": a person on Telegram is a number: use the immutable numeric id, as in telegram:1111`},
		{name: "approvers", with: "[access]\napprovers = [\"requester\", \"owner\", \"telegram:1111\"]"},
		{name: "nobody approves", with: "[access]\napprovers = []"},
		{name: "unknown approver", with: "[access]\napprovers = [\"requestor\"]", want: `config.toml:13: access.approvers[0]: "requestor" is none of requester, not-requester, owner, admin, member, and nobody's id, as in telegram:1111; did you mean "requester"?`},
		{name: "everybody approves", with: "[access]\napprovers = [\"telegram:*\"]", want: `config.toml:13: access.approvers[0]: "telegram:*" would let everybody there approve: write "member" for everybody who is let in`},
		{name: "approver by name", with: "[access]\napprovers = [\"telegram:@ada\"]", want: `config.toml:13: access.approvers[0]: "telegram:@ada" is a user name, which can change hands: use the immutable numeric id, as in telegram:1111 (the bot tells a stranger theirs)`},
		{name: "approver of an unknown adapter", with: "[access]\napprovers = [\"slack:U1\"]", want: `config.toml:13: access.approvers[0]: "slack:U1": no such adapter: there is console, telegram`},
		{name: "approvers that contradict", with: "[access]\napprovers = [\"requester\", \"not-requester\"]", want: `config.toml:13: access.approvers: "requester" and "not-requester" contradict each other: leave one out`},
		{name: "nobody is left to approve", with: "[access]\napprovers = [\"not-requester\"]", want: `config.toml:13: access.approvers: "not-requester" only says who may not: add who may, as in ["admin", "not-requester"]`},
		{name: "time zone", with: "[schedule]\ntimezone = \"Europe/Nowhere\"", want: `config.toml:13: schedule.timezone: "Europe/Nowhere" is no time zone that this machine knows: write it as in Europe/Berlin`},
		{name: "time zone of the machine", with: "[schedule]\ntimezone = \"Local\"", want: `config.toml:13: schedule.timezone: "Local" is no time zone that this machine knows: write it as in Europe/Berlin`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := minimal + tt.with
			if tt.old != "" {
				text = strings.Replace(minimal, tt.old, tt.with, 1)
			}
			files := map[string]string{"config.toml": text}
			maps.Copy(files, tt.files)
			folder(t, files)
			_, err := Load("config.toml", variables(tt.vars))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			noCanary(t, got)
			for _, e := range split(err) {
				if _, ok := errors.AsType[*Error](e); !ok {
					t.Errorf("%v is a %T, no *Error", e, e)
				}
			}
		})
	}
}

// split returns the errors that Load has joined.
func split(err error) []error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return several.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

func TestLoadNoFile(t *testing.T) {
	folder(t, nil)
	_, err := Load("config.toml", variables(nil))
	if want := "config.toml: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestNearest(t *testing.T) {
	keys := []string{"agent", "default_agent", "history", "limits", "model", "model_params", "name", "tools", "workers"}
	golden := map[string]string{
		"modle":         "model",
		"mdoel":         "model",
		"mode":          "model",
		"MODEL":         "model",
		"models":        "model",
		"modelparams":   "model_params",
		"model-params":  "model_params",
		"default-agent": "default_agent",
		"hisotry":       "history",
		"limit":         "limits",
		"nmae":          "name",
		"tool":          "tools",
		"wrokers":       "workers",
		"worker":        "workers",
		"rules":         "",
		"icon":          "",
		"x":             "",
		"":              "",
		"fallback":      "",
		"description":   "",
	}
	for word, want := range golden {
		if got := nearest(word, keys); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := nearest(strings.Repeat("x", 1000), keys); got != "" {
		t.Errorf("nearest to a long word is %q", got)
	}
}
