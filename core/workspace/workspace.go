// Package workspace knows the folders in which bots work: which one a run has,
// which ones people may choose, and that none of these leads out of where it
// should be.
//
// It imports core alone and starts no goroutine.
package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"bellhop/core"
)

// Folders are the ones that are configured. All paths are absolute and clean.
type Folders struct {
	Root     string            // where people may choose any folder
	Agents   map[string]string // each agent's own, by handle
	Bindings []core.Binding    // with the folders of their places
}

// Of is the folder of a bot's run in a thread: the one that is set for the
// thread, else its place's, else the bot's own; empty: none. The first two are
// shared by all bots there. Source: architecture D-17.
func (f Folders) Of(th core.Thread, bot string) string {
	return cmp.Or(f.folder(th.Workspace), f.place(th.Place), f.Agents[bot])
}

// Shared is the folder of all bots in a thread; empty: each has its own.
func (f Folders) Shared(th core.Thread) string {
	return cmp.Or(f.folder(th.Workspace), f.place(th.Place))
}

// place is the folder of the first binding that covers the place.
func (f Folders) place(p core.Place) string {
	for _, b := range f.Bindings {
		if b.Matches(p) {
			return b.Workspace
		}
	}
	return ""
}

// folder is what Choose has made of a choice; empty if it is none any more: the
// configuration may have changed.
func (f Folders) folder(chosen string) string {
	switch {
	case chosen == "":
	case filepath.IsAbs(chosen):
		return f.configured(chosen)
	case f.Root != "" && filepath.IsLocal(chosen):
		return filepath.Join(f.Root, chosen)
	}
	return ""
}

// configured finds a folder of the configuration by its path or its label;
// empty: there is none.
func (f Folders) configured(name string) string {
	all := slices.Collect(maps.Values(f.Agents))
	for _, b := range f.Bindings {
		if b.Workspace != "" {
			all = append(all, b.Workspace)
		}
	}
	slices.Sort(all)
	i := slices.IndexFunc(all, func(path string) bool { return path == name || f.Label(path) == name })
	if i < 0 {
		return ""
	}
	return all[i]
}

// maxChoice bounds what people may choose, in bytes.
const maxChoice = 200

// Choose is what a thread keeps of a person's choice: an agent's handle, a
// configured folder, or a path below the root. ok is false for what is none of
// these. Below the root it is relative, so that the store can be moved.
func (f Folders) Choose(choice string) (chosen string, ok bool) {
	if own := f.Agents[strings.TrimPrefix(choice, "@")]; own != "" {
		return f.keep(own), true
	}
	hidden := func(r rune) bool { return r == '\\' || !unicode.IsPrint(r) }
	if choice == "" || len(choice) > maxChoice || strings.ContainsFunc(choice, hidden) {
		return "", false
	}
	clean := filepath.Clean(choice)
	if path := f.configured(clean); path != "" {
		return f.keep(path), true
	}
	return clean, f.Root != "" && clean != "." && filepath.IsLocal(clean)
}

// keep is a folder as a thread keeps it.
func (f Folders) keep(path string) string {
	if rel, below := f.below(path); below {
		return rel
	}
	return path
}

// below is the folder's path from the root, if it is in it.
func (f Folders) below(path string) (rel string, ok bool) {
	if f.Root == "" {
		return "", false
	}
	rel, err := filepath.Rel(f.Root, path)
	return rel, err == nil && rel != "." && filepath.IsLocal(rel)
}

// Label is what a folder is called: its path from the root, else its name.
func (f Folders) Label(path string) string {
	if rel, below := f.below(path); below {
		return filepath.ToSlash(rel)
	}
	return filepath.Base(path)
}

// Open makes sure that the folder can be worked in. One below the root is made,
// 0700, if it is missing; none there may lead out of it. Any other must exist.
func (f Folders) Open(path string) error {
	return f.look(path, func(root *os.Root, rel string) error { return root.MkdirAll(rel, 0o700) })
}

// Check is Open without making anything: a folder below the root may be missing.
func (f Folders) Check(path string) error {
	return f.look(path, func(root *os.Root, rel string) error {
		info, err := root.Stat(rel)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case err == nil && !info.IsDir():
			return errNoFolder
		}
		return err
	})
}

var errNoFolder = errors.New("it is no folder")

func (f Folders) look(path string, below func(root *os.Root, rel string) error) error {
	rel, in := f.below(path)
	if !in {
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() {
			err = errNoFolder
		}
		return err
	}
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return fmt.Errorf("the folder of all workspaces: %w", err)
	}
	return errors.Join(below(root, rel), root.Close())
}
