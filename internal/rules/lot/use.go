package lot

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Use is the quantity that an event consumed from one lot.
type Use struct {
	ID   string // of the event
	Kind Kind
	// Lot is the lot consumed. A use without a lot is the missing quantity, at no cost.
	Lot      string
	Quantity money.Decimal
	Basis    money.Decimal
	// Proceeds, Fee and Gain are this use's share; for disposals and fees only.
	Proceeds   money.Decimal
	Fee        money.Decimal
	Gain       money.Decimal
	AcquiredAt time.Time
	At         time.Time
	Days       int
	Term       Term
	Method     Method
	Empties    bool // Nothing is left of the lot.
	Marks
}

// NetGain returns the gain after the fee, for books that deduct fees from gains instead of expensing them.
func (u *Use) NetGain() money.Decimal { return u.Gain.Sub(u.Fee) }

// Result is the effect of an event.
type Result struct {
	// Uses are in the order in which the lots were consumed.
	Uses []Use
	// Deficit is the missing quantity that was consumed at no cost.
	Deficit money.Decimal
	// Dust is a missing quantity too small to matter: less was consumed than the event asked for.
	Dust money.Decimal
}

// realize allocates proceeds and fee to the uses by quantity and computes their gains and terms.
func (c *Config) realize(e *Event, uses []Use, quantity money.Decimal) {
	proceeds := allocator{e.Proceeds.Round(c.Places), quantity, c.Places}
	fee := allocator{e.Fee.Round(c.Places), quantity, c.Places}
	for i := range uses {
		u := &uses[i]
		u.Proceeds, u.Fee = proceeds.next(u.Quantity), fee.next(u.Quantity)
		u.Gain = u.Proceeds.Sub(u.Basis)
		u.Days, u.Term = c.holdingPeriod(u.AcquiredAt, u.At)
	}
}

// allocator splits an amount by quantities, one after the other: each gets its share of the rest, and the last one all of
// it. It is money.Split for a known sum of quantities, without allocating; most events have only one use.
type allocator struct {
	amount   money.Decimal
	quantity money.Decimal
	places   int32
}

func (s *allocator) next(quantity money.Decimal) money.Decimal {
	if s.amount.IsZero() || quantity.Equal(s.quantity) {
		return s.amount
	}
	part := s.amount.Mul(quantity).Quo(s.quantity, s.places)
	s.amount, s.quantity = s.amount.Sub(part), s.quantity.Sub(quantity)
	return part
}

// portion returns the part of an amount that belongs to part of a quantity; for the whole quantity, the whole amount.
func portion(amount, part, whole money.Decimal, places int32) money.Decimal {
	if part.Equal(whole) {
		return amount
	}
	return amount.Mul(part).Quo(whole, places)
}
