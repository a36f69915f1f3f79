package media

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/disintegration/imaging"

	"bellhop/core"
)

const (
	// jpegQuality is that of pictures: text in a screenshot stays readable.
	jpegQuality = 85
	// maxClear is the most bytes of a picture that stays transparent: about what a
	// photo of full size takes.
	maxClear = 256 << 10
)

// render makes the picture of an image. It runs on the caller's goroutine and
// survives whatever a decoder does, short of needing more memory than it may.
// The end of ctx ends it, after the next piece of the file or row of the image.
func render(ctx context.Context, src io.ReadSeeker, l Limits) (p core.Image, err error) {
	defer func() {
		if recover() != nil {
			p, err = core.Image{}, errDamaged
		}
	}()
	mime, err := restart(src, func(r io.Reader) (string, error) {
		head := make([]byte, sniffLength)
		n, err := io.ReadFull(r, head)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return sniff(head[:n]), err
	})
	if err != nil {
		return p, errDamaged
	}
	h, err := inspect(src, mime)
	if err != nil {
		return p, err
	}
	if err := h.check(l); err != nil {
		return p, err
	}
	small, err := decode(ctx, src, h, l)
	if err != nil {
		return p, err
	}
	small = upright(fit(small, l.Edge), h.orientation)
	p.MIME, p.Data, err = encode(small, mime == "image/jpeg")
	p.Width, p.Height = small.Rect.Dx(), small.Rect.Dy()
	return p, err
}

// decode decodes an image and reduces it to less than twice the edge, so that
// what was decoded can be freed.
func decode(ctx context.Context, src io.ReadSeeker, h header, l Limits) (*image.NRGBA, error) {
	img, err := restart(src, func(r io.Reader) (image.Image, error) {
		return formats[h.mime].decode(bufio.NewReaderSize(reader{ctx, r}, 32<<10))
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, errDamaged
	case img.Bounds().Empty() || img.Bounds().Dx() > h.width || img.Bounds().Dy() > h.height:
		return nil, errDamaged
	}
	return reduce(ctx, img, max(1, max(img.Bounds().Dx(), img.Bounds().Dy())/l.Edge))
}

// reduce copies an image, k by k pixels to one. The copy is made on this
// goroutine, on which a palette index that is out of range does no harm; imaging
// would read the image on goroutines of its own, where it ends the process.
func reduce(ctx context.Context, img image.Image, k int) (*image.NRGBA, error) {
	b := img.Bounds()
	w, h := (b.Dx()+k-1)/k, (b.Dy()+k-1)/k
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	strip := image.NewRGBA(image.Rect(0, 0, b.Dx(), min(k, b.Dy()))) // premultiplied, as sums need it
	for y := range h {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		rows := strip.Rect
		rows.Max.Y = min(k, b.Dy()-y*k)
		draw.Draw(strip, rows, img, image.Pt(b.Min.X, b.Min.Y+y*k), draw.Src)
		for x := range w {
			out.SetNRGBA(x, y, average(strip, image.Rect(x*k, 0, min(x*k+k, b.Dx()), rows.Max.Y)))
		}
	}
	return out, nil
}

// average is the mean colour of a part of the strip.
func average(strip *image.RGBA, part image.Rectangle) color.NRGBA {
	var r, g, b, a uint64
	for y := part.Min.Y; y < part.Max.Y; y++ {
		row := strip.Pix[y*strip.Stride:]
		for i := 4 * part.Min.X; i < 4*part.Max.X; i += 4 {
			p := row[i : i+4 : i+4]
			r, g, b, a = r+uint64(p[0]), g+uint64(p[1]), b+uint64(p[2]), a+uint64(p[3])
		}
	}
	if a == 0 {
		return color.NRGBA{}
	}
	n := uint64(part.Dx() * part.Dy())
	channel := func(sum uint64) uint8 { return uint8(min(255, (sum*255+a/2)/a)) }
	return color.NRGBA{channel(r), channel(g), channel(b), uint8((a + n/2) / n)}
}

// fit makes the image fit the edge on both sides.
func fit(img *image.NRGBA, edge int) *image.NRGBA {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	switch {
	case max(w, h) <= edge:
		return img
	case w >= h:
		return imaging.Resize(img, edge, 0, imaging.Lanczos)
	}
	return imaging.Resize(img, 0, edge, imaging.Lanczos)
}

// upright turns the image as the camera was held.
func upright(img *image.NRGBA, orientation int) *image.NRGBA {
	switch orientation {
	case 2:
		return imaging.FlipH(img)
	case 3:
		return imaging.Rotate180(img)
	case 4:
		return imaging.FlipV(img)
	case 5:
		return imaging.Transpose(img)
	case 6:
		return imaging.Rotate270(img)
	case 7:
		return imaging.Transverse(img)
	case 8:
		return imaging.Rotate90(img)
	}
	return img
}

// encode makes a JPEG of the image, or a PNG where that is smaller, as for line
// art, and for what is transparent if it is not large. Else white is behind it.
func encode(img *image.NRGBA, photo bool) (mime string, data []byte, err error) {
	// Opaque pixels are the same premultiplied, which the encoder takes faster.
	flat := &image.RGBA{Pix: img.Pix, Stride: img.Stride, Rect: img.Rect}
	clear := !img.Opaque()
	if clear {
		flat = image.NewRGBA(img.Rect)
		draw.Draw(flat, flat.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
		draw.Draw(flat, flat.Rect, img, img.Rect.Min, draw.Over)
	}
	var lossy bytes.Buffer
	if err := jpeg.Encode(&lossy, flat, &jpeg.Options{Quality: jpegQuality}); err != nil {
		return "", nil, err
	}
	if photo {
		return "image/jpeg", lossy.Bytes(), nil
	}
	var exact bytes.Buffer
	if err := png.Encode(&exact, img); err != nil {
		return "", nil, err
	}
	if exact.Len() <= lossy.Len() || clear && exact.Len() <= maxClear {
		return "image/png", exact.Bytes(), nil
	}
	return "image/jpeg", lossy.Bytes(), nil
}
