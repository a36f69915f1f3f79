package config

import (
	"cmp"
	"log/slog"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

var (
	handle       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_-]{2,32}$`) })
	headerName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$") })
	slashCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/[a-z0-9_-]{1,32}$`) })
	consoleUser  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^\s:/*]{1,64}$`) })
	digits       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{1,20}$`) })
)

// config reads the whole file. What refers to something is read after it.
func (l *loader) config(root *table) *Config {
	c := &Config{
		Adapters:  map[string]Adapter{},
		Providers: map[string]Provider{},
		Models:    map[string]Model{},
		Agents:    map[string]Agent{},
		Webhooks:  map[string]Webhook{},
		shown:     l.shown,
	}
	store := root.table("store")
	c.Store.Path, _ = store.filePath("path", "data")
	store.done()

	log := root.table("log")
	level := log.oneOf("level", "info", "debug", "info", "warn", "error")
	c.Log.Level = map[string]slog.Level{"debug": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError}[level]
	c.Log.Format = log.oneOf("format", "auto", "auto", "text", "json")
	log.done()

	limits := root.table("limits")
	c.Limits.MaxRuns = limits.integer("max_runs", 64, 1, 10_000)
	c.Limits.MaxHops = limits.integer("max_hops", 20, 1, 1000)
	c.Limits.MessagesPerMinute = limits.integer("messages_per_minute", 0, 0, 10_000)
	limits.done()

	media := root.table("media")
	c.Media.MaxBytes = media.integer("max_bytes", 20<<20, 1000, 1<<30)
	media.done()

	retention := root.table("retention")
	c.Retention.Activity = retention.days("activity", 14)
	c.Retention.Transcripts = retention.days("transcripts", 14)
	c.Retention.Tasks = retention.days("tasks", 30)
	c.Retention.Media = retention.days("media", 90)
	retention.done()

	root.each("adapters", func(name string, t *table) { c.Adapters[name] = t.adapter(name) })
	root.each("providers", func(name string, t *table) { c.Providers[name] = t.provider(name) })
	root.each("models", func(name string, t *table) {
		if problem, near := c.modelProblem(name); problem != "" {
			t.failAt(t.path, near, "%s", problem)
		}
		c.Models[name] = Model{Context: t.integer("context", 0, 1000, 10_000_000), Vision: t.boolean("vision", false), Price: t.price()}
	})
	purposes := root.table("purposes")
	c.Purposes.Small = purposes.purpose("small", c)
	purposes.done()
	root.each("agents", func(name string, t *table) { c.Agents[name] = t.agent(name, c) })

	c.DefaultAgent = root.defaultAgent(c)
	l.inherit(c)
	c.Router = root.table("router").router()
	for _, t := range root.array("bindings") {
		c.Bindings = append(c.Bindings, t.binding(c))
		t.done()
	}
	c.Rules = root.rules()
	root.each("webhooks", func(name string, t *table) { c.Webhooks[name] = t.webhook(name, c) })
	c.Access = root.table("access").access(c)
	c.Schedule = root.table("schedule").schedule()
	c.OwnerPlace = root.ownerPlace(c)
	l.checkWorkspaces(c.Store.Path)
	root.done()
	return c
}

func (t *table) adapter(name string) Adapter {
	if !handle().MatchString(name) {
		t.failAt(t.path, "", "an adapter's name has 2 to 32 of a-z, 0-9, _ and -")
	}
	a := Adapter{Type: t.typeOf(name, "telegram", "slack", "discord", "console")}
	switch a.Type {
	case "telegram":
		a.Token = t.token("token", "", "@BotFather gives one for each bot")
		a.APIURL = t.url("api_url", "https://api.telegram.org")
		a.Rich = t.oneOf("rich", "auto", "auto", "off")
	case "slack":
		a.BotToken = t.token("bot_token", "xoxb-", "the app's page OAuth & Permissions has it once the app is installed")
		a.AppToken = t.token("app_token", "xapp-", "the app's page Basic Information makes one with the scope connections:write")
		a.APIURL = t.url("api_url", "https://slack.com/api/")
		a.Command = t.str("command", "/bellhop")
		if !slashCommand().MatchString(a.Command) {
			t.fail("command", "%s is no slash command: want / and up to 32 of a-z, 0-9, _ and -", t.quoted("command"))
		}
		a.ShortCommands = t.boolean("short_commands", true)
	case "discord":
		a.Token = t.token("token", "", "the application's page Bot in the developer portal has it")
		a.APIURL = t.url("api_url", "https://discord.com/api/v10")
	case "console":
		a.User = t.str("user", "you")
		if !consoleUser().MatchString(a.User) {
			t.fail("user", "%s is no user id: want 1 to 64 characters, none of them a space, colon, slash or star", t.quoted("user"))
		}
	}
	return a
}

// token is the secret without which an adapter can do nothing. prefix is how
// tokens of its kind begin.
func (t *table) token(key, prefix, where string) Secret {
	token := t.secret(key)
	switch {
	case !slices.ContainsFunc([]string{key, key + "_file", key + "_credential"}, t.has):
		t.fail(key, "is missing: %s", where)
	case token != "" && !strings.HasPrefix(string(token), prefix):
		t.fail(key, "is a token of another kind: this one begins with %s", prefix)
	}
	return token
}

func (t *table) provider(name string) Provider {
	if !handle().MatchString(name) {
		t.failAt(t.path, "", "a provider's name has 2 to 32 of a-z, 0-9, _ and -")
	}
	p := Provider{Type: t.typeOf(name, "openai", "script")}
	if p.Type == "openai" {
		p.APIKey = t.secret("api_key")
		p.BaseURL = t.url("base_url", "https://api.openai.com/v1")
		p.Headers = t.headers("headers")
		p.ModelParams = t.free("model_params")
	}
	return p
}

// typeOf returns the type of an adapter or provider, which is its name unless
// said otherwise. The keys of an unknown type are not judged.
func (t *table) typeOf(name string, types ...string) string {
	if t.has("type") {
		name = t.oneOf("type", "", types...)
	} else if !slices.Contains(types, name) {
		t.fail("type", "is missing: want one of %s", strings.Join(types, ", "))
	}
	if !slices.Contains(types, name) {
		t.known = slices.AppendSeq(t.known, maps.Keys(t.values))
	}
	return name
}

func (t *table) url(key, fallback string) string {
	s := t.str(key, fallback)
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		t.fail(key, "%s is no http or https URL of a host and path", t.quoted(key))
	}
	return s
}

func (t *table) headers(key string) map[string]Secret {
	group := t.table(key)
	if len(group.values) == 0 {
		return nil
	}
	out := map[string]Secret{}
	for name := range group.values {
		value := group.str(name, "")
		if !headerName().MatchString(name) {
			group.fail(name, "is no name of a header")
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			group.fail(name, "has a line break in it")
		}
		out[name] = Secret(value)
	}
	return out
}

func (t *table) agent(name string, c *Config) Agent {
	if !handle().MatchString(name) {
		t.failAt(t.path, "", "an agent's handle has 2 to 32 of a-z, 0-9, _ and -")
	}
	p := presets()[name]
	a := Agent{
		Description:  t.str("description", p.description),
		Model:        t.agentModel(c),
		Workspace:    t.workspace(),
		Instructions: t.instructions(p.instructions),
		Mode:         t.oneOf("mode", cmp.Or(p.mode, Primary), Primary, Subagent),
		Tools:        t.strs("tools"),
		DeniedTools:  t.strs("denied_tools"),
		Workers:      t.integer("workers", 0, 0, 10_000),
		Busy:         t.oneOf("busy", "queue", "queue", "steer"),
		Name:         t.str("name", ""),
		ModelParams:  t.free("model_params"),
	}
	a.ReadOnly = a.Mode == Subagent || p.readOnly && !t.has("tools")
	history := t.table("history")
	a.History.Tokens = history.integer("tokens", 24_000, 500, 10_000_000)
	a.History.Messages = history.integer("messages", 80, 1, 10_000)
	history.done()

	limits := t.table("limits")
	a.Limits.Steps = limits.integer("steps", 40, 1, 1000)
	a.Limits.RunTime = limits.duration("run_time", 15*time.Minute, time.Second, 24*time.Hour)
	limits.done()
	a.Rules = t.rules()
	return a
}

func (t *table) webhook(name string, c *Config) Webhook {
	if !handle().MatchString(name) {
		t.failAt(t.path, "", "an external actor's handle has 2 to 32 of a-z, 0-9, _ and -")
	}
	if _, taken := c.Agents[name]; taken {
		t.failAt(t.path, "", "an agent has the handle %s too: people could not tell which of them they mention", quote(name))
	}
	w := Webhook{Description: t.str("description", ""), Secret: t.secret("secret")}
	if !t.has("url") {
		if w.Secret != "" {
			t.fail("url", "is missing: a secret signs what is posted there")
		}
		return w
	}
	w.URL = t.str("url", "")
	u, err := url.Parse(w.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		t.fail("url", "%s is no http or https URL of a host and path", t.quoted("url"))
	}
	if !slices.ContainsFunc([]string{"secret", "secret_file", "secret_credential"}, t.has) {
		t.fail("secret", "is missing: what is posted is signed with it, so make up a long random one and give it to the receiver, too")
	}
	return w
}

func (t *table) agentModel(c *Config) string {
	model, ok := t.text("model")
	if !ok {
		return ""
	}
	if problem, near := c.modelProblem(model); problem != "" {
		t.failAt(join(t.path, "model"), near, "%s", problem)
	}
	return model
}

// modelProblem says what is wrong with a model's name. It does not quote the
// name, which may come from a variable.
func (c *Config) modelProblem(model string) (problem, near string) {
	provider, name, _ := strings.Cut(model, "/")
	if provider == "" || name == "" {
		return `want "provider/model"`, ""
	}
	if _, ok := c.Providers[provider]; !ok {
		return "no such provider: there is " + names(c.Providers), nearest(provider, keys(c.Providers))
	}
	return "", ""
}

func (t *table) instructions(usual string) string {
	if !t.has("instructions_file") {
		return t.str("instructions", usual)
	}
	if t.has("instructions") {
		t.fail("instructions_file", "instructions is set too: give only one of them")
	}
	path, ok := t.filePath("instructions_file", "")
	if !ok {
		return ""
	}
	t.prompts = append(t.prompts, path)
	text, err := readFile(path, maxInstructions, false)
	if err != nil {
		t.fail("instructions_file", "%s: %s", t.quoted("instructions_file"), err)
	}
	return text
}

func (t *table) defaultAgent(c *Config) string {
	if len(c.Agents) == 0 {
		t.fail("agents", "there is no agent: add a table [agents.NAME]")
	}
	name, ok := t.text("default_agent")
	if ok {
		t.checkAgent("default_agent", name, c)
		return name
	}
	if t.has("default_agent") {
		return ""
	}
	if len(c.Agents) > 1 {
		t.fail("default_agent", "is missing: with more than one agent, name one of %s", names(c.Agents))
		return ""
	}
	for only, a := range c.Agents {
		if name = only; a.Mode == Subagent {
			t.fail("agents", "there is only %s, a subagent, which only other agents talk to", only)
		}
	}
	return name
}

// checkAgent reports a default agent that there is not, or that people cannot
// talk to.
func (t *table) checkAgent(key, name string, c *Config) {
	raw, _ := t.raw(key)
	a, ok := c.Agents[name]
	_, known := presets()[raw]
	switch {
	case !ok && known:
		t.failAt(join(t.path, key), "", "no agent %s: there is %s; an empty table [agents.%s] adds the built-in one", quote(raw), names(c.Agents), raw)
	case !ok:
		t.failAt(join(t.path, key), nearest(raw, keys(c.Agents)), "no agent %s: there is %s", quote(raw), names(c.Agents))
	case a.Mode == Subagent:
		t.fail(key, "%s is a subagent, which only other agents talk to", quote(raw))
	}
}

func (t *table) binding(c *Config) Binding {
	b := Binding{Agent: c.DefaultAgent, Reply: t.oneOf("reply", "", "mention", "thread", "always"),
		Thinking: t.oneOf("thinking", "off", "off", "quote"), ContextMessages: t.integer("context_messages", 10, 0, 100),
		Workspace: t.workspace(), Mode: t.oneOf("mode", "default", "default", "smart", "bypass"), Rules: t.rules()}
	place, ok := t.text("place")
	if ok {
		b.Place = place
		t.checkPlace("place", place, true, c)
	} else if !t.has("place") {
		t.fail("place", `is missing: want "adapter:channel" or "adapter:channel/topic"`)
	}
	if agent, ok := t.text("agent"); ok {
		b.Agent = agent
		t.checkAgent("agent", agent, c)
	}
	return b
}

func (t *table) ownerPlace(c *Config) string {
	place := t.str("owner_place", "")
	if place != "" {
		t.checkPlace("owner_place", place, false, c)
	}
	return place
}

// checkPlace reports a place that no adapter can have.
func (t *table) checkPlace(key, place string, glob bool, c *Config) {
	adapter, rest, _ := strings.Cut(place, ":")
	if adapter == "" || rest == "" {
		t.fail(key, `%s is no place: want "adapter:channel" or "adapter:channel/topic"`, t.quoted(key))
		return
	}
	if !glob {
		t.checkAdapter(join(t.path, key), adapter, t.quoted(key), c)
		return
	}
	if _, err := path.Match(place, ""); err != nil {
		t.fail(key, "%s is no glob pattern", t.quoted(key))
		return
	}
	for name := range c.Adapters {
		if match, err := path.Match(adapter, name); match && err == nil {
			return
		}
	}
	t.checkAdapter(join(t.path, key), adapter, t.quoted(key), c)
}

// people reads a list of adapter:id. Only an immutable id will do: a name can
// change hands.
func (t *table) people(key string, c *Config) []string {
	var out []string
	for _, person := range t.list(key) {
		_, id, _ := strings.Cut(person.value, ":")
		switch {
		case key != "members" && id == "*":
			t.failAt(person.key, "", "%s would make everybody an %s: list the people one by one", quote(person.raw), strings.TrimSuffix(key, "s"))
		default:
			t.person(person, c)
		}
		out = append(out, person.value)
	}
	return out
}

// person reports an entry of a list that is nobody's id.
func (t *table) person(person listed, c *Config) bool {
	adapter, id, found := strings.Cut(person.value, ":")
	switch {
	case strings.HasPrefix(person.value, "@") || strings.HasPrefix(id, "@"):
		t.failAt(person.key, "", "%s is a user name, which can change hands: use the immutable numeric id, as in telegram:1111 (the bot tells a stranger theirs)", quote(person.raw))
	case !found || adapter == "" || id == "":
		t.failAt(person.key, "", `%s is nobody: want "adapter:id", or for members also "adapter:*"`, quote(person.raw))
	case !t.checkAdapter(person.key, adapter, quote(person.raw), c):
	case c.Adapters[adapter].Type == "telegram" && id != "*" && !digits().MatchString(id):
		t.failAt(person.key, "", "%s: a person on Telegram is a number: use the immutable numeric id, as in telegram:1111", quote(person.raw))
	default:
		return true
	}
	return false
}

// checkAdapter reports a full key that speaks of an adapter which is not there.
func (t *table) checkAdapter(key, adapter, quoted string, c *Config) bool {
	_, ok := c.Adapters[adapter]
	if !ok {
		t.failAt(key, nearest(adapter, keys(c.Adapters)), "%s: no such adapter: there is %s", quoted, names(c.Adapters))
	}
	return ok
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func names[V any](m map[string]V) string {
	if len(m) == 0 {
		return "none"
	}
	return strings.Join(keys(m), ", ")
}
