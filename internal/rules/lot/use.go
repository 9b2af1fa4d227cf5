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
	spot       money.Decimal
	Marks
}

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
func (r *Result) Basis() money.Decimal {
	return r.total(func(u *Use) money.Decimal { return u.Basis })
}

// Gain is what was realized; a loss is negative.
func (r *Result) Gain() money.Decimal {
	return r.total(func(u *Use) money.Decimal { return u.Gain })
}

func (r *Result) total(of func(*Use) money.Decimal) money.Decimal {
	var total money.Decimal
	for i := range r.Uses {
		total = total.Add(of(&r.Uses[i]))
	}
	return total
}

// realize shares proceeds and fee among the uses by quantity and finds their gains and terms.
func (c *Config) realize(e *Event, uses []Use) {
	proceeds, fees := c.share(e.Proceeds, uses), c.share(e.Fee, uses)
	for i := range uses {
		u := &uses[i]
		u.Proceeds, u.Fee = proceeds(i), fees(i)
		u.Gain = u.Proceeds.Sub(u.Basis)
		if c.NetFees {
			u.Gain = u.Gain.Sub(u.Fee)
		}
		u.Days, u.Term = c.holding(u.AcquiredAt, u.At)
	}
}

// share splits an amount by the quantities of the uses; nearly all events have but one.
func (c *Config) share(amount money.Decimal, uses []Use) func(int) money.Decimal {
	amount = amount.Round(c.Places)
	if len(uses) < 2 || amount.IsZero() {
		return func(int) money.Decimal { return amount }
	}
	weights := make([]money.Decimal, len(uses))
	for i := range uses {
		weights[i] = uses[i].Quantity
	}
	parts := money.Split(amount, weights, c.Places)
	return func(i int) money.Decimal { return parts[i] }
}

// portion is the basis of part of what is left: all of it goes with the last of the quantity.
func portion(basis, part, whole money.Decimal, places int32) money.Decimal {
	if part.Equal(whole) {
		return basis
	}
	return basis.Mul(part).Quo(whole, places)
}
