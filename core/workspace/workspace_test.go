package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"bellhop/core"
)

func folders() Folders {
	return Folders{
		Root:   "/store/workspaces",
		Agents: map[string]string{"chief": "/store/workspaces/chief", "scout": "/home/scout"},
		Bindings: []core.Binding{
			{Place: "chat:site", Workspace: "/srv/www"}, {Place: "chat:none"}, {Place: "chat:*", Workspace: "/store/workspaces/all"},
		},
	}
}

// TestOf: what is set for the thread comes before what is set for the place, and
// that before the agent's own.
func TestOf(t *testing.T) {
	at := func(channel, set string) core.Thread {
		return core.Thread{Place: core.Place{Adapter: "chat", Channel: channel}, Workspace: set}
	}
	tests := []struct {
		th         core.Thread
		bot        string
		of, shared string
	}{
		{at("none", ""), "chief", "/store/workspaces/chief", ""},
		{at("none", ""), "scout", "/home/scout", ""},
		{at("none", ""), "nobody", "", ""},
		{at("site", ""), "scout", "/srv/www", "/srv/www"},
		{at("other", ""), "scout", "/store/workspaces/all", "/store/workspaces/all"},
		{at("site", "a/b"), "scout", "/store/workspaces/a/b", "/store/workspaces/a/b"},
		{at("site", "/home/scout"), "chief", "/home/scout", "/home/scout"},
		// The configuration knows these no more, or never has.
		{at("site", "/home/gone"), "chief", "/srv/www", "/srv/www"},
		{at("none", "/etc"), "chief", "/store/workspaces/chief", ""},
		{at("none", "../.."), "chief", "/store/workspaces/chief", ""},
	}
	for _, tt := range tests {
		if of, shared := folders().Of(tt.th, tt.bot), folders().Shared(tt.th); of != tt.of || shared != tt.shared {
			t.Errorf("%+v, @%s: %q, shared %q; want %q, %q", tt.th, tt.bot, of, shared, tt.of, tt.shared)
		}
	}
	if got := (Folders{}).Of(at("none", "a"), "chief"); got != "" {
		t.Errorf("without folders: %q", got)
	}
}

func TestChoose(t *testing.T) {
	for choice, want := range map[string]string{
		"chief": "chief", "@chief": "chief", "scout": "/home/scout", "@scout": "/home/scout",
		"/home/scout": "/home/scout", "/srv/www": "/srv/www", "www": "/srv/www", "/srv/www/": "/srv/www",
		"/store/workspaces/all": "all", "all": "all", "new": "new", "a/b/../c": "a/c", "a/.": "a", "täst": "täst",
		"": "", ".": "", "..": "", "a/../..": "", "../chief": "", "/etc": "", "/store/workspaces/new": "", "/store": "",
		"a\x00b": "", "a\nb": "", `a\b`: "", "a\u202eb": "", "~/x": "~/x",
	} {
		got, ok := folders().Choose(choice)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q is %q, %t; want %q", choice, got, ok, want)
		}
		if ok && folders().Of(core.Thread{Workspace: got}, "") == "" {
			t.Errorf("%q is kept as %q, which is no folder", choice, got)
		}
	}
}

// TestOpen: nothing below the root leads out of it, and what is not there is
// made there alone.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "workspaces")
	for _, made := range []string{"workspaces/real", "outside"} {
		if err := os.MkdirAll(filepath.Join(dir, made), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"out": "../outside", "far": "/", "in": "real", "dangling": "../nowhere"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := Folders{Root: root}
	for name, want := range map[string]struct{ check, open bool }{
		"workspaces/real": {true, true}, "workspaces/in": {true, true}, "workspaces/in/deep": {true, true}, "workspaces/new/deep": {true, true},
		"workspaces/out": {false, false}, "workspaces/out/x": {false, false}, "workspaces/far/tmp": {false, false}, "workspaces/dangling": {false, false},
		"workspaces/file": {false, false}, "outside": {true, true}, "elsewhere": {false, false},
	} {
		path := filepath.Join(dir, name)
		if err := f.Check(path); (err == nil) != want.check {
			t.Errorf("check %s: %v", name, err)
		}
		if err := f.Open(path); (err == nil) != want.open {
			t.Errorf("open %s: %v", name, err)
		}
	}
	info, err := os.Stat(filepath.Join(root, "new/deep"))
	if err != nil || info.Mode() != os.ModeDir|0o700 {
		t.Errorf("what was made is %v, %v", info, err)
	}
	for _, name := range []string{"outside/x", "nowhere", "elsewhere"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}
