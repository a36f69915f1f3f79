package coretest

import (
	"context"
	"fmt"

	"bellhop/core"
)

// due is what runs tell of threads that are to be given a title; nil if none is.
func (w *world) due(tell func(core.ID)) func(core.ID) {
	if !w.scene.titles {
		return nil
	}
	return tell
}

// title gives a place a title.
func (a *adapter) title(ctx context.Context, at core.Place, title string) error {
	_, err := a.call(ctx, "title", func() (core.Receipt, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.life.over() {
			return core.Receipt{}, core.ErrUnknown
		}
		a.titles[at] = title
		return core.Receipt{}, nil
	})
	return err
}

// entitle is a person's title of a place.
func (p *platform) entitle(at core.Place, who, title string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.titles[at] = title
	in := p.event(core.InNamed, at, who, "")
	in.Text = title
	p.deliver(in)
}

// called says what is wrong if the place is called otherwise.
func (p *platform) called(at core.Place, want string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.titles[at] != want {
		return fmt.Errorf("it is called %q", p.titles[at])
	}
	return nil
}
