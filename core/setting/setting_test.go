package setting

import (
	"errors"
	"strings"
	"testing"

	"bellhop/core"
	"bellhop/core/workspace"
)

// TestFence: nothing in the configuration ends the block that it is shown in.
func TestFence(t *testing.T) {
	o := Options{Config: func() string { return "instructions = \"\"\"\n```\n````\n\"\"\"\n" }}
	reply, err := o.config(t.Context(), core.Invocation{Direct: true, Role: core.Admin})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(reply.Text, "`````"); n != 2 || !strings.HasSuffix(reply.Text, "\n`````") {
		t.Errorf("the block does not hold it:\n%s", reply.Text)
	}
}

// TestNames: what comes from the configuration and from people cannot be
// rendered as anything else.
func TestNames(t *testing.T) {
	o := Options{Providers: []string{"b", "a`b", "b"}, Models: []string{"b/x\ny"}}
	c := Commands(o)[3]
	reply, err := c.Run(t.Context(), core.Invocation{Args: "`nobody/x`", Role: core.Admin, Mark: "/"})
	want := "I have no provider `nobody`. There is `a'b`, `b`; of models I know `b/x y`."
	if err != nil || !reply.Idle || reply.Text != want {
		t.Errorf("%q, %v; want %q", reply.Text, err, want)
	}
	for _, args := range []string{"x", "b/", "/x", "b/x y", "b/" + strings.Repeat("x", maxModel)} {
		if reply, err := c.Run(t.Context(), core.Invocation{Args: args, Role: core.Admin, Mark: "/"}); err != nil || !reply.Idle || !strings.HasPrefix(reply.Text, "Write ") {
			t.Errorf("%q: %q, %v", args, reply.Text, err)
		}
	}
}

// TestWorkspaceThatLeadsAway: a folder that cannot be used is not set.
func TestWorkspaceThatLeadsAway(t *testing.T) {
	o := Options{Folders: workspace.Folders{Root: "/w"}, Check: func(path string) error { return errors.New(path + " leads away") }}
	reply, err := o.workspace(t.Context(), core.Invocation{Args: "site", Role: core.Admin, Mark: "/"}) // without a desk to set it at
	if want := "I cannot use the folder `site`: it is no folder, or leads out of where it is."; err != nil || !reply.Idle || reply.Text != want {
		t.Errorf("%q, %v", reply.Text, err)
	}
	if reply, err := (Options{}).workspace(t.Context(), core.Invocation{}); err != nil || reply.Text != "There are no folders to work in." {
		t.Errorf("%q, %v", reply.Text, err)
	}
}
