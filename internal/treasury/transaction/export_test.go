package transaction

import "sync"

// The few rows of a test would always fit into the window and never have too many branches. The limits are small in
// tests, and the strategies that pages are read by are counted.
func init() {
	window, fewRows, branchesMax, onStrategy = 12, 5, 6, Strategies.count
}

// Strategies counts how often each strategy was used.
var Strategies counter

type counter struct {
	mu    sync.Mutex
	times map[string]int
}

func (c *counter) count(strategy string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times == nil {
		c.times = map[string]int{}
	}
	c.times[strategy]++
}

// Times returns how often a strategy was used.
func (c *counter) Times(strategy string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.times[strategy]
}

// Amounts returns the gross and net amounts that transactions are sorted by.
var Amounts = Transaction.amounts
