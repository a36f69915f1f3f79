package bus

import (
	"context"

	"bellhop/core"
)

// Title is how a place is named; nil where it cannot be.
func (b *Bus) Title(p core.Place) func(ctx context.Context, title string) error {
	f := b.Features(p.Adapter)
	if f.Title == nil || !b.Up(p.Adapter) {
		return nil
	}
	return func(ctx context.Context, title string) error { return f.Title(ctx, b.current(p), title) }
}
