package adaptertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
)

// answer is what one request to a fake gets.
type answer struct {
	status      int
	contentType string
	header      http.Header // besides the content type
	body        []byte
	net         Net
}

// headers are all the headers of the answer.
func (a answer) headers() http.Header {
	h := a.header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set("Content-Type", a.contentType)
	return h
}

// serve gives the answer over a connection. It cannot be refused there: such a
// fault closes it before an answer.
func (a answer) serve(w http.ResponseWriter, r *http.Request) {
	body := a.body
	switch a.net {
	case NetFine:
	case NetCut:
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		body = body[:len(body)/2]
	case NetHang, NetStall:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	default:
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), a.headers())
	w.WriteHeader(a.status)
	// The caller may be gone; there is nobody to tell.
	_, _ = w.Write(body)
	if a.net == NetCut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// transport is an http.RoundTripper to a fake.
type transport struct {
	answer func(*http.Request) answer
}

func (tr transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	defer r.Body.Close()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	a := tr.answer(r)
	body := io.Reader(bytes.NewReader(a.body))
	switch a.net {
	case NetRefuse:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case NetLost:
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	case NetHang, NetStall:
		<-r.Context().Done()
		return nil, r.Context().Err()
	case NetCut:
		body = io.MultiReader(bytes.NewReader(a.body[:len(a.body)/2]), cut{})
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{
		Status:        strconv.Itoa(a.status) + " " + http.StatusText(a.status),
		StatusCode:    a.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        a.headers(),
		Body:          io.NopCloser(body),
		ContentLength: int64(len(a.body)),
		Request:       r,
	}, nil
}

// cut is the end of a body whose connection broke.
type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// encode is JSON without HTML escapes, as the platforms write it. Only values
// made here come to it, so it cannot fail.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// params are a call's parameters: strings as they are, all else as JSON. A file
// is its content, with its name beside it.
type params map[string]string

// fileName is what the key of a file's name ends in.
const fileName = "; filename"

// maxBody is the most a request may carry.
const maxBody = 51 << 20

func readParams(r *http.Request) (params, error) {
	p := params{}
	for k, v := range r.URL.Query() {
		p[k] = v[0]
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return nil, err
	}
	kind, attr, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		if len(body) == 0 {
			return p, nil
		}
		if err := p.addObject(body); err != nil {
			return nil, fmt.Errorf("can't parse JSON object: %w", err)
		}
	case "application/x-www-form-urlencoded":
		q, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, err
		}
		for k, v := range q {
			p[k] = v[0]
		}
	case "multipart/form-data":
		form, err := multipart.NewReader(bytes.NewReader(body), attr["boundary"]).ReadForm(maxBody)
		if err != nil {
			return nil, err
		}
		for k, v := range form.Value {
			p[k] = v[0]
		}
		for k, files := range form.File {
			f, err := files[0].Open()
			if err != nil {
				return nil, err
			}
			content, err := io.ReadAll(f)
			if err := errors.Join(err, f.Close()); err != nil {
				return nil, err
			}
			p[k], p[k+fileName] = string(content), files[0].Filename
		}
	}
	return p, nil
}

// addObject adds what a JSON object says.
func (p params) addObject(data []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	for k, raw := range m {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		p[k] = s
	}
	return nil
}

func (p params) int(key string) int64 {
	n, _ := strconv.ParseInt(p[key], 10, 64)
	return n
}

func (p params) bool(key string) bool {
	v := strings.ToLower(p[key])
	return v == "true" || v == "1" || v == "yes"
}
