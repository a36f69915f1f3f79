//go:build peers

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// installed is the folder in the environment that npm has put the peers into.
const installed = "BELLHOP_PEERS"

// installedFile is the path of a file that npm has installed.
func installedFile(name string) string {
	return filepath.Join(os.Getenv(installed), "node_modules", name)
}

// startFile is the path of a peer's start script or configuration.
func startFile(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../.ci/peers", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// server is a peer that runs.
type server struct{ url string }

// serverBy starts a peer's program and waits until it answers at the path. It
// ends with the test.
func serverBy(t *testing.T, port, path, program string, args ...string) server {
	t.Helper()
	var out transcript
	cmd := exec.CommandContext(t.Context(), program, args...) // killed before the cleanups run
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "TMPDIR="+cmd.Dir, "NO_COLOR=1")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatalf("the peer does not start: %v", err)
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed
		close(gone)
	}()
	t.Cleanup(func() {
		<-gone
		if t.Failed() {
			t.Logf("%s wrote\n%s", filepath.Base(program), out.String())
		}
	})
	s := server{"http://127.0.0.1:" + port}
	ended := false
	up := within(patience, func() bool {
		select {
		case <-gone:
			ended = true
			return true
		default:
			_, err := s.attempt(t, http.MethodGet, path, nil, nil)
			return err == nil
		}
	})
	if ended || !up {
		t.Fatalf("%s does not serve %s%s", filepath.Base(program), s.url, path)
	}
	return s
}

// post sends body as JSON to a path, whose answer it decodes into result
// unless that is nil.
func (s server) post(t *testing.T, path string, body, result any) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	answer := s.call(t, http.MethodPost, path, http.Header{"Content-Type": {"application/json"}}, data)
	if result == nil {
		return
	}
	if err := json.Unmarshal(answer, result); err != nil {
		t.Fatalf("%s: %v in %s", path, err, answer)
	}
}

// get decodes into result what a path tells.
func (s server) get(t *testing.T, path string, result any) {
	t.Helper()
	answer := s.call(t, http.MethodGet, path, nil, nil)
	if err := json.Unmarshal(answer, result); err != nil {
		t.Fatalf("%s: %v in %s", path, err, answer)
	}
}

// call makes a request, which must succeed, and returns its answer.
func (s server) call(t *testing.T, method, path string, header http.Header, body []byte) []byte {
	t.Helper()
	answer, err := s.attempt(t, method, path, header, body)
	if err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, answer)
	}
	return answer
}

// attempt is call without its demand.
func (s server) attempt(t *testing.T, method, path string, header http.Header, body []byte) ([]byte, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(req.Header, header)
	client := http.Client{Timeout: patience}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	return answer, err
}
