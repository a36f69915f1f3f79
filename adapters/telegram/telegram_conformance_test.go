package telegram_test

import (
	"net/http"
	"testing"

	"bellhop/adapters/adaptertest"
	"bellhop/adapters/telegram"
	"bellhop/core"
)

func TestConformance(t *testing.T) {
	adaptertest.Run(t, adaptertest.TelegramHarness(func(token string, c *http.Client) core.Adapter {
		return telegram.New(telegram.Options{Name: "tg", Token: token, HTTP: c})
	}))
}
