package transaction

import "sync"

// Few rows would always fit into the window and never have too many branches: in tests both are small, and the ways
// pages are read are counted.
func init() {
	window, few, branchesMax, took = 12, 5, 6, Ways.count
}

// Ways counts how often pages were read which way.
var Ways counter

type counter struct {
	mu    sync.Mutex
	times map[string]int
}

func (c *counter) count(way string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times == nil {
		c.times = map[string]int{}
	}
	c.times[way]++
}

// Times tells how often a way was taken.
func (c *counter) Times(way string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.times[way]
}

// Amounts are what a transaction is sorted by.
var Amounts = Transaction.amounts
