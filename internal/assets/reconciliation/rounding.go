package reconciliation

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/reconcile"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// roundedMax is how many transactions are looked at for what rounding their entries adds up to, the latest.
const roundedMax = 5000

// roundings is what entries of booked transactions have more than these because amounts are rounded to the minor unit of money, and what
// entries by hand have put right.
type roundings struct {
	asset     string
	rounded   []journal.Movement
	corrected []journal.Movement
	truncated bool // there were more transactions than were looked at
}

// roundings reads what rounding adds up to. Only money in the base currency of the books is rounded: lines in another currency have its
// exact quantity.
func (c *comparison) roundings(ctx context.Context, tx *db.Tx, f Figures) (out roundings, err error) {
	out.asset = f.AssetType
	if f.Transactions != nil && f.Book.Equal(f.Transactions.Sub(f.Pending)) { // the books have just what moved
		return out, nil
	}
	if base, err := c.currency(ctx, tx); err != nil || base != f.AssetType {
		return out, err
	}
	all, err := transaction.Moving(ctx, tx, c.source.ID, f.AssetType, time.Time{}, f.ComparedAt, false, roundedMax+1)
	if err != nil {
		return out, err
	}
	for _, t := range all[:min(len(all), roundedMax)] {
		for _, m := range movesOf(t, f.AssetType) {
			if more := roundedOff(m, f.AssetType); m.Booked && !more.IsZero() {
				out.rounded = append(out.rounded, journal.Movement{At: t.At, Amount: more})
			}
		}
	}
	if len(out.rounded) == 0 {
		return out, nil
	}
	out.truncated = len(all) > roundedMax
	other, err := account.ByRole(ctx, tx, account.RoleRounding)
	if err != nil {
		return out, err
	}
	out.corrected, err = journal.Between(ctx, tx, c.source.LegalEntityID, c.source.LedgerAccountID, other.ID, f.ComparedAt, roundedMax)
	return out, err
}

// currency returns the base currency of the legal entity of the source.
func (c *comparison) currency(ctx context.Context, tx *db.Tx) (string, error) {
	all, err := snapshot.Entities(ctx, tx)
	for _, e := range all {
		if e.ID == c.source.LegalEntityID {
			return e.BaseCurrency, err
		}
	}
	return "", err
}

// roundedOff returns what the entry of a transaction has more than moved: what arrives is booked as its amount less its fee, each rounded.
func roundedOff(m reconcile.Transaction, currency string) money.Decimal {
	booked := m.Quantity.RoundTo(currency)
	if m.Quantity.Sign() >= 0 {
		booked = m.Quantity.Add(m.Fee).RoundTo(currency).Sub(m.Fee.RoundTo(currency))
	}
	return booked.Sub(m.Quantity)
}

// left returns which part of a difference rounding explains: nothing that entries by hand have put right.
func (r roundings) left(f Figures) (none money.Decimal) {
	sum := until(f.ComparedAt, r.rounded)
	switch left := sum.Add(until(f.ComparedAt, r.corrected)); {
	case left.Abs().Cmp(sum.Abs()) > 0: // they put something else right
		return sum
	case left.Sign() == sum.Sign():
		return left
	}
	return none
}

// until adds up changes up to an instant.
func until(at time.Time, all []journal.Movement) (sum money.Decimal) {
	for _, c := range all {
		if !c.At.After(at) {
			sum = sum.Add(c.Amount)
		}
	}
	return sum
}

// rest returns what would remain of a difference if everything were booked exactly. Less than the minor unit of money is nothing, as it is
// for the status.
func (r roundings) rest(f Figures) money.Decimal {
	rest := f.Difference().Add(f.Pending).Sub(r.left(f))
	if rest.RoundTo(r.asset).IsZero() {
		return money.Decimal{}
	}
	return rest
}
