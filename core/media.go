package core

// Image is a picture that a model can be shown.
type Image struct {
	MIME   string // image/jpeg or image/png
	Data   []byte // of that type; not to be changed
	Width  int    // pixels
	Height int
	At     int // in a ChatMessage: the image stands after that many bytes of Content
}

// Saved is a file whose content is kept. Nothing in it is what a person or a
// platform claimed: MIME is what the content looks like, Name is made safe.
type Saved struct {
	Hash   string // SHA-256 of the content, 64 hexadecimal digits
	Path   string // in the folder of the files
	MIME   string
	Size   int64 // bytes
	Width  int   // of an image in pixels, as it is stored; 0: no image, or one that cannot be read
	Height int
	Name   string
}
