package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// What is old goes at once and then daily, in as many steps as it takes; a
// failure is tried again the next day, and "0" keeps everything.
func TestTidy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		log := slog.New(slog.DiscardHandler)
		ctx, stop := context.WithCancel(t.Context())
		var at []time.Duration
		done := make(chan struct{})
		go func() {
			defer close(done)
			tidy(ctx, "things", 14, log, func(_ context.Context, before time.Time) (bool, error) {
				at = append(at, time.Since(began))
				if age := time.Since(before); age < 13*24*time.Hour || age > 15*24*time.Hour {
					t.Errorf("what is %s old goes", age)
				}
				if len(at) == 2 {
					return true, errors.New("disk is full")
				}
				return len(at) < 2, nil
			})
		}()
		time.Sleep(25 * time.Hour)
		stop()
		<-done
		if want := []time.Duration{0, 0, 24 * time.Hour}; !slices.Equal(at, want) {
			t.Errorf("called at %v, want %v", at, want)
		}
		tidy(t.Context(), "things", 0, log, func(context.Context, time.Time) (bool, error) {
			t.Error("what is to be kept for ever goes")
			return false, nil
		})
	})
}

// What is tidied in steps goes on where it has stopped, and from the beginning
// when it was done, or has failed.
func TestGoingOn(t *testing.T) {
	var from []core.ID
	prune := goingOn(func(_ context.Context, _ time.Time, at core.ID) (core.ID, error) {
		from = append(from, at)
		switch len(from) {
		case 1, 4:
			return core.NewID(core.KindItem, uint64(len(from))), nil
		case 5:
			return "", errors.New("disk is full")
		}
		return "", nil
	})
	var more []bool
	for range 6 {
		again, _ := prune(t.Context(), time.Now())
		more = append(more, again)
	}
	if want := []core.ID{"", "i1", "", "", "i4", ""}; !slices.Equal(from, want) {
		t.Errorf("it begins at %q, want %q", from, want)
	}
	if want := []bool{true, false, false, true, false, false}; !slices.Equal(more, want) {
		t.Errorf("there is more: %v, want %v", more, want)
	}
}
