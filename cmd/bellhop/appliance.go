package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"bellhop/adapters/console"
	"bellhop/adapters/discord"
	"bellhop/adapters/slack"
	"bellhop/adapters/telegram"
	"bellhop/core"
	"bellhop/core/bus"
	"bellhop/core/config"
	"bellhop/core/llm"
	"bellhop/core/llm/script"
	"bellhop/core/mailbox"
	"bellhop/core/report"
	runner "bellhop/core/run"
	"bellhop/core/setting"
	"bellhop/core/title"
	"bellhop/core/webhook"
	"bellhop/store"
	"bellhop/tools"
	asktool "bellhop/tools/ask"
	"bellhop/tools/channel"
	"bellhop/tools/history"
)

// appliance is everything wired together over one open store.
type appliance struct {
	log     *slog.Logger
	store   *store.Store
	bus     *bus.Bus
	mail    *mailbox.System
	names   *title.Namer
	console *console.Adapter

	externals []core.External
	hooks     *webhook.System
	started   chan struct{} // closed when what was left is taken over
}

const (
	// softStop is how long runs in progress may go on after a stop was asked for.
	// Source: architecture, Shutdown.
	softStop = 20 * time.Second
	// drainStop is how long answers may take to reach their platforms then.
	drainStop = 10 * time.Second
	// calmAfter is when a start is over: adapters have connected, or wait to.
	calmAfter = time.Second
	// consoleName is the adapter that the control socket's chats use.
	consoleName = "console"
)

// build wires an appliance. With platforms, it has the configured adapters;
// it always has a console, for the control socket.
// files is where what people send is kept; nil: nowhere.
func build(ctx context.Context, cfg *config.Config, s *store.Store, files runner.Files, platforms bool, log *slog.Logger) (*appliance, error) {
	a := &appliance{log: log, store: s, externals: externals(cfg), started: make(chan struct{})}
	access := core.Access{Owners: slices.Clone(cfg.Access.Owners), Admins: cfg.Access.Admins, Members: cfg.Access.Members, Guests: cfg.Access.Guests,
		Approvers: core.NewApprovers(cfg.Access.Approvers)}
	bots, err := team(cfg)
	if err != nil {
		return nil, err
	}
	if err := makeFolders(folders(cfg)); err != nil {
		return nil, err
	}
	commands := a.commands(cfg, bots)

	var adapters []core.Adapter
	var aside []string
	addConsole := func(name, user string) {
		c := console.New(console.Options{Name: name, User: user, Log: log, Attached: func(p core.Place) { a.bus.Kick(p) }})
		if a.console == nil {
			a.console = c
		}
		access.Owners = append(access.Owners, name+":"+user)
		adapters = append(adapters, c)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Adapters)) {
		cursors := func(ctx context.Context) ([]core.Cursor, error) { return s.Cursors(ctx, name) }
		switch c := cfg.Adapters[name]; {
		case c.Type == "console":
			addConsole(name, c.User)
		case !platforms:
		case c.Type == "telegram":
			adapters = append(adapters, telegram.New(telegram.Options{Name: name, Token: c.Token.Reveal(), APIURL: c.APIURL, Plain: c.Rich == "off", Commands: commands, Log: log.With("adapter", name)}))
		case c.Type == "slack":
			adapters = append(adapters, slack.New(slack.Options{Name: name, BotToken: c.BotToken.Reveal(), AppToken: c.AppToken.Reveal(), APIURL: c.APIURL,
				SlashCommand: c.Command, Commands: commands, Cursors: cursors, Log: log.With("adapter", name)}))
		case c.Type == "discord":
			adapters = append(adapters, discord.New(discord.Options{Name: name, Token: c.Token.Reveal(), APIURL: c.APIURL, Commands: commands, Cursors: cursors, Log: log.With("adapter", name)}))
		}
	}
	if a.console == nil {
		addConsole(consoleName, "you")
		if len(adapters) > 1 {
			aside = []string{consoleName} // nobody asked for it: it alone keeps no process alive
		}
	}

	told, err := owner(ctx, cfg, s)
	if err != nil {
		return nil, err
	}
	a.bus = bus.New(ctx, bus.Options{Store: s, Adapters: adapters, Aside: aside, Access: access, Agent: cfg.DefaultAgent, Bots: bots,
		Bindings: bindings(cfg), Commands: commands, Sort: cfg.Router.Mode == config.Classifier, PerMinute: cfg.Limits.MessagesPerMinute, Pairing: cfg.Access.Pairing, Owner: told, Externals: core.Listeners(a.externals), MaxHops: cfg.Limits.MaxHops, Log: log})
	reader := func(adapter string) channel.Read { return a.bus.Features(adapter).Read }
	set, err := tools.NewSet(asktool.New(), history.New(s, cfg.Schedule.Zone()), history.NewRecall(s, cfg.Schedule.Zone()), channel.New(reader, s, cfg.Schedule.Zone()))
	if err != nil {
		return nil, err
	}
	find := providers(cfg, log)
	a.hooks = a.webhooks(cfg)
	run := runner.New(runner.Options{Store: s, Files: files, Outbox: a.bus, Bots: bots, Externals: a.externals, Tools: set, Repair: tools.Repair, Canonical: tools.Canonical, Cap: tools.Cap, Provider: find, Due: titled(cfg, func(thread core.ID) { a.names.Due(thread) }), Facts: facts(cfg), Workspace: workspaces(folders(cfg)),
		Wake:   func(items []core.Item) { a.mail.Wake(items) },
		Waits:  func(bot string, thread core.ID) bool { return a.mail.Waits(bot, thread) },
		Joined: func(bot string, items []core.ID) { a.mail.Joined(bot, items) }, Rules: holds(s, policy(cfg), func() core.Access { return access }), Sorting: sorting(cfg), MaxHops: cfg.Limits.MaxHops, Zone: cfg.Schedule.Zone(), Log: log})
	a.names = title.New(title.Options{Store: s, Model: cfg.Purposes.Small, Provider: find, Show: a.bus.Title, Log: log})
	a.mail = mailbox.New(mailbox.Options{Store: s, Runner: run, Bots: bots, MaxRuns: cfg.Limits.MaxRuns, External: a.hooks.Wake, Caught: a.bus.Caught, Log: log})
	return a, nil
}

// commands are all that people can say to the appliance itself, by name.
func (a *appliance) commands(cfg *config.Config, bots []core.Bot) []core.Command {
	commands := append(bus.Commands(func() []bus.AdapterHealth { return a.bus.Health() }), mailbox.Commands()...)
	commands = append(commands, report.Commands(time.Local)...)
	commands = append(commands, bus.PairCommand(bus.NewCode, func(adapter, code string) string {
		if link := a.bus.Features(adapter).Invite; link != nil {
			return link(code)
		}
		return ""
	}))
	commands = append(commands, setting.Commands(settings(cfg, bots))...)
	commands = append(append(commands, bus.LinkCommand(bus.NewCode)), bus.MeCommands(cfg.Schedule.Zone())...)
	slices.SortFunc(commands, func(x, y core.Command) int { return strings.Compare(x.Name, y.Name) })
	return commands
}

// team makes the bots of the configuration, by handle.
func team(cfg *config.Config) ([]core.Bot, error) {
	var bots []core.Bot
	policy := policy(cfg)
	for _, handle := range slices.Sorted(maps.Keys(cfg.Agents)) {
		c := cfg.Agents[handle]
		bots = append(bots, core.Bot{Handle: handle, Name: c.Name, Description: c.Description, Instructions: c.Instructions, Model: c.Model,
			Params: c.ModelParams, Tools: c.Tools, DeniedTools: c.DeniedTools, Workers: c.Workers, Steer: c.Busy == "steer",
			History: core.Budget{Tokens: c.History.Tokens, Messages: c.History.Messages},
			Steps:   c.Limits.Steps, RunTime: c.Limits.RunTime, Window: cfg.Models[c.Model].Context, Vision: cfg.Models[c.Model].Vision,
			Hidden: hidden(policy, handle), Delegate: c.Mode == config.Subagent, ReadOnly: c.ReadOnly})
	}
	if len(bots) == 0 {
		return nil, &usageError{errors.New("no agent is configured")}
	}
	return bots, nil
}

func bindings(cfg *config.Config) []core.Binding {
	var out []core.Binding
	for _, b := range cfg.Bindings {
		out = append(out, core.Binding{Place: b.Place, Agent: b.Agent, Reply: core.ReplyMode(b.Reply), Thinking: b.Thinking == "quote",
			Context: &b.ContextMessages, Workspace: b.Workspace, Rules: rules(b.Rules), Mode: core.Mode(b.Mode)})
	}
	return out
}

// owner is where trouble is told: the configured place, else the first owner's
// direct conversation, which on Telegram has the person's own id, else that in
// which somebody has become the owner.
func owner(ctx context.Context, cfg *config.Config, s *store.Store) (core.Place, error) {
	if p, err := core.ParsePlace(cfg.OwnerPlace); err == nil {
		return p, nil
	}
	for _, id := range cfg.Access.Owners {
		p, err := core.ParsePlace(id)
		if err == nil && p.Channel != "*" && cfg.Adapters[p.Adapter].Type == "telegram" {
			return p, nil
		}
	}
	g, _, err := claimed(ctx, s)
	return g.Place, err
}

// claimed is the owner who has become that with a code.
func claimed(ctx context.Context, s *store.Store) (core.Grant, bool, error) {
	grants, err := s.Grants(ctx)
	if err != nil {
		return core.Grant{}, false, fmt.Errorf("read who was let in: %w", err)
	}
	for _, g := range grants {
		if g.Role == core.Owner {
			return g, true, nil
		}
	}
	return core.Grant{}, false, nil
}

// greet tells whoever has started the process, and nobody else, how to become
// the first owner, if there is none.
func (a *appliance) greet(ctx context.Context, cfg *config.Config, out io.Writer) error {
	_, owned, err := claimed(ctx, a.store)
	chats := slices.ContainsFunc(slices.Collect(maps.Values(cfg.Adapters)), func(c config.Adapter) bool { return c.Type != "console" })
	if err != nil || owned || len(cfg.Access.Owners) > 0 || !chats {
		return err
	}
	_, err = fmt.Fprintf(out, "Nobody owns this bot yet. Send it this code in a direct message to be its owner: %s\nThe code works once, until bellhop stops.\n", a.bus.Claim())
	return err
}

// providers makes each configured provider once and finds them by model.
func providers(cfg *config.Config, log *slog.Logger) func(string) (core.Provider, string, error) {
	made := map[string]core.Provider{}
	for name, c := range cfg.Providers {
		if c.Type == "script" {
			made[name] = script.Demo()
			continue
		}
		headers := map[string]string{}
		for k, v := range c.Headers {
			headers[k] = v.Reveal()
		}
		made[name] = llm.NewOpenAI(llm.OpenAIOptions{Name: name, BaseURL: c.BaseURL, APIKey: c.APIKey.Reveal(), Headers: headers,
			Params: c.ModelParams, Log: log.With("provider", name)})
	}
	return func(model string) (core.Provider, string, error) {
		name, id, _ := strings.Cut(model, "/")
		if p := made[name]; p != nil {
			return llm.Priced(p, model, cfg.Models[model].Price), id, nil
		}
		return nil, "", &core.UserError{Text: fmt.Sprintf("The model provider %q is not configured; my owner must add it.", name)}
	}
}

// run takes over what an earlier process has left and works until ctx ends or
// every adapter has failed for good; then it stops in order: intake, picking,
// runs (softly), runs (hard), outbox.
func (a *appliance) run(ctx context.Context) error {
	backlog, err := a.store.Recover(ctx, a.bus.Up)
	if err != nil {
		return fmt.Errorf("read the open work: %w", err)
	}
	if n := len(backlog.Items) + len(backlog.Rows); n > 0 {
		a.log.Info("taking up what was left", "messages", len(backlog.Items), "undelivered", len(backlog.Rows))
	}
	a.bus.Load(backlog)
	a.mail.Load(backlog)
	close(a.started)
	calm := time.AfterFunc(calmAfter, func() {
		if err := shed(); err != nil {
			a.log.Debug("what only the start needed stays in memory", "err", err)
		}
	})
	defer calm.Stop()

	intake, stopIntake := context.WithCancel(ctx)
	pick, stopPicking := context.WithCancel(context.WithoutCancel(ctx))
	work, stopWork := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stopIntake()
	defer stopPicking()
	defer stopWork(nil)

	var mailErr error
	var runs sync.WaitGroup
	worked := make(chan struct{})
	runs.Go(func() { a.names.Run(pick) })
	runs.Go(func() {
		mailErr = a.mail.Run(pick, work)
		close(worked)
	})
	runs.Go(func() { a.hooks.Run(pick, work) })
	busErr := a.bus.Run(intake, a.mail)
	stopPicking()
	soft := time.NewTimer(softStop)
	defer soft.Stop()
	select {
	case <-worked:
	case <-soft.C:
		stopWork(core.ErrStopping)
	}
	runs.Wait()
	drain, stopDraining := context.WithTimeout(context.WithoutCancel(ctx), drainStop)
	defer stopDraining()
	a.bus.Drain(drain)
	a.bus.Close()
	return errors.Join(busErr, mailErr)
}
