package media

import (
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"
)

// format is a kind of image that may be decoded. No registry is asked, since
// imaging registers decoders for more kinds than these.
type format struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	// complete adds to the header what config does not tell.
	complete func(src io.ReadSeeker, c image.Config, h *header) error
}

var formats = map[string]format{
	"image/jpeg": {jpeg.DecodeConfig, jpeg.Decode, jpegHeader},
	"image/png":  {png.DecodeConfig, png.Decode, pngHeader},
	"image/gif":  {gif.DecodeConfig, gif.Decode, gifHeader}, // Decode ends after the first frame
	"image/webp": {webp.DecodeConfig, webp.Decode, webpHeader},
}

// gifHeader: a frame is paletted, and no larger than the screen.
func gifHeader(_ io.ReadSeeker, _ image.Config, h *header) error {
	h.perPixel = 1
	return nil
}

// pngHeader: the pixels, and half of them again for the last pass of an
// interlaced image.
func pngHeader(_ io.ReadSeeker, c image.Config, h *header) error {
	bytes := 4.0
	switch c.ColorModel {
	case color.GrayModel:
		bytes = 1
	case color.Gray16Model:
		bytes = 2
	case color.RGBA64Model, color.NRGBA64Model:
		bytes = 8
	default:
		if _, paletted := c.ColorModel.(color.Palette); paletted {
			bytes = 1
		}
	}
	h.perPixel = bytes * 1.5
	return nil
}

// webpHeader: lossless, 4 bytes, or 5 while a palette is unpacked; lossy, 1.5
// bytes, and 5 more while transparency is decoded. The decoder believes what the
// file says of its own length, which must therefore be true.
func webpHeader(src io.ReadSeeker, _ image.Config, h *header) error {
	h.perPixel = 6.5
	size, err := src.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	claimed, err := restart(src, func(r io.Reader) (uint32, error) {
		var riff [8]byte
		_, err := io.ReadFull(r, riff[:])
		return binary.LittleEndian.Uint32(riff[4:]), err
	})
	if err != nil || int64(claimed) > size {
		return errDamaged
	}
	return nil
}

// jpegHeader: the samples, four bytes more for each when they are kept until the
// end of a progressive image, and four bytes for a copy in other colours.
func jpegHeader(src io.ReadSeeker, _ image.Config, h *header) error {
	j, err := restart(src, readJPEG)
	h.orientation, h.perPixel = j.orientation, j.samples
	if j.progressive {
		h.perPixel *= 5
	}
	if j.samples > 1 {
		h.perPixel += 4
	}
	return err
}
