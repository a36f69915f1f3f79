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
	changed, err := t.complete(ctx, t.view.Messages, t.run.Triggers)
	if err != nil || len(changed) == 0 {
		return err
	}
	err = t.store(ctx, func(ctx context.Context) error {
		run, err := t.o.Store.Prepared(ctx, t.run, changed)
		if err == nil {
			t.run = run
		}
		return err
	})
	if err == nil {
		t.view.Messages = renewed(t.view.Messages, changed)
	}
	return err
}

// complete finds out what the messages lack, and returns those about which it
// has, as they are to be stored.
func (t *turn) complete(ctx context.Context, msgs []core.Message, triggers []core.ID) ([]core.Message, error) {
	f := t.o.Outbox.Features(t.run.Reply.Place.Adapter)
	var changed []*core.Message
	var lacking []*core.Message
	var files []*core.File
	for _, m := range msgs {
		lacks := f.Before != nil && t.lacks(&m)
		if lacks {
			lacking = append(lacking, &m)
		}
		if t.o.Files != nil && f.Fetch != nil && slices.Contains(triggers, m.ID) {
			parts, wanted, differ := t.wanted(m.Parts)
			m.Parts, lacks = parts, lacks || differ
			files = append(files, wanted...)
		}
		if lacks {
			changed = append(changed, &m)
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	status := "reading what was said before"
	if len(files) > 0 {
		status = "fetching files"
	}
	t.o.Outbox.Update(t.run, core.Preview{Text: t.said(), Status: status, Usual: true})
	t.recall(ctx, f.Before, lacking, slices.Concat(t.view.Messages, msgs))
	t.fetchAll(ctx, f.Fetch, files)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	out := make([]core.Message, len(changed))
	for i, m := range changed {
		out[i] = *m
	}
	return out, nil
}

// renewed are the messages with the versions that were stored of those that have
// changed.
func renewed(msgs, changed []core.Message) []core.Message {
	out := slices.Clone(msgs)
	for i := range out {
		for _, m := range changed {
			if out[i].ID == m.ID {
				m.Version++
				out[i] = m
			}
		}
	}
	return out
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

// look gets the pictures that the messages show. One that cannot be had is
// missing, and the model is told so.
func (t *turn) look(ctx context.Context, msgs []core.Message) error {
	if t.o.Files == nil {
		return nil
	}
	of := t.view
	of.Messages = msgs
	for _, hash := range prompt.Pictures(of) {
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
