package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"strings"
	"testing"
	"time"

	"bellhop/core"
)

var defaults = Limits{}.withDefaults()

func rendered(t testing.TB, data []byte, l Limits) core.Image {
	t.Helper()
	p, err := render(t.Context(), bytes.NewReader(data), l)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPictures(t *testing.T) {
	clear := quarters(150, 100)
	clear.SetNRGBA(0, 0, color.NRGBA{})
	large := photo(500, 400)
	for i := 3; i < len(large.Pix); i += 4 {
		large.Pix[i] = 100
	}
	for name, c := range map[string]struct {
		data []byte
		mime string
		w, h int
	}{
		"small photo":          {jpegOf(t, photo(64, 48)), "image/jpeg", 64, 48},
		"photo":                {jpegOf(t, photo(200, 150)), "image/jpeg", 160, 120},
		"large photo":          {jpegOf(t, photo(400, 300)), "image/jpeg", 160, 120},
		"portrait":             {jpegOf(t, photo(90, 320)), "image/jpeg", 45, 160},
		"photo as PNG":         {pngOf(t, photo(70, 50)), "image/jpeg", 70, 50},
		"line art":             {pngOf(t, quarters(300, 200)), "image/png", 160, 107},
		"transparent":          {pngOf(t, clear), "image/png", 150, 100},
		"transparent, large":   {pngOf(t, large), "image/jpeg", 500, 400},
		"paletted":             {gifOf(t, 100, 50, 1), "image/png", 100, 50},
		"first frame":          {gifOf(t, 40, 40, 3), "image/png", 40, 40},
		"WebP":                 {rawWebP(100, 80), "image/png", 100, 80},
		"grey 16 bit":          {rawPNG(t, 60, 50, 50, 0, 16), "image/png", 60, 50},
		"one pixel":            {pngOf(t, quarters(1, 1)), "image/png", 1, 1},
		"thread":               {pngOf(t, quarters(60_000, 1)), "image/png", 160, 1},
		"standing thread":      {pngOf(t, quarters(2, 60_000)), "image/png", 1, 160},
		"JPEG of one colour":   {rawJPEG(400, 200, 3, 0x22, 0), "image/jpeg", 160, 80},
		"progressive":          {rawJPEG(200, 400, 3, 0x22, 2), "image/jpeg", 80, 160},
		"palette out of range": {rawPNG(t, 30, 20, 20, 3, 8), "image/png", 30, 20},
	} {
		t.Run(name, func(t *testing.T) {
			l := defaults
			if l.Edge = 160; max(c.w, c.h) > 160 {
				l.Edge = 1568
			}
			p := rendered(t, c.data, l)
			if p.MIME != c.mime || p.Width != c.w || p.Height != c.h {
				t.Errorf("a picture of the type %s, %d by %d; want %s, %d by %d", p.MIME, p.Width, p.Height, c.mime, c.w, c.h)
			}
			if b := decodePNGOrJPEG(t, p.MIME, p.Data).Bounds(); b.Dx() != p.Width || b.Dy() != p.Height {
				t.Errorf("it is %v", b)
			}
			if again := rendered(t, c.data, l); !bytes.Equal(again.Data, p.Data) {
				t.Error("not the same bytes again")
			}
		})
	}
}

// The first frame is red, the second green.
func TestFirstFrame(t *testing.T) {
	p := rendered(t, gifOf(t, 40, 40, 2), defaults)
	wantColour(t, decodePNGOrJPEG(t, p.MIME, p.Data), 20, 20, color.NRGBA{R: 255, A: 255})
}

func wantColour(t *testing.T, img image.Image, x, y int, want color.NRGBA) {
	t.Helper()
	got := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
	for _, d := range []int{int(got.R) - int(want.R), int(got.G) - int(want.G), int(got.B) - int(want.B), int(got.A) - int(want.A)} {
		if d < -12 || d > 12 {
			t.Errorf("at %d, %d: %v, want about %v", x, y, got, want)
			return
		}
	}
}

// What was transparent over red is as transparent after it was reduced, and no
// darker.
func TestTransparencyIsReduced(t *testing.T) {
	img := quarters(3200, 40)
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 128
	}
	p := rendered(t, pngOf(t, img), defaults)
	if p.MIME != "image/png" {
		t.Fatalf("%s of %d bytes", p.MIME, len(p.Data))
	}
	wantColour(t, decodePNGOrJPEG(t, p.MIME, p.Data), 100, 5, color.NRGBA{R: 255, A: 128})
}

func TestOrientation(t *testing.T) {
	red, green, blue, white := color.NRGBA{R: 255, A: 255}, color.NRGBA{G: 255, A: 255}, color.NRGBA{B: 255, A: 255}, color.NRGBA{255, 255, 255, 255}
	file := jpegOf(t, quarters(320, 160))
	// What is at the top left, top right and bottom left when it is shown. Source:
	// EXIF 2.3, tag Orientation: which sides the 0th row and column are.
	for o, want := range map[uint16][3]color.NRGBA{
		0: {red, green, white}, 1: {red, green, white}, 9: {red, green, white},
		2: {green, red, blue}, 3: {blue, white, green}, 4: {white, blue, red},
		5: {red, white, green}, 6: {white, red, blue}, 7: {blue, green, white}, 8: {green, blue, red},
	} {
		t.Run(fmt.Sprint(o), func(t *testing.T) {
			p := rendered(t, withEXIF(file, o), defaults)
			img := decodePNGOrJPEG(t, p.MIME, p.Data)
			b := img.Bounds()
			if turned := o >= 5 && o <= 8; turned != (b.Dx() < b.Dy()) {
				t.Errorf("%d by %d", b.Dx(), b.Dy())
			}
			wantColour(t, img, b.Dx()/8, b.Dy()/8, want[0])
			wantColour(t, img, b.Dx()*7/8, b.Dy()/8, want[1])
			wantColour(t, img, b.Dx()/8, b.Dy()*7/8, want[2])
			if bytes.Contains(p.Data, []byte("Exif")) || bytes.Contains(p.Data, []byte("secret")) {
				t.Error("what is not seen is still in it")
			}
		})
	}
}

// Whatever stands where EXIF data should, the image is shown as it is.
func TestBrokenEXIF(t *testing.T) {
	file := jpegOf(t, quarters(32, 16))
	whole := withEXIF(file, 6)
	for cut := range 70 {
		segment := whole[6 : 6+cut]
		data := append([]byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(cut + 2)}, segment...)
		if p := rendered(t, append(data, file[2:]...), defaults); p.Width*p.Height != 32*16 {
			t.Errorf("cut after %d bytes: %d by %d", cut, p.Width, p.Height)
		}
	}
	far := bytes.Replace(whole, []byte("\x2a\x00\x00\x00\x08"), []byte("\x2a\xff\xff\xff\xff"), 1)
	if p := rendered(t, far, defaults); p.Width != 32 {
		t.Errorf("%d by %d", p.Width, p.Height)
	}
}

func TestRefused(t *testing.T) {
	good := jpegOf(t, photo(300, 200))
	lying := rawWebP(100, 100)
	copy(lying[4:], "\xf0\xff\xff\x7f")
	copy(lying[16:], "\xe0\xff\xff\x7f")
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"40k by 40k PNG":       {rawPNG(t, 40_000, 40_000, 0, 6, 8), "1600.0 megapixels, and I look at no more than 40.0"},
		"2^31 PNG":             {rawPNG(t, 1<<31-1, 1, 0, 0, 8), "too large: 2147483647 by 1 pixels"},
		"long PNG":             {rawPNG(t, 100_000, 1, 0, 0, 8), "too large: 100000 by 1 pixels"},
		"zero size":            {rawPNG(t, 0, 10, 10, 6, 8), "damaged"},
		"zero height":          {rawPNG(t, 10, 0, 0, 6, 8), "damaged"},
		"JPEG of no size":      {rawJPEG(0, 0, 1, 0x11, 0), "damaged"},
		"JPEG bomb":            {rawJPEG(65_000, 65_000, 1, 0x11, 0)[:2000], "megapixels"},
		"deep PNG":             {rawPNG(t, 6300, 6300, 0, 6, 16), "takes 476 MB of memory"},
		"progressive bomb":     {rawJPEG(6300, 6300, 4, 0x11, 1)[:2000], "of memory"},
		"WebP bomb":            {rawWebP(16_384, 16_384), "megapixels"},
		"WebP of false length": {lying, "damaged"},
		"GIF bomb":             {append([]byte("GIF89a\xff\xff\xff\xff"), gifOf(t, 1, 1, 1)[10:]...), "megapixels"},
		"cut off":              {good[:len(good)*2/3], "damaged"},
		"cut off PNG":          {rawPNG(t, 500, 500, 300, 2, 8), "damaged"},
		"header only":          {good[:200], "damaged"},
		"frame too large":      {bytes.Replace(gifOf(t, 50, 50, 1), []byte("GIF89a\x32\x00\x32"), []byte("GIF89a\x31\x00\x31"), 1), "damaged"},
		"wrong magic":          {append([]byte("\xff\xd8\xff\xe0"), pngOf(t, quarters(9, 9))...), "damaged"},
		"BMP":                  {[]byte("BM" + strings.Repeat("\x00", 100)), "type image/bmp, only at JPEG"},
		"TIFF":                 {[]byte("II*\x00" + strings.Repeat("\x00", 100)), "type application/octet-stream"},
		"HEIC":                 {[]byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00"), "type image/heic"},
		"text":                 {[]byte("just text"), "type text/plain"},
		"nothing":              {nil, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := render(t.Context(), bytes.NewReader(c.data), defaults)
			told, ok := errors.AsType[*core.UserError](err)
			if !ok || !strings.Contains(told.Text, c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}

// A GIF of a hundred thousand frames costs as much as its first.
func TestManyFrames(t *testing.T) {
	one := gifOf(t, 2, 2, 2)
	at := bytes.IndexByte(one, 0x2c) // the first frame
	next := bytes.IndexByte(one[at+1:], 0x21) + at + 1
	data := bytes.Clone(one[:next])
	for range 100_000 {
		data = append(data, one[next:len(one)-1]...)
	}
	if p := rendered(t, append(data, 0x3b), defaults); p.Width != 2 {
		t.Errorf("%+v", p)
	}
}

// A few bytes can ask for passes over all of a large image; the time limit ends
// them.
func TestEndlessPasses(t *testing.T) {
	data := rawJPEG(5000, 5000, 1, 0x11, 20_000)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := render(ctx, bytes.NewReader(data), defaults)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	t.Logf("%d bytes, ended after %s", len(data), time.Since(began))
}

// A decoder that panics has the image refused.
func TestPanic(t *testing.T) {
	kind := formats["image/gif"]
	defer func() { formats["image/gif"] = kind }()
	formats["image/gif"] = format{kind.config, func(io.Reader) (image.Image, error) {
		return &image.Paletted{Pix: []byte{9, 9, 9, 9}, Stride: 2, Rect: image.Rect(0, 0, 2, 2), Palette: color.Palette{color.White}}, nil
	}, kind.complete}
	_, err := render(t.Context(), bytes.NewReader(gifOf(t, 2, 2, 1)), defaults)
	if !errors.Is(err, errDamaged) {
		t.Errorf("error %v", err)
	}
}

// FuzzImage makes pictures of anything.
func FuzzImage(f *testing.F) {
	for _, data := range [][]byte{
		jpegOf(f, photo(30, 20)), withEXIF(jpegOf(f, quarters(20, 30)), 6), pngOf(f, quarters(30, 20)), gifOf(f, 9, 9, 2), rawWebP(40, 30),
		rawPNG(f, 30, 20, 20, 3, 8), rawPNG(f, 40_000, 40_000, 1, 6, 8), rawPNG(f, 20, 20, 20, 6, 16), rawJPEG(64, 64, 3, 0x22, 0),
		rawJPEG(64, 64, 3, 0x22, 3), rawJPEG(32, 32, 4, 0x11, 2), nil,
	} {
		f.Add(data)
	}
	limits := Limits{MaxPixels: 1 << 20, Edge: 64, Time: time.Second}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := render(t.Context(), bytes.NewReader(data), limits)
		if err != nil {
			if _, told := errors.AsType[*core.UserError](err); !told {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if b := decodePNGOrJPEG(t, p.MIME, p.Data).Bounds(); b.Dx() != p.Width || b.Dy() != p.Height || max(p.Width, p.Height) > 64 {
			t.Fatalf("%d by %d, in truth %v", p.Width, p.Height, b)
		}
	})
}
