package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"bellhop/adapters/console"
	"bellhop/adapters/telegram"
	"bellhop/core"
	"bellhop/core/config"
	"bellhop/media"
	"bellhop/store"
	"bellhop/store/boltkv"
	"bellhop/store/memkv"
)

// runAppliance is the command run.
func runAppliance(cmd *cobra.Command, path string) (err error) {
	cfg, _, err := load(path)
	if errors.Is(err, config.ErrNotFound) {
		return demo(cmd)
	}
	if err != nil {
		return err
	}
	log := logger(cfg.Log, cmd.ErrOrStderr())
	ctx, end := context.WithCancelCause(cmd.Context())
	defer end(nil)
	var a *appliance
	s, err := openStore(ctx, cfg, "bellhop run", store.Options{Log: log,
		Damaged: func(key string, err error) {
			if a != nil { // else found while opening: the log has it
				a.bus.Trouble(ctx, "damaged store", fmt.Sprintf("A row of my store is damaged (%s: %v). I put it aside and go on without it.", key, err))
			}
		},
		Broken: func(err error) { end(fmt.Errorf("the store must be opened anew: %w", err)) }, // a service manager starts us again
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	files, err := media.Open(filepath.Join(cfg.Store.Path, "media"), media.Limits{MaxBytes: int64(cfg.Media.MaxBytes)})
	if err != nil {
		return fmt.Errorf("folder of files: %w", err)
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	var tidier sync.WaitGroup
	defer tidier.Wait()
	tidier.Go(func() {
		tidy(ctx, "files", cfg.Retention.Media, log, func(ctx context.Context, before time.Time) (bool, error) {
			_, err := files.Prune(ctx, before)
			return false, err
		})
	})
	tidier.Go(func() { tidy(ctx, "the activity log", cfg.Retention.Activity, log, s.PruneActivity) })
	tidier.Go(func() { tidy(ctx, "transcripts", cfg.Retention.Transcripts, log, goingOn(s.PruneTranscripts)) })
	tidier.Go(func() { tidy(ctx, "tasks", cfg.Retention.Tasks, log, goingOn(s.PruneTasks)) })
	defer end(nil) // before the wait for the tidier
	if a, err = build(ctx, cfg, s, files, true, log); err != nil {
		return err
	}
	control, err := listen(filepath.Join(cfg.Store.Path, socketName), a)
	if err != nil {
		return err
	}
	defer control.close()
	if err := a.greet(ctx, cfg, cmd.OutOrStdout()); err != nil {
		return err
	}
	log.Info("bellhop runs", "version", version, "store", cfg.Store.Path)
	if err := a.run(ctx); err != nil || cmd.Context().Err() != nil {
		return err
	}
	return context.Cause(ctx)
}

// openStore opens the configured store for this process alone.
func openStore(ctx context.Context, cfg *config.Config, who string, o store.Options) (*store.Store, error) {
	engine, err := boltkv.Open(cfg.Store.Path, boltkv.Options{Who: who})
	if err != nil {
		return nil, err
	}
	numbered(&o, func(adapter string) bool { return cfg.Adapters[adapter].Type == "telegram" })
	s, err := store.Open(ctx, engine, o)
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return s, nil
}

// numbered tells the store how Telegram numbers messages, for the search after
// lost ones.
func numbered(o *store.Options, isTelegram func(adapter string) bool) {
	o.Series = func(p core.Place) string {
		if isTelegram(p.Adapter) {
			return telegram.Series(p)
		}
		return p.Channel
	}
	o.MessageKeys = func(p core.Place, id string) string {
		if isTelegram(p.Adapter) {
			return telegram.MessageKeys(p, id)
		}
		return ""
	}
}

// goingOn is a prune for tidy that goes on where it has stopped.
func goingOn(prune func(ctx context.Context, before time.Time, from core.ID) (next core.ID, err error)) func(context.Context, time.Time) (bool, error) {
	var from core.ID
	return func(ctx context.Context, before time.Time) (more bool, err error) {
		from, err = prune(ctx, before, from)
		return from != "", err
	}
}

// tidy has what is older than so many days removed, at once and then daily.
// prune removes some of it, and reports whether there is more.
func tidy(ctx context.Context, what string, days config.Days, log *slog.Logger, prune func(ctx context.Context, before time.Time) (more bool, err error)) {
	if days == 0 {
		return
	}
	day := time.NewTicker(24 * time.Hour)
	defer day.Stop()
	for {
		before := time.Now().AddDate(0, 0, -int(days))
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = prune(ctx, before); err != nil && ctx.Err() == nil {
				log.Warn("what is old stays", "what", what, "err", err)
				break
			}
		}
		select {
		case <-day.C:
		case <-ctx.Done():
			return
		}
	}
}

// chat is the command of that name: through the control socket of a running
// appliance, else with one of its own that has the console alone.
func chat(cmd *cobra.Command, path string, args []string) (err error) {
	cfg, _, err := load(path)
	if err != nil {
		if errors.Is(err, config.ErrNotFound) {
			return demo(cmd)
		}
		return err
	}
	o := console.ClientOptions{HistoryFile: filepath.Join(cfg.Store.Path, "chat_history")}
	if len(args) > 0 {
		o.Session = args[0]
	}
	conn, err := dial(cmd.Context(), filepath.Join(cfg.Store.Path, socketName), request{Do: "chat"})
	if err == nil {
		return talk(cmd, conn, o)
	}
	if !errors.Is(err, errNobody) {
		return err
	}
	log := logger(config.Log{Level: slog.LevelError, Format: "text"}, cmd.ErrOrStderr())
	s, err := openStore(cmd.Context(), cfg, "bellhop chat", store.Options{Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return local(cmd, cfg, s, o, log)
}

// demo lets a person without a configuration talk to the scripted bot.
func demo(cmd *cobra.Command) (err error) {
	fmt.Fprint(cmd.ErrOrStderr(), `There is no configuration yet. To get a bot of your own:
  1. copy config.toml.example to config.toml
  2. put your keys into .env beside it (chmod 600): TELEGRAM_TOKEN, OPENAI_API_KEY
  3. run this again; README.md has the steps in full
Until then, here is a demo bot. It has no model behind it and forgets everything. Ctrl-D leaves.

`)
	cfg := config.Demo()
	log := logger(config.Log{Level: slog.LevelError, Format: "text"}, cmd.ErrOrStderr())
	s, err := store.Open(cmd.Context(), memkv.New(memkv.Options{}), store.Options{Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return local(cmd, cfg, s, console.ClientOptions{}, log)
}

// local runs an appliance that has the console alone, for one client.
func local(cmd *cobra.Command, cfg *config.Config, s *store.Store, o console.ClientOptions, log *slog.Logger) error {
	a, err := build(cmd.Context(), cfg, s, nil, false, log)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	here, there := net.Pipe()
	var wg sync.WaitGroup
	var runErr, serveErr error
	wg.Go(func() { runErr = a.run(ctx) })
	wg.Go(func() { serveErr = a.console.Serve(context.WithoutCancel(ctx), there) })
	err = talk(cmd, here, o)
	stop()
	wg.Wait()
	return errors.Join(err, runErr, serveErr)
}

// talk is the terminal's side of a chat.
func talk(cmd *cobra.Command, conn net.Conn, o console.ClientOptions) error {
	out := cmd.OutOrStdout()
	if err := console.Chat(cmd.Context(), conn, cmd.InOrStdin(), out, o); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// warnings are what check adds to a configuration that is in order.
func warnings(ctx context.Context, cfg *config.Config) []string {
	var out []string
	if len(cfg.Adapters) == 0 {
		out = append(out, "no adapter is configured: only `bellhop chat` reaches the agents")
	}
	if len(cfg.Access.Owners)+len(cfg.Access.Admins)+len(cfg.Access.Members) == 0 {
		out = append(out, "[access] lets nobody in but the console; while nobody is an owner, `bellhop run` prints a code for the first")
	}
	if _, err := os.Stat(cfg.Store.Path); err != nil {
		return out // a new store has no places to orphan
	}
	threads, err := storedThreads(ctx, cfg)
	if err != nil {
		return append(out, fmt.Sprintf("conversations could not be checked: %v", err))
	}
	orphans := map[string]int{}
	for _, th := range threads {
		if _, ok := cfg.Adapters[th.Place.Adapter]; !ok && th.Place.Adapter != consoleName && th.Archived.IsZero() {
			orphans[th.Place.Adapter]++
		}
	}
	for name, n := range orphans {
		out = append(out, fmt.Sprintf("%d conversations belong to adapter %q, which is not configured: an adapter's name is its identity, so renaming it orphans them", n, name))
	}
	return out
}
