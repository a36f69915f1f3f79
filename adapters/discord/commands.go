package discord

import (
	"context"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bwmarrin/discordgo"
)

// Discord's limits on commands, and what it takes for a name; a single other
// one would make it refuse them all.
const (
	maxCommands = 100
	maxHelp     = 100 // code points
)

var commandName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_-]{1,32}$`) })

// appCommand is a command as Discord shows it.
type appCommand struct {
	Name     string                             `json:"name"`
	Help     string                             `json:"description"`
	Kind     discordgo.ApplicationCommandType   `json:"type"`
	Options  []appOption                        `json:"options"`
	Contexts []discordgo.InteractionContextType `json:"contexts"`
}

type appOption struct {
	Kind discordgo.ApplicationCommandOptionType `json:"type"`
	Name string                                 `json:"name"`
	Help string                                 `json:"description"`
}

// publish shows the commands in the clients. It is a courtesy: after a mention
// typing them works without it. Discord counts what is created, so it is asked
// first whether anything has changed.
func (a *Adapter) publish(ctx context.Context, me identity) {
	var want []appCommand
	for _, c := range a.commands {
		help := []rune(c.Help)
		if !commandName().MatchString(c.Name) || len(help) == 0 || len(want) == maxCommands {
			a.log.Warn("discord cannot show a command", "command", c.Name)
			continue
		}
		want = append(want, appCommand{
			Name: c.Name,
			Help: string(help[:min(len(help), maxHelp)]),
			Kind: discordgo.ChatApplicationCommand,
			Options: []appOption{{
				Kind: discordgo.ApplicationCommandOptionString, Name: "text", Help: "what follows the command",
			}},
			Contexts: []discordgo.InteractionContextType{discordgo.InteractionContextGuild, discordgo.InteractionContextBotDM},
		})
	}
	if len(want) == 0 {
		return
	}
	byName := func(a, b appCommand) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(want, byName)
	path := "applications/" + me.app + "/commands"
	err := retry(ctx, func() error {
		var have []appCommand
		if err := a.api.call(ctx, http.MethodGet, path, nil, &have); err != nil {
			return err
		}
		slices.SortFunc(have, byName)
		if reflect.DeepEqual(have, want) {
			return nil
		}
		return a.api.call(ctx, http.MethodPut, path, want, nil)
	})
	if err != nil && ctx.Err() == nil {
		a.log.Warn("discord did not take the commands", "err", err)
	}
}
