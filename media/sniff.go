package media

import (
	"bytes"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"bellhop/core"
)

// sniffLength is how much of a file its type is told from. Source: the WHATWG
// MIME Sniffing standard, which http.DetectContentType follows.
const sniffLength = 512

// sniff is the type that the head of a file shows, without parameters.
func sniff(head []byte) string {
	if kind := brand(head); kind != "" {
		return kind
	}
	kind, _, _ := strings.Cut(http.DetectContentType(head), ";")
	return kind
}

// brand tells the kinds of image that phones make and nothing here can decode,
// so that a person learns what it is.
func brand(head []byte) string {
	if len(head) < 12 || string(head[4:8]) != "ftyp" {
		return ""
	}
	switch string(head[8:12]) {
	case "heic", "heix", "heim", "heis", "mif1", "msf1":
		return "image/heic"
	case "avif", "avis":
		return "image/avif"
	}
	return ""
}

// webPage reports whether the file is a whole HTML document. One that merely
// begins with a tag may be Markdown.
func webPage(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	switch kind := sniff(head); kind {
	case "text/html", "text/xml":
		head = bytes.ToLower(head)
		return bytes.Contains(head, []byte("<!doctype html")) || bytes.Contains(head, []byte("<html"))
	}
	return false
}

// expectsPage reports whether a web page is what the file claims to be.
func expectsPage(f core.File) bool {
	kind, _, _ := strings.Cut(f.MIME, ";")
	return slices.Contains([]string{"text/html", "application/xhtml+xml"}, strings.ToLower(strings.TrimSpace(kind))) ||
		slices.Contains([]string{".html", ".htm", ".xhtml"}, strings.ToLower(path.Ext(f.Name)))
}

const (
	// maxName is the most bytes of a name. Source: file systems take 255; the
	// rest is for whoever puts something before or after it.
	maxName = 200
	// maxExt is the longest ending that is kept when a name is cut.
	maxExt = 16
)

// safeName is the last element of a name that somebody else chose, fit to be a
// file's name: nothing that leads elsewhere, hides, or is not seen.
func safeName(name, kind string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '/' || r == '\\':
			return '/'
		case r == utf8.RuneError || !unicode.IsPrint(r), strings.ContainsRune(`<>:"|?*`, r):
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	name = strings.Trim(name[strings.LastIndexByte(name, '/')+1:], " .~")
	if name == "" {
		name = "file" + extensions[kind]
	}
	if len(name) <= maxName {
		return name
	}
	ext := path.Ext(name)
	if len(ext) > maxExt {
		ext = ""
	}
	return strings.ToValidUTF8(name[:maxName-len(ext)], "") + ext
}

// extensions are for files without a name.
var extensions = map[string]string{
	"image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/webp": ".webp",
	"application/pdf": ".pdf", "text/plain": ".txt",
}
