package coretest

import (
	"context"
	"path"

	"bellhop/core"
	"bellhop/core/setting"
	"bellhop/core/workspace"
	"bellhop/tools"
)

// workspaces is where the folders of a talk would lie. There is no disk in it.
const workspaces = "/nowhere/workspaces/"

// settings are what people can choose from in a talk: the provider is that of
// the scripts.
func (w *world) settings() setting.Options {
	sc := &w.scene
	o := setting.Options{Bots: sc.bots, Externals: sc.externals, Agent: sc.agent, Bindings: sc.bindings, Providers: []string{"script"}, Folders: w.folders(),
		Check: func(string) error { return nil }, Config: func() string { return "default_agent = \"" + sc.agent + "\"" },
		Policy: sc.policy()}
	for _, b := range sc.bots {
		o.Models = append(o.Models, b.Model)
	}
	return o
}

// folders are one for each bot, and those of the bindings.
func (w *world) folders() workspace.Folders {
	f := workspace.Folders{Root: path.Clean(workspaces), Agents: map[string]string{}, Bindings: w.scene.bindings}
	for _, b := range w.scene.bots {
		f.Agents[b.Handle] = workspaces + b.Handle
	}
	return f
}

// where is a tool that says in which folder it works.
func where() core.Tool {
	spec := core.ToolSpec{Name: "where", Description: "for trials", ReadOnly: true}
	return tools.Func(spec, func(_ context.Context, env *core.Env, _ struct{}) (core.ToolResult, error) {
		return core.ToolResult{Text: path.Base(env.Workspace)}, nil
	})
}
