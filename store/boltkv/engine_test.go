package boltkv_test

import (
	"path/filepath"
	"testing"

	"bellhop/store/boltkv"
	"bellhop/store/storetest"
)

func open(t testing.TB, dir string) *boltkv.Engine {
	t.Helper()
	e, err := boltkv.Open(dir, boltkv.Options{Who: "bellhop test"})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEngine(t *testing.T) {
	storetest.RunEngine(t, func(t *testing.T) func() storetest.Engine {
		dir := filepath.Join(t.TempDir(), "store")
		return func() storetest.Engine { return open(t, dir) }
	})
}
