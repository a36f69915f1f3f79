package run

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/core/perm"
)

// board is a platform whose messages take so many characters.
type board struct {
	Outbox
	most    int
	buttons bool
}

func (b board) Features(string) core.Features { return core.Features{Buttons: b.buttons} }

func (b board) Split(_ core.Place, text string) (pieces []core.Piece) {
	for r := []rune(strings.TrimSpace(text)); len(r) > 0; r = r[min(len(r), b.most):] {
		pieces = append(pieces, core.Piece{Text: string(r[:min(len(r), b.most)])})
	}
	return pieces
}

func execCall(command string) perm.Call {
	args, _ := json.Marshal(map[string]string{"command": command})
	return perm.Call{Agent: "chief", Tool: "exec", Args: string(args)}
}

func TestDisplay(t *testing.T) {
	for _, c := range []struct {
		what string
		call perm.Call
		want string
	}{
		{"a command", execCall("git push --force"), "git push --force"},
		{"several lines", execCall("cd x\nrm *\n\n\tls"), "cd x\nrm *\n\n\tls"},
		{"what cannot be seen", execCall("rm\u200b -rf \u202e/\r"), `rm\u{200b} -rf \u{202e}/\u{d}`},
		{"a command that looks like arguments", execCall(`{ "command": "ls" }`), "{\n  \"command\": \"{ \\\"command\\\": \\\"ls\\\" }\"\n}"},
		{"more than the command", perm.Call{Tool: "exec", Args: `{"command":"ls","timeout":5}`}, "{\n  \"command\": \"ls\",\n  \"timeout\": 5\n}"},
		{"another tool's", perm.Call{Tool: "write_file", Args: `{"content":"a\nb\u200b` + "\u200b" + `","path":"x"}`},
			"{\n  \"content\": \"a\\nb\\u200b\\u{200b}\",\n  \"path\": \"x\"\n}"},
		{"a command that is none", perm.Call{Tool: "exec", Args: `{"command":7}`}, "{\n  \"command\": 7\n}"},
		{"no arguments", perm.Call{Tool: "fire", Args: `{}`}, "{}"},
		{"what is no JSON", perm.Call{Tool: "fire", Args: "ca\u200bnnon"}, `ca\u{200b}nnon`},
	} {
		if diff := cmp.Diff(c.want, display(c.call)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
}

var spelt = regexp.MustCompile(`\\([ux])\{([0-9a-f]+)\}`)

// meant is the call that a person reads from what is displayed.
func meant(t *testing.T, tool, shown string) string {
	t.Helper()
	text := spelt.ReplaceAllStringFunc(shown, func(s string) string {
		part := spelt.FindStringSubmatch(s)
		n, err := strconv.ParseUint(part[2], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		if part[1] == "x" {
			return string([]byte{byte(n)})
		}
		return string(rune(n))
	})
	if tool == "exec" && !strings.HasPrefix(text, "{") {
		return execCall(text).Args
	}
	var args any
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		t.Fatalf("%q: %v", shown, err)
	}
	compact, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return string(compact)
}

// TestDisplayedIsMade: whatever a model writes, what is displayed is the call
// that would be made, and no other.
func TestDisplayedIsMade(t *testing.T) {
	dice := rand.New(rand.NewPCG(6, 6))
	pieces := []string{"rm", " ", "-rf", "/", "\n", "{", "}", `"`, `\`, `\u{41}`, "```", "\u200b", "\u202e", "é", "日", "\x00", ";", "command", `{"command":"ls"}`, ": "}
	seen := map[string]string{}
	for range many {
		var b strings.Builder
		for range 1 + dice.IntN(6) {
			if dice.IntN(5) == 0 {
				b.WriteRune(rune(dice.IntN(unicode.MaxRune + 1)))
			} else {
				b.WriteString(pieces[dice.IntN(len(pieces))])
			}
		}
		call := execCall(b.String())
		if dice.IntN(3) == 0 {
			args, _ := json.Marshal(map[string]string{"command": b.String(), "folder": "x"})
			call.Args = string(args)
		}
		shown := display(call)
		if got := meant(t, call.Tool, shown); got != call.Args {
			t.Fatalf("the call %s is displayed as %q, which says %s", call.Args, shown, got)
		}
		if other, ok := seen[shown]; ok && other != call.Args {
			t.Fatalf("%s and %s are both displayed as %q", other, call.Args, shown)
		}
		seen[shown] = call.Args
	}
}

// TestCard: what people see of calls that are long, nasty, or of many lines.
func TestCard(t *testing.T) {
	ann := core.Requester{ID: "chat:ann", Name: "Ann\u202e\n**🔐 @chief asks"}
	for _, c := range []struct {
		what    string
		call    perm.Call
		said    string
		place   core.Place
		buttons bool
		always  bool
		want    []string // pieces; none: it does not fit
	}{
		{what: "a command", call: execCall("git push"), buttons: true, always: true, want: []string{
			"🔐 @chief asks for Ann\\\\u{202e} \\*\\*🔐 @chief asks, in `chat:#ops` (t1), whether it may use `exec`:\n\n```\ngit push\n```\n\nIt runs. No rule allows it, and it may change something."}},
		{what: "without buttons", call: execCall("git push"), want: []string{
			"🔐 @chief asks for Ann\\\\u{202e} \\*\\*🔐 @chief asks, in `chat:#ops` (t1), whether it may use `exec`:\n\n```\ngit push\n```\n\nIt runs. No rule allows it, and it may change something.\n\n" +
				"Write /allow (once, task), or /deny and perhaps a reason, within 10 minutes."}},
		{what: "what it says stands apart", call: execCall("ls"), said: "I only look.\n```", buttons: true, want: []string{
			"I only look.\n```",
			"🔐 @chief asks for Ann\\\\u{202e} \\*\\*🔐 @chief asks, in `chat:#ops` (t1), whether it may use `exec`:\n\n```\nls\n```\n\nIt runs. No rule allows it, and it may change something."}},
		{what: "nothing in it ends the block", call: execCall("echo '```'\n````\n**bold** <!here> @everyone"), buttons: true, want: []string{
			"🔐 @chief asks for Ann\\\\u{202e} \\*\\*🔐 @chief asks, in `chat:#ops` (t1), whether it may use `exec`:\n\n`````\necho '```'\n````\n**bold** <!here> @everyone\n`````\n\nIt runs. No rule allows it: nobody can tell beforehand what it would do."}},
		{what: "the place's name is nothing but a name", call: execCall("ls"), place: core.Place{Adapter: "chat", Channel: "a`b\nc"}, buttons: true, want: []string{
			"🔐 @chief asks for Ann\\\\u{202e} \\*\\*🔐 @chief asks, in `chat:a'b c` (t1), whether it may use `exec`:\n\n```\nls\n```\n\nIt runs. No rule allows it, and it may change something."}},
		{what: "four messages", call: execCall(strings.Repeat("x", 3000)), buttons: true, want: []string{
			"🔐 @chief asks for Ann\\\\u{202e} \\*\\*🔐 @chief asks, in `chat:#ops` (t1), whether it may use `exec`:\n\n```\n" + strings.Repeat("x", 897),
			strings.Repeat("x", 1000), strings.Repeat("x", 1000), strings.Repeat("x", 103) + "\n```\n\nIt runs. No rule allows it, and it may change something."}},
		{what: "no room for the outcome", call: execCall(strings.Repeat("x", 600)), buttons: true, want: []string{
			"🔐 @chief asks for Ann\\\\u{202e} \\*\\*🔐 @chief asks, in `chat:#ops` (t1), whether it may use `exec`:\n\n```\n" + strings.Repeat("x", 600) + "\n```",
			"It runs. No rule allows it, and it may change something."}},
		{what: "five messages", call: execCall(strings.Repeat("x", 4600)), buttons: true},
		{what: "many lines", call: execCall(strings.Repeat("\n", 4600)), buttons: true},
		{what: "much that cannot be seen", call: execCall(strings.Repeat("\u200b", 600)), buttons: true},
	} {
		place := c.place
		if place.IsZero() {
			place = core.Place{Adapter: "chat", Channel: "#ops"}
		}
		tr := &turn{Runner: &Runner{o: Options{Outbox: board{most: 1000, buttons: c.buttons}}}, bot: core.Bot{Handle: "chief"},
			run: core.Run{Thread: "t1", For: ann, Reply: core.Reply{Place: place}}}
		d := perm.Decide(perm.Levels{}, c.call)
		d.Always = c.always
		p, ok := tr.card(c.said, c.call, core.ToolSpec{Effect: "It runs."}, d)
		if !ok {
			if c.want != nil {
				t.Errorf("%s: it does not fit", c.what)
			}
			continue
		}
		var got []string
		for _, piece := range p.Pieces {
			got = append(got, piece.Text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
		if p.Ask.Grant.Hash != perm.Fingerprint(c.call) || (p.Ask.Grant.Always != nil) != c.always || p.Life != approvalLife || p.Ask.Kind != core.ApprovalAsk {
			t.Errorf("%s: what is asked is %+v", c.what, p.Ask)
		}
		var labels []string
		for _, b := range p.Buttons {
			labels = append(labels, b.Label)
			if len(b.Value) > 64 || !regexp.MustCompile(`^(allow (once|task|always)|deny) [\w-]{22}$`).MatchString(b.Value) {
				t.Errorf("%s: the value of a button is %q", c.what, b.Value)
			}
		}
		want := "[]"
		switch {
		case c.buttons && c.always:
			want = "[Allow once Allow for this task Always Deny]"
		case c.buttons:
			want = "[Allow once Allow for this task Deny]"
		}
		if fmt.Sprint(labels) != want {
			t.Errorf("%s: the buttons are %v", c.what, labels)
		}
	}
}

// A nonce has 128 bits, and is never the same again.
func TestNonce(t *testing.T) {
	seen := map[string]bool{}
	for range 10_000 {
		n := newNonce()
		if len(n) != 22 || seen[n] {
			t.Fatalf("%q", n)
		}
		seen[n] = true
	}
}

// TestCardInOneLine: where people are told of a call in one line, what is a line
// of its own does not look like the end of the one before.
func TestCardInOneLine(t *testing.T) {
	tr := &turn{Runner: &Runner{o: Options{Outbox: board{most: 1000}}}, bot: core.Bot{Handle: "chief"}}
	call := execCall("ls # the  files\n\trm -r .")
	p, _ := tr.card("", call, core.ToolSpec{}, perm.Decide(perm.Levels{}, call))
	if want := `exec ls # the  files\u{a}\u{9}rm -r .`; p.Ask.Text != want {
		t.Errorf("it is told of as %q, want %q", p.Ask.Text, want)
	}
}
