package console

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustOpen(t *testing.T, path string) *history {
	t.Helper()
	h, err := openHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	h := mustOpen(t, path)
	for _, line := range []string{"one", "two", "two", "  ", "", strings.Repeat("x", historyLine+1), "one"} {
		h.Add(line)
	}
	if h.err != nil {
		t.Fatal(h.err)
	}
	again := mustOpen(t, path)
	if d := cmp.Diff([]string{"one", "two", "one"}, again.lines); d != "" {
		t.Error(d)
	}
	again.Add("three")
	if again.At(0) != "three" || again.At(again.Len()-1) != "one" {
		t.Errorf("order of %q", again.lines)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	// Another process's lines survive.
	h.Add("four")
	if d := cmp.Diff([]string{"one", "two", "one", "three", "four"}, mustOpen(t, path).lines); d != "" {
		t.Error(d)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	var b strings.Builder
	for i := range historyLines + 500 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h := mustOpen(t, path)
	h.Add("last")
	for _, lines := range [][]string{h.lines, mustOpen(t, path).lines} {
		if len(lines) != historyLines || lines[0] != "line 501" || lines[historyLines-1] != "last" {
			t.Errorf("%d lines from %q to %q", len(lines), lines[0], lines[len(lines)-1])
		}
	}
}

func TestHistoryThatCannotBeWritten(t *testing.T) {
	h := mustOpen(t, filepath.Join(t.TempDir(), "missing", "history"))
	h.Add("one")
	if h.err == nil || h.Len() != 1 {
		t.Errorf("err %v, %d lines", h.err, h.Len())
	}
	if _, err := openHistory(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}

func TestHistoryWithoutAFile(t *testing.T) {
	h := mustOpen(t, "")
	h.Add("one")
	if h.err != nil || h.Len() != 1 {
		t.Errorf("err %v, %d lines", h.err, h.Len())
	}
}
