package api

import (
	"context"
	"sync"
)

// turns lets requests with the same idempotency key do one after the other what happens before their database transaction, such as
// sending mail: all but the first then find its answer. It works within one node; between nodes the claim of the key decides, so that
// one of them takes effect.
type turns struct {
	mu   sync.Mutex
	busy map[string]chan struct{} // closed when it is somebody else's turn
}

// take waits for the turn of a key. The turn ends with done.
func (t *turns) take(ctx context.Context, key string) (done func(), err error) {
	for {
		t.mu.Lock()
		before, taken := t.busy[key]
		if !taken {
			mine := make(chan struct{})
			if t.busy == nil {
				t.busy = map[string]chan struct{}{}
			}
			t.busy[key] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				delete(t.busy, key)
				t.mu.Unlock()
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-before:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
