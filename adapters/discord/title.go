package discord

import (
	"context"
	"fmt"
	"net/http"

	"bellhop/core"
)

// rename gives a thread that we have opened a better title than the first words
// of what was asked. One that people have opened, or named since, keeps its
// name; so does one that is archived, since to name it would reopen it.
func (a *Adapter) rename(ctx context.Context, p core.Place, name string) error {
	if p.Topic == "" || !isID(p.Topic) {
		return fmt.Errorf("%w: there is no thread to name", core.ErrRefused)
	}
	me, err := a.self(ctx)
	if err != nil {
		return a.outcome(err)
	}
	path := "channels/" + p.Topic
	var w wireChannel
	if err := a.api.call(ctx, http.MethodGet, path, nil, &w); err != nil {
		return a.outcome(err)
	}
	switch {
	case !w.channel().thread() || w.Owner != me.user:
		return fmt.Errorf("%w: the thread is not ours", core.ErrRefused)
	case w.Name == name:
		return nil
	}
	first, err := a.firstName(ctx, p, me)
	if err != nil {
		return err
	}
	if w.Name != first && w.Name != threadName {
		return fmt.Errorf("%w: somebody has named the thread", core.ErrRefused)
	}
	return a.outcome(a.api.call(ctx, http.MethodPatch, path, map[string]any{"name": name}, nil))
}

// firstName is the name that we give a thread when we open it.
func (a *Adapter) firstName(ctx context.Context, p core.Place, me identity) (string, error) {
	if name, ok := a.asked.get(p.Topic); ok {
		return name, nil
	}
	if a.known.isForum(p.Channel) {
		return "", fmt.Errorf("%w: what the post was called at first is not known any more", core.ErrRefused)
	}
	var m message
	if err := a.api.call(ctx, http.MethodGet, messagePath(p.Channel, p.Topic), nil, &m); err != nil {
		return "", a.outcome(err)
	}
	var mentioned bool
	return title(a.render(&m, me.user, &mentioned)), nil
}
