package storetest_test

import (
	"path/filepath"
	"testing"

	"bellhop/store/boltkv"
	"bellhop/store/memkv"
	"bellhop/store/storetest"
)

func TestLedgerChaos(t *testing.T) {
	storetest.RunLedger(t, 50, func(*testing.T) func() storetest.Engine {
		var e *memkv.Engine
		return func() storetest.Engine {
			if e == nil {
				e = memkv.New(memkv.Options{})
			} else {
				e = e.Reopen()
			}
			return e
		}
	})
}

func TestLedgerOnDisk(t *testing.T) {
	storetest.RunLedger(t, 10, func(t *testing.T) func() storetest.Engine {
		dir := filepath.Join(t.TempDir(), "store")
		return func() storetest.Engine {
			e, err := boltkv.Open(dir, boltkv.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
	})
}
