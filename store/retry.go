package store

import "sync"

// unsure keeps what transactions that reported a failure would have returned,
// by what they were about. A failed commit stores nothing, as far as an engine
// can know. Where it was stored all the same (the connection broke after it,
// say), the retry finds its work done, and its caller must still learn of it.
type unsure[T any] struct {
	mu     sync.Mutex // guards result
	result map[string]T
}

func (u *unsure[T]) get(key string) (T, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	v, ok := u.result[key]
	return v, ok
}

// take is get for one caller alone: it forgets the key.
func (u *unsure[T]) take(key string) (T, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	v, ok := u.result[key]
	delete(u.result, key)
	return v, ok
}

// note forgets the key if the transaction succeeded, and keeps v if its commit
// failed: when its closure had come to its end.
func (u *unsure[T]) note(key string, v T, ended bool, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case err == nil:
		delete(u.result, key)
	case ended:
		if u.result == nil {
			u.result = map[string]T{}
		}
		u.result[key] = v
	}
}
