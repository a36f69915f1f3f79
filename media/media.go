// Package media keeps the files that people send, by their content, and makes
// pictures of them that a model can be shown.
//
// Everything that comes in is taken for hostile: sizes are bounded before and
// while a file is read, types are told by content alone, and an image is
// decoded only when what it says of itself is within bounds of pixels, memory
// and time. It imports core, imaging and x/image, and starts no goroutine.
//
// A file is at ab/cdef…, which is its SHA-256, and the picture made of it
// beside it. Its time of modification is when it was last used.
package media

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"bellhop/core"
)

// Limits bounds what a Store takes. The zero value of a field is its default.
type Limits struct {
	MaxBytes  int64         // of a file; default 20 MiB, what Telegram lets bots download
	MaxPixels int           // of an image; default 40 million
	Edge      int           // pixels of a picture's longer side; default 1568, above which Anthropic's models shrink it
	Time      time.Duration // to decode an image; default 10 s
}

func (l Limits) withDefaults() Limits {
	return Limits{cmp.Or(l.MaxBytes, 20<<20), cmp.Or(l.MaxPixels, 40_000_000), cmp.Or(l.Edge, 1568), cmp.Or(l.Time, 10*time.Second)}
}

// Store is a folder of files. Its methods may be called by any number of
// goroutines; the folder belongs to one Store at a time.
type Store struct {
	root   *os.Root
	limits Limits
	// decoding has one token: a decoder may need all the memory that an image is
	// allowed.
	decoding chan struct{}
	// used is held while a file is put in its place, noted as used, or found old
	// and removed, which are steps of one system call each: what Prune finds old is
	// old when it goes.
	used sync.Mutex
	// render makes the picture of an image. A process of its own can take its
	// place, since nothing else decodes more than a header.
	render func(ctx context.Context, src io.ReadSeeker, l Limits) (core.Image, error)
}

// drafts is the folder of what is not complete yet.
const drafts = "tmp"

// Open opens the folder, making it if need be, and removes what an earlier
// process has left unfinished.
func Open(dir string, limits Limits) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("media: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("media: %w", err)
	}
	if err := errors.Join(root.RemoveAll(drafts), root.Mkdir(drafts, 0o700)); err != nil {
		return nil, fmt.Errorf("media: %w", errors.Join(err, root.Close()))
	}
	return &Store{root: root, limits: limits.withDefaults(), decoding: make(chan struct{}, 1), render: render}, nil
}

// Close closes the folder. No other method may be called any more.
func (s *Store) Close() error { return s.root.Close() }

// Prune removes the files that were last used before the time, with their
// pictures, and returns how many files that were.
func (s *Store) Prune(ctx context.Context, before time.Time) (int, error) {
	folders, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return 0, fmt.Errorf("media: %w", err)
	}
	removed := 0
	for _, folder := range folders {
		if folder.Name() == drafts || !folder.IsDir() {
			continue
		}
		if ctx.Err() != nil {
			return removed, context.Cause(ctx)
		}
		n, err := s.pruneFolder(folder.Name(), before)
		removed += n
		if err != nil {
			return removed, fmt.Errorf("media: %w", err)
		}
	}
	return removed, nil
}

func (s *Store) pruneFolder(folder string, before time.Time) (int, error) {
	entries, err := fs.ReadDir(s.root.FS(), folder)
	if err != nil {
		return 0, err
	}
	removed := 0
	kept := "" // the last file that stays; its pictures come right after it
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		file, _, isPicture := strings.Cut(name, ".")
		if isPicture {
			if file != kept {
				err = s.root.Remove(name)
			}
		} else {
			var gone bool
			if gone, err = s.pruneFile(name, before); gone {
				removed++
			} else {
				kept = name
			}
		}
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// pruneFile removes the file if it is old.
func (s *Store) pruneFile(name string, before time.Time) (bool, error) {
	s.used.Lock()
	defer s.used.Unlock()
	info, err := s.root.Lstat(name)
	if err != nil || !info.ModTime().Before(before) {
		return false, err
	}
	return true, s.root.Remove(name)
}

// touch notes that the file is used now.
func (s *Store) touch(name string) error {
	s.used.Lock()
	defer s.used.Unlock()
	now := time.Now()
	return s.root.Chtimes(name, now, now)
}

// pathOf is where the content with the hash is.
func pathOf(hash string) (string, error) {
	if b, err := hex.DecodeString(hash); err != nil || len(b) != 32 || strings.ToLower(hash) != hash {
		return "", fmt.Errorf("media: %q is no hash of a file", hash)
	}
	return hash[:2] + "/" + hash[2:], nil
}

// open opens a stored file to read it. What is no regular file is refused, and
// not waited for.
func (s *Store) open(name string) (*os.File, error) {
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s is no regular file", name), err, f.Close())
	}
	return f, nil
}

// refuse is why a file is not taken, or an image not looked at, for a person or
// a model to read.
func refuse(format string, args ...any) error {
	return &core.UserError{Text: fmt.Sprintf(format, args...)}
}
