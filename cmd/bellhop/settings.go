package main

import (
	"maps"
	"slices"

	"bellhop/core"
	"bellhop/core/config"
	"bellhop/core/setting"
)

// settings are what people can look at and choose from in chat.
func settings(cfg *config.Config, bots []core.Bot) setting.Options {
	o := setting.Options{Bots: bots, Agent: cfg.DefaultAgent, Bindings: bindings(cfg), Providers: slices.Collect(maps.Keys(cfg.Providers)),
		Models: slices.Collect(maps.Keys(cfg.Models)), Config: cfg.Redacted}
	for _, b := range bots {
		o.Models = append(o.Models, b.Model)
	}
	return o
}

// facts are what the configuration says about a model.
func facts(cfg *config.Config) func(string) (int, bool) {
	return func(model string) (window int, vision bool) {
		m := cfg.Models[model]
		return m.Context, m.Vision
	}
}
