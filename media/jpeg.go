package media

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
)

// jpegInfo is what image/jpeg does not tell of a file.
type jpegInfo struct {
	orientation int     // as EXIF counts, from 1
	progressive bool    // its samples come in several passes
	samples     float64 // for each pixel: 1 is grey, 1.5 the colours of most photos, 3 or 4 the most
}

// Markers of JPEG segments.
const (
	markSOF0 = 0xc0 // frame header, and the next two
	markSOF2 = 0xc2 // of a progressive image
	markRST0 = 0xd0 // the first of those that have no length
	markEOI  = 0xd9
	markSOS  = 0xda
	markAPP1 = 0xe1
	markTEM  = 0x01
)

// readJPEG reads the segments up to the frame header. What it does not find or
// cannot read is as in most images: image/jpeg judges what is valid.
func readJPEG(src io.Reader) (jpegInfo, error) {
	info := jpegInfo{orientation: 1, samples: 3}
	r := bufio.NewReader(src)
	for {
		mark, err := nextMarker(r)
		switch {
		case err != nil || mark == markEOI || mark == markSOS:
			return info, nil //nolint:nilerr // where the segments end, for whatever reason
		case mark >= markRST0 && mark < markEOI, mark == markTEM:
			continue
		}
		var length [2]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return info, nil //nolint:nilerr // likewise
		}
		segment := io.LimitReader(r, int64(binary.BigEndian.Uint16(length[:]))-2)
		switch mark {
		case markAPP1:
			data, err := io.ReadAll(segment)
			if err != nil {
				return info, err
			}
			if o := exifOrientation(data); o != 0 {
				info.orientation = o
			}
		case markSOF0, markSOF0 + 1, markSOF2:
			data, err := io.ReadAll(segment)
			info.progressive = mark == markSOF2
			if n := samples(data); n > 0 {
				info.samples = n
			}
			return info, err
		}
		if _, err := io.Copy(io.Discard, segment); err != nil {
			return info, err
		}
	}
}

// nextMarker is the next byte that follows a 0xff and is neither that nor 0.
func nextMarker(r *bufio.Reader) (byte, error) {
	for after := false; ; {
		b, err := r.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case b == 0xff:
			after = true
		case after && b != 0:
			return b, nil
		default:
			after = false
		}
	}
}

// samples is how many samples a pixel has by the frame header; 0: it does not
// say.
func samples(frame []byte) float64 {
	const fixed, each = 6, 3 // precision, height, width, number; then for each component
	if len(frame) < fixed || len(frame) < fixed+each*int(frame[5]) {
		return 0
	}
	sum, maxH, maxV := 0, 0, 0
	for i := range int(frame[5]) {
		factors := frame[fixed+each*i+1]
		h, v := int(factors>>4), int(factors&15)
		sum += h * v
		maxH, maxV = max(maxH, h), max(maxV, v)
	}
	if sum == 0 {
		return 0
	}
	return float64(sum) / float64(maxH*maxV)
}

// exifOrientation is the orientation in the main directory of an EXIF segment;
// 0: there is none.
func exifOrientation(segment []byte) int {
	tiff, ok := bytes.CutPrefix(segment, []byte("Exif\x00\x00"))
	if !ok || len(tiff) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	const (
		tagOrientation = 0x0112
		typeShort      = 3
		entry          = 12 // bytes
	)
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 0
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < entry {
			return 0
		}
		if order.Uint16(entries) == tagOrientation && order.Uint16(entries[2:]) == typeShort {
			if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			return 0
		}
		entries = entries[entry:]
	}
	return 0
}
