// Package lru provides a bounded map that evicts the least recently used entries.
package lru

import "container/list"

// Cache is a bounded map. It is not safe for concurrent use: its owner holds a lock.
type Cache[K comparable, V any] struct {
	weightMax int
	weight    func(V) int
	evicted   func(K, V)

	total   int
	entries map[K]*list.Element
	order   *list.List // of *entry, the most recently used first
}

type entry[K comparable, V any] struct {
	key    K
	value  V
	weight int
}

// New returns a cache whose values together weigh at most weightMax. A nil weight counts each value as 1. If evicted is
// not nil, it is called with each value that is dropped to make room or replaced.
func New[K comparable, V any](weightMax int, weight func(V) int, evicted func(K, V)) *Cache[K, V] {
	if weight == nil {
		weight = func(V) int { return 1 }
	}
	if evicted == nil {
		evicted = func(K, V) {}
	}
	return &Cache[K, V]{weightMax: weightMax, weight: weight, evicted: evicted, entries: map[K]*list.Element{}, order: list.New()}
}

// Get returns the value of a key and marks it as used.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	e, ok := c.entries[key]
	if !ok {
		return *new(V), false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Put stores a value and drops the least recently used ones until the rest fits. A value that alone is too heavy is
// stored as the only one.
func (c *Cache[K, V]) Put(key K, value V) {
	if e, ok := c.entries[key]; ok {
		c.remove(e)
	}
	added := &entry[K, V]{key, value, c.weight(value)}
	c.entries[key] = c.order.PushFront(added)
	c.total += added.weight
	for c.total > c.weightMax && c.order.Len() > 1 {
		c.remove(c.order.Back())
	}
}

// Len returns the number of values.
func (c *Cache[K, V]) Len() int { return c.order.Len() }

func (c *Cache[K, V]) remove(e *list.Element) {
	gone := c.order.Remove(e).(*entry[K, V])
	delete(c.entries, gone.key)
	c.total -= gone.weight
	c.evicted(gone.key, gone.value)
}
