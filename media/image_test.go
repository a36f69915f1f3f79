package media

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

func TestImage(t *testing.T) {
	s, dir := open(t, Limits{Edge: 160})
	rendered := 0
	s.render = func(ctx context.Context, src io.ReadSeeker, l Limits) (core.Image, error) {
		rendered++
		return render(ctx, src, l)
	}
	hash := s.mustSave(t, jpegOf(t, photo(180, 90)), core.File{}).Hash
	line := s.mustSave(t, pngOf(t, quarters(50, 50)), core.File{}).Hash
	first, err := s.Image(t.Context(), hash)
	if err != nil || first.MIME != "image/jpeg" || first.Width != 160 || first.Height != 80 {
		t.Fatalf("%s, %d by %d, error %v", first.MIME, first.Width, first.Height, err)
	}
	for range 2 {
		again, err := s.Image(t.Context(), hash)
		if err != nil || !bytes.Equal(again.Data, first.Data) || again.Width != 160 || again.Height != 80 || again.MIME != "image/jpeg" {
			t.Errorf("another picture: %d bytes, error %v", len(again.Data), err)
		}
		if p, err := s.Image(t.Context(), line); err != nil || p.MIME != "image/png" {
			t.Errorf("%s, error %v", p.MIME, err)
		}
	}
	if rendered != 2 || len(files(t, dir)) != 4 {
		t.Errorf("decoded %d times, stored %q", rendered, files(t, dir))
	}

	// A copy that is damaged is made again.
	for _, damage := range []string{"", "\xff\xd8\xff", "BM"} {
		name := filepath.Join(dir, s.pictureName(hash[:2]+"/"+hash[2:], "image/jpeg"))
		if err := os.WriteFile(name, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if again, err := s.Image(t.Context(), hash); err != nil || !bytes.Equal(again.Data, first.Data) {
			t.Errorf("after damage: %d bytes, error %v", len(again.Data), err)
		}
	}
}

func TestNoImage(t *testing.T) {
	s, dir := open(t, Limits{})
	unknown := strings.Repeat("ab", 32)
	if _, err := s.Image(t.Context(), unknown); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("error %v", err)
	}
	for _, hash := range []string{"", "ab", "../../etc/passwd", strings.Repeat("AB", 32), strings.Repeat("/", 64), unknown + "ab"} {
		if _, err := s.Image(t.Context(), hash); err == nil {
			t.Errorf("%q is taken for a hash", hash)
		}
	}
	text := s.mustSave(t, []byte("text"), core.File{Name: "cat.png", MIME: "image/png"})
	if _, err := s.Image(t.Context(), text.Hash); !isTold(err, "type text/plain") {
		t.Errorf("error %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "ab"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "ab", unknown[2:]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Image(t.Context(), unknown); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("error %v", err)
	}
}

func isTold(err error, text string) bool {
	told, ok := errors.AsType[*core.UserError](err)
	return ok && strings.Contains(told.Text, text)
}

// One image is decoded at a time, and none for longer than the limit.
func TestDecodingIsBounded(t *testing.T) {
	s, _ := open(t, Limits{Time: 5 * time.Second})
	var hashes []string
	for i := range 4 {
		hashes = append(hashes, s.mustSave(t, pngOf(t, quarters(10+i, 10)), core.File{}).Hash)
	}
	synctest.Test(t, func(t *testing.T) {
		s.decoding = make(chan struct{}, 1)
		var running atomic.Int32
		s.render = func(ctx context.Context, _ io.ReadSeeker, _ Limits) (core.Image, error) {
			if running.Add(1) > 1 {
				t.Error("two at a time")
			}
			defer running.Add(-1)
			<-ctx.Done()
			return core.Image{}, errDamaged
		}
		began := time.Now()
		var wg sync.WaitGroup
		for _, hash := range hashes {
			wg.Go(func() {
				if _, err := s.Image(t.Context(), hash); !isTold(err, "too long to decode") {
					t.Errorf("error %v", err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took != 20*time.Second {
			t.Errorf("took %s", took)
		}

		// Who waits, and who decodes, ends when it is told to.
		ctx, cancel := context.WithCancelCause(t.Context())
		for _, hash := range hashes[:2] {
			wg.Go(func() {
				if _, err := s.Image(ctx, hash); !errors.Is(err, core.ErrStopping) {
					t.Errorf("error %v", err)
				}
			})
		}
		synctest.Wait()
		cancel(core.ErrStopping)
		wg.Wait()
	})
}

func TestPrune(t *testing.T) {
	s, dir := open(t, Limits{})
	now := time.Now()
	age := func(saved core.Saved, days int) {
		t.Helper()
		when := now.AddDate(0, 0, -days)
		if err := os.Chtimes(filepath.Join(dir, saved.Path), when, when); err != nil {
			t.Fatal(err)
		}
	}
	picture := func(saved core.Saved) {
		t.Helper()
		if _, err := s.Image(t.Context(), saved.Hash); err != nil {
			t.Fatal(err)
		}
	}
	saved := map[string]core.Saved{}
	for i, name := range []string{"old", "old, used", "old, saved again", "fresh"} {
		saved[name] = s.mustSave(t, pngOf(t, quarters(10+i, 10)), core.File{})
		picture(saved[name])
		age(saved[name], 100)
	}
	age(saved["fresh"], 1)
	picture(saved["old, used"])
	s.mustSave(t, pngOf(t, quarters(12, 10)), core.File{})

	removed, err := s.Prune(t.Context(), now.AddDate(0, 0, -90))
	if err != nil || removed != 1 {
		t.Errorf("%d removed, error %v", removed, err)
	}
	left := files(t, dir)
	if len(left) != 6 {
		t.Errorf("left %q", left)
	}
	for name, f := range saved {
		_, err := s.Image(t.Context(), f.Hash)
		if gone := errors.Is(err, core.ErrNotFound); gone != (name == "old") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if removed, err := s.Prune(t.Context(), now.Add(time.Hour)); err != nil || removed != 3 || len(files(t, dir)) != 0 {
		t.Errorf("%d removed, error %v, left %q", removed, err, files(t, dir))
	}
}

// Files that are saved and used while others prune are there afterwards.
func TestPruneMeanwhile(t *testing.T) {
	s, dir := open(t, Limits{})
	var wg sync.WaitGroup
	done := make(chan struct{})
	defer wg.Wait()
	defer close(done)
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if _, err := s.Prune(t.Context(), time.Now().Add(-time.Hour)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	long := time.Now().AddDate(-1, 0, 0)
	for range 200 {
		saved := s.mustSave(t, []byte("content"), core.File{})
		if _, err := os.Stat(filepath.Join(dir, saved.Path)); err != nil {
			t.Fatal(err)
		}
		// It is old again, and may go at any time from now on.
		if err := os.Chtimes(filepath.Join(dir, saved.Path), long, long); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}
