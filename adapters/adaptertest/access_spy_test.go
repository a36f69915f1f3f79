package adaptertest_test

import (
	"context"
	"io"
	"maps"
	"slices"
	"sync"

	"bellhop/core"
)

// spy notes what an adapter is asked to do.
type spy struct {
	core.Adapter

	mu    sync.Mutex // guards the fields below
	shown []string
	calls map[string]int
}

func (s *spy) seen() ([]string, map[string]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.shown), maps.Clone(s.calls)
}

func (s *spy) called(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = map[string]int{}
	}
	s.calls[what]++
}

// Send implements core.Adapter.
func (s *spy) Send(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	r, err := s.Adapter.Send(ctx, o)
	if err == nil && o.Kind == core.OutFinal {
		s.mu.Lock()
		s.shown = append(s.shown, o.Text)
		s.mu.Unlock()
	}
	return r, err
}

// Features implements core.Adapter.
func (s *spy) Features() core.Features {
	f := s.Adapter.Features()
	if fetch := f.Fetch; fetch != nil {
		f.Fetch = func(ctx context.Context, file core.File) (io.ReadCloser, error) {
			s.called("fetch")
			return fetch(ctx, file)
		}
	}
	if typing := f.Typing; typing != nil {
		f.Typing = func(ctx context.Context, p core.Place) error {
			s.called("typing")
			return typing(ctx, p)
		}
	}
	if react := f.React; react != nil {
		f.React = func(ctx context.Context, p core.Place, id, emoji string) error {
			s.called("react")
			return react(ctx, p, id, emoji)
		}
	}
	if before := f.Before; before != nil {
		f.Before = func(ctx context.Context, n core.Need) (core.Before, error) {
			s.called("before")
			return before(ctx, n)
		}
	}
	return f
}
