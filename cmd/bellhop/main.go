// Command bellhop is the appliance: one process that runs a team of agents in
// the chats where people already are. This package wires the others together,
// and is the only importer of everything.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"bellhop/core/config"
	"bellhop/core/report"
)

// version is stamped by the build.
var version = "dev"

// Exit codes: 0 done, 1 it failed, 2 the configuration or the command line is
// wrong.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	frugal()
	signal.Ignore(syscall.SIGXFSZ) // a file-size limit is a full disk, which is survived, not a reason to die
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	cmd := root() //nolint:contextcheck // cobra hands ctx to the commands
	cmd.SetArgs(args)
	cmd.SetIn(in)
	cmd.SetOut(out)
	cmd.SetErr(errs)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var usage *usageError
	if errors.As(err, &usage) {
		fmt.Fprintln(errs, usage.err)
		return exitUsage
	}
	fmt.Fprintln(errs, "bellhop:", err)
	return exitFailed
}

// usageError is a fault in the configuration or on the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func root() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "bellhop",
		Short: "A team of agents in the chats where you already are",
		Long: `bellhop runs a team of agents that people reach in Slack, Telegram and
Discord, and in the terminal.

The configuration is the file named by --config, else by $BELLHOP_CONFIG, else
the first of ./config.toml, $XDG_CONFIG_HOME/bellhop/config.toml (normally
~/.config/bellhop/config.toml) and /etc/bellhop/config.toml.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	cmd.PersistentFlags().StringVar(&path, "config", "", "the configuration `file`")
	cmd.CompletionOptions.HiddenDefaultCmd = true
	cmd.AddCommand(
		&cobra.Command{Use: "run", Short: "Run the appliance; without a configuration, talk to a demo bot here", Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return runAppliance(cmd, path) }},
		&cobra.Command{Use: "chat [SESSION]", Short: "Talk to your agents in this terminal; from a pipe, one message a line", Args: maxArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return chat(cmd, path, args) }},
		&cobra.Command{Use: "check", Short: "Read the configuration and say what is in force", Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return check(cmd, path) }},
		&cobra.Command{Use: "trace ID", Short: "Print the life of a message, item, run or post; of a thread, its newest messages", Args: exactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return ask(cmd, path, request{Do: "trace", Arg: args[0]})
			}},
		&cobra.Command{Use: "threads", Short: "List the conversations", Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return ask(cmd, path, request{Do: "threads"}) }},
		&cobra.Command{Use: "tasks", Short: "List what is to do, is done, and was done in the last day", Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return ask(cmd, path, request{Do: "tasks"}) }},
		sendCommand(&path),
		answerCommand(&path),
		&cobra.Command{Use: "runs", Short: "List the newest runs of the agents, and those in progress", Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return ask(cmd, path, request{Do: "runs"}) }},
		activityCommand(&path),
		&cobra.Command{Use: "manifest ADAPTER", Short: "Print the manifest of a Slack app for this configuration", Args: exactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return manifest(cmd, path, args[0]) }},
		&cobra.Command{Use: "invite ADAPTER", Short: "Print the link that installs a Discord bot in a server", Args: exactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return invite(cmd, path, args[0]) }},
		&cobra.Command{Use: "version", Short: "Print the version", Args: noArgs,
			Run: func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), "bellhop", version) }},
	)
	return cmd
}

func noArgs(cmd *cobra.Command, args []string) error { return exactArgs(0)(cmd, args) }

func exactArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return &usageError{fmt.Errorf("bellhop %s takes %d arguments, not %d: see bellhop %s --help", cmd.Name(), n, len(args), cmd.Name())}
		}
		return nil
	}
}

func maxArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return exactArgs(n)(cmd, args)
		}
		return nil
	}
}

// minArgs wants at least n arguments.
func minArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return exactArgs(n)(cmd, args)
		}
		return nil
	}
}

// load finds and reads the configuration.
func load(path string) (*config.Config, string, error) {
	found, err := config.Find(path)
	if err != nil {
		return nil, "", &usageError{err}
	}
	cfg, err := config.Load(found, os.LookupEnv)
	if err != nil {
		return nil, found, &usageError{err}
	}
	return cfg, found, nil
}

// logger makes the process's log, on w.
func logger(c config.Log, w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: c.Level}
	if c.Format == "json" || c.Format == "auto" && !isTerminal(w) {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// check is the command of that name.
func check(cmd *cobra.Command, path string) error {
	cfg, found, err := load(path)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s is in order.\n\n%s", found, cfg.Redacted())
	for _, w := range warnings(cmd.Context(), cfg) {
		fmt.Fprintln(out, "\nWarning:", w)
	}
	return nil
}

// oneLine is a text on one line, for lists.
func oneLine(s string, most int) string { return report.OneLine(s, most) }
