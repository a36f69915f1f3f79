package main

import (
	"bellhop/core/config"
	runner "bellhop/core/run"
)

// sorting is how it is chosen who answers what names nobody; nil: it is not.
func sorting(cfg *config.Config) *runner.Sorting {
	if cfg.Router.Mode != config.Classifier {
		return nil
	}
	return &runner.Sorting{Model: cfg.Purposes.Small, Threshold: cfg.Router.Threshold}
}
