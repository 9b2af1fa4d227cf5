package lru_test

import (
	"slices"
	"testing"

	"github.com/bursarhq/bursar/internal/base/lru"
)

func TestTheLeastRecentlyUsedValueIsDropped(t *testing.T) {
	t.Parallel()
	var dropped []string
	c := lru.New(2, nil, func(key string, _ int) { dropped = append(dropped, key) })
	c.Put("a", 1)
	c.Put("b", 2)
	if v, ok := c.Get("a"); !ok || v != 1 {
		t.Fatalf("a is %d, %v", v, ok)
	}
	c.Put("c", 3)
	if _, ok := c.Get("b"); ok || c.Len() != 2 || !slices.Equal(dropped, []string{"b"}) {
		t.Errorf("%d values are left, dropped were %v", c.Len(), dropped)
	}
	c.Put("a", 4)
	if v, _ := c.Get("a"); v != 4 || c.Len() != 2 {
		t.Errorf("a is %d of %d values", v, c.Len())
	}
}

func TestValuesAreDroppedByWeightAndTheLastOneStays(t *testing.T) {
	t.Parallel()
	c := lru.New[string](10, func(v int) int { return v }, nil)
	c.Put("a", 4)
	c.Put("b", 4)
	c.Put("c", 4)
	if _, ok := c.Get("a"); ok || c.Len() != 2 {
		t.Errorf("%d values weigh 12 of 10", c.Len())
	}
	c.Put("b", 1) // a lighter value makes room
	c.Put("d", 5)
	if c.Len() != 3 {
		t.Errorf("%d values, want 3 that weigh 10", c.Len())
	}
	c.Put("e", 100)
	if v, ok := c.Get("e"); !ok || v != 100 || c.Len() != 1 {
		t.Errorf("a value that is too heavy is stored alone, but there are %d", c.Len())
	}
}
