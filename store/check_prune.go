package store

import "bellhop/core"

// pruned reports whether the run has gone with its items. The one that gave it
// its number may have been withdrawn before it began.
func (c *checker) pruned(run core.ID) bool {
	item := run.As(core.KindItem)
	return run != "" && (c.gone[item] || c.items[item].State == core.Withdrawn)
}
