package coretest

import (
	"context"

	"bellhop/core"
	"bellhop/core/perm"
	"bellhop/core/run"
)

// holds is what holds for a run's calls, as cmd/bellhop puts it together; in a
// script without rules every call may be made.
func (l *life) holds(ctx context.Context, r core.Run) (run.Rules, error) {
	sc := &l.w.scene
	mode, remembered, err := l.store.Permits(ctx, r.Thread, r.Bot)
	if sc.rules == nil && mode == "" {
		mode = core.ModeBypass
	}
	out := run.Rules{Levels: perm.Of(sc.policy(), r.Bot, r.Reply.Place, mode, remembered), Nobody: !sc.access.Approvers.Anybody(r.For.ID)}
	for i, id := range r.People {
		if role := sc.access.Role(core.Person{ID: id}); i == 0 || role < out.Role {
			out.Role = role
		}
	}
	return out, err
}
