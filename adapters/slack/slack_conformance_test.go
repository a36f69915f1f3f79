package slack_test

import (
	"context"
	"testing"

	"bellhop/adapters/adaptertest"
	"bellhop/adapters/slack"
	"bellhop/core"
)

func TestConformance(t *testing.T) {
	commands := []core.Command{{Name: "help", Help: "what I can do", Run: func(context.Context, core.Invocation) (core.CommandReply, error) {
		return core.CommandReply{Text: "help"}, nil
	}}}
	adaptertest.Run(t, adaptertest.SlackHarness(func(a adaptertest.SlackAccess) core.Adapter {
		return slack.New(slack.Options{Name: "slack", BotToken: a.BotToken, AppToken: a.AppToken, APIURL: a.URL,
			HTTP: a.HTTP, Dial: a.Dial, Cursors: a.Cursors, Commands: commands})
	}))
}
