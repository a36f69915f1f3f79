package boltkv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"bellhop/store"
)

// fileName is the store's file in its folder.
const fileName = "bellhop.db"

// bucketName is the bucket that holds all keys; its sequence is Tx.Seq's.
var bucketName = []byte("kv")

// mapSize is the address space that is reserved for the file: no memory, and no
// disk. While the file is smaller, growing never remaps it, and so never waits
// for readers.
const mapSize = 1 << 30

// Options of Open.
type Options struct {
	// Who is what others are told when they find the store in use: the command,
	// as "bellhop run".
	Who string

	// For tests.
	openFile func(name string, flag int, perm fs.FileMode) (*os.File, error) // nil: os.OpenFile
	noSync   bool                                                            // what is committed need not outlive the machine
}

// Engine is a store.Engine in a file.
type Engine struct {
	*store.Committer
}

// Open opens the store in the folder dir; it creates both if they are missing.
// It does not wait: if another process, or another Engine of this one, holds
// the store, the error is a *LockedError. A file that cannot be read is
// store.ErrDamaged. What it checks takes no time: only a later read finds
// damage deep in the file.
func Open(dir string, o Options) (*Engine, error) {
	if err := makeDir(dir); err != nil {
		return nil, fmt.Errorf("create store: %w", err)
	}
	lock, err := acquire(dir, o.Who)
	if err != nil {
		return nil, err
	}
	b, err := openFile(filepath.Join(dir, fileName), o)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	b.lock = lock
	return &Engine{store.NewCommitter(b)}, nil
}

// makeDir creates the folder, durably.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// openFile opens the store's file, after creating it if there is none.
func openFile(path string, o Options) (*backend, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(path, o); err != nil {
			return nil, fmt.Errorf("create store: %w", err)
		}
	}
	b, err := openBolt(path, o)
	if err != nil {
		return nil, err
	}
	if err := b.check(); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), b.Close())
	}
	return b, nil
}

// create makes the file under another name, so that after a crash there is a
// whole store or none.
func create(path string, o Options) error {
	unfinished := path + ".new"
	if err := os.Remove(unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b, err := openBolt(unfinished, o)
	if err != nil {
		return err
	}
	err = b.db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket(bucketName)
		return err
	})
	if err := errors.Join(err, b.Close()); err != nil {
		return err
	}
	if err := os.Rename(unfinished, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// openBolt opens the file with bbolt and keeps hold of bbolt's own descriptor,
// which is the only way to let go of the file when bbolt panics.
func openBolt(path string, o Options) (b *backend, err error) {
	b = &backend{}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = damage("opening the file", v)
		}
		if err == nil {
			return
		}
		if b.file != nil {
			_ = b.file.Close() // closed already, unless bbolt panicked
		}
		b = nil
		switch _, isPath := errors.AsType[*fs.PathError](err); {
		case errors.Is(err, berrors.ErrTimeout):
			err = &LockedError{Path: filepath.Dir(path)}
		case isPath || errors.Is(err, store.ErrDamaged):
			err = fmt.Errorf("open store: %w", err)
		default:
			err = fmt.Errorf("open %s: %w", path, damage("opening the file", err))
		}
	}()
	open := o.openFile
	if open == nil {
		open = os.OpenFile
	}
	b.db, err = bolt.Open(path, 0o600, &bolt.Options{
		// The lock file has excluded bellhop already; this one is for other
		// programs. Anything below bbolt's own retry of 50 ms does not wait.
		Timeout: time.Millisecond,
		// The free list is written with every commit, because without it opening
		// reads the whole file. As a map it takes no search to find a run of pages;
		// opening and committing cost the same as with an array, even when nine
		// tenths of 1 GB are free.
		FreelistType:    bolt.FreelistMapType,
		InitialMmapSize: mapSize,
		NoStatistics:    true,
		NoSync:          o.noSync,
		NoGrowSync:      o.noSync,
		OpenFile: func(name string, flag int, perm fs.FileMode) (*os.File, error) {
			f, err := open(name, flag, perm)
			b.file = f
			return f, err
		},
	})
	return b, err
}

// check is what can be known about the file at once: that it is as long as it
// says, and that both ends of the tree can be reached.
func (b *backend) check() error {
	info, err := b.file.Stat()
	if err != nil {
		return err
	}
	return b.view(func(t *tx) error {
		if size := t.bucket.Tx().Size(); size > info.Size() {
			return fmt.Errorf("%w: the file has %d bytes, %d are in use", store.ErrDamaged, info.Size(), size)
		}
		return t.ends()
	})
}
