package slack

// recent is a map that forgets its oldest entries. The owner guards it.
type recent[K comparable, V any] struct {
	entries map[K]V
	order   []K // a ring once it is full
	next    int
	most    int
}

func newRecent[K comparable, V any](most int) *recent[K, V] {
	return &recent[K, V]{entries: map[K]V{}, most: most}
}

// put sets an entry. One that is there already stays as old as it is.
func (r *recent[K, V]) put(k K, v V) {
	if _, ok := r.entries[k]; !ok {
		if len(r.order) < r.most {
			r.order = append(r.order, k)
		} else {
			delete(r.entries, r.order[r.next])
			r.order[r.next] = k
			r.next = (r.next + 1) % r.most
		}
	}
	r.entries[k] = v
}

// get is the entry of k.
func (r *recent[K, V]) get(k K) (V, bool) {
	v, ok := r.entries[k]
	return v, ok
}
