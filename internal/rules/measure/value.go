package measure

import "github.com/bursarhq/bursar/internal/base/money"

// FairValue measures an asset at fair value, with every change in net income. Balance is the balance of the adjustment
// account. Cost no longer includes what was disposed of, so its unrealized gain is reversed without further bookkeeping.
func FairValue(quantity, price, cost, balance money.Decimal, places int32) (value money.Decimal, e Effect) {
	value = quantity.Mul(price).Round(places)
	e.Adjustment = value.Sub(cost).Sub(balance)
	e.Unrealized = e.Adjustment
	return value, e
}

// Exchange measures a balance or debt in foreign currency at the closing rate. Book is the balance in the base currency,
// debits less credits, as the quantity is. The adjustment is booked to the account itself.
func Exchange(quantity, rate, book money.Decimal, places int32) (value money.Decimal, e Effect) {
	value = quantity.Mul(rate).Round(places)
	e.Adjustment = value.Sub(book)
	e.Exchange = e.Adjustment
	return value, e
}

// UnitBalance measures a balance or debt in a digital asset at the closing price, as Exchange does with foreign currency. The
// change is an unrealized gain or loss.
func UnitBalance(quantity, price, book money.Decimal, places int32) (value money.Decimal, e Effect) {
	value, e = Exchange(quantity, price, book, places)
	e.Unrealized, e.Exchange = e.Exchange, money.Decimal{}
	return value, e
}

// Add returns the sum of two effects.
func (e Effect) Add(other Effect) Effect {
	return Effect{
		Adjustment: e.Adjustment.Add(other.Adjustment),
		Unrealized: e.Unrealized.Add(other.Unrealized),
		Impairment: e.Impairment.Add(other.Impairment),
		Realized:   e.Realized.Add(other.Realized),
		Surplus:    e.Surplus.Add(other.Surplus),
		Retained:   e.Retained.Add(other.Retained),
		Exchange:   e.Exchange.Add(other.Exchange),
	}
}
