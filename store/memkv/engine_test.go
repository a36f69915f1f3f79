package memkv_test

import (
	"testing"

	"bellhop/store/memkv"
	"bellhop/store/storetest"
)

func TestEngine(t *testing.T) {
	storetest.RunEngine(t, func(*testing.T) func() storetest.Engine {
		e := memkv.New(memkv.Options{})
		first := true
		return func() storetest.Engine {
			if !first {
				e = e.Reopen()
			}
			first = false
			return e
		}
	})
}
