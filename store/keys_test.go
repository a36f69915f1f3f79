package store

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bellhop/core"
)

// nasty are texts that platforms might use in ids.
var nasty = []string{"", "a", "b", "\x00", "\x01", "\x00\x00", "\x01\x01", "\x00\x01", "\x01\x00", "a\x00", "a\x00b", "a\x01b", "ü", "日本", "\xff", "\xff\xfe", "�",
	strings.Repeat("x", maxText), strings.Repeat("x", maxText+1), strings.Repeat("x", 3000), strings.Repeat("x", 2999) + "y", strings.Repeat("\x00", 2000)}

// asStored is a place after it was written and read.
func asStored(t *testing.T, p core.Place) core.Place {
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var q core.Place
	if err := json.Unmarshal(b, &q); err != nil {
		t.Fatal(err)
	}
	return q
}

// Different places have different keys, none within the other's range, which
// no engine refuses, and which are the same after the place was stored.
func TestPlaceKeys(t *testing.T) {
	seen := map[string]core.Place{}
	for _, channel := range nasty {
		for _, topic := range nasty {
			p := core.Place{Adapter: "chat", Channel: channel, Topic: topic}
			key := placeKey(p)
			if err := CheckKey(rowKey(p, 1, 1)); err != nil {
				t.Error(err)
			}
			if q := asStored(t, p); !bytes.Equal(placeKey(q), key) {
				t.Errorf("%.20q has another key after it was stored", p)
			} else if other, ok := seen[string(key)]; ok && other != q {
				t.Errorf("%.20q and %.20q have the same key", q, other)
			} else {
				seen[string(key)] = q
			}
		}
	}
	keys := slices.Collect(func(yield func(string) bool) {
		for k := range seen {
			if !yield(strings.TrimPrefix(k, famPlace) + "\x00") {
				return
			}
		}
	})
	slices.Sort(keys)
	for i := 1; i < len(keys); i++ {
		if strings.HasPrefix(keys[i], keys[i-1]) {
			t.Errorf("the rows of %.40q lie among those of %.40q", keys[i], keys[i-1])
		}
	}
}

// Text within a key keeps its order, as far as it is short.
func TestTextOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune{0, 1, 2, 'a', 'ü'}), 0, 5, -1)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if strings.Compare(a, b) != strings.Compare(text(a)+"\x00", text(b)+"\x00") {
			t.Fatalf("%q and %q are in another order as %q and %q", a, b, text(a), text(b))
		}
	})
}

func TestIDKeysKeepOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<60)
		a, b := n.Draw(t, "a"), n.Draw(t, "b")
		if order := bytes.Compare(idKey(famItem, core.NewID('i', a)), idKey(famItem, core.NewID('i', b))); (order < 0) != (a < b) {
			t.Fatalf("%d and %d", a, b)
		}
		if seqOf(idKey(famItem, core.NewID('i', a))) != a {
			t.Fatal(a)
		}
	})
}

func TestAfter(t *testing.T) {
	for prefix, want := range map[string]string{"a": "b", "a\xff": "b", "\xff": "", "a\x00": "a\x01"} {
		if got := string(after([]byte(prefix))); got != want {
			t.Errorf("after(%q) = %q, want %q", prefix, got, want)
		}
	}
}
