package token

import (
	"maps"
	"sync"
	"time"
)

const (
	// CachedFor is how long a node may use what it has read: every node must honor a revocation within a second.
	CachedFor = 500 * time.Millisecond
	cachedMax = 10_000
)

// Cache keeps what a text stands for, by the hash of the text, so that a busy one is read from the database twice a second and not for
// every request. The zero value is empty.
type Cache[V any] struct {
	mu     sync.RWMutex
	byHash map[string]cached[V]
}

type cached[V any] struct {
	value V
	read  time.Time
}

// Get returns what was read not long ago.
func (c *Cache[V]) Get(hash string, now time.Time) (V, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e, ok := c.byHash[hash]
	return e.value, ok && now.Sub(e.read) < CachedFor
}

// Has reports whether something was read before, however long ago.
func (c *Cache[V]) Has(hash string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, ok := c.byHash[hash]
	return ok
}

// Put keeps what was read at a time. A cache that is full forgets everything first.
func (c *Cache[V]) Put(hash string, value V, read time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byHash == nil || len(c.byHash) >= cachedMax {
		c.byHash = map[string]cached[V]{}
	}
	c.byHash[hash] = cached[V]{value, read}
}

// Forget removes what a text stands for.
func (c *Cache[V]) Forget(hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byHash, hash)
}

// ForgetWhere removes everything that meets a condition.
func (c *Cache[V]) ForgetWhere(condition func(V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.byHash, func(_ string, e cached[V]) bool { return condition(e.value) })
}
