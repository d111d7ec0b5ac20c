// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"context"
	"sync"
)

// shared is a piece of work that all who ask at the same time share. A success is
// remembered, a failure is not.
type shared[T any] struct {
	mu      sync.Mutex
	known   bool
	value   T
	running *flight[T]
}

type flight[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// get returns the remembered value, or does the work. It ends with the caller's context;
// the work goes on for the others.
func (s *shared[T]) get(ctx context.Context, work func(context.Context) (T, error)) (T, error) {
	var none T

	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}

	s.mu.Lock()
	if s.known {
		defer s.mu.Unlock()

		return s.value, nil
	}

	f := s.running
	if f == nil {
		f = &flight[T]{done: make(chan struct{})}
		s.running = f

		go s.run(context.WithoutCancel(ctx), f, work)
	}
	s.mu.Unlock()

	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

func (s *shared[T]) run(ctx context.Context, f *flight[T], work func(context.Context) (T, error)) {
	f.value, f.err = work(ctx)

	s.mu.Lock()
	if s.running == f {
		s.running = nil
		s.known, s.value = f.err == nil, f.value
	}
	s.mu.Unlock()

	close(f.done)
}

// forget drops what is remembered; work under way is for those who wait for it only.
func (s *shared[T]) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()

	var none T
	s.known, s.value, s.running = false, none, nil
}
