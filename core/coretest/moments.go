package coretest

import (
	"fmt"
	"slices"
	"sync"

	"bellhop/core"
	"bellhop/store"
)

// moments are the points of a life at which a script can intervene. Everything
// that the appliance does to the world passes reach before and after it.
type moments struct {
	mu    sync.Mutex // guards the fields below
	traps []*trap
	held  []chan struct{}
}

type trap struct {
	when, what string
	n          int // reached so often yet before it springs; every: each time
	hold       bool
}

var happenings = []string{"accept", "sort", "begin", "opened", "step", "join", "park", "lapse", "settle", "chunk", "receipt", "fork", "bury", "moved", "notify", "stopclean", "prepared", "say", "attempted",
	"model", "tool", "open", "post", "edit", "update", "resolve", "read", "title", "hook"}

// set reads "WHEN MOMENT [N]", or "off", which ends all.
func (m *moments) set(s *scanner, hold bool) error {
	if s.rest == "off" {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.traps = nil
		return nil
	}
	t := &trap{when: s.word(), what: s.word(), hold: hold}
	t.n = s.number(1)
	if t.when != "before" && t.when != "after" || !slices.Contains(happenings, t.what) {
		return fmt.Errorf("%s %s is no moment", t.when, t.what)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.traps = append(m.traps, t)
	return nil
}

// spring finds a trap for the moment. kill: the process dies here; else wait,
// if not nil, is to be waited for.
func (m *moments) spring(when, what string) (kill bool, wait chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, t := range m.traps {
		if t.when != when || t.what != what {
			continue
		}
		if t.n > 1 {
			t.n--
			continue
		}
		if t.n != every {
			m.traps = slices.Delete(m.traps, i, i+1)
		}
		if t.hold {
			wait = make(chan struct{})
			m.held = append(m.held, wait)
			return false, wait
		}
		return true, nil
	}
	return false, nil
}

// release lets go on who is held.
func (m *moments) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.held {
		close(c)
	}
	m.held = nil
}

func (m *moments) holding() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.held) > 0
}

// left are the traps that wait to spring, but for those that always do.
func (m *moments) left() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, t := range m.traps {
		if t.n != every {
			out = append(out, t.when+" "+t.what)
		}
	}
	return out
}

// outcome of a call that a fault makes fail, by its name in scripts.
var outcomes = map[string]error{
	"notsent": core.ErrNotSent, "lost": core.ErrUnknown, "unknown": core.ErrUnknown, "hang": core.ErrUnknown, "slow": nil,
	"refused": core.ErrRefused, "gone": core.ErrGone, "fatal": core.ErrFatal,
	"before": errCommit, "after": errCommit, "full": store.ErrNoSpace,
}

var errCommit = fmt.Errorf("the commit failed")
