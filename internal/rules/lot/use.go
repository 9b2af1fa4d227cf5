package lot

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Use is what an event took from one lot.
type Use struct {
	ID   string // of the event
	Kind Kind
	// Lot is where it was taken from. A use without one is of what was not there, at no cost.
	Lot      string
	Quantity money.Decimal
	Basis    money.Decimal
	// Proceeds, Fee and Gain are this use's share, of disposals and fees only.
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

// NetGain is the gain after the fee, for books that take fees off the gains instead of expensing them.
func (u *Use) NetGain() money.Decimal { return u.Gain.Sub(u.Fee) }

// Result is what an event did.
type Result struct {
	// Uses are in the order in which the lots were taken.
	Uses []Use
	// Deficit is the quantity that was not there and was taken at no cost.
	Deficit money.Decimal
	// Dust is a quantity that was not there and was too little to matter: less was taken than was asked for.
	Dust money.Decimal
}

// Basis is the cost of all that was taken.
func (r Result) Basis() money.Decimal {
	return r.total(func(u *Use) money.Decimal { return u.Basis })
}

// Gain is what was realized; a loss is negative.
func (r Result) Gain() money.Decimal {
	return r.total(func(u *Use) money.Decimal { return u.Gain })
}

func (r Result) total(of func(*Use) money.Decimal) money.Decimal {
	var total money.Decimal
	for i := range r.Uses {
		total = total.Add(of(&r.Uses[i]))
	}
	return total
}

// realize shares proceeds and fee among the uses by quantity and finds their gains and terms.
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

// sharing splits an amount by quantities, one after the other: each takes its share of what is left, and the last one
// all of it. It is money.Split for those who know the sum of the quantities, and mostly have but one.
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

// portion is the part of an amount that goes with part of a quantity: all of it goes with the last.
func portion(amount, part, whole money.Decimal, places int32) money.Decimal {
	if part.Equal(whole) {
		return amount
	}
	return amount.Mul(part).Quo(whole, places)
}
