package discord

import "sync"

// maxKept is how many entries a bounded map keeps: far more than are in use at
// once, and little memory.
const maxKept = 1024

// bounded is a map that forgets its oldest entry when it is full. The zero
// value is ready; it is safe for concurrent use.
type bounded[K comparable, V any] struct {
	mu    sync.Mutex
	kept  map[K]V // guarded by mu
	order []K     // a ring once it is full; guarded by mu
	next  int     // guarded by mu
}

func (b *bounded[K, V]) put(k K, v V) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept == nil {
		b.kept = map[K]V{}
	}
	if _, ok := b.kept[k]; !ok {
		if len(b.order) < maxKept {
			b.order = append(b.order, k)
		} else {
			delete(b.kept, b.order[b.next])
			b.order[b.next] = k
			b.next = (b.next + 1) % maxKept
		}
	}
	b.kept[k] = v
}

func (b *bounded[K, V]) get(k K) (V, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v, ok := b.kept[k]
	return v, ok
}

func (b *bounded[K, V]) has(k K) bool {
	_, ok := b.get(k)
	return ok
}
