package apitest

import (
	"context"
	"sync"
	"testing"
)

// Work runs the background work of the service until the test ends.
func (s *Service) Work(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.App.Work(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
}
