package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"bellhop/core"
	"bellhop/core/prompt"
)

// Files keeps what people send. A *core.UserError says why a file is refused,
// or why there is no picture of it. See package media.
type Files interface {
	Save(ctx context.Context, r io.Reader, f core.File) (core.Saved, error)
	Image(ctx context.Context, hash string) (core.Image, error)
}

const (
	// fetchTime is how long a file may take, from asking for it until it is kept.
	fetchTime = 60 * time.Second
	// maxFetches is how many files of a run are fetched at once.
	maxFetches = 4
	// maxFiles is how many files of a message are fetched. Source: Telegram's albums
	// and Discord's messages have no more.
	maxFiles = 10
)

// What stands for a file that nobody has refused.
const (
	notFetched = "it could not be fetched"
	tooMany    = "only the first 10 files of a message are fetched"
)

// errSlow is the cause with which the fetching of a file ends.
var errSlow = errors.New("too slow")

// opener is Features.Fetch.
type opener func(ctx context.Context, f core.File) (io.ReadCloser, error)

// prepare finds out what the run still needs of its platform, and stores it
// before a model sees it: what was said before its messages, and the files that
// its triggers came with. A resumed run asks for nothing that is kept, and reads
// what it read before. What cannot be had gets a note, which stands until
// somebody retries.
func (t *turn) prepare(ctx context.Context) error {
	if len(t.steps) > 0 {
		return nil
	}
	f := t.o.Outbox.Features(t.run.Reply.Place.Adapter)
	var changed []*core.Message
	var lacking []*core.Message
	var files []*core.File
	for _, m := range t.view.Messages {
		lacks := f.Before != nil && t.lacks(&m)
		if lacks {
			lacking = append(lacking, &m)
		}
		if t.o.Files != nil && f.Fetch != nil && slices.Contains(t.run.Triggers, m.ID) {
			parts, wanted, differ := t.wanted(m.Parts)
			m.Parts, lacks = parts, lacks || differ
			files = append(files, wanted...)
		}
		if lacks {
			changed = append(changed, &m)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	status := "reading what was said before"
	if len(files) > 0 {
		status = "fetching files"
	}
	t.o.Outbox.Update(t.run, core.Preview{Status: status, Usual: true})
	t.recall(ctx, f.Before, lacking)
	t.fetchAll(ctx, f.Fetch, files)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return t.prepared(ctx, changed)
}

// prepared stores the messages, and reads them from now on.
func (t *turn) prepared(ctx context.Context, changed []*core.Message) error {
	msgs := make([]core.Message, len(changed))
	for i, m := range changed {
		msgs[i] = *m
	}
	err := t.store(ctx, func(ctx context.Context) error {
		run, err := t.o.Store.Prepared(ctx, t.run, msgs)
		if err == nil {
			t.run = run
		}
		return err
	})
	if err != nil {
		return err
	}
	t.view.Messages = slices.Clone(t.view.Messages)
	for i := range t.view.Messages {
		for _, m := range msgs {
			if t.view.Messages[i].ID == m.ID {
				m.Version++
				t.view.Messages[i] = m
			}
		}
	}
	return nil
}

// wanted is a copy of a message's parts, and the files in it that are to be
// fetched. changed: the copy differs already.
func (t *turn) wanted(parts []core.Part) (out []core.Part, wanted []*core.File, changed bool) {
	out = slices.Clone(parts)
	n := 0
	for i, p := range out {
		if p.Kind != core.FilePart || p.File == nil {
			continue
		}
		n++
		f := *p.File
		switch {
		case f.Ref == "" || f.Hash != "":
			continue
		case n > maxFiles:
			changed = changed || f.Note == ""
			f.Note = tooMany
		case f.Note == "" || t.retried:
			f.Note = ""
			wanted = append(wanted, &f)
		}
		out[i].File = &f
	}
	return out, wanted, changed || len(wanted) > 0
}

// fetchAll fetches the files and notes in each what became of it.
func (t *turn) fetchAll(ctx context.Context, open opener, files []*core.File) {
	slots := make(chan struct{}, maxFetches)
	var fetches sync.WaitGroup
	for _, f := range files {
		slots <- struct{}{}
		fetches.Go(func() {
			defer func() { <-slots }()
			t.fetch(ctx, open, f)
		})
	}
	fetches.Wait()
}

// fetch fetches one file. Nothing that happens in it ends the process.
func (t *turn) fetch(ctx context.Context, open opener, f *core.File) {
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("fetching a file panicked", "file", f.Name, "panic", p, "stack", string(debug.Stack()))
			f.Hash, f.Note = "", notFetched
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, errSlow)
	defer cancel()
	saved, err := t.save(ctx, open, *f)
	if err == nil {
		f.Hash, f.MIME, f.Size, f.Name = saved.Hash, saved.MIME, saved.Size, saved.Name
		if t.bot.Vision && f.IsImage() {
			_, err = t.o.Files.Image(ctx, f.Hash)
		}
	}
	if err == nil {
		return
	}
	t.log.Warn("a file is not what it should be", "file", f.Name, "err", err)
	refused, told := errors.AsType[*core.UserError](err)
	switch {
	case told:
		f.Note = refused.Text
	case f.Hash != "": // kept; the next one may make a picture of it
	case errors.Is(context.Cause(ctx), errSlow):
		f.Note = fmt.Sprintf("fetching it took longer than %s", fetchTime)
	default:
		f.Note = notFetched
	}
}

// save keeps the content of a file. A body that does not end with ctx is closed
// then.
func (t *turn) save(ctx context.Context, open opener, f core.File) (core.Saved, error) {
	body, err := open(ctx, f)
	if err != nil {
		return core.Saved{}, err
	}
	once := sync.OnceFunc(func() { body.Close() })
	defer once()
	defer context.AfterFunc(ctx, once)()
	return t.o.Files.Save(ctx, body, f)
}

// look gets the pictures that the window shows. One that cannot be had is
// missing, and the model is told so.
func (t *turn) look(ctx context.Context) error {
	if t.o.Files == nil {
		return nil
	}
	t.view.Pictures = map[string]core.Image{}
	for _, hash := range prompt.Pictures(t.view) {
		image, err := t.o.Files.Image(ctx, hash)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			t.log.Warn("there is no picture of an image", "hash", hash, "err", err)
		default:
			t.view.Pictures[hash] = image
		}
	}
	return nil
}
