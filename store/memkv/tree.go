package memkv

import (
	"bytes"
	"hash/fnv"

	"bellhop/store"
)

// node is an immutable treap: a search tree by key and a heap by priority. The
// priority is a hash of the key, so the shape depends on the keys alone and is
// balanced with overwhelming probability. Writes copy the path to the root, so
// that any root is a snapshot for ever. A nil node is the empty tree.
type node struct {
	key, value  []byte
	priority    uint32
	left, right *node
}

// priority need not resist an attacker: the tree serves tests and trials.
func priority(key []byte) uint32 {
	h := fnv.New32a()
	h.Write(key)
	// FNV leaves the high bits of short keys alike; this spreads them.
	x := h.Sum32()
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

func (n *node) with(left, right *node) *node {
	return &node{n.key, n.value, n.priority, left, right}
}

// get returns the value of the key, nil if there is none.
func (n *node) get(key []byte) []byte {
	for n != nil {
		switch c := bytes.Compare(key, n.key); {
		case c == 0:
			return n.value
		case c < 0:
			n = n.left
		default:
			n = n.right
		}
	}
	return nil
}

// put returns the tree with the pair of leaf in it.
func (n *node) put(leaf *node) *node {
	// Equal keys have equal priorities, so the old pair, if there is one, is
	// found before a lower priority is.
	if n == nil || n.priority < leaf.priority {
		l, r := n.split(leaf.key)
		return leaf.with(l, r)
	}
	switch c := bytes.Compare(leaf.key, n.key); {
	case c == 0:
		return leaf.with(n.left, n.right)
	case c < 0:
		return n.with(n.left.put(leaf), n.right)
	default:
		return n.with(n.left, n.right.put(leaf))
	}
}

// split returns the keys below key and those above it; key is not in n.
func (n *node) split(key []byte) (below, above *node) {
	if n == nil {
		return nil, nil
	}
	if bytes.Compare(n.key, key) < 0 {
		l, r := n.right.split(key)
		return n.with(n.left, l), r
	}
	l, r := n.left.split(key)
	return l, n.with(r, n.right)
}

// delete returns the tree without the key.
func (n *node) delete(key []byte) *node {
	if n == nil {
		return nil
	}
	switch c := bytes.Compare(key, n.key); {
	case c == 0:
		return join(n.left, n.right)
	case c < 0:
		return n.with(n.left.delete(key), n.right)
	default:
		return n.with(n.left, n.right.delete(key))
	}
}

// join is the tree of both; all keys of l are below those of r.
func join(l, r *node) *node {
	switch {
	case l == nil:
		return r
	case r == nil:
		return l
	case l.priority >= r.priority:
		return l.with(l.left, join(l.right, r))
	default:
		return r.with(join(l, r.left), r.right)
	}
}

// ascend appends to kvs the pairs with from <= key < to, in key order, until
// there are limit of them (limit <= 0: all).
func (n *node) ascend(kvs []store.KV, from, to []byte, limit int) []store.KV {
	if n == nil || full(kvs, limit) {
		return kvs
	}
	aboveFrom, belowTo := bytes.Compare(n.key, from) >= 0, bytes.Compare(n.key, to) < 0
	if aboveFrom {
		kvs = n.left.ascend(kvs, from, to, limit)
	}
	if aboveFrom && belowTo && !full(kvs, limit) {
		kvs = append(kvs, store.KV{Key: n.key, Value: n.value})
	}
	if belowTo {
		kvs = n.right.ascend(kvs, from, to, limit)
	}
	return kvs
}

// descend is ascend from the end.
func (n *node) descend(kvs []store.KV, from, to []byte, limit int) []store.KV {
	if n == nil || full(kvs, limit) {
		return kvs
	}
	aboveFrom, belowTo := bytes.Compare(n.key, from) >= 0, bytes.Compare(n.key, to) < 0
	if belowTo {
		kvs = n.right.descend(kvs, from, to, limit)
	}
	if aboveFrom && belowTo && !full(kvs, limit) {
		kvs = append(kvs, store.KV{Key: n.key, Value: n.value})
	}
	if aboveFrom {
		kvs = n.left.descend(kvs, from, to, limit)
	}
	return kvs
}

func full(kvs []store.KV, limit int) bool { return limit > 0 && len(kvs) >= limit }

// all appends every pair, in key order.
func (n *node) all(kvs []store.KV) []store.KV {
	if n == nil {
		return kvs
	}
	kvs = append(n.left.all(kvs), store.KV{Key: n.key, Value: n.value})
	return n.right.all(kvs)
}
