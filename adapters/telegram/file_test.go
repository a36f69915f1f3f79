package telegram

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"bellhop/core"
)

func TestFetch(t *testing.T) {
	const secret = "777:canary-token"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.HasSuffix(r.URL.Path, "/getFile") && strings.Contains(string(body), "BIG"):
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"ok":false,"error_code":400,"description":"Bad Request: file is too big"}`)
		case strings.HasSuffix(r.URL.Path, "/getFile") && strings.Contains(string(body), "LOCAL"):
			_, _ = io.WriteString(w, `{"ok":true,"result":{"file_path":"/etc/passwd"}}`)
		case strings.HasSuffix(r.URL.Path, "/getFile") && strings.Contains(string(body), "GONE"):
			_, _ = io.WriteString(w, `{"ok":true,"result":{"file_path":"photos/gone.jpg"}}`)
		case strings.HasSuffix(r.URL.Path, "/getFile"):
			_, _ = io.WriteString(w, `{"ok":true,"result":{"file_path":"photos/my file.jpg"}}`)
		case r.URL.Path == "/file/bot"+secret+"/photos/my file.jpg":
			_, _ = io.WriteString(w, "pixels")
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	a := New(Options{Name: "telegram", Token: secret, APIURL: srv.URL})
	for _, c := range []struct{ ref, want, err string }{
		{"F1", "pixels", ""},
		{"BIG", "", "20 MB"},
		{"LOCAL", "", "no path"},
		{"GONE", "", "HTTP 404"},
	} {
		body, err := a.fetch(t.Context(), core.File{Ref: c.ref})
		if err != nil {
			if c.err == "" || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: %v, want %q", c.ref, err, c.err)
			}
			if _, told := errors.AsType[*core.UserError](err); told != (c.ref == "BIG") {
				t.Errorf("%s: told to the person: %v", c.ref, told)
			}
			continue
		}
		got, err := io.ReadAll(body)
		if err := errors.Join(err, body.Close()); string(got) != c.want || err != nil {
			t.Errorf("%s: %q, %v", c.ref, got, err)
		}
	}
}
