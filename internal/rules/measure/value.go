package measure

import "github.com/bursarhq/bursar/internal/base/money"

// FairValue carries an asset at fair value, with every change in net income. Balance is what the adjustment stands
// at. What disposals took off the cost is no longer in it, so what was unrealized about them goes by itself.
func FairValue(quantity, price, cost, balance money.Decimal, places int32) (value money.Decimal, e Effect) {
	value = quantity.Mul(price).Round(places)
	e.Adjustment = value.Sub(cost).Sub(balance)
	e.Unrealized = e.Adjustment
	return value, e
}

// Exchange carries foreign money, or what is owed of it, at the closing rate. Book is what it stands at, debits less
// credits as the quantity is. The adjustment is to the account itself.
func Exchange(quantity, rate, book money.Decimal, places int32) (value money.Decimal, e Effect) {
	value = quantity.Mul(rate).Round(places)
	e.Adjustment = value.Sub(book)
	e.Exchange = e.Adjustment
	return value, e
}

// Add sums effects up.
func (e Effect) Add(other Effect) Effect {
	return Effect{
		Adjustment: e.Adjustment.Add(other.Adjustment), Unrealized: e.Unrealized.Add(other.Unrealized), Impairment: e.Impairment.Add(
			other.Impairment), Realized: e.Realized.Add(other.Realized),
		Surplus: e.Surplus.Add(other.Surplus), Retained: e.Retained.Add(other.Retained), Exchange: e.Exchange.Add(other.Exchange),
	}
}
