package console

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	historyLines = 1000
	historyLine  = 4096 // bytes; a longer line is not kept
)

// history is the lines that the person entered, oldest first, kept in a file
// that only they can read. It implements term.History. Several processes may
// share the file; each sees what was there when it started. One goroutine owns
// it.
type history struct {
	path  string // empty: not kept
	lines []string
	err   error // the first failure to write the file
}

// openHistory reads the file, which need not exist.
func openHistory(path string) (*history, error) {
	h := &history{path: path}
	if path == "" {
		return h, nil
	}
	lines, err := readHistory(path)
	h.lines = lines
	return h, err
}

// readHistory returns the newest lines of the file.
func readHistory(path string) ([]string, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines := slices.DeleteFunc(strings.Split(string(b), "\n"), func(l string) bool { return l == "" })
	return newest(lines), nil
}

func newest(lines []string) []string {
	return lines[max(0, len(lines)-historyLines):]
}

// Add implements term.History. Blank lines and repetitions are left out.
func (h *history) Add(line string) {
	if strings.TrimSpace(line) == "" || len(line) > historyLine {
		return
	}
	if n := len(h.lines); n > 0 && h.lines[n-1] == line {
		return
	}
	h.lines = newest(append(h.lines, line))
	if h.path == "" || h.err != nil {
		return
	}
	h.err = h.write(line)
}

// write adds the line to what is in the file now. The file is replaced as a
// whole, so that it is never longer than the bound nor half written.
func (h *history) write(line string) error {
	lines, err := readHistory(h.path)
	if err != nil {
		return err
	}
	lines = newest(append(lines, line))
	// CreateTemp makes files that only their owner can read.
	f, err := os.CreateTemp(filepath.Dir(h.path), ".history-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// Len implements term.History.
func (h *history) Len() int { return len(h.lines) }

// At implements term.History: 0 is the newest line.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
