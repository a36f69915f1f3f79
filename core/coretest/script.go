package coretest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/core/run"
)

// line is one line of a script.
type line struct {
	n    int // in the file, from 1
	text string
	verb string
	rest string
}

// lines are the script's lines without comments.
func lines(script string) []line {
	var out []line
	for i, text := range strings.Split(script, "\n") {
		text = strings.TrimSpace(text)
		if text == "" || text == "#" || strings.HasPrefix(text, "# ") {
			continue
		}
		l := line{n: i + 1, text: text}
		l.verb, l.rest, _ = strings.Cut(text, " ")
		out = append(out, l)
	}
	return out
}

// variant is one way to hold a talk: a value for each name.
type variant struct {
	name   string
	values *strings.Replacer
}

// variants are all combinations of the script's each lines.
func variants(script string) []variant {
	type choice struct{ pairs, label []string }
	all := []choice{{}}
	for _, l := range lines(script) {
		if l.verb != "each" {
			continue
		}
		s := scan(l.rest)
		name := s.word()
		var next []choice
		for _, c := range all {
			values := s
			for values.rest != "" {
				v := values.word()
				next = append(next, choice{
					append(slices.Clone(c.pairs), "$"+name, v),
					append(slices.Clone(c.label), strings.ReplaceAll(v, " ", "_"))})
			}
		}
		all = next
	}
	var out []variant
	for _, c := range all {
		out = append(out, variant{strings.Join(c.label, "/"), strings.NewReplacer(c.pairs...)})
	}
	return out
}

// scanner reads a line from its front.
type scanner struct{ rest string }

func scan(text string) scanner { return scanner{strings.TrimSpace(text)} }

// word takes the next word; one that begins with a quote is quoted as in Go.
func (s *scanner) word() string {
	if q, err := strconv.QuotedPrefix(s.rest); err == nil {
		s.rest = strings.TrimSpace(s.rest[len(q):])
		text, _ := strconv.Unquote(q)
		return text
	}
	word, rest, _ := strings.Cut(s.rest, " ")
	s.rest = strings.TrimSpace(rest)
	return word
}

// option takes NAME=value if it is next.
func (s *scanner) option(names ...string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(s.rest, "=")
	if !ok || !slices.Contains(names, name) {
		return "", "", false
	}
	s.rest = value
	return name, s.word(), true
}

// text takes the rest.
func (s *scanner) text() (string, error) {
	rest := s.rest
	s.rest = ""
	times := 1
	if n, quoted, ok := strings.Cut(rest, "*"); ok && strings.HasPrefix(quoted, `"`) {
		if v, err := strconv.Atoi(n); err == nil {
			times, rest = v, quoted
		}
	}
	if !strings.HasPrefix(rest, `"`) || !strings.HasSuffix(rest, `"`) {
		return rest, nil
	}
	text, err := strconv.Unquote(rest)
	return strings.Repeat(text, times), err
}

// number takes a number if one is next, else it is def; every is -1.
func (s *scanner) number(def int) int {
	peek := *s
	word := peek.word()
	n, err := strconv.Atoi(word)
	switch {
	case word == "every":
		n = every
	case err != nil:
		return def
	}
	*s = peek
	return n
}

// every is the number of times of what does not end.
const every = -1

// scene is what a talk begins with.
type scene struct {
	bots      []core.Bot
	adapters  []adapterOptions
	access    core.Access
	zones     map[string]string // of people
	guests    []string          // people as "adapter:name"
	externals []core.External
	agent     string
	bindings  []core.Binding
	rules     map[string][]core.Rule // by bot, or everybody
	sorting   *run.Sorting           // a model chooses who answers what names nobody
	maxRuns   int
	maxHops   int

	prices    map[string]*core.Price // by model
	titles    bool                   // threads are given titles, by the model "title"
	perMinute int
	pairing   bool // strangers are offered codes
	unowned   bool // there is no owner but who has the code of this life
}

// adapterOptions are a platform's traits.
type adapterOptions struct {
	name    string
	once    core.Once
	max     int
	pieces  int  // most of an outcome; 0: no bound, and no files
	heavy   bool // no file is taken
	mark    string
	replies bool
	threads bool
	edits   bool
	signs   bool // typing and reactions
	reads   bool // what was said can be read back
	buttons bool
	bare    bool // no buttons are taken, though it has them
	names   bool // places have titles
	// branches: what is said at the top level begins a thread, whoever says it
	branches bool
	// topics: what we say with a name for it begins a thread, wherever it is forked
	topics bool
	reply  core.ReplyMode
}

// set takes one header line and reports whether it was one.
func (sc *scene) set(l line) (bool, error) {
	s := scan(l.rest)
	var err error
	switch l.verb {
	case "each":
		s.rest = ""
	case "bot":
		err = sc.bot(&s)
	case "adapter":
		err = sc.adapter(&s)
	case "owner":
		sc.access.Owners = append(sc.access.Owners, s.word())
	case "member":
		sc.access.Members = append(sc.access.Members, s.word())
	case "guest":
		sc.guests = append(sc.guests, s.word())
	case "admin":
		sc.access.Admins = append(sc.access.Admins, s.word())
	case "approvers":
		sc.access.Approvers = core.NewApprovers(strings.Fields(s.rest))
		s.rest = ""
	case "zone":
		if sc.zones == nil {
			sc.zones = map[string]string{}
		}
		who := s.word()
		sc.zones[who] = s.word()
	case "agent":
		sc.agent = s.word()
	case "bind":
		b := core.Binding{Place: s.word()}
		names := []string{"agent", "reply", "thinking", "workspace", "context_messages", "mode"}
		for name, v, ok := s.option(names...); ok && err == nil; name, v, ok = s.option(names...) {
			switch name {
			case "agent":
				b.Agent = v
			case "reply":
				b.Reply = core.ReplyMode(v)
			case "thinking":
				b.Thinking = v == "quote"
			case "workspace":
				b.Workspace = workspaces + v
			case "mode":
				b.Mode = core.Mode(v)
			default:
				b.Context = new(int)
				*b.Context, err = strconv.Atoi(v)
			}
		}
		sc.bindings = append(sc.bindings, b)
	case "rule":
		err = sc.rule(&s)
	case "webhook":
		x := core.External{Handle: s.word(), Listens: true}
		for name, v, ok := s.option("description", "listens"); ok && err == nil; name, v, ok = s.option("description", "listens") {
			if name == "description" {
				x.Description = v
			} else {
				x.Listens, err = strconv.ParseBool(v)
			}
		}
		sc.externals = append(sc.externals, x)
	case "classifier":
		sc.sorting = &run.Sorting{}
		if sc.sorting.Threshold, err = strconv.ParseFloat(s.word(), 64); s.rest != "" {
			sc.sorting.Model = "script/" + s.word()
		}
	case "price":
		var p core.Price
		model := s.word()
		if _, err = fmt.Sscan(s.rest, &p.Input, &p.Output); err == nil {
			s.rest = ""
		}
		if sc.prices == nil {
			sc.prices = map[string]*core.Price{}
		}
		sc.prices["script/"+model] = &p
	case "max_runs":
		sc.maxRuns = s.number(0)
	case "pairing":
		sc.pairing = true
	case "unowned":
		sc.unowned = true
	case "per_minute":
		sc.perMinute = s.number(0)
	case "titles":
		sc.titles = true
	case "max_hops":
		sc.maxHops = s.number(0)
	default:
		return false, nil
	}
	if err == nil && s.rest != "" {
		err = fmt.Errorf("%q is too much", s.rest)
	}
	return true, err
}

// newBot has the configuration's defaults.
func newBot(handle string) core.Bot {
	return core.Bot{Handle: handle, Model: "script/" + handle, History: core.Budget{Tokens: 24_000, Messages: 80},
		Steps: 40, RunTime: 15 * time.Minute}
}

func (sc *scene) bot(s *scanner) (err error) {
	b := newBot(s.word())
	names := []string{"name", "workers", "busy", "steps", "run_time", "history", "tools", "instructions", "mode"}
	for name, v, ok := s.option(names...); ok && err == nil; name, v, ok = s.option(names...) {
		switch name {
		case "name":
			b.Name = v
		case "workers":
			b.Workers, err = strconv.Atoi(v)
		case "busy":
			b.Steer = v == "steer"
		case "steps":
			b.Steps, err = strconv.Atoi(v)
		case "run_time":
			b.RunTime, err = time.ParseDuration(v)
		case "history":
			_, err = fmt.Sscanf(v, "%d/%d", &b.History.Tokens, &b.History.Messages)
		case "tools":
			b.Tools = strings.Split(v, ",")
		case "instructions":
			b.Instructions = v
		case "mode":
			b.Delegate, b.ReadOnly = v == "subagent", v == "subagent"
		}
	}
	sc.bots = append(sc.bots, b)
	return err
}

func newAdapter(name string) adapterOptions {
	return adapterOptions{name: name, once: core.OnceEdit, max: 4096, replies: true, edits: true, reply: core.ReplyMention}
}

func (sc *scene) adapter(s *scanner) (err error) {
	a := newAdapter(s.word())
	names := []string{"once", "max", "pieces", "heavy", "mark", "replies", "threads", "edits", "signs", "reads", "buttons", "names", "branches", "topics", "reply"}
	for name, v, ok := s.option(names...); ok && err == nil; name, v, ok = s.option(names...) {
		switch name {
		case "once":
			a.once = core.Once(v)
		case "max":
			a.max, err = strconv.Atoi(v)
		case "pieces":
			a.pieces, err = strconv.Atoi(v)
		case "mark":
			a.mark = v
		case "heavy":
			a.heavy, err = strconv.ParseBool(v)
		case "replies":
			a.replies, err = strconv.ParseBool(v)
		case "threads":
			a.threads, err = strconv.ParseBool(v)
		case "edits":
			a.edits, err = strconv.ParseBool(v)
		case "signs":
			a.signs, err = strconv.ParseBool(v)
		case "reads":
			a.reads, err = strconv.ParseBool(v)
		case "branches":
			a.branches, err = strconv.ParseBool(v)
		case "names":
			a.names, err = strconv.ParseBool(v)
		case "topics":
			a.topics, err = strconv.ParseBool(v)
		case "buttons":
			if a.bare = v == "refused"; a.bare {
				v = "true"
			}
			a.buttons, err = strconv.ParseBool(v)
		case "reply":
			a.reply = core.ReplyMode(v)
		}
	}
	sc.adapters = append(sc.adapters, a)
	return err
}

// complete fills in the defaults.
func (sc *scene) complete() {
	if len(sc.bots) == 0 {
		sc.bots = []core.Bot{newBot("chief")}
	}
	if len(sc.adapters) == 0 {
		sc.adapters = []adapterOptions{newAdapter("chat")}
	}
	if sc.access.Owners == nil && !sc.unowned {
		sc.access.Owners = []string{"alice"}
	}
	if sc.agent == "" {
		sc.agent = sc.bots[0].Handle
	}
	if sc.maxRuns == 0 {
		sc.maxRuns = 64
	}
	if sc.maxHops == 0 {
		sc.maxHops = 20
	}
	for _, list := range [][]string{sc.access.Owners, sc.access.Admins, sc.access.Members, sc.guests} {
		for i, p := range list {
			if !strings.Contains(p, ":") {
				list[i] = sc.adapters[0].name + ":" + p
			}
		}
	}
	for i, b := range sc.bindings {
		if !strings.Contains(b.Place, ":") {
			sc.bindings[i].Place = sc.adapters[0].name + ":" + b.Place
		}
	}
	sc.hide()
}
