package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/core/config"
	"bellhop/core/perm"
)

func TestPolicy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	text := `
default_agent = "chief"
[adapters.console]
[providers.script]
[agents.chief]
model = "script/demo"
[[agents.chief.rules]]
tool = "exec"
pattern = "git status*"
action = "allow"
role = "admin"
[agents.helper]
model = "script/demo"
[[agents.helper.rules]]
tool = "read_channel"
action = "deny"
[[bindings]]
place = "console:ops"
mode = "smart"
[[bindings.rules]]
tool = "read_history"
action = "deny"
[[rules]]
tool = "exec"
action = "deny"
role = "member"
[[rules]]
tool = "web_*"
action = "deny"
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(path, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	p := policy(cfg)
	ops := core.Place{Adapter: "console", Channel: "ops"}
	call := perm.Call{Tool: "exec", Args: `{"command":"git status"}`, Role: core.Admin}
	for _, c := range []struct {
		agent string
		tool  string
		role  core.Role
		place core.Place
		want  core.Action
		by    perm.Level
	}{
		{"chief", "exec", core.Admin, core.Place{}, core.ActionAllow, perm.ByAgent},
		{"chief", "exec", core.Member, core.Place{}, core.ActionDeny, perm.ByGlobal},
		{"chief", "exec", core.Admin, ops, core.ActionAllow, perm.ByMode},
		{"helper", "exec", core.Admin, core.Place{}, core.ActionAsk, perm.ByDefault},
		{"helper", "read_channel", core.Owner, core.Place{}, core.ActionDeny, perm.ByAgent},
		{"helper", "read_history", core.Owner, ops, core.ActionDeny, perm.ByBinding},
	} {
		call.Tool, call.Role = c.tool, c.role
		if d := perm.Decide(perm.Of(p, c.agent, c.place, "", nil), call); d.Action != c.want || d.Level != c.by {
			t.Errorf("%+v: %+v", c, d)
		}
	}
	bots, err := team(cfg)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, b := range bots {
		for _, tool := range []string{"exec", "read_channel", "read_history", "web_fetch"} {
			if b.May(tool) {
				got[b.Handle] = append(got[b.Handle], tool)
			}
		}
	}
	want := map[string][]string{"chief": {"exec", "read_channel", "read_history"}, "helper": {"exec", "read_history"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what models are shown: -want +got:\n%s", diff)
	}
}
