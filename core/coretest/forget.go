package coretest

import (
	"context"
	"fmt"
	"time"

	"bellhop/core"
)

// forget has the ledger forget all that has ended, as it does with time.
func (w *world) forget(what string) error {
	prune := map[string]func(context.Context, time.Time, core.ID) (core.ID, error){
		"tasks": w.store.PruneTasks, "transcripts": w.store.PruneTranscripts}[what]
	if prune == nil {
		return fmt.Errorf("%q cannot be forgotten", what)
	}
	time.Sleep(time.Nanosecond) // what has ended just now has ended before
	for from := core.ID(""); ; {
		var err error
		if from, err = prune(w.t.Context(), time.Now(), from); err != nil || from == "" {
			return err
		}
	}
}
