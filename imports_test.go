package bellhop_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "bellhop/"

// The libraries that rows name.
const (
	bbolt      = "go.etcd.io/bbolt"
	cron       = "github.com/robfig/cron"
	discordgo  = "github.com/bwmarrin/discordgo"
	doublestar = "github.com/bmatcuk/doublestar"
	goldmark   = "github.com/yuin/goldmark"
	imaging    = "github.com/disintegration/imaging"
	jsonrepair = "github.com/kaptinlin/jsonrepair"
	mvdansh    = "mvdan.cc/sh"
	openai     = "github.com/sashabaranov/go-openai"
	slackgo    = "github.com/slack-go/slack"
	telegram   = "github.com/go-telegram/bot"
	term       = "golang.org/x/term"
	tomlLib    = "github.com/BurntSushi/toml"
	uniseg     = "github.com/rivo/uniseg"
	websocket  = "github.com/gorilla/websocket"
	ximage     = "golang.org/x/image"
)

// anything in a row lifts its limits; owners and onlyInTests still hold.
const anything = "*"

// rows says what each package may import beside the standard library: packages
// of this module by exact path, libraries with all that lies below them. Tests
// are exempt. A package without a row fails the test: deciding what it may
// import is part of adding it.
var rows = map[string][]string{
	"bellhop": nil,

	"cmd/bellhop": {anything},

	"core":            nil,
	"core/bus":        {"core"},
	"core/config":     {"core", "core/perm", tomlLib},
	"core/coretest":   {anything},
	"core/llm":        {"core", openai},
	"core/llm/script": {"core"},
	"core/mailbox":    {"core", "core/run"},
	"core/perm":       {"core", doublestar, mvdansh},
	"core/prompt":     {"core"},
	"core/webhook":    {"core"},
	"core/report":     {"core"},
	"core/run":        {"core", "core/perm", "core/prompt"},
	"core/setting":    {"core", "core/workspace"},
	"core/title":      {"core"},
	"core/workspace":  {"core"},

	"adapters/adaptertest": {anything},
	"adapters/console":     {"core", term},
	"adapters/discord":     {"core", "adapters/markup", discordgo, websocket},
	"adapters/markup":      {goldmark, uniseg},
	"adapters/slack":       {"core", "adapters/markup", slackgo, websocket},
	"adapters/telegram":    {"core", "adapters/markup", telegram},

	"media": {"core", imaging, ximage},

	"store":           {"core"},
	"store/boltkv":    {"core", "store", bbolt},
	"store/memkv":     {"core", "store"},
	"store/storetest": {anything},

	"tools":         {"core", jsonrepair},
	"tools/ask":     {"core", "tools"},
	"tools/channel": {"core", "tools"},
	"tools/history": {"core", "tools"},
}

// owners are the only packages that may import a library, so that replacing or
// guarding it is one package's work.
var owners = map[string]string{
	bbolt:   "store/boltkv",
	cron:    "core/cron",
	imaging: "media",
	openai:  "core/llm",
	tomlLib: "core/config",
}

// onlyInTests are packages for tests, which only tests and each other import.
var onlyInTests = []string{"core/coretest", "adapters/adaptertest", "store/storetest"}

func TestImports(t *testing.T) {
	for _, pkg := range listPackages(t) {
		name := strings.TrimPrefix(pkg.ImportPath, module)
		row, known := rows[name]
		if !known {
			t.Errorf("%s has no row in imports_test.go: add one that says what it may import", name)
			continue
		}
		for _, path := range pkg.Imports {
			if problem := judge(name, row, path); problem != "" {
				t.Errorf("%s imports %s: %s (see Layout and imports in ARCHITECTURE.md)", name, path, problem)
			}
		}
	}
}

// judge returns what is wrong with an import, or "".
func judge(name string, row []string, path string) string {
	if standard(path) {
		return ""
	}
	path, own := strings.CutPrefix(path, module)
	for library, owner := range owners {
		if !own && within(path, library) && name != owner {
			return "only " + owner + " may"
		}
	}
	if own && slices.Contains(onlyInTests, path) && !slices.Contains(onlyInTests, name) {
		return "only tests may"
	}
	for _, allowed := range row {
		if allowed == anything || own && path == allowed || !own && within(path, allowed) {
			return ""
		}
	}
	if len(row) == 0 {
		return "it may import the standard library only"
	}
	return "it may import the standard library and " + strings.Join(row, ", ") + " only"
}

// standard reports whether path is of the standard library: its first element
// is no host name, nor this module.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && first+"/" != module
}

func within(path, library string) bool {
	return path == library || strings.HasPrefix(path, library+"/")
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var packages []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg goPackage
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages = append(packages, pkg)
	}
}

// TestJudge shows that the rules bite.
func TestJudge(t *testing.T) {
	tests := []struct {
		name, path, want string
	}{
		{"core", "context", ""},
		{"core", "bellhop/store", "it may import the standard library only"},
		{"core/llm", openai, ""},
		{"core/llm", openai + "/jsonschema", ""},
		{"core/llm", openai + "-fork", "it may import the standard library and core, " + openai + " only"},
		{"cmd/bellhop", openai, "only core/llm may"},
		{"cmd/bellhop", "bellhop/tools/history", ""},
		{"cmd/bellhop", "bellhop/store/storetest", "only tests may"},
		{"core/coretest", "bellhop/store/storetest", ""},
		{"adapters/telegram", "bellhop/store", "it may import the standard library and core, adapters/markup, " + telegram + " only"},
		{"store", "bellhop/store/boltkv", "it may import the standard library and core only"},
	}
	for _, tt := range tests {
		if got := judge(tt.name, rows[tt.name], tt.path); got != tt.want {
			t.Errorf("%s importing %s: %q, want %q", tt.name, tt.path, got, tt.want)
		}
	}
}
