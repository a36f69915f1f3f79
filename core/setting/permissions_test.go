package setting

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/core/workspace"
)

// drawer is a desk that has permits alone.
type drawer struct {
	core.Desk
	permits map[string][]core.Remembered
	threads map[core.ID]core.Thread
}

func (d *drawer) Remembered(agent string) ([]core.Remembered, error) { return d.permits[agent], nil }

func (d *drawer) Forget(permits ...core.Remembered) error {
	for _, p := range permits {
		d.permits[p.Agent] = slices.DeleteFunc(slices.Clone(d.permits[p.Agent]), func(q core.Remembered) bool { return q.ID == p.ID })
	}
	return nil
}

func (d *drawer) Adjust(thread core.ID, change func(*core.Thread)) error {
	th := d.threads[thread]
	change(&th)
	d.threads[thread] = th
	return nil
}

// office is a conversation of two agents who may do three things for good in it,
// and one elsewhere.
func office() (*drawer, Options, core.Invocation) {
	d := &drawer{threads: map[core.ID]core.Thread{"t1": {ID: "t1", Agent: "chief", Bots: []string{"chief", "deep"}, Mode: core.ModeBypass}},
		permits: map[string][]core.Remembered{
			"chief": {
				{ID: "y2", Agent: "chief", Workspace: "/w", Tool: "exec", Shown: "rm `x`\n*", By: "chat:bob"},
				{ID: "y3", Agent: "chief", Workspace: "/elsewhere", Tool: "exec", Shown: "make", By: "chat:bob"},
				{ID: "y9", Agent: "chief", Workspace: "/w", Tool: "web_fetch", Shown: strings.Repeat("é", 90), By: "chat:alice"},
			},
			"deep":  {{ID: "y4", Agent: "deep", Workspace: "/w", Tool: "exec", Shown: "ls", By: "chat:bob"}},
			"third": {{ID: "y5", Agent: "third", Workspace: "/w", Tool: "exec", Shown: "pwd", By: "chat:bob"}},
		}}
	o := Options{Agent: "chief", Folders: workspace.Folders{Agents: map[string]string{"chief": "/w", "deep": "/w", "third": "/w"}}}
	return d, o, core.Invocation{Desk: d, Mark: "/", Thread: d.threads["t1"], Role: core.Member}
}

func said(t *testing.T, o Options, inv core.Invocation, role core.Role, who core.PersonID, args string) string {
	t.Helper()
	inv.Role, inv.Human, inv.Args = role, core.Human{ID: who}, args
	inv.Thread = inv.Desk.(*drawer).threads[inv.Thread.ID]
	reply, err := o.permissions(t.Context(), inv)
	if err != nil {
		t.Fatal(err)
	}
	return reply.Text
}

func TestWhatIsAllowedForGood(t *testing.T) {
	_, o, inv := office()
	head := "Mode bypass, set in this conversation: nothing is asked about.\n\nThere are no rules.\n\n"
	for _, c := range []struct {
		role core.Role
		who  core.PersonID
		want string
	}{
		{core.Member, "chat:bob", head + "Allowed for good by others: 1.\n\nAllowed for good:\n- y2: @chief, exec `rm 'x' *`\n- y4: @deep, exec `ls`\n\n/permissions forget y4 takes the last one back."},
		{core.Member, "chat:carol", head + "Allowed for good by others: 3."},
		{core.Admin, "chat:alice", head + "Allowed for good:\n- y2: @chief, exec `rm 'x' *`\n- y4: @deep, exec `ls`\n- y9: @chief, web_fetch `" + strings.Repeat("é", 80) + "…`\n\n" +
			"/permissions forget y9 takes the last one back.\n\n/permissions mode default, smart or bypass sets the mode here; /permissions reset takes back the mode and what was allowed for good."},
	} {
		if diff := cmp.Diff(c.want, said(t, o, inv, c.role, c.who, "")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.who, diff)
		}
	}
}

func TestOnlySoMuchIsShown(t *testing.T) {
	d, o, inv := office()
	for i := range 30 {
		d.permits["chief"] = append(d.permits["chief"], core.Remembered{ID: core.NewID(core.KindPermit, uint64(100+i)), Agent: "chief", Workspace: "/w", Tool: "exec", Shown: fmt.Sprint(i), By: "chat:bob"})
	}
	text := said(t, o, inv, core.Admin, "chat:alice", "")
	if n := strings.Count(text, "\n- y"); n != mostRemembered || !strings.Contains(text, "- … and 13 before these\n") || !strings.Contains(text, "exec `29`") {
		t.Errorf("%d are shown:\n%s", n, text)
	}
}

func TestForget(t *testing.T) {
	d, o, inv := office()
	no := "Nothing that you may take back here has the number %s. /permissions lists what was allowed for good."
	for _, c := range []struct {
		role core.Role
		who  core.PersonID
		args string
		want string
	}{
		{core.Member, "chat:carol", "forget y2", fmt.Sprintf(no, "`y2`")},
		{core.Member, "chat:bob", "forget y9", fmt.Sprintf(no, "`y9`")},
		{core.Admin, "chat:alice", "forget y3", fmt.Sprintf(no, "`y3`")}, // of another workspace
		{core.Admin, "chat:alice", "forget y5", fmt.Sprintf(no, "`y5`")}, // of an agent that is not here
		{core.Admin, "chat:alice", "forget t2", fmt.Sprintf(no, "`t2`")},
		{core.Admin, "chat:alice", "forget", fmt.Sprintf(no, "``")},
		{core.Member, "chat:bob", "Forget `Y2`", "Forgotten: @chief, exec `rm 'x' *` is asked about again."},
		{core.Member, "chat:bob", "forget y2", fmt.Sprintf(no, "`y2`")},
		{core.Admin, "chat:alice", "forget y4", "Forgotten: @deep, exec `ls` is asked about again."},
	} {
		if diff := cmp.Diff(c.want, said(t, o, inv, c.role, c.who, c.args)); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", c.who, c.args, diff)
		}
	}
	if len(d.permits["chief"]) != 2 || len(d.permits["deep"]) != 0 || len(d.permits["third"]) != 1 {
		t.Errorf("there is left %v", d.permits)
	}
}

func TestReset(t *testing.T) {
	d, o, inv := office()
	want := "The mode is default: " + modes[core.ModeDefault] + ". What was allowed for good is forgotten, 3 in all."
	if got := said(t, o, inv, core.Admin, "chat:alice", "reset"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if th := d.threads["t1"]; th.Mode != "" {
		t.Errorf("the mode is %q", th.Mode)
	}
	if len(d.permits["chief"]) != 1 || len(d.permits["deep"]) != 0 || len(d.permits["third"]) != 1 {
		t.Errorf("there is left %v", d.permits)
	}
	o.Policy.Bindings = []core.Binding{{Place: "*", Mode: core.ModeSmart}}
	inv.Place = core.Place{Adapter: "chat", Channel: "ops"}
	th := d.threads["t1"]
	th.Mode = core.ModeDefault
	d.threads["t1"] = th
	want = "The mode is smart, from my configuration: " + modes[core.ModeSmart] + "."
	if got := said(t, o, inv, core.Admin, "chat:alice", "reset"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
