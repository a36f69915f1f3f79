package coretest_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	row  = regexp.MustCompile(`(?m)^\| (\d+) \| (.+) \| (.+) \|$`)
	name = regexp.MustCompile("^`([a-z_]+)`$")
)

// TestReadme holds the table of testdata/README.md to the talks: its rows are
// numbered, and each names talks that exist, or says why there is none.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("testdata/README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := row.FindAllStringSubmatch(string(text), -1)
	if want := strings.Count(string(text), "\n| ") - strings.Count(string(text), "\n| |"); len(rows) != want || want == 0 {
		t.Errorf("%d of %d rows can be read", len(rows), want)
	}
	for i, r := range rows {
		if r[1] != strconv.Itoa(i+1) {
			t.Errorf("row %d has the number %s", i+1, r[1])
		}
		if strings.HasPrefix(r[3], "Not built: ") {
			continue
		}
		for talk := range strings.SplitSeq(r[3], ", ") {
			m := name.FindStringSubmatch(talk)
			if m == nil {
				t.Errorf("row %s: %q names no talk", r[1], talk)
				continue
			}
			if _, err := os.Stat("testdata/" + m[1] + ".txtar"); err != nil {
				t.Errorf("row %s: %v", r[1], err)
			}
		}
	}
}
