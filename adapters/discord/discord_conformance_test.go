package discord_test

import (
	"context"
	"testing"

	"bellhop/adapters/adaptertest"
	"bellhop/adapters/discord"
	"bellhop/core"
)

func TestConformance(t *testing.T) {
	commands := []core.Command{{Name: "help", Help: "what I can do", Run: func(context.Context, core.Invocation) (core.CommandReply, error) {
		return core.CommandReply{Text: "help"}, nil
	}}}
	adaptertest.Run(t, adaptertest.DiscordHarness(func(a adaptertest.DiscordAccess) core.Adapter {
		return discord.New(discord.Options{Name: "discord", Token: a.Token, APIURL: a.URL, HTTP: a.HTTP, Cursors: a.Cursors, Commands: commands})
	}))
}
