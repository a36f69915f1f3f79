package run_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"bellhop/core"
)

// A message that joins a run brings its files; one that is edited while they
// are fetched joins as it is then, and one that is deleted does not join.
func TestJoinFiles(t *testing.T) {
	tests := []struct {
		name    string
		change  core.InboundKind
		fetched []string
		joined  int
		want    string
	}{
		{"as it came", core.InMessage, []string{"cat", "dog"}, 1,
			"[Ann]: and this\n    [image: safe-dog.jpg, image/png, 14 bytes]\n    [image image/jpeg 14 bytes]"},
		{"edited", core.InEdit, []string{"cat", "dog"}, 1, "[Ann]: and that"},
		{"deleted", core.InDelete, []string{"cat", "dog"}, 0, "tool call_1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, "tool nonsense {}", "say Both.")
			r.bot.Steer = true
			var later []core.Item
			r.waits = func() bool {
				if later == nil {
					later = r.send("and this", "dog")
				}
				return true
			}
			r.fetch = func(_ context.Context, f core.File) (io.ReadCloser, error) {
				if f.Ref == "dog" && test.change != core.InMessage {
					in := r.inbound("and that")
					in.Kind, in.MessageID = test.change, "2"
					r.accept(core.Entry{In: in, Role: core.Member, Agent: "chief"})
				}
				return io.NopCloser(strings.NewReader("content of " + f.Ref)), nil
			}
			r.mustRun(r.send("look", "cat"))
			r.wantAsked(1, r.asked(0), test.want)
			if !slices.Equal(r.fetched, test.fetched) || len(r.joined) != test.joined {
				t.Errorf("fetched %q, joined %q", r.fetched, r.joined)
			}
			l, err := r.store.Trace(t.Context(), later[0].ID)
			if err != nil {
				t.Fatal(err)
			}
			state := core.Done
			if test.joined == 0 {
				state = core.Withdrawn
			}
			if it := l.Items[0]; it.State != state {
				t.Errorf("the item is %s, want %s", it.State, state)
			}
			if wrong, err := r.store.Check(t.Context()); err != nil || len(wrong) > 0 {
				t.Error(wrong, err)
			}
		})
	}
}

// Where nothing waits, a bot that steers costs the ledger nothing more.
func TestJoinNothing(t *testing.T) {
	commits := func(steer bool) uint64 {
		r := newRig(t, "tool nonsense {}", "say Hm.")
		r.bot.Steer = steer
		asked := 0
		r.waits = func() bool { asked++; return false }
		items := r.send("look")
		before := r.engine.Commits()
		r.mustRun(items)
		if steer != (asked == 1) {
			t.Errorf("steer %v: asked %d times", steer, asked)
		}
		return r.engine.Commits() - before
	}
	if with, without := commits(true), commits(false); with != without {
		t.Errorf("%d commits, want %d", with, without)
	}
}
