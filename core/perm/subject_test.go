package perm

import (
	"encoding/json"
	"testing"

	"bellhop/core"
)

func subjectVerdict(t *testing.T, tool, arg, value, pattern string, action core.Action) core.Action {
	t.Helper()
	args, err := json.Marshal(map[string]any{arg: value})
	if err != nil {
		t.Fatal(err)
	}
	c := Call{Workspace: "/srv/w", Tool: tool, Args: string(args)}
	got, _ := first([]core.Rule{{Tool: tool, Pattern: pattern, Action: action}}, c, read(c))
	return got
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		path, pattern   string
		allowed, struck bool
	}{
		{"a.txt", "a.txt", true, true},
		{"./a.txt", "a.txt", true, true},
		{"b/../a.txt", "a.txt", true, true},
		{"b/../secret/x", "b/**", false, false},
		{"b/../secret/x", "secret/**", true, true},
		{"secret//x", "secret/*", true, true},
		{"secret/a/b", "secret/*", false, false},
		{"secret/a/b", "secret/**", true, true},
		{"secret", "secret/**", true, true},
		{"/srv/w/secret/x", "secret/**", true, true},
		{"../w/secret/x", "secret/**", true, true},
		{"secret/x", "/srv/w/secret/**", true, true},
		{"x/.env", "**/.env", true, true},
		{".env", "**/.env", true, true},
		{"../x", "**", false, true},
		{"../x", "../**", true, true},
		{"/etc/passwd", "**", false, true},
		{"/etc/passwd", "/etc/**", true, true},
		{"/etc/../etc/passwd", "/etc/passwd", true, true},
		{"~/x", "**", false, true},
		{"~/x", "~/**", true, true},
		{"a\x00b", "**", false, true},
		{"a.go", "*.{go,md}", true, true},
		{"a.txt", "[", false, true}, // a pattern that is none allows nothing
		{"", ".", true, true},
		{"A.txt", "a.txt", false, false},
	} {
		if got := subjectVerdict(t, "write_file", "path", c.path, c.pattern, core.ActionAllow); (got == core.ActionAllow) != c.allowed {
			t.Errorf("allow %q of %q: %q", c.pattern, c.path, got)
		}
		if got := subjectVerdict(t, "write_file", "path", c.path, c.pattern, core.ActionDeny); (got == core.ActionDeny) != c.struck {
			t.Errorf("deny %q of %q: %q", c.pattern, c.path, got)
		}
	}
}

func TestURLs(t *testing.T) {
	for _, c := range []struct {
		url, pattern    string
		allowed, struck bool
	}{
		{"https://a.example/x", "a.example", true, true},
		{"https://a.example/x", "https://a.example/*", true, true},
		{"http://a.example/x", "https://a.example/*", false, false},
		{"https://A.Example.:443/x", "a.example", true, true},
		{"https://a.example:8443/x", "a.example", false, true},
		{"https://a.example:8443/x", "a.example:8443", true, true},
		{"https://a.example.evil.example/", "a.example*", true, true}, // as it is written
		{"https://evil.example/a.example", "a.example", false, false},
		{"https://evil.example/https://a.example/", "https://a.example/*", false, false},
		{"https://evil.example/x.a.example", "*.a.example", false, false},
		{"https://b.a.example/", "*.a.example", true, true},
		{"https://a.example/", "*.a.example", false, false},
		{"https://a.example@evil.example/", "a.example", false, false},
		{"https://a.example@evil.example/", "evil.example", false, true},
		{"https://a.example/public/../admin", "a.example/public/*", false, false},
		{"https://a.example/public%2f..%2fadmin", "a.example/public/*", false, false},
		{"https://a.example/public/../admin", "a.example/admin*", true, true},
		{"https://a.example/public/x?y=1", "a.example/public/*", true, true},
		{"https://a.example?x", "a.example/", false, false},
		{"https://a.example/x/", "a.example/x/", true, true},
		{"http://[::1]/", "[::1]", true, true},
		{"http://[::1]:8080/", "[::1]:8080", true, true},
		{" https://a.example/ ", "a.example", true, true},
		{"ftp://a.example/", "a.example", false, true},
		{"//a.example/", "a.example", false, true},
		{"https:///x", "*", false, true},
		{"https://a.example/\x7f", "*", false, true},
		{"nothing", "*", false, true},
	} {
		if got := subjectVerdict(t, "web_fetch", "url", c.url, c.pattern, core.ActionAllow); (got == core.ActionAllow) != c.allowed {
			t.Errorf("allow %q of %q: %q", c.pattern, c.url, got)
		}
		if got := subjectVerdict(t, "web_fetch", "url", c.url, c.pattern, core.ActionDeny); (got == core.ActionDeny) != c.struck {
			t.Errorf("deny %q of %q: %q", c.pattern, c.url, got)
		}
	}
}

func TestSubjects(t *testing.T) {
	for _, c := range []struct {
		tool, args, pattern string
		allowed, struck     bool
	}{
		{"exec", `{"command":"ls"}`, "ls", true, true},
		{"exec", `{"cmd":"ls"}`, "ls", false, true}, // the argument is not there
		{"exec", `{"command":7}`, "7", false, true},
		{"exec", `nothing`, "ls", false, true},
		{"exec", `{}`, "", true, true},
		{"list_dir", `{}`, ".", true, true},
		{"list_dir", `{"path":null}`, ".", false, true},
		{"move_file", `{"from":"a","to":"b"}`, "a", false, true},
		{"move_file", `{"from":"a","to":"b"}`, "b", false, true},
		{"move_file", `{"from":"a","to":"b"}`, "?", true, true},
		{"move_file", `{"from":"a"}`, "a", false, true},
		{"web_search", `{"query":"go maps"}`, "go *", true, true},
		{"github__issue", `{"n":1,"repo":"a/b"}`, `*"repo":"a/*`, true, true},
		{"github__issue", `{"n":1,"repo":"c/b"}`, `*"repo":"a/*`, false, false},
	} {
		call := Call{Tool: c.tool, Args: c.args}
		for action, want := range map[core.Action]bool{core.ActionAllow: c.allowed, core.ActionDeny: c.struck, core.ActionAsk: c.struck} {
			if got, _ := first([]core.Rule{{Tool: "*", Pattern: c.pattern, Action: action}}, call, read(call)); (got == action) != want {
				t.Errorf("%s %q of %s %s: %q", action, c.pattern, c.tool, c.args, got)
			}
		}
	}
	if got := Shown(Call{Tool: "move_file", Args: `{"from":"a","to":"b"}`}); got != "a → b" {
		t.Errorf("a move is shown as %q", got)
	}
}

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		like, may     bool
	}{
		{"", "", true, true},
		{"", "a", false, false},
		{"*", "", true, true},
		{"*", "a b/c", true, true},
		{"a*c", "abcbc", true, true},
		{"a*c", "abcb", false, false},
		{"a?c", "aéc", true, true},
		{"a?c", "ac", false, false},
		{`a\*`, "a*", true, true},
		{`a\*`, "ab", false, false},
		{`a\`, `a\`, true, true},
		{"a *", "a", true, true},
		{`a\ *`, "a", false, false},
		{"**a**", "bab", true, true},
		{"a?", "a\x00", false, true},
		{"ab*", "a\x00", false, true},
		{"ab", "a\x00", false, true},
		{"b", "a\x00", false, false},
		{"a*c", "a\x00c", true, true},
		{"x*z", "\x00y", false, false},
		{"x*y", "\x00y", false, true},
		{"aXb", "a\x00b\x00", false, true},
		{"", "\x00", false, true},
	} {
		if got := like(c.pattern, c.text); got != c.like {
			t.Errorf("like(%q, %q) is %v", c.pattern, c.text, got)
		}
		if got := mayBeLike(c.pattern, c.text); got != c.may {
			t.Errorf("mayBeLike(%q, %q) is %v", c.pattern, c.text, got)
		}
	}
}
