package media

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"bellhop/core"
)

// Save keeps what r gives as the content of the file f. It reads at most one
// byte more than is allowed. When it returns nil the content is on disk, once,
// however often it was saved. A *core.UserError says why the file is refused:
// it is too large, empty, or a web page instead of the file.
func (s *Store) Save(ctx context.Context, r io.Reader, f core.File) (core.Saved, error) {
	if f.Size > s.limits.MaxBytes {
		return core.Saved{}, s.tooLarge(f.Size)
	}
	d, err := s.draft()
	if err != nil {
		return core.Saved{}, fmt.Errorf("media: %w", err)
	}
	defer d.discard()
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(d, hash), io.LimitReader(reader{ctx, r}, s.limits.MaxBytes+1))
	switch {
	case ctx.Err() != nil:
		return core.Saved{}, context.Cause(ctx)
	case err != nil:
		return core.Saved{}, fmt.Errorf("media: %w", err)
	case size > s.limits.MaxBytes:
		return core.Saved{}, s.tooLarge(max(size, f.Size))
	case size == 0:
		return core.Saved{}, refuse("the file is empty")
	}
	head := make([]byte, sniffLength)
	n, err := d.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return core.Saved{}, fmt.Errorf("media: %w", err)
	}
	head = head[:n]
	if webPage(head) && !(expectsPage(f) && (f.Size == 0 || f.Size == size)) {
		return core.Saved{}, refuse("a web page came instead of the file, most likely a login page: " +
			"the platform did not let me download it, and my owner must check what I may read there (on Slack, the scope files:read)")
	}
	out := core.Saved{Hash: hex.EncodeToString(hash.Sum(nil)), MIME: sniff(head), Size: size}
	out.Name = safeName(f.Name, out.MIME)
	// One that cannot be read is kept like any other file; Image says what is wrong.
	if h, err := inspect(d, out.MIME); err == nil {
		out.Width, out.Height = h.width, h.height
	}
	if out.Path, err = pathOf(out.Hash); err != nil {
		return core.Saved{}, err
	}
	if err := d.install(out.Path); err != nil {
		return core.Saved{}, fmt.Errorf("media: %w", err)
	}
	return out, nil
}

func (s *Store) tooLarge(size int64) error {
	const MB = 1e6
	if size > s.limits.MaxBytes+1 {
		return refuse("the file is too large: %.1f MB, and I take at most %.1f MB", float64(size)/MB, float64(s.limits.MaxBytes)/MB)
	}
	return refuse("the file is too large: I take at most %.1f MB", float64(s.limits.MaxBytes)/MB)
}

// reader is a reader that ends with its context.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// draft is a file that is being written.
type draft struct {
	*os.File
	store *Store
	name  string
}

func (s *Store) draft() (*draft, error) {
	name := path.Join(drafts, rand.Text())
	f, err := s.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	return &draft{f, s, name}, err
}

// discard removes the draft, unless it has been installed.
func (d *draft) discard() {
	_ = d.Close()
	_ = d.store.root.Remove(d.name)
}

// install makes the draft the file of that name, durably. It takes the place of
// one that is there, which is the same, but may be damaged.
func (d *draft) install(name string) error {
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return err
	}
	root, folder := d.store.root, path.Dir(name)
	err := root.Mkdir(folder, 0o700)
	fresh := err == nil
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	d.store.used.Lock()
	err = root.Rename(d.name, name)
	d.store.used.Unlock()
	if err == nil && fresh {
		err = syncFolder(root, ".")
	}
	if err != nil {
		return err
	}
	return syncFolder(root, folder)
}

func syncFolder(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
