package storetest

import (
	"slices"

	"pgregory.net/rapid"

	"bellhop/core"
)

// sort settles that the items are a bot's. What waited for nothing but them goes.
func (th *thread) sort(items []*item, bot string) (woken []*item) {
	moved := false
	for _, it := range items {
		if it.unsorted && it.bot != bot {
			woken, moved = append(woken, it), true
			it.bot = bot
		}
		it.unsorted = false
	}
	if moved {
		th.enter(bot)
		woken = append(woken, th.release(chief)...)
	}
	return woken
}

// sort has a bot chosen for what names nobody.
func (h *house) sort(t *rapid.T) {
	unsorted := func(it *item) bool {
		return it.unsorted && it.state == core.Queued && it.bot == chief && it.told.ID != ""
	}
	at, ok := h.choose(t, func(at desk) bool {
		return at.bot == chief && !h.flying(at) && len(at.th.itemsThat(unsorted)) > 0
	})
	if !ok {
		return
	}
	items := at.th.itemsThat(unsorted)
	items = items[:rapid.IntRange(1, len(items)).Draw(t, "items")]
	var told []core.Item
	for _, it := range items {
		told = append(told, it.told)
	}
	bot := rapid.SampledFrom([]string{chief, scout, scout, scribe}).Draw(t, "bot")
	var got []core.Item
	var woken []*item
	h.do(func() (err error) {
		got, err = h.store.Sort(h.ctx, slices.Clone(told), bot, core.Usage{})
		return err
	}, func() { woken = at.th.sort(items, bot) }, func() { h.told(woken, got) })
}
