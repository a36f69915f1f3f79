package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"bellhop/core"
)

// errTime is the cause with which a decoding that takes too long ends.
var errTime = refuse("the image takes too long to decode")

// Image is the picture of a stored JPEG, PNG, GIF or WebP image: the right way
// up, no larger than Limits.Edge, its first frame if it moves, and without
// anything that is not seen, such as where it was taken. The same file gives
// the same bytes. It may wait for another image to be decoded.
//
// core.ErrNotFound: there is no such file. A *core.UserError says why there can
// be no picture: no image of these kinds, damaged, or beyond the limits.
func (s *Store) Image(ctx context.Context, hash string) (core.Image, error) {
	name, err := pathOf(hash)
	if err != nil {
		return core.Image{}, err
	}
	if err := s.touch(name); errors.Is(err, fs.ErrNotExist) {
		return core.Image{}, fmt.Errorf("media: %s: %w", hash, core.ErrNotFound)
	} else if err != nil {
		return core.Image{}, fmt.Errorf("media: %w", err)
	}
	if p, ok := s.picture(name); ok {
		return p, nil
	}
	select {
	case s.decoding <- struct{}{}:
		defer func() { <-s.decoding }()
	case <-ctx.Done():
		return core.Image{}, context.Cause(ctx)
	}
	if p, ok := s.picture(name); ok { // made while this one waited
		return p, nil
	}
	f, err := s.open(name)
	if err != nil {
		return core.Image{}, fmt.Errorf("media: %w", err)
	}
	defer f.Close()
	limit, cancel := context.WithTimeoutCause(ctx, s.limits.Time, errTime)
	defer cancel()
	p, err := s.render(limit, f, s.limits)
	switch {
	case err != nil && limit.Err() != nil:
		return core.Image{}, context.Cause(limit)
	case err != nil:
		return core.Image{}, err
	}
	s.keep(name, p)
	return p, nil
}

// kinds are those of pictures.
var kinds = []string{"image/jpeg", "image/png"}

// pictureName is where the picture of the file is kept. Another limit makes
// another picture.
func (s *Store) pictureName(name, mime string) string {
	return fmt.Sprintf("%s.%d.%s", name, s.limits.Edge, path.Base(mime))
}

// picture reads a picture that was made before. One that is damaged counts as
// missing.
func (s *Store) picture(name string) (core.Image, bool) {
	for _, mime := range kinds {
		f, err := s.open(s.pictureName(name, mime))
		if err != nil {
			continue
		}
		data, err := io.ReadAll(f)
		f.Close()
		if err != nil || sniff(data[:min(len(data), sniffLength)]) != mime {
			continue
		}
		c, err := formats[mime].config(bytes.NewReader(data))
		if err == nil {
			return core.Image{MIME: mime, Data: data, Width: c.Width, Height: c.Height}, true
		}
	}
	return core.Image{}, false
}

// keep stores a picture for the next time. It is only a copy: without it, the
// picture is made again.
func (s *Store) keep(name string, p core.Image) {
	d, err := s.draft()
	if err != nil {
		return
	}
	defer d.discard()
	if _, err := d.Write(p.Data); err != nil {
		return
	}
	_ = d.install(s.pictureName(name, p.MIME))
}

// header is what an image says of itself.
type header struct {
	mime          string
	width, height int
	orientation   int     // as EXIF counts, from 1
	perPixel      float64 // bytes that its decoder may need for each pixel
}

// inspect reads the header of an image of an allowed kind.
func inspect(src io.ReadSeeker, mime string) (h header, err error) {
	defer func() {
		if recover() != nil {
			err = errDamaged
		}
	}()
	f, ok := formats[mime]
	if !ok {
		return h, refuse("I cannot look at a file of the type %s, only at JPEG, PNG, GIF and WebP images", mime)
	}
	c, err := restart(src, f.config)
	if err != nil {
		return h, errDamaged
	}
	h = header{mime: mime, width: c.Width, height: c.Height, orientation: 1}
	return h, f.complete(src, c, &h)
}

// restart calls read from the beginning of src.
func restart[T any](src io.ReadSeeker, read func(io.Reader) (T, error)) (T, error) {
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		var zero T
		return zero, err
	}
	return read(src)
}

// errDamaged stands for whatever a decoder did not like.
var errDamaged = refuse("the image is damaged or cut off")

const (
	// maxSide is the most pixels of a side. Source: JPEG and GIF can have no more.
	maxSide = 65_535
	// maxMemory is the most bytes that a decoder may need: enough for 40 megapixels
	// of every common kind, and little enough for a machine of 1 GB.
	maxMemory = 256 << 20
)

// check refuses an image that is too large to decode.
func (h header) check(l Limits) error {
	const mega = 1e6
	pixels := float64(h.width) * float64(h.height)
	switch {
	case h.width <= 0 || h.height <= 0:
		return errDamaged
	case h.width > maxSide || h.height > maxSide:
		return refuse("the image is too large: %d by %d pixels", h.width, h.height)
	case pixels > float64(l.MaxPixels):
		return refuse("the image is too large: %.1f megapixels, and I look at no more than %.1f", pixels/mega, float64(l.MaxPixels)/mega)
	case pixels*h.perPixel > maxMemory:
		return refuse("the image is too large: decoding it takes %.0f MB of memory", pixels*h.perPixel/mega)
	}
	return nil
}
