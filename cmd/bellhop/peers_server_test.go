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

// scripts is where the peers' start scripts and configurations lie.
const scripts = "../../.ci/peers"

// startup is the path of one of them.
func startup(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(scripts, name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// module is the path of a file of the installed peers.
func module(name string) string { return filepath.Join(os.Getenv(installed), "node_modules", name) }

// serveBy starts a peer's program and waits until url answers. It ends with
// the test.
func serveBy(t *testing.T, url, program string, args ...string) {
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
	up := within(patience, func() bool {
		select {
		case <-gone:
			return true
		default:
		}
		_, err := attempt(t, http.MethodGet, url, nil, nil)
		return err == nil
	})
	select {
	case <-gone:
		t.Fatalf("the peer has ended:\n%s", out.String())
	default:
		if !up {
			t.Fatalf("the peer does not answer at %s:\n%s", url, out.String())
		}
	}
}

// post sends body as JSON to a peer, whose answer it decodes into result
// unless that is nil.
func post(t *testing.T, url string, body, result any) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, call(t, http.MethodPost, url, http.Header{"Content-Type": {"application/json"}}, data), result)
}

// get decodes into result what a peer tells.
func get(t *testing.T, url string, result any) {
	t.Helper()
	decode(t, call(t, http.MethodGet, url, nil, nil), result)
}

func decode(t *testing.T, answer []byte, result any) {
	t.Helper()
	if result == nil {
		return
	}
	if err := json.Unmarshal(answer, result); err != nil {
		t.Fatalf("%v in %s", err, answer)
	}
}

// call makes a request, which must succeed, and returns its answer.
func call(t *testing.T, method, url string, header http.Header, body []byte) []byte {
	t.Helper()
	answer, err := attempt(t, method, url, header, body)
	if err != nil {
		t.Fatalf("%s %s: %v: %s", method, url, err, answer)
	}
	return answer
}

// attempt is call without its demand.
func attempt(t *testing.T, method, url string, header http.Header, body []byte) ([]byte, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
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
