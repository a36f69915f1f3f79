package media

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"testing"
)

// photo is an image with colours, edges and noise, like that of a camera.
func photo(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	noise := uint32(1)
	for y := range h {
		for x := range w {
			noise = noise*1664525 + 1013904223
			n := uint8(noise >> 28)
			img.SetNRGBA(x, y, color.NRGBA{uint8(255*x/w) ^ n, uint8(255*y/h) ^ n, uint8((x/97+y/89)%2*120) + n, 255})
		}
	}
	return img
}

// quarters is an image whose corners are red, green, blue and white, from the
// top left clockwise.
func quarters(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{R: 255, A: 255}
			switch {
			case x >= w/2 && y < h/2:
				c = color.NRGBA{G: 255, A: 255}
			case x >= w/2:
				c = color.NRGBA{B: 255, A: 255}
			case y >= h/2:
				c = color.NRGBA{255, 255, 255, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func jpegOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// gifOf has the frames of one colour each of the palette.
func gifOf(t testing.TB, w, h, frames int) []byte {
	t.Helper()
	palette := color.Palette{color.NRGBA{R: 255, A: 255}, color.NRGBA{G: 255, A: 255}}
	g := &gif.GIF{}
	for i := range frames {
		m := image.NewPaletted(image.Rect(0, 0, w, h), palette)
		for p := range m.Pix {
			m.Pix[p] = byte(i % 2)
		}
		g.Image, g.Delay = append(g.Image, m), append(g.Delay, 1)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// withEXIF puts a segment with the orientation into a JPEG.
func withEXIF(file []byte, orientation uint16) []byte {
	tiff := []byte("MM\x00\x2a\x00\x00\x00\x08\x00\x02")
	tiff = append(tiff, "\x01\x0f\x00\x02\x00\x00\x00\x04Cam\x00"...)  // make
	tiff = append(tiff, "\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00"...) // orientation
	tiff = binary.BigEndian.AppendUint16(tiff[:len(tiff)-2], orientation)
	tiff = append(tiff, "\x00\x00\x00\x00\x00\x00secret place"...)
	segment := append([]byte("Exif\x00\x00"), tiff...)
	out := append([]byte{0xff, 0xd8, 0xff, 0xe1}, binary.BigEndian.AppendUint16(nil, uint16(len(segment)+2))...)
	return append(append(out, segment...), file[2:]...)
}

// rawPNG is a PNG of any claimed size with rows of zeros, as many as are asked
// for. Colour types: 0 grey, 2 RGB, 3 palette (of one colour), 6 RGBA.
func rawPNG(t testing.TB, w, h, rows, colourType, depth int) []byte {
	t.Helper()
	var b bytes.Buffer
	chunk := func(kind string, data []byte) {
		b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data))))
		b.WriteString(kind)
		b.Write(data)
		b.Write(binary.BigEndian.AppendUint32(nil, crc32.Update(crc32.ChecksumIEEE([]byte(kind)), crc32.IEEETable, data)))
	}
	b.WriteString("\x89PNG\r\n\x1a\n")
	head := binary.BigEndian.AppendUint32(nil, uint32(w))
	head = binary.BigEndian.AppendUint32(head, uint32(h))
	chunk("IHDR", append(head, byte(depth), byte(colourType), 0, 0, 0))
	if colourType == 3 {
		chunk("PLTE", []byte{1, 2, 3})
	}
	var data bytes.Buffer
	z, err := zlib.NewWriterLevel(&data, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	channels := map[int]int{0: 1, 2: 3, 3: 1, 6: 4}[colourType]
	for range rows {
		row := make([]byte, 1+(w*channels*depth+7)/8)
		if colourType == 3 {
			for i := range row[1:] {
				row[1+i] = 200 // no such colour
			}
		}
		if _, err := z.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	chunk("IDAT", data.Bytes())
	chunk("IEND", nil)
	return b.Bytes()
}

// rawJPEG is a grey-looking JPEG of any size, next to nothing long: each code
// word is one bit. factors are the sampling factors of the first component;
// passes are how many scans a progressive image has, 0: it is none.
func rawJPEG(w, h, components int, factors byte, passes int) []byte {
	b := []byte{0xff, 0xd8}
	segment := func(mark byte, data ...byte) {
		b = append(b, 0xff, mark)
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(data)+2)), data...)
	}
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	frame := []byte{8, byte(h >> 8), byte(h), byte(w >> 8), byte(w), byte(components)}
	scan := []byte{byte(components)}
	for c := range components {
		f := byte(0x11)
		if c == 0 {
			f = factors
		}
		frame = append(frame, byte(c+1), f, 0)
		scan = append(scan, byte(c+1), 0)
	}
	mark := byte(markSOF0)
	if passes > 0 {
		mark = markSOF2
	}
	segment(mark, frame...)
	one := func(class, symbol byte) { // a table with one code, 0
		segment(0xc4, append(append([]byte{class, 1}, make([]byte, 15)...), symbol)...)
	}
	one(0x00, 0) // a difference of nothing
	blocks := min((w+7)/8*((h+7)/8)*4*components, 1<<24)
	if passes == 0 {
		one(0x10, 0) // end of block
		segment(0xda, append(scan, 0, 63, 0)...)
		b = append(b, make([]byte, blocks/4)...)
		return append(b, 0xff, 0xd9)
	}
	segment(0xda, append(scan, 0, 0, 0)...)
	b = append(b, make([]byte, blocks/8)...)
	one(0x10, 0xe0) // end of 2^14 blocks
	for range passes - 1 {
		segment(0xda, 1, 1, 0, 1, 63, 0)
		b = append(b, make([]byte, 2*(blocks>>14)+16)...)
	}
	return append(b, 0xff, 0xd9)
}

// rawWebP is a lossless WebP of any size and one colour, which takes no bits.
func rawWebP(w, h int) []byte {
	var bits uint64
	n := 0
	put := func(v uint64, count int) { bits |= v << n; n += count }
	put(uint64(w-1), 14)
	put(uint64(h-1), 14)
	put(0, 1+3)   // no alpha, version
	put(0, 1+1+1) // no transform, no colour cache, no groups of codes
	data := []byte{0x2f}
	flush := func() {
		for n >= 8 {
			data = append(data, byte(bits))
			bits >>= 8
			n -= 8
		}
	}
	for _, symbol := range []uint64{180, 90, 45, 255, 0} { // green, red, blue, alpha, distance
		flush()
		put(1, 1) // a simple code
		put(0, 1) // of one symbol
		put(1, 1) // of 8 bits
		put(symbol, 8)
	}
	put(0, 7)
	flush()
	if len(data)%2 == 1 {
		data = append(data, 0)
	}
	out := []byte("WEBPVP8L")
	out = append(binary.LittleEndian.AppendUint32(out, uint32(len(data))), data...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(out))), out...)
}

func decodePNGOrJPEG(t testing.TB, mime string, data []byte) image.Image {
	t.Helper()
	decode := map[string]func(io.Reader) (image.Image, error){"image/jpeg": jpeg.Decode, "image/png": png.Decode}[mime]
	if decode == nil {
		t.Fatalf("a picture of the type %q", mime)
	}
	img, err := decode(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("the picture cannot be read: %v", err)
	}
	return img
}
