package perm

import (
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"bellhop/core"
)

// kind is how a pattern is held against what a call is about.
type kind int

const (
	asText    kind = iota // as it stands
	asCommand             // what a shell would run
	asPath                // a file in the workspace
	asURL
)

// about says which arguments of a tool a pattern speaks of. Of a tool that is
// not listed, it speaks of all arguments, in their canonical form.
var about = map[string]struct {
	kind kind
	args []string
	none string // what an argument means that is not given; empty: it must be
}{
	"exec":         {kind: asCommand, args: []string{"command"}},
	"read_file":    {kind: asPath, args: []string{"path"}},
	"write_file":   {kind: asPath, args: []string{"path"}},
	"edit_file":    {kind: asPath, args: []string{"path"}},
	"append_file":  {kind: asPath, args: []string{"path"}},
	"delete_file":  {kind: asPath, args: []string{"path"}},
	"move_file":    {kind: asPath, args: []string{"from", "to"}},
	"list_dir":     {kind: asPath, args: []string{"path"}, none: "."},
	"glob":         {kind: asPath, args: []string{"path"}, none: "."},
	"grep":         {kind: asPath, args: []string{"path"}, none: "."},
	"send_file":    {kind: asPath, args: []string{"path"}},
	"web_fetch":    {kind: asURL, args: []string{"url"}},
	"http_request": {kind: asURL, args: []string{"url"}},
	"read_feed":    {kind: asURL, args: []string{"url"}},
	"web_search":   {kind: asText, args: []string{"query"}},
}

// unit is a part of what a call is about, with its tests for patterns that are
// not empty. An allow must match every unit of a call, one rule or another; an
// ask or a deny one of them.
type unit struct {
	allowed func(pattern string) bool
	struck  func(pattern string) strike
	idle    bool // needs no allow
}

// strike is whether the pattern of an ask or a deny matches.
type strike int

const (
	misses strike = iota
	mayHit        // nobody can tell; so it does, and so may the rules after it
	hits
)

func strikes(hit bool) strike {
	if hit {
		return hits
	}
	return misses
}

// subject is what a call is about.
type subject struct {
	units []unit
	// is reports whether the pattern is, to the letter, all of it.
	is func(pattern string) bool
	// holds reports whether an ask or deny pattern matches it as a whole.
	holds func(pattern string) bool
	shown string
	runs  []string // kinds of the commands that a shell would run
	vague bool     // what it would do cannot be known
}

// read is what the call is about. An argument that should be there and is not
// matches the pattern of no allow and of every ask and deny.
func read(c Call) subject {
	a, ok := about[c.Tool]
	if !ok {
		return plain(c.Args)
	}
	var args map[string]any
	if json.Unmarshal([]byte(c.Args), &args) != nil {
		args = nil
	}
	var s subject
	for _, name := range a.args {
		value, is := args[name].(string)
		if _, given := args[name]; !given && a.none != "" && args != nil {
			value, is = a.none, true
		}
		one := subject{units: []unit{unreadable}, shown: c.Args, vague: true}
		switch {
		case !is:
		case a.kind == asCommand:
			one = shell(value)
		case a.kind == asPath:
			one = subject{units: []unit{filed(c.Workspace, value)}, shown: value}
		case a.kind == asURL:
			one = subject{units: []unit{addressed(value)}, shown: value}
		default:
			one = plain(value)
		}
		if s.units == nil {
			s = one
			continue
		}
		s.units, s.shown, s.vague, s.is, s.holds = append(s.units, one.units...), s.shown+" → "+one.shown, s.vague || one.vague, nil, nil
	}
	return s
}

// unreadable is a unit about which nothing is known.
var unreadable = unit{
	allowed: func(string) bool { return false },
	struck:  func(string) strike { return mayHit },
}

func plain(s string) subject {
	test := func(pattern string) bool { return like(pattern, s) }
	return subject{units: []unit{{allowed: test, struck: func(pattern string) strike { return strikes(test(pattern)) }}}, shown: s}
}

// filed is a unit of a path. A pattern and a path are held against each other as
// they are seen from the workspace, without detours; in a pattern, * stays
// within a folder and ** does not. A path that leaves the workspace is allowed by
// a pattern alone that leaves it, too. What is behind a symbolic link nobody can
// tell from its path: the tools see to that.
func filed(workspace, p string) unit {
	if strings.ContainsRune(p, 0) {
		return unreadable
	}
	p = seenFrom(workspace, p)
	return unit{
		allowed: func(pattern string) bool {
			pattern = seenFrom(workspace, pattern)
			ok, err := doublestar.Match(pattern, p)
			return ok && err == nil && (outside(pattern) || !outside(p))
		},
		struck: func(pattern string) strike {
			ok, err := doublestar.Match(seenFrom(workspace, pattern), p)
			return strikes(ok || err != nil)
		},
	}
}

// seenFrom is a path or its pattern without detours, from the workspace if it
// lies in it. An empty workspace is one of which nothing is known.
func seenFrom(workspace, p string) string {
	p = path.Clean(p)
	if workspace == "" {
		return p
	}
	workspace = path.Clean(workspace)
	whole := p
	if !path.IsAbs(p) {
		whole = path.Join(workspace, p)
	}
	if whole == workspace {
		return "."
	}
	if inside, ok := strings.CutPrefix(whole, strings.TrimSuffix(workspace, "/")+"/"); ok {
		return inside
	}
	return p
}

// outside reports whether a path leads out of the workspace.
func outside(p string) bool {
	return path.IsAbs(p) || p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "~")
}

// addressed is a unit of a URL. A pattern is a host, before it perhaps a scheme
// and after it a path; each part is held against the URL's own, so that no *
// reaches from one into another. One without a scheme or without a path means any.
func addressed(raw string) unit {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return unreadable
	}
	host, bare := host(u), strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	way := path.Clean("/" + u.Path)
	if strings.HasSuffix(u.Path, "/") && way != "/" {
		way += "/"
	}
	if u.RawQuery != "" {
		way += "?" + u.RawQuery
	}
	test := func(pattern string, hosts ...string) bool {
		scheme, rest, ok := strings.Cut(pattern, "://")
		if !ok {
			scheme, rest = "*", pattern
		}
		end := strings.IndexAny(rest, "/?")
		if end < 0 {
			end = len(rest)
		}
		at := rest[end:]
		if at == "" {
			at = "*"
		}
		for _, h := range hosts {
			if like(strings.ToLower(scheme), u.Scheme) && like(strings.ToLower(rest[:end]), h) && like(at, way) {
				return true
			}
		}
		return false
	}
	return unit{
		allowed: func(pattern string) bool { return u.User == nil && test(pattern, host) },
		struck:  func(pattern string) strike { return strikes(test(pattern, host, bare)) },
	}
}

// host is the URL's host with its port, if that is not the scheme's own.
func host(u *url.URL) string {
	name, port := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	switch {
	case port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme]:
		return net.JoinHostPort(name, port)
	case strings.Contains(name, ":"):
		return "[" + name + "]"
	}
	return name
}

// Shown is what a call is about, as people are told it: a command, a path, a
// URL, or else the arguments.
func Shown(c Call) string { return read(c).shown }

// Check says what is wrong with a rule's pattern.
func Check(r core.Rule) error {
	for tool, a := range about {
		if a.kind == asPath && like(r.Tool, tool) && !doublestar.ValidatePattern(r.Pattern) {
			return errPattern
		}
	}
	return nil
}

var errPattern = errors.New(`is no pattern of paths: close every [ and {, and write \[ for a bracket in a name`)

// Hidden reports whether rules deny the tool whatever the call and whoever asks,
// so that a model need not know of it. Each list is one level.
func Hidden(tool string, levels ...[]core.Rule) bool {
	for _, rules := range levels {
		for _, r := range rules {
			if !like(r.Tool, tool) {
				continue
			}
			if r.Action != core.ActionDeny { // it may match first
				break
			}
			if r.Pattern == "" && r.Role == core.Stranger {
				return true
			}
		}
	}
	return false
}
