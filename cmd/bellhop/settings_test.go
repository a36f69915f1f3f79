package main

import (
	"os"
	"path/filepath"
	"testing"

	"bellhop/core"
	"bellhop/core/config"
)

// TestFolders: those in the store are made at the start, for nobody else to
// look into, and a run finds its own.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	cfg := &config.Config{Store: config.Store{Path: filepath.Join(dir, "data")}, Agents: map[string]config.Agent{
		"chief": {}, "scout": {Workspace: filepath.Join(dir, "data/workspaces/lead/scout")},
	}, Bindings: []config.Binding{{Place: "chat:site", Workspace: filepath.Join(dir, "site")}, {Place: "chat:*"}}}
	if err := makeFolders(folders(cfg)); err == nil {
		t.Error("a folder outside of the store was made")
	}
	if err := os.Mkdir(filepath.Join(dir, "site"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := makeFolders(folders(cfg)); err != nil {
		t.Fatal(err)
	}
	find := workspaces(folders(cfg))
	for _, tt := range []struct{ bot, channel, want string }{
		{"chief", "dm", "data/workspaces/chief"}, {"scout", "dm", "data/workspaces/lead/scout"}, {"scout", "site", "site"},
	} {
		got, err := find(core.Thread{Place: core.Place{Adapter: "chat", Channel: tt.channel}}, tt.bot)
		if err != nil || got != filepath.Join(dir, tt.want) {
			t.Errorf("@%s works in %q, %v; want %s", tt.bot, got, err, tt.want)
		}
		if info, err := os.Stat(got); err != nil || tt.channel == "dm" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s is %v, %v", got, info, err)
		}
	}
	if f := folders(config.Demo()); f.Root != "" || len(f.Agents) != 0 {
		t.Errorf("the demo has folders: %+v", f)
	}
}
