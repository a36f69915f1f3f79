package coretest

import (
	"path/filepath"
	"testing"

	"bellhop/store"
	"bellhop/store/boltkv"
	"bellhop/store/memkv"
	"bellhop/store/storetest"
)

// engine is a store's engine that can be made to fail.
type engine interface {
	store.Engine
	SetFault(fault func(n uint64, when memkv.When) error)
	Crash()
}

// opener opens an engine over what the one before it has stored, which is no
// more; nil: there was none.
type opener func(before engine) (engine, error)

// engines make openers of the engines that pass storetest.RunEngine. observe is
// told of each commit.
var engines = map[string]func(t *testing.T, observe func()) opener{
	"memkv": func(_ *testing.T, observe func()) opener {
		return func(before engine) (engine, error) {
			if before == nil {
				return memkv.New(memkv.Options{Observe: func(uint64) { observe() }}), nil
			}
			return before.(*memkv.Engine).Reopen(), nil
		}
	},
	"boltkv": func(t *testing.T, observe func()) opener {
		dir := filepath.Join(t.TempDir(), "store")
		o := storetest.FaultyOptions{Observe: observe, Open: func() storetest.Engine {
			e, err := boltkv.Open(dir, boltkv.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}}
		return func(before engine) (engine, error) {
			if before == nil {
				return storetest.NewFaulty(o), nil
			}
			return before.(*storetest.Faulty).Reopen()
		}
	},
}
