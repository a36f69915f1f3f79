package boltkv

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockName is the lock file's name. It stays when the store is closed: only the
// lock on it says whether the store is in use, its text says by whom.
const lockName = "bellhop.lock"

// LockedError says that somebody else holds the store.
type LockedError struct {
	Path   string // the store's folder
	Holder string // as "bellhop run (pid 1234)"; may be empty
}

func (e *LockedError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "another process"
	}
	return fmt.Sprintf("store %s is in use by %s; stop it first, or use its control socket", e.Path, holder)
}

// acquire takes the lock of the folder. It is the kernel's, so it ends with the
// process, however that ends.
func acquire(dir, who string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock store: %w", err)
	}
	err = flock(f)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		// Empty if the holder has only just got the lock.
		holder, _ := io.ReadAll(io.LimitReader(f, 256))
		err = &LockedError{Path: dir, Holder: strings.TrimSpace(string(holder))}
		return nil, errors.Join(err, f.Close())
	}
	if err == nil {
		err = sign(f, who)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock store: %w", err), f.Close())
	}
	return f, nil
}

// flock does not wait.
func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// sign writes who holds the lock. The full text is in place before the rest of
// an older one is cut off, so that nobody reads an empty file.
func sign(f *os.File, who string) error {
	text := fmt.Sprintf("pid %d\n", os.Getpid())
	if who != "" {
		text = fmt.Sprintf("%s (pid %d)\n", who, os.Getpid())
	}
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
}
