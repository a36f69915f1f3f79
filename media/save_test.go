package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

func open(t testing.TB, l Limits) (*Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "media")
	s, err := Open(dir, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

func (s *Store) mustSave(t testing.TB, data []byte, f core.File) core.Saved {
	t.Helper()
	saved, err := s.Save(t.Context(), bytes.NewReader(data), f)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

// files are the paths of everything in the folder that is no folder.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			path, err = filepath.Rel(dir, path)
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSave(t *testing.T) {
	s, dir := open(t, Limits{})
	data := pngOf(t, quarters(30, 20))
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	want := core.Saved{Hash: hash, Path: hash[:2] + "/" + hash[2:], MIME: "image/png", Size: int64(len(data)), Width: 30, Height: 20, Name: "cat.txt"}
	for range 2 {
		got := s.mustSave(t, data, core.File{Name: "../cat.txt", MIME: "text/plain", Size: 7})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff([]string{want.Path}, files(t, dir)); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	stored, err := os.ReadFile(filepath.Join(dir, want.Path))
	if err != nil || !bytes.Equal(stored, data) {
		t.Errorf("stored %d bytes, error %v", len(stored), err)
	}
	for path, want := range map[string]fs.FileMode{".": 0o700, hash[:2]: 0o700, want.Path: 0o600} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, error %v", path, info.Mode(), err)
		}
	}
}

const loginPage = "\n<!-- sign in -->\n<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>"

func TestSaveRefuses(t *testing.T) {
	s, dir := open(t, Limits{MaxBytes: 1000})
	for name, c := range map[string]struct {
		data string
		file core.File
		want string // empty: taken
	}{
		"declared too large":    {"x", core.File{Size: 25_300_000}, "too large: 25.3 MB, and I take at most 0.0 MB"},
		"too large":             {strings.Repeat("x", 1001), core.File{}, "too large: I take at most"},
		"as large as may be":    {strings.Repeat("x", 1000), core.File{Size: 3}, ""},
		"empty":                 {"", core.File{Size: 3}, "empty"},
		"login page":            {loginPage, core.File{Name: "cat.png", MIME: "image/png"}, "a web page came instead"},
		"login page, XHTML":     {"<?xml version='1.0'?><HTML>", core.File{Name: "cat.png"}, "a web page came instead"},
		"login page, marked":    {"\xef\xbb\xbf" + loginPage, core.File{Name: "a.csv"}, "a web page came instead"},
		"login page for a page": {loginPage, core.File{Name: "a.html", Size: 500}, "a web page came instead"},
		"page":                  {loginPage, core.File{Name: "a.HTML", Size: int64(len(loginPage))}, ""},
		"page by type":          {loginPage, core.File{MIME: "Text/HTML; charset=utf-8"}, ""},
		"Markdown":              {"<p align=center>\n# Title", core.File{Name: "README.md"}, ""},
		"drawing":               {`<?xml version="1.0"?><svg/>`, core.File{Name: "a.svg"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Save(t.Context(), strings.NewReader(c.data), c.file)
			told, ok := errors.AsType[*core.UserError](err)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (!ok || !strings.Contains(told.Text, c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	for _, f := range files(t, dir) {
		if strings.HasPrefix(f, drafts) {
			t.Errorf("%s is left", f)
		}
	}
}

// What is too large is not read to its end.
func TestSaveIsBounded(t *testing.T) {
	s, _ := open(t, Limits{MaxBytes: 100_000})
	endless := &counter{}
	if _, err := s.Save(t.Context(), endless, core.File{}); err == nil || endless.n != 100_001 {
		t.Errorf("%d bytes were read, error %v", endless.n, err)
	}
}

type counter struct{ n int }

func (c *counter) Read(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}

func TestSaveFails(t *testing.T) {
	s, dir := open(t, Limits{})
	broken := errors.New("connection lost")
	if _, err := s.Save(t.Context(), io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)), core.File{}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(core.ErrStopping)
	if _, err := s.Save(ctx, strings.NewReader("x"), core.File{}); !errors.Is(err, core.ErrStopping) {
		t.Errorf("error %v", err)
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

func TestSaveAtOnce(t *testing.T) {
	s, dir := open(t, Limits{})
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if _, err := s.Save(t.Context(), strings.NewReader(strings.Repeat("x", 1+i%2)), core.File{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := files(t, dir); len(got) != 2 {
		t.Errorf("stored %q", got)
	}
}

func TestOpenRemovesDrafts(t *testing.T) {
	s, dir := open(t, Limits{})
	saved := s.mustSave(t, []byte("x"), core.File{})
	if _, err := s.draft(); err != nil {
		t.Fatal(err)
	}
	if len(files(t, dir)) != 2 {
		t.Fatal("no draft")
	}
	again, err := Open(dir, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if diff := cmp.Diff([]string{saved.Path}, files(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestSniff(t *testing.T) {
	for want, data := range map[string][]byte{
		"image/jpeg":               rawJPEG(8, 8, 1, 0x11, 0),
		"image/png":                pngOf(t, quarters(1, 1)),
		"image/gif":                gifOf(t, 1, 1, 1),
		"image/webp":               rawWebP(1, 1),
		"image/heic":               []byte("\x00\x00\x00\x18ftypheic...."),
		"image/avif":               []byte("\x00\x00\x00\x18ftypavif...."),
		"application/pdf":          []byte("%PDF-1.7"),
		"application/zip":          []byte("PK\x03\x04"),
		"text/html":                []byte(loginPage),
		"text/plain":               []byte("a,b\n1,2"),
		"application/octet-stream": {0, 1, 2, 3},
		"video/mp4":                []byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"),
	} {
		if got := sniff(data); got != want {
			t.Errorf("%q: %s, want %s", data[:min(16, len(data))], got, want)
		}
	}
}

func TestSafeName(t *testing.T) {
	for in, want := range map[string]string{
		"cat.png":                         "cat.png",
		"":                                "file.jpg",
		"..":                              "file.jpg",
		"/":                               "file.jpg",
		"../../etc/passwd":                "passwd",
		`C:\Users\ann\cat.png`:            "cat.png",
		"~/.ssh/id":                       "id",
		".bashrc":                         "bashrc",
		"a\x00b\nc\u202egpj.exe":          "a_b_c_gpj.exe",
		"Bericht 2026 (äöü) 日本.pdf":       "Bericht 2026 (äöü) 日本.pdf",
		"a\xffb":                          "a_b",
		strings.Repeat("x", 300) + ".png": strings.Repeat("x", 196) + ".png",
		strings.Repeat("日", 99):           strings.Repeat("日", 66),
		"x." + strings.Repeat("y", 300):   "x." + strings.Repeat("y", 198),
	} {
		if got := safeName(in, "image/jpeg"); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
