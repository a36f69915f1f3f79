package storetest_test

import (
	"cmp"
	"flag"
	"path/filepath"
	"testing"

	"bellhop/store/boltkv"
	"bellhop/store/storetest"
)

var operations = flag.Int("operations", 0, "least number of operations of each TestLedger, if -rapid.checks are enough; 0: a few")

func TestLedgerChaos(t *testing.T) {
	storetest.RunLedger(t, cmp.Or(*operations, 1500), func(*testing.T) func() storetest.Engine { return reopening() })
}

func TestLedgerOnDisk(t *testing.T) {
	storetest.RunLedger(t, cmp.Or(*operations, 300), func(t *testing.T) func() storetest.Engine {
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
