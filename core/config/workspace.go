package config

import (
	"os"
	"path/filepath"
	"strings"
)

// Workspaces is the store's folder of the folders in which agents work. What is
// in it is made when it is missing.
const Workspaces = "workspaces"

// space is a folder that the file gives agents to work in.
type space struct{ key, quoted, path string }

// workspace returns the folder to work in, if the file names one. Whether it
// will do is found out once the whole file is read.
func (t *table) workspace() string {
	const key = "workspace"
	if !t.has(key) {
		return ""
	}
	path, ok := t.filePath(key, "")
	if ok {
		t.spaces = append(t.spaces, space{join(t.path, key), t.quoted(key), path})
	}
	return path
}

// checkWorkspaces reports folders that agents must not work in: whoever can
// write to the configuration, to instructions or to the store can do anything.
func (l *loader) checkWorkspaces(store string) {
	file := real(l.file)
	home := filepath.Dir(file)
	store = real(store)
	shared := filepath.Join(store, Workspaces)
	for _, s := range l.spaces {
		path := real(s.path)
		fail := func(format string, args ...any) { l.failAt(s.key, "", s.quoted+format, args...) }
		switch {
		case within(file, path):
			fail(": my configuration is in it, which agents must not change: use a folder such as data/workspaces/NAME")
			continue
		case within(store, path), within(path, store) && (!within(path, shared) || path == shared):
			fail(": my store is there, which agents must not change: use a folder in its folder %s", Workspaces)
			continue
		case within(path, filepath.Join(home, "heartbeat")), within(path, filepath.Join(home, "skills")):
			fail(": agents must not change what is there")
			continue
		}
		if i := l.promptIn(home, path); i != "" {
			fail(": instructions are there (%s), which agents must not change", filepath.Base(i))
			continue
		}
		if info, err := os.Stat(path); !within(path, shared) && (err != nil || !info.IsDir()) {
			fail(": there is no such folder: make it, or use one in the store's folder %s, which I make myself", Workspaces)
		}
	}
}

// promptIn is a file with instructions that is in the folder, or in whose folder
// that is; empty: there is none. The configuration's own folder holds more than
// instructions.
func (l *loader) promptIn(home, folder string) string {
	for _, prompt := range l.prompts {
		at := real(prompt)
		if within(at, folder) || filepath.Dir(at) != home && within(folder, filepath.Dir(at)) {
			return prompt
		}
	}
	return ""
}

// within reports whether path is the folder, or in it.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// real is an absolute path without symbolic links, as far as it exists.
func real(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(found, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
