package lot

import (
	"github.com/bursarhq/bursar/internal/base/money"
)

// Checkpoint is the state of a pool after an event, as a plain value to be stored. It depends only on the events up to it.
type Checkpoint struct {
	After Place
	Seq   int64
	Lots  []Lot // oldest first
	// Quantity and Basis are the totals of the lots, so that they need not be summed up again.
	Quantity, Basis money.Decimal
}

// Restore returns a pool that continues from a checkpoint. The two share the slice of lots: the pool never writes to it,
// and the caller must not either.
func Restore(config Config, c Checkpoint) *Pool {
	p := New(config)
	p.last, p.seq, p.quantity, p.basis = c.After, c.Seq, c.Quantity, c.Basis
	p.lots.base = c.Lots
	return p
}
