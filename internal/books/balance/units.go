package balance

import (
	"cmp"

	"github.com/bursarhq/bursar/internal/base/money"
)

// UnitKey is an asset or a foreign currency on an account, by legal entity and period.
type UnitKey struct{ Entity, Account, Unit, Period string }

// Unit is a quantity and its amount in the base currency, both debits less credits.
type Unit struct{ Quantity, Amount money.Decimal }

// HasBalance reports whether there is a quantity or an amount.
func (u Unit) HasBalance() bool { return !u.Quantity.IsZero() || !u.Amount.IsZero() }

// Share returns the amount of a part of the quantity, which has the same sign, and false if there is less than that or the amount is not
// on the same side.
func (u Unit) Share(quantity money.Decimal, places int32) (money.Decimal, bool) {
	if u.Quantity.Sign() != quantity.Sign() || u.Quantity.Abs().Cmp(quantity.Abs()) < 0 || quantity.IsZero() {
		return money.Decimal{}, false
	}
	amount := u.Amount.Mul(quantity).Quo(u.Quantity, places)
	return amount, amount.Sign() == quantity.Sign()
}

// Units are movements or balances of assets and foreign currencies.
type Units map[UnitKey]Unit

// AddMovement adds one movement.
func (u Units) AddMovement(k UnitKey, quantity, amount money.Decimal) {
	was := u[k]
	u[k] = Unit{was.Quantity.Add(quantity), was.Amount.Add(amount)}
}

// Add adds all movements of others.
func (u Units) Add(others Units) {
	for k, o := range others {
		u.AddMovement(k, o.Quantity, o.Amount)
	}
}

func compareUnits(a, b UnitKey) int {
	return cmp.Or(cmp.Compare(a.Entity, b.Entity), cmp.Compare(a.Account, b.Account), cmp.Compare(a.Unit, b.Unit),
		cmp.Compare(a.Period, b.Period))
}
