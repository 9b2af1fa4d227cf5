package identity

import (
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/lru"
)

const (
	// refusalKept is how long it is remembered that attempts come too soon. Another node may have learned otherwise meanwhile.
	refusalKept = time.Second

	refusalsMax = 10_000
)

// refusals remembers for a moment whose attempts come too soon, so that a flood of them does not reach the database.
type refusals struct {
	mu    sync.Mutex
	known *lru.Cache[string, refusal]
}

type refusal struct{ at, until time.Time }

func newRefusals() *refusals {
	return &refusals{known: lru.New[string, refusal](refusalsMax, nil, nil)}
}

// wait returns how long an attempt has to wait, as far as that is remembered.
func (r *refusals) wait(counted []subject, now time.Time) (wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range counted {
		if found, ok := r.known.Get(one.hash); ok && now.Sub(found.at) < refusalKept {
			wait = max(wait, found.until.Sub(now))
		}
	}
	return wait
}

// add remembers that an attempt came too soon.
func (r *refusals) add(hash string, now time.Time, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known.Put(hash, refusal{now, now.Add(wait)})
}
