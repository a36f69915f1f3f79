package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bellhop/core"
	"bellhop/core/config"
	"bellhop/core/report"
	"bellhop/store"
)

const (
	// mostActivities is how many lines of the activity log are listed at once.
	mostActivities = 1000
	// followEvery is how often activity --follow asks for what is new.
	followEvery = time.Second
	// newestRuns is how many runs are listed.
	newestRuns = 50
)

// wanted is what of the activity log a request asks for.
type wanted struct {
	Thread core.ID   `json:"thread,omitempty"`
	Since  time.Time `json:"since,omitzero"`
	Level  string    `json:"level,omitempty"`
	After  core.ID   `json:"after,omitempty"`
}

// activityCommand is the command activity.
func activityCommand(path *string) *cobra.Command {
	var thread, level string
	var since time.Duration
	var follow bool
	cmd := &cobra.Command{Use: "activity", Short: "List what was done and decided, and why", Args: noArgs}
	cmd.Flags().StringVar(&thread, "thread", "", "only of the conversation with this `id`")
	cmd.Flags().StringVar(&level, "level", core.LevelInfo, "only this `level` and those above: info, warn, error")
	cmd.Flags().DurationVar(&since, "since", 24*time.Hour, "how far to look back")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on with what comes, until interrupted")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		w := wanted{Level: level, Since: time.Now().Add(-since)}
		if !slices.Contains([]string{core.LevelInfo, core.LevelWarn, core.LevelError}, level) {
			return &usageError{fmt.Errorf("--level is info, warn or error, not %q", level)}
		}
		if thread != "" {
			id, err := core.ParseID(thread)
			if err != nil || id.Kind() != core.KindThread {
				return &usageError{fmt.Errorf("--thread is the id of a conversation, such as t12, not %q", thread)}
			}
			w.Thread = id
		}
		return listActivity(cmd, *path, w, follow)
	}
	return cmd
}

// listActivity prints what is wanted, and with follow what comes until the
// command is interrupted.
func listActivity(cmd *cobra.Command, path string, w wanted, follow bool) error {
	cfg, _, err := load(path)
	if err != nil {
		return err
	}
	a, err := query(cmd.Context(), cfg, request{Do: "activity", Wanted: &w})
	if err != nil {
		return err
	}
	fmt.Fprint(cmd.OutOrStdout(), a.Text)
	if follow {
		w.After = a.Last
		return followActivity(cmd, cfg, w)
	}
	return nil
}

// followActivity prints what comes. It asks a running appliance alone, and waits
// for one while there is none: whoever opened the store to look would keep one
// from starting.
func followActivity(cmd *cobra.Command, cfg *config.Config, w wanted) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	told := false
	for {
		a, err := queryRunning(cmd.Context(), cfg, request{Do: "activity", Wanted: &w})
		switch {
		case cmd.Context().Err() != nil:
			return nil
		case errors.Is(err, errNobody):
			if !told {
				fmt.Fprintln(cmd.ErrOrStderr(), "No appliance is running: waiting for one.")
			}
			told = true
		case err != nil:
			return err
		default:
			told = false
			fmt.Fprint(cmd.OutOrStdout(), a.Text)
			w.After = a.Last
		}
		select {
		case <-tick.C:
		case <-cmd.Context().Done():
			return nil
		}
	}
}

// respondActivity lists the log. Of a first answer it lists the newest, of one
// that follows the oldest that are new.
func respondActivity(ctx context.Context, s *store.Store, w wanted) answer {
	all, upto, err := s.Activities(ctx, store.Wanted{Thread: w.Thread, Since: w.Since, Level: w.Level, After: w.After, Limit: mostActivities})
	if err != nil {
		return answer{Error: err.Error()}
	}
	var b strings.Builder
	for _, a := range all {
		where := a.Place.String()
		if a.Thread != "" {
			where = string(a.Thread) + " " + where
		}
		fmt.Fprintf(&b, "%s  %-5s %-20s %s", clock(a.Time), a.Level(), a.Event, visible(report.Summary(a)))
		if a.Place.Channel != "" { // else it is of an adapter, which the words name
			fmt.Fprintf(&b, "  [%s]", visible(where))
		}
		b.WriteByte('\n')
	}
	return answer{Text: b.String(), Last: cmp.Or(upto, core.NewID(core.KindActivity, 1))} // of an empty log, what comes is new
}

// respondRuns lists the newest runs and all that are open.
func respondRuns(ctx context.Context, s *store.Store) answer {
	runs, err := s.Runs(ctx, newestRuns)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return answer{Error: err.Error()}
	}
	return answer{Text: listRuns(runs)}
}

// listRuns is the table of the command runs.
func listRuns(runs []core.Run) string {
	if len(runs) == 0 {
		return "Nothing has run yet.\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tAGENT\tTHREAD\tSTEPS\tIN\tOUT\tUSD\tBEGUN\tTOOK\tERROR")
	for _, r := range runs {
		end := r.Ended
		if end.IsZero() {
			end = time.Now()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\n", r.ID, r.State, r.Bot, r.Thread, r.Steps, r.Usage.Input, r.Usage.Output,
			costOf(r.Usage), clock(r.Created), end.Sub(r.Created).Round(time.Millisecond), visible(oneLine(r.Error, 60)))
	}
	_ = w.Flush() // into a builder, which takes everything
	return b.String()
}

// costOf is what was paid in USD, with a plus where that is not all, for a price
// was not known; a dash: none was.
func costOf(u core.Usage) string {
	usd := fmt.Sprintf("%.4f", u.USD())
	switch {
	case u.Priced == 0:
		return "-"
	case u.Priced < u.Tokens():
		return usd + "+"
	}
	return usd
}
