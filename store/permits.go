package store

import (
	"context"
	"maps"
	"slices"

	"bellhop/core"
)

// maxPermits is how many calls of an agent may be allowed for good. The oldest
// make room: they are asked about again.
const maxPermits = 200

// remember allows a call for good. What is allowed already stays as it is.
func (t *tx) remember(r core.Remembered) (core.Remembered, error) {
	all, err := t.permits(r.Agent)
	if err != nil {
		return r, err
	}
	for _, old := range all {
		if old.Workspace == r.Workspace && old.Tool == r.Tool && old.Hash == r.Hash {
			return old, nil
		}
	}
	if r.ID, err = t.id(core.KindPermit); err != nil {
		return r, err
	}
	r.Time = t.Now()
	for _, old := range all[:max(0, len(all)+1-maxPermits)] {
		if err := t.Delete(permitKey(old.Agent, old.ID)); err != nil {
			return r, err
		}
	}
	return r, t.insert(permitKey(r.Agent, r.ID), r)
}

// permits lists what an agent may do for good, oldest first.
func (t *tx) permits(agent string) ([]core.Remembered, error) {
	var out []core.Remembered
	return out, each(t, permitsOf(agent), 0, func(_ []byte, r core.Remembered) error {
		out = append(out, r)
		return nil
	})
}

// Permits is what was said in chat about the calls of an agent in a thread: the
// thread's mode, empty where none was set, and what was allowed for good,
// wherever the agent works, oldest first.
func (s *Store) Permits(ctx context.Context, thread core.ID, agent string) (mode core.Mode, remembered []core.Remembered, err error) {
	err = s.view(ctx, func(t *tx) error {
		th, err := need[core.Thread](t, famThread, thread)
		if err != nil {
			return err
		}
		mode = th.Mode
		remembered, err = t.permits(agent)
		return err
	})
	return mode, remembered, err
}

// Remembered implements core.Desk.
func (d *desk) Remembered(agent string) ([]core.Remembered, error) { return d.permits(agent) }

// Forget implements core.Desk.
func (d *desk) Forget(permits ...core.Remembered) error {
	for _, r := range permits {
		if err := d.Delete(permitKey(r.Agent, r.ID)); err != nil {
			return err
		}
	}
	return nil
}

// checkPermits: each is of one call, and none twice.
func (c *checker) checkPermits() error {
	type call struct{ agent, workspace, tool, hash string }
	seen := map[call]core.ID{}
	count := map[string]int{}
	err := read(c, famPermit, func(r core.Remembered) []byte { return permitKey(r.Agent, r.ID) }, func(key string, r core.Remembered) {
		of := call{r.Agent, r.Workspace, r.Tool, r.Hash}
		switch {
		case r.Agent == "" || r.Tool == "" || r.Hash == "" || r.ID.Kind() != core.KindPermit:
			c.say("row %q allows no call", key)
		case seen[of] != "":
			c.say("%s allows what %s does", r.ID, seen[of])
		}
		seen[of] = r.ID
		count[r.Agent]++
	})
	for _, agent := range slices.Sorted(maps.Keys(count)) {
		if n := count[agent]; n > maxPermits {
			c.say("%d calls of %s are allowed for good", n, agent)
		}
	}
	return err
}
