package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"bellhop/core"
	"bellhop/core/config"
	"bellhop/core/setting"
	"bellhop/core/workspace"
)

// settings are what people can look at and choose from in chat.
func settings(cfg *config.Config, bots []core.Bot) setting.Options {
	o := setting.Options{Bots: bots, Externals: externals(cfg), Agent: cfg.DefaultAgent, Bindings: bindings(cfg), Providers: slices.Collect(maps.Keys(cfg.Providers)),
		Models: slices.Collect(maps.Keys(cfg.Models)), Config: cfg.Redacted, Policy: policy(cfg), Folders: folders(cfg), Check: folders(cfg).Check}
	for _, b := range bots {
		o.Models = append(o.Models, b.Model)
	}
	return o
}

// folders are those in which agents work. A store that is on no disk has none.
func folders(cfg *config.Config) workspace.Folders {
	f := workspace.Folders{Agents: map[string]string{}, Bindings: bindings(cfg)}
	if cfg.Store.Path != "" {
		f.Root = filepath.Join(cfg.Store.Path, config.Workspaces)
	}
	for handle, c := range cfg.Agents {
		switch {
		case c.Workspace != "":
			f.Agents[handle] = c.Workspace
		case f.Root != "":
			f.Agents[handle] = filepath.Join(f.Root, handle)
		}
	}
	return f
}

// makeFolders makes those that are in the store, and sees to it that the others
// are there.
func makeFolders(f workspace.Folders) error {
	if f.Root != "" {
		if err := os.MkdirAll(f.Root, 0o700); err != nil {
			return fmt.Errorf("folder of workspaces: %w", err)
		}
	}
	all := slices.Collect(maps.Values(f.Agents))
	for _, b := range f.Bindings {
		if b.Workspace != "" {
			all = append(all, b.Workspace)
		}
	}
	slices.Sort(all)
	for _, path := range slices.Compact(all) {
		if err := f.Open(path); err != nil {
			return fmt.Errorf("the workspace %s cannot be used: %w", path, err)
		}
	}
	return nil
}

// workspaces finds and opens the folder of a run.
func workspaces(f workspace.Folders) func(core.Thread, string) (string, error) {
	return func(th core.Thread, bot string) (string, error) {
		path := f.Of(th, bot)
		if path == "" {
			return "", nil
		}
		if err := f.Open(path); err != nil {
			return "", fmt.Errorf("the workspace %s cannot be used: %w", path, err)
		}
		return path, nil
	}
}

// titled is who is told of threads that are to be given a title; nil if no
// model is there that could, but scripts alone.
func titled(cfg *config.Config, due func(core.ID)) func(core.ID) {
	for _, p := range cfg.Providers {
		if p.Type != "script" {
			return due
		}
	}
	return nil
}

// facts are what the configuration says about a model.
func facts(cfg *config.Config) func(string) (int, bool) {
	return func(model string) (window int, vision bool) {
		m := cfg.Models[model]
		return m.Context, m.Vision
	}
}
