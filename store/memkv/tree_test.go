package memkv

import (
	"encoding/binary"
	"math/bits"
	"testing"
)

func (n *node) depth() int {
	if n == nil {
		return 0
	}
	return 1 + max(n.left.depth(), n.right.depth())
}

// The tree stays shallow whatever the order of the keys.
func TestDepth(t *testing.T) {
	const n = 20_000
	for name, key := range map[string]func(i uint64) uint64{
		"ascending":  func(i uint64) uint64 { return i },
		"descending": func(i uint64) uint64 { return n - i },
		"reversed":   bits.Reverse64,
	} {
		var root *node
		for i := range uint64(n) {
			k := binary.BigEndian.AppendUint64(nil, key(i))
			root = root.put(&node{key: k, value: []byte{}, priority: priority(k)})
		}
		if d := root.depth(); d > 4*bits.Len(n) {
			t.Errorf("%s keys: %d of them are %d deep", name, n, d)
		}
	}
}
