package lot

import (
	"github.com/bursarhq/bursar/internal/base/money"
)

// Checkpoint is the state of a pool after an event, as a plain value to be stored. It depends on the events before it alone.
type Checkpoint struct {
	After Place
	Seq   int64
	Lots  []Lot // oldest first
	// Quantity and Basis are the sums of what is left, so that nobody has to add it up again.
	Quantity, Basis money.Decimal
}

// Checkpoint gives the state of the pool.
func (p *Pool) Checkpoint() Checkpoint {
	return Checkpoint{After: p.last, Seq: p.seq, Lots: p.Lots(), Quantity: p.quantity, Basis: p.basis}
}

// Restore gives a pool that goes on where the checkpoint was taken. They share the lots, which the pool does not
// change and nobody else may.
func Restore(config Config, c Checkpoint) *Pool {
	p := New(config)
	p.last, p.seq, p.quantity, p.basis = c.After, c.Seq, c.Quantity, c.Basis
	p.lots.base = c.Lots
	return p
}
