// Package config turns a TOML file into validated structs.
//
// Load is strict: an unknown key, a wrong type, an unset variable or a value
// that cannot work is an error naming file, line and key, and all errors of a
// file are reported at once. The package imports core and core/perm, for what
// rules may be, and the TOML library. It is imported by cmd alone, and starts no
// goroutine.
package config

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/BurntSushi/toml"

	"bellhop/core"
)

// Config is a whole configuration, defaults filled in, paths absolute.
type Config struct {
	DefaultAgent string              `toml:"default_agent"` // agent of places without a binding; default: the only agent
	OwnerPlace   string              `toml:"owner_place"`   // adapter:channel or adapter:channel/topic where trouble is told; default "": the first owner's direct messages
	Store        Store               `toml:"store"`
	Log          Log                 `toml:"log"`
	Adapters     map[string]Adapter  `toml:"adapters,omitempty"`  // by name, a durable identity; default none
	Providers    map[string]Provider `toml:"providers,omitempty"` // by name; at least one
	Models       map[string]Model    `toml:"models,omitempty"`    // by "provider/model"; default none
	Purposes     Purposes            `toml:"purposes"`
	Agents       map[string]Agent    `toml:"agents,omitempty"` // by handle; at least one
	Router       Router              `toml:"router"`
	Bindings     []Binding           `toml:"bindings,omitempty"` // in the order of the file, the first match wins; default none
	Rules        []Rule              `toml:"rules,omitempty"`    // for all agents everywhere; default none
	Webhooks     map[string]Webhook  `toml:"webhooks,omitempty"` // external actors, by handle; default none
	Access       Access              `toml:"access"`
	Limits       Limits              `toml:"limits"`
	Media        Media               `toml:"media"`
	Schedule     Schedule            `toml:"schedule"`
	Retention    Retention           `toml:"retention"`

	shown map[string]string // values that hold variables → as the file writes them
}

// Store says where everything durable lies.
type Store struct {
	Path string `toml:"path"` // folder; default "data" beside the file
}

// Log says what is logged and how.
type Log struct {
	Level  slog.Level `toml:"level"`  // debug, info, warn, error; default info
	Format string     `toml:"format"` // auto (text on a terminal, else json), text, json; default auto
}

// Adapter is one connection to a chat platform.
type Adapter struct {
	Type          string `toml:"type"`                     // telegram, slack, discord or console; default: the name
	Token         Secret `toml:"token,omitempty"`          // telegram, discord: the bot token; no default
	BotToken      Secret `toml:"bot_token,omitempty"`      // slack: xoxb-…; no default
	AppToken      Secret `toml:"app_token,omitempty"`      // slack: xapp-…; no default
	APIURL        string `toml:"api_url,omitempty"`        // base URL; default: the platform's own
	Command       string `toml:"command,omitempty"`        // slack: its one slash command; default /bellhop
	ShortCommands bool   `toml:"short_commands,omitempty"` // slack: the manifest has /new and /help too; default true
	Rich          string `toml:"rich,omitempty"`           // telegram: auto (rich messages where they show more), off; default auto
	User          string `toml:"user,omitempty"`           // console: id of the person at the terminal; default "you"
}

// Provider is an endpoint that serves models.
type Provider struct {
	Type        string            `toml:"type"`                   // openai (any compatible endpoint) or script; default: the name
	APIKey      Secret            `toml:"api_key,omitempty"`      // default "": none, as local model servers want it
	BaseURL     string            `toml:"base_url,omitempty"`     // default https://api.openai.com/v1
	Headers     map[string]Secret `toml:"headers,omitempty"`      // sent with every request; secret because gateways take keys here; default none
	ModelParams map[string]any    `toml:"model_params,omitempty"` // request fields of every agent here, whose own win; default none
}

// Model is what a person knows about a model.
type Model struct {
	Context int         `toml:"context"`         // window in tokens; default 0: unknown
	Vision  bool        `toml:"vision"`          // it can be shown images; default false
	Price   *core.Price `toml:"price,omitempty"` // default nil: unknown
}

// Purposes are models for work that is not an answer, "provider/model" each.
type Purposes struct {
	Small string `toml:"small"` // what is short and cheap, such as titles; default "": the agent's own
}

// Agent is one bot.
type Agent struct {
	Description  string         `toml:"description"`            // what others read about it; default ""
	Model        string         `toml:"model"`                  // "provider/model"; default that of the default agent, which has none
	Workspace    string         `toml:"workspace,omitempty"`    // folder in which it works, unless its place or its conversation has one; default "": one of its handle in the store's folder workspaces
	Instructions string         `toml:"instructions"`           // system prompt, given here or as instructions_file; default "", but for presets
	Mode         string         `toml:"mode"`                   // primary (people talk to it), subagent (other agents do, and it is read-only); default primary
	ReadOnly     bool           `toml:"-"`                      // it has only tools that change nothing
	Tools        []string       `toml:"tools,omitempty"`        // names of allowed tools; default empty: all
	DeniedTools  []string       `toml:"denied_tools,omitempty"` // names of refused tools, which win; default none
	Workers      int            `toml:"workers"`                // runs at once; default 0: limits.max_runs
	Busy         string         `toml:"busy"`                   // a message during a run: queue (it waits for the next run), or steer (it joins between two steps); default queue
	History      History        `toml:"history"`
	Name         string         `toml:"name"`                   // shown where the platform allows; default "": the handle
	ModelParams  map[string]any `toml:"model_params,omitempty"` // request fields that win over the provider's; default none
	Limits       AgentLimits    `toml:"limits"`
	Rules        []Rule         `toml:"rules,omitempty"` // default none
}

// History bounds how much of a thread a run reads.
type History struct {
	Tokens   int `toml:"tokens"`   // default 24000
	Messages int `toml:"messages"` // default 80
}

// AgentLimits bounds one run.
type AgentLimits struct {
	Steps   int           `toml:"steps"`    // model calls; default 40
	RunTime time.Duration `toml:"run_time"` // wall clock; default 15m
}

// Binding gives places their agent.
type Binding struct {
	Place string `toml:"place"`           // adapter:channel or adapter:channel/topic, * is a glob; no default
	Agent string `toml:"agent"`           // default: the default agent
	Reply string `toml:"reply,omitempty"` // mention: only when mentioned; thread: a mention opens a thread, then all of it; always; default: as fits the platform (telegram: mention)

	Thinking string `toml:"thinking"` // what the model thinks: off (nobody sees it), or quote (folded, above its answers); default off

	Mode  string `toml:"mode"`            // how freely tools may be used in threads there: default (as the rules say), smart (what changes nothing or can be taken back is not asked about), bypass (nothing is); default "default"
	Rules []Rule `toml:"rules,omitempty"` // default none

	Workspace string `toml:"workspace,omitempty"` // folder in which all agents work there; default "": each in its own

	ContextMessages int `toml:"context_messages"` // most messages quoted before a mention at the top level of a channel, where the platform lets the bot read them; default 10
}

// Webhook is an external actor: what it says comes in with `bellhop send`.
type Webhook struct {
	Description string `toml:"description"`      // what bots read about it; default ""
	URL         string `toml:"url,omitempty"`    // where it is told what is said; default "": nowhere, it only speaks
	Secret      Secret `toml:"secret,omitempty"` // signs what it is told; no default with a url
}

// Access says who may talk to the bots. Nobody is let in by an empty list.
type Access struct {
	Owners    []string `toml:"owners,omitempty"`  // adapter:id; default nobody
	Admins    []string `toml:"admins,omitempty"`  // adapter:id; default nobody
	Members   []string `toml:"members,omitempty"` // adapter:id or adapter:*; default nobody
	Approvers []string `toml:"approvers"`         // who may approve what a bot wants to do: requester, owner, admin, member (or more), adapter:id; not-requester: nobody what is for themselves; default ["requester"]
	Pairing   bool     `toml:"pairing"`           // a stranger's direct message gets a code with which an owner can let them in; default true
	Guests    bool     `toml:"guests"`            // adapter:* lets in platform guests and people from connected workspaces, too; default false
}

// Schedule is about time.
type Schedule struct {
	Timezone string `toml:"timezone"` // IANA time zone of people of whom their platform tells none; default "": the machine's
}

// Media bounds what people send.
type Media struct {
	MaxBytes int `toml:"max_bytes"` // of a file; default 20971520
}

// Retention says how long things are kept.
type Retention struct {
	Activity    Days `toml:"activity"`    // the activity log; default 14d
	Transcripts Days `toml:"transcripts"` // what runs did step by step, since they have ended; default 14d
	Tasks       Days `toml:"tasks"`       // tasks and their runs, since they have ended; default 30d
	Media       Days `toml:"media"`       // files, since they were last used; default 90d
}

// Days is a number of days, written as "14d"; 0, written as "0", is for ever.
type Days int

// MarshalText writes it as a file does.
func (d Days) MarshalText() ([]byte, error) {
	if d == 0 {
		return []byte("0"), nil
	}
	return fmt.Appendf(nil, "%dd", int(d)), nil
}

// Limits bounds the whole process.
type Limits struct {
	MaxRuns int `toml:"max_runs"` // runs at once; default 64
	MaxHops int `toml:"max_hops"` // hand-offs from bot to bot until a human speaks; default 20

	MessagesPerMinute int `toml:"messages_per_minute"` // that are taken from each person, except at the terminal; default 0: any number
}

// Load reads and checks the file at path. Variables come from env, normally
// os.LookupEnv, and for those it does not have from a .env file beside the
// file. Every fault found is an *Error, one a line.
func Load(path string, env func(name string) (value string, ok bool)) (*Config, error) {
	src, err := readFile(path, maxConfig, false)
	if err != nil {
		return nil, &Error{File: path, Msg: err.Error()}
	}
	lookup, errs := withDotEnv(env, filepath.Dir(path))
	var values map[string]any
	if _, err := toml.Decode(src, &values); err != nil {
		return nil, joined(append(errs, syntaxError(path, src, err)))
	}
	l := &loader{file: path, lines: locate(src), lookup: lookup, errs: errs, shown: map[string]string{}}
	c := l.config(&table{loader: l, values: values})
	if len(l.errs) > 0 {
		return nil, joined(l.errs)
	}
	return c, nil
}

// Redacted returns the configuration in force as TOML, without any secret: a
// value that came from variables is shown as the file writes it.
func (c *Config) Redacted() string {
	var plain map[string]any
	text, err := toml.Marshal(c)
	if err == nil {
		err = toml.Unmarshal(text, &plain)
	}
	var out bytes.Buffer
	if err == nil {
		enc := toml.NewEncoder(&out)
		enc.Indent = ""
		err = enc.Encode(asWritten(plain, c.shown))
	}
	if err != nil {
		return "# " + oneLine(err.Error()) + "\n"
	}
	return out.String()
}

// asWritten replaces, anywhere in v, strings that shown knows.
func asWritten(v any, shown map[string]string) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = asWritten(value, shown)
		}
	case []map[string]any:
		for _, table := range v {
			asWritten(table, shown)
		}
	case []any:
		for i, value := range v {
			v[i] = asWritten(value, shown)
		}
	case string:
		if raw, ok := shown[v]; ok {
			return raw
		}
	}
	return v
}
