package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bellhop/core"
	"bellhop/core/config"
	"bellhop/core/webhook"
)

// externals are the external actors of the configuration, by handle.
func externals(cfg *config.Config) []core.External {
	var out []core.External
	for _, handle := range slices.Sorted(maps.Keys(cfg.Webhooks)) {
		c := cfg.Webhooks[handle]
		out = append(out, core.External{Handle: handle, Description: c.Description, Listens: c.URL != ""})
	}
	return out
}

// webhooks makes the mailboxes of those that listen.
func (a *appliance) webhooks(cfg *config.Config) *webhook.System {
	hooks := map[string]webhook.Hook{}
	for handle, c := range cfg.Webhooks {
		hooks[handle] = webhook.Hook{URL: c.URL, Secret: c.Secret.Reveal()}
	}
	return webhook.New(webhook.Options{Store: a.store, Actors: core.Listeners(a.externals), Post: webhook.NewClient(hooks, nil).Post,
		Deliver: a.bus.Deliver, Split: a.bus.Split, Log: a.log,
		Command: func(p core.Place, name string) string { return a.bus.Features(p.Adapter).Command(name) }})
}

// identity checks the name that a request from this machine gives for itself.
// Whoever reaches the control socket holds the store, so the name is believed.
func (a *appliance) identity(name string) error {
	if slices.ContainsFunc(a.externals, func(x core.External) bool { return x.Handle == name }) {
		return nil
	}
	if len(a.externals) == 0 {
		return fmt.Errorf("there is no external actor %q: declare it with a table [webhooks.%[1]s] in the configuration and start bellhop again", name)
	}
	var all []string
	for _, x := range a.externals {
		all = append(all, x.Handle)
	}
	return fmt.Errorf("there is no external actor %q: the configuration has %s, each in a table [webhooks.NAME]", name, strings.Join(all, ", "))
}

// saying is what a client wants said.
type saying struct {
	As   string `json:"as"`
	To   string `json:"to"` // a place or the ID of a thread
	Key  string `json:"key,omitempty"`
	Re   string `json:"re,omitempty"`
	Text string `json:"text"`
}

const (
	// maxSaying is the longest text, in bytes, that an external actor can say: as
	// much as models read at once, and a few messages of any platform.
	maxSaying = 32 << 10
	// maxKey is the longest dedupe key.
	maxKey = 200
)

// say does what a client wants said. It waits for the appliance to have started.
func (a *appliance) say(ctx context.Context, in saying) answer {
	said, err := a.trySaying(ctx, in)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Text: string(said.Message) + "\n"}
}

func (a *appliance) trySaying(ctx context.Context, in saying) (core.Said, error) {
	if err := a.identity(in.As); err != nil {
		return core.Said{}, err
	}
	out := core.Saying{From: in.As, Key: in.Key, Text: strings.TrimSpace(in.Text)}
	var err error
	switch {
	case out.Text == "":
		return core.Said{}, errors.New("there is nothing to say: the text is blank")
	case len(out.Text) > maxSaying:
		return core.Said{}, fmt.Errorf("the text is too long: %d bytes, and %d are the most", len(out.Text), maxSaying)
	case len(in.Key) > maxKey:
		return core.Said{}, fmt.Errorf("the key is too long: %d bytes, and %d are the most", len(in.Key), maxKey)
	case strings.Contains(in.To, ":"):
		out.Place, err = core.ParsePlace(in.To)
	default: // bellhop threads lists both
		out.Thread, err = parseID(core.KindThread, "thread", in.To)
	}
	if err == nil && in.Re != "" {
		out.Re, err = parseID(core.KindMessage, "message", in.Re)
	}
	if err != nil {
		return core.Said{}, err
	}
	select {
	case <-a.started:
	case <-ctx.Done():
		return core.Said{}, ctx.Err()
	}
	return a.bus.Say(ctx, a.mail, out)
}

// parseID reads the ID of a kind.
func parseID(kind byte, what, text string) (core.ID, error) {
	id, err := core.ParseID(text)
	if err != nil || id.Kind() != kind {
		return "", fmt.Errorf("%q is no ID of a %s: those look like %c3k", text, what, kind)
	}
	return id, nil
}

// sendCommand is the command send.
func sendCommand(path *string) *cobra.Command {
	var in saying
	cmd := &cobra.Command{Use: "send --as NAME --to PLACE|THREAD [TEXT|-]", Short: "Say something in a conversation as an external actor, a script or a job of this machine",
		Long: `Say something in a conversation, in the name of an external actor that the
configuration has as [webhooks.NAME]. Who is mentioned reacts to it. The text is
the argument, or standard input if that is - or missing. The answer is the ID of
the message.`, Args: maxArgs(1)}
	cmd.Flags().StringVar(&in.As, "as", "", "the `name` of the external actor")
	cmd.Flags().StringVar(&in.To, "to", "", "a `place` such as telegram:1111, or the ID of a thread")
	cmd.Flags().StringVar(&in.Key, "key", "", "what has been said with this `key` within a week is not said again")
	cmd.Flags().StringVar(&in.Re, "re", "", "the `ID` of the message that this answers: hand-offs are counted on from there")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if in.As == "" || in.To == "" {
			return &usageError{errors.New("bellhop send needs --as and --to: see bellhop send --help")}
		}
		var err error
		if in.Text, err = words(cmd.InOrStdin(), args); err != nil {
			return err
		}
		return order(cmd, *path, request{Do: "send", Say: &in})
	}
	return cmd
}

// answering is what a client wants answered.
type answering struct {
	As   string `json:"as"`
	Ask  string `json:"ask"`
	Text string `json:"text"`
}

// answer has an external actor answer a bot's question.
func (a *appliance) answer(ctx context.Context, in answering) answer {
	err := a.tryAnswering(ctx, in)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{}
}

func (a *appliance) tryAnswering(ctx context.Context, in answering) error {
	if err := a.identity(in.As); err != nil {
		return err
	}
	text := strings.TrimSpace(in.Text)
	switch {
	case text == "":
		return errors.New("there is no answer: the text is blank")
	case len(text) > maxSaying:
		return fmt.Errorf("the text is too long: %d bytes, and %d are the most", len(text), maxSaying)
	}
	ask, err := parseID(core.KindAsk, "question", in.Ask)
	if err != nil {
		return err
	}
	select {
	case <-a.started:
	case <-ctx.Done():
		return ctx.Err()
	}
	return a.bus.AnswerAs(ctx, a.mail, core.ExternalAnswer{From: in.As, Ask: ask, Text: text})
}

// answerCommand is the command answer.
func answerCommand(path *string) *cobra.Command {
	var in answering
	cmd := &cobra.Command{Use: "answer --as NAME ID [TEXT|-]", Short: "Answer a bot's question as an external actor",
		Long: `Answer a question that a bot has asked in a conversation, in the name of an
external actor that takes part there. The ID is that of the question, such as
a3k. The text is the argument, or standard input if that is - or missing. Whether
a bot may make a call people alone decide.`, Args: cobra.MatchAll(minArgs(1), maxArgs(2))}
	cmd.Flags().StringVar(&in.As, "as", "", "the `name` of the external actor")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if in.As == "" {
			return &usageError{errors.New("bellhop answer needs --as: see bellhop answer --help")}
		}
		in.Ask = args[0]
		var err error
		if in.Text, err = words(cmd.InOrStdin(), args[1:]); err != nil {
			return err
		}
		return order(cmd, *path, request{Do: "answer", Answer: &in})
	}
	return cmd
}

// words are the text of a command line, or of its standard input.
func words(in io.Reader, args []string) (string, error) {
	if len(args) > 0 && args[0] != "-" {
		return args[0], nil
	}
	text, err := io.ReadAll(io.LimitReader(in, maxSaying+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(text) > maxSaying {
		return "", fmt.Errorf("the text is too long: %d bytes are the most", maxSaying)
	}
	return string(text), nil
}

// order has the running appliance do something that no other process can do.
func order(cmd *cobra.Command, path string, req request) error {
	cfg, _, err := load(path)
	if err != nil {
		return err
	}
	conn, err := dial(cmd.Context(), filepath.Join(cfg.Store.Path, socketName), req)
	if errors.Is(err, errNobody) {
		return errors.New("bellhop does not run here: start it with `bellhop run`, or as a service, and try again")
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	var a answer
	if err := json.NewDecoder(conn).Decode(&a); err != nil {
		return fmt.Errorf("bellhop has not answered, so whether it was done is not known: %w", err)
	}
	if a.Error != "" {
		return errors.New(a.Error)
	}
	fmt.Fprint(cmd.OutOrStdout(), a.Text)
	return nil
}
