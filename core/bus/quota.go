package bus

import (
	"fmt"
	"sync"
	"time"

	"bellhop/core"
)

// quotaWindow is the time for which a person's messages are counted.
const quotaWindow = time.Minute

// quota counts what each human sends, so that nobody keeps the team busy
// alone. A window begins with a person's first message that is taken. What the
// ledger has not taken, or had taken already, does not count. A restart forgets
// the windows.
type quota struct {
	most int // messages in a window; 0: no limit

	mu      sync.Mutex // guards windows
	windows map[core.PersonID]window
}

type window struct {
	ends  time.Time
	taken int
	told  bool // that no more is taken
}

// left is what is taken of the person from now on.
func (q *quota) left(p core.PersonID, now time.Time) core.Quota {
	w := q.window(p, now)
	out := core.Quota{Left: max(q.most-w.taken, 0)}
	if !w.told {
		rest := w.ends.Sub(now).Round(time.Second)
		out.Spent = fmt.Sprintf("I take %s a minute from each person. I have not read this one, and read none that you send in the next %s. Please send it again then.",
			plural(q.most, "message"), plural(int(max(rest, time.Second).Seconds()), "second"))
	}
	return out
}

// count notes what became of a message of the person.
func (q *quota) count(p core.PersonID, now time.Time, fate core.Fate) {
	switch fate {
	case core.FateStored, core.FateKept, core.FateEdited, core.FateTaken, core.FateLimited:
	default:
		return
	}
	if q.most == 0 {
		return
	}
	w := q.window(p, now)
	if fate == core.FateLimited {
		w.told = true
	} else {
		w.taken++
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.windows) > 10_000 { // a crowd must not cost memory for ever
		for id, old := range q.windows {
			if !now.Before(old.ends) {
				delete(q.windows, id)
			}
		}
	}
	q.windows[p] = w
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// window is the person's current one.
func (q *quota) window(p core.PersonID, now time.Time) window {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w, ok := q.windows[p]; ok && now.Before(w.ends) {
		return w
	}
	return window{ends: now.Add(quotaWindow)}
}
