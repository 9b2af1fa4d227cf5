// Package lifecycletest tests that a service starts and stops as lifecycle.Service says.
package lifecycletest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/lifecycle"
)

// waitMax is how long a service may take to start or stop.
const waitMax = 20 * time.Second

// Conforms runs the conformance tests. Each gets a service of its own that was never started.
func Conforms(t *testing.T, newService func(t *testing.T) lifecycle.Service) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, lifecycle.Service){
		"stopping before the start does nothing": func(t *testing.T, s lifecycle.Service) {
			stop(t, s)
			start(t, s)
			stop(t, s)
		},
		"stopping twice is safe": func(t *testing.T, s lifecycle.Service) {
			start(t, s)
			stop(t, s)
			stop(t, s)
		},
		"starting twice is safe": func(t *testing.T, s lifecycle.Service) {
			start(t, s)
			start(t, s)
			stop(t, s)
		},
		"a stopped service starts again": func(t *testing.T, s lifecycle.Service) {
			for range 3 {
				start(t, s)
				stop(t, s)
			}
		},
		"it may be stopped concurrently": func(t *testing.T, s lifecycle.Service) {
			start(t, s)
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() { stop(t, s) })
			}
			wg.Wait()
		},
		"it may be stopped before it has started": func(t *testing.T, s lifecycle.Service) {
			if err := s.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			stop(t, s)
			await(t, "it is neither started nor ended", s.Started())
		},
		"it ends with its context": func(t *testing.T, s lifecycle.Service) {
			ctx, cancel := context.WithCancel(t.Context())
			if err := s.Start(ctx); err != nil {
				t.Fatal(err)
			}
			await(t, "it did not start", s.Started())
			cancel()
			stop(t, s)
		},
		"a canceled context does not block the start": func(t *testing.T, s lifecycle.Service) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := s.Start(ctx); err != nil {
				t.Fatal(err)
			}
			await(t, "it is neither started nor ended", s.Started())
			stop(t, s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newService(t))
		})
	}
}

func start(t *testing.T, s lifecycle.Service) {
	t.Helper()
	if err := s.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	await(t, "it did not start", s.Started())
}

func stop(t *testing.T, s lifecycle.Service) {
	t.Helper()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.Stop()
	}()
	await(t, "it did not stop", stopped)
}

func await(t *testing.T, message string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(waitMax):
		t.Error(message)
	}
}
