package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

var someRun = core.Run{ID: "r1", Bot: "chief", Thread: "t1", Items: []core.ID{"i1", "i2"}, State: core.Doing,
	Reply:   core.Reply{Place: core.Place{Adapter: "chat", Channel: "a\x00b", Topic: "ü"}, Answers: []string{"1"}},
	Created: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)}

func TestCodec(t *testing.T) {
	raw, err := encode(someRun)
	if err != nil {
		t.Fatal(err)
	}
	var got core.Run
	if err := decode(raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(someRun, got); diff != "" {
		t.Error(diff)
	}
	for bit := range len(raw) * 8 {
		flipped := bytes.Clone(raw)
		flipped[bit/8] ^= 1 << (bit % 8)
		if err := decode(flipped, &got); !errors.Is(err, ErrCorrupt) {
			t.Errorf("bit %d flipped: %v", bit, err)
		}
	}
	for n := range len(raw) {
		if err := decode(raw[:n], &got); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	if err := decode(seal(schema, []byte(`{"id":1}`)), &got); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a row of another shape: %v", err)
	}
}

// The release before keeps what it does not know, and only that.
func TestRewriteKeepsNews(t *testing.T) {
	type before struct {
		ID    core.ID    `json:"id"`
		State core.State `json:"state,omitempty"`
	}
	news := seal(schema+1, []byte(`{"id":"r1","state":"doing","mood":{"good":true},"n":9007199254740993}`))
	raw, err := rewrite(news, before{ID: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	version, body, err := open(raw)
	if err != nil || version != schema+1 {
		t.Errorf("version %d, %v", version, err)
	}
	if want := `{"id":"r1","mood":{"good":true},"n":9007199254740993}`; string(body) != want {
		t.Errorf("rewritten as %s, want %s", body, want)
	}
	for name, old := range map[string][]byte{
		"missing": nil, "own": seal(schema, []byte(`{"mood":1}`)), "damaged": append(bytes.Clone(news), 'x'), "no object": seal(schema+1, []byte(`[]`)),
	} {
		raw, err := rewrite(old, before{ID: "r1"})
		if _, body, _ := open(raw); err != nil || string(body) != `{"id":"r1"}` {
			t.Errorf("over a row that is %s: %s, %v", name, body, err)
		}
	}
	if _, err := encode(make(chan int)); err == nil {
		t.Error("what is no JSON was encoded")
	}
}

func FuzzDecode(f *testing.F) {
	raw, err := encode(someRun)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{nil, {schema}, raw, raw[:7], seal(schema+1, []byte(`{"id":"r1","new":[1]}`)), seal(0, []byte(`null`)), seal(schema, []byte(`{"items":{}}`))} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var run core.Run
		if err := decode(raw, &run); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Error(err)
			}
		}
		again, err := rewrite(raw, run)
		if err != nil {
			t.Fatal(err)
		}
		var same core.Run
		if err := decode(again, &same); err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(run)
		b, _ := json.Marshal(same)
		if !bytes.Equal(a, b) {
			t.Errorf("%s became %s", a, b)
		}
	})
}
