package run_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/core/llm/script"
)

func TestPrepare(t *testing.T) {
	r := newRig(t, "say a cat")
	items := r.send("look", "cat")
	r.mustRun(items)
	want := core.File{Name: "safe-cat.jpg", MIME: "image/png", Size: 14, Ref: "cat", Hash: "hash of cat"}
	if diff := cmp.Diff(want, r.file(items[0], 0)); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	r.wantAsked(0, "[Ann]: look\n    [image: safe-cat.jpg, image/png, 14 bytes]\n    [image image/jpeg 14 bytes]\n\n    ⟦now⟧")

	// The next run reads it again, and fetches nothing.
	r.model.Queue("", script.Say("yes"))
	r.mustRun(r.send("sure?"))
	r.wantAsked(1, "[image image/jpeg 14 bytes]\nassistant: a cat")
	if len(r.fetched) != 1 {
		t.Errorf("fetched %q", r.fetched)
	}
}

// Nothing is fetched where nothing can be kept, or the platform cannot.
func TestPrepareNothing(t *testing.T) {
	for name, change := range map[string]func(*rig){
		"no folder":   func(r *rig) { r.start(nil) },
		"no platform": func(r *rig) { r.fetch = nil },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "say hm")
			change(r)
			items := r.send("look", "cat")
			before := r.engine.Commits()
			r.mustRun(items)
			if n := r.engine.Commits() - before; n != 1 {
				t.Errorf("%d commits", n)
			}
			r.wantAsked(0, "[file: cat.jpg, image/jpeg]")
		})
	}
}

func TestPrepareBlind(t *testing.T) {
	r := newRig(t, "say hm")
	r.bot.Vision = false
	items := r.send("look", "cat")
	r.mustRun(items)
	r.wantAsked(0, "[image: safe-cat.jpg, image/png, 14 bytes; you cannot see images]")
	if len(r.looked) > 0 || r.file(items[0], 0).Hash == "" {
		t.Errorf("looked at %q", r.looked)
	}
}

// Whatever happens to a file, the others are shown, and the model is told.
func TestPrepareFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "say hm")
		r.fetch = func(ctx context.Context, f core.File) (io.ReadCloser, error) {
			switch f.Ref {
			case "lost":
				return nil, errors.New("https://example.org/TOKEN: not found")
			case "slow":
				<-ctx.Done()
				return nil, ctx.Err()
			case "stuck": // and does not end with ctx
				body, _ := io.Pipe()
				return body, nil
			case "broken":
				panic("broken")
			}
			return io.NopCloser(strings.NewReader(f.Ref)), nil
		}
		refs := []string{"lost", "slow", "stuck", "broken", "page", "bomb", "cat"}
		items := r.send("look", refs...)
		began := time.Now()
		r.mustRun(items)
		if took := time.Since(began); took != 60*time.Second {
			t.Errorf("took %s", took)
		}
		for i, want := range []string{"it could not be fetched", "fetching it took longer than 1m0s", "fetching it took longer than 1m0s", "it could not be fetched",
			"a web page came instead of the file", "the image is too large: 1600.0 megapixels", ""} {
			if got := r.file(items[0], i); got.Note != want || (got.Hash != "") != (i >= 5) {
				t.Errorf("%s: note %q, hash %q; want %q", refs[i], got.Note, got.Hash, want)
			}
		}
		r.wantAsked(0, "[image: lost.jpg, image/jpeg; it could not be fetched]", "[image: safe-bomb.jpg, image/png, 4 bytes; the image is too large: 1600.0 megapixels]",
			"[image: safe-cat.jpg, image/png, 3 bytes]\n    [image image/jpeg 3 bytes]")
		if strings.Contains(r.asked(0), "TOKEN") {
			t.Error("the model reads an address")
		}
	})
}

// At most four at once, and ten of a message.
func TestPrepareIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "say hm")
		r.fetch = func(ctx context.Context, f core.File) (io.ReadCloser, error) {
			timer := time.NewTimer(time.Second)
			<-timer.C
			return io.NopCloser(strings.NewReader(f.Ref)), nil
		}
		var refs []string
		for i := range 12 {
			refs = append(refs, fmt.Sprint("f", i))
		}
		items := r.send("look", refs...)
		began := time.Now()
		r.mustRun(items)
		if took := time.Since(began); took != 3*time.Second || r.most != 4 || len(r.fetched) != 10 {
			t.Errorf("took %s, %d at once, %d fetched", took, r.most, len(r.fetched))
		}
		if f := r.file(items[0], 11); f.Note != "only the first 10 files of a message are fetched" {
			t.Errorf("%+v", f)
		}
	})
}

// A run that is cut while it fetches stores nothing and fetches again; one that
// is cut later neither fetches again nor reads anything else.
func TestPrepareAndCrash(t *testing.T) {
	r := newRig(t)
	items := r.send("look", "cat", "lost")
	ctx, stop := context.WithCancelCause(t.Context())
	r.fetch = func(_ context.Context, f core.File) (io.ReadCloser, error) {
		stop(core.ErrStopping)
		return io.NopCloser(strings.NewReader(f.Ref)), nil
	}
	if _, err := r.runner.Run(ctx, r.bot, items); !errors.Is(err, core.ErrStopping) {
		t.Fatalf("error %v", err)
	}
	if f := r.file(items[0], 0); f.Hash != "" {
		t.Errorf("stored %+v", f)
	}

	r.fetch = func(_ context.Context, f core.File) (io.ReadCloser, error) {
		if f.Ref == "lost" {
			return nil, errors.New("lost")
		}
		return io.NopCloser(strings.NewReader(f.Ref)), nil
	}
	items = r.restart()
	ctx, stop = context.WithCancelCause(t.Context())
	r.model.Default = func(core.Call) script.Reply {
		stop(core.ErrStopping)
		return script.MustParse("hang")
	}
	if _, err := r.runner.Run(ctx, r.bot, items); !errors.Is(err, core.ErrStopping) {
		t.Fatalf("error %v", err)
	}
	before := len(r.fetched)
	r.fetch = func(context.Context, core.File) (io.ReadCloser, error) { return nil, errors.New("unreachable") }
	r.model.Default = func(core.Call) script.Reply { return script.Say("a cat") }
	r.send("late") // is not read by the run
	r.mustRun(r.restart()[:1])
	if len(r.fetched) != before {
		t.Errorf("fetched again: %q", r.fetched[before:])
	}
	if diff := cmp.Diff(r.asked(0), r.asked(1)); diff != "" {
		t.Errorf("after the crash the model reads something else:\n%s", diff)
	}
	r.wantAsked(1, "[image image/jpeg 3 bytes]", "it could not be fetched")
}

// An edit during the fetch makes the run begin again with the new text.
func TestPrepareAndEdit(t *testing.T) {
	r := newRig(t, "say hm")
	items := r.send("look", "cat")
	edited := false
	r.fetch = func(_ context.Context, f core.File) (io.ReadCloser, error) {
		if !edited {
			edited = true
			in := core.Inbound{Key: "edit", Kind: core.InEdit, Place: place, Direct: true, From: ann, MessageID: "1", Text: "look here",
				Files: []core.File{{Name: "cat.jpg", Ref: "cat"}}}
			r.accept(core.Entry{In: in, Role: core.Member})
		}
		return io.NopCloser(strings.NewReader("cat")), nil
	}
	r.mustRun(items)
	r.wantAsked(0, "[Ann]: look here\n    [image: safe-cat.jpg", "[image image/jpeg 3 bytes]")
	if len(r.model.Calls("")) != 1 {
		t.Errorf("%d calls", len(r.model.Calls("")))
	}
}

// A note stands until somebody retries.
func TestPrepareAgain(t *testing.T) {
	r := newRig(t, "error auth", "say what?", "say a cat")
	good := r.fetch
	r.fetch = func(context.Context, core.File) (io.ReadCloser, error) { return nil, errors.New("lost") }
	r.mustRun(r.send("look", "cat"))
	r.fetch = good
	r.mustRun(r.send("and now?"))
	r.wantAsked(1, "[image: cat.jpg, image/jpeg; it could not be fetched]")
	if len(r.fetched) != 1 {
		t.Errorf("fetched %q", r.fetched)
	}
	r.mustRun(r.retry())
	r.wantAsked(2, "[image: safe-cat.jpg, image/png, 14 bytes]\n    [image image/jpeg 14 bytes]")
}

// A model that refuses images gets the same request without them.
func TestModelRefusesImages(t *testing.T) {
	r := newRig(t, "error request", "say I cannot see it")
	r.mustRun(r.send("look", "cat"))
	r.wantAsked(0, "[image image/jpeg")
	r.wantAsked(1, "you cannot see images")
	r = newRig(t, "error request")
	r.mustRun(r.send("look"))
	if n := len(r.model.Calls("")); n != 1 {
		t.Errorf("%d calls without an image", n)
	}
}

// A picture that is gone is missing, and the model is told so.
func TestPictureIsGone(t *testing.T) {
	r := newRig(t, "say a cat", "say which?")
	r.mustRun(r.send("look", "cat"))
	clear(r.saved)
	r.mustRun(r.send("sure?"))
	r.wantAsked(1, "[image: safe-cat.jpg, image/png, 14 bytes; it cannot be shown]")
}
