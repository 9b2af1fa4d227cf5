package intake

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Balance is what a file states to be held after a row. Account tells the balances of one file apart, such as the wallets of
// an exchange account.
type Balance struct {
	Account, Currency string
	Amount            money.Decimal
	column            string
}

// Moved returns by how much a record changes what its source holds: an inflow adds its quantity less a fee in the same
// asset, an outflow takes its whole quantity. It is nil if the file does not state the quantity.
func (r Record) Moved() *money.Decimal {
	moved := r.Quantity
	if v := r.Value; v != nil && v.Currency == r.Currency {
		moved = &v.Gross
	}
	if moved == nil {
		return nil
	}
	change := moved.Neg()
	if r.Inflow {
		change = moved.Sub(r.feeQuantity())
	}
	return &change
}

// feeQuantity returns the quantity of a fee in the asset of the record.
func (r Record) feeQuantity() money.Decimal {
	switch {
	case r.Value != nil && r.Value.Currency == r.Currency:
		return r.Value.Fee
	case r.Crypto != nil && r.Crypto.FeeQuantity != nil && (r.Crypto.FeeAssetType == "" || r.Crypto.FeeAssetType == r.Currency):
		return *r.Crypto.FeeQuantity
	}
	return money.Decimal{}
}

// Stated is the newest balance of an asset that a file states, after a row of a time.
type Stated struct {
	Account, Currency string
	Amount            money.Decimal
	At                time.Time
}

// Balances compares the running balances that a file states with the rows, and finds the newest ones.
type Balances struct {
	last   map[[2]string]balanceAt
	newest map[[2]string]Stated
}

// balanceAt is the balance after a row, and by how much the row changed it.
type balanceAt struct {
	amount, moved money.Decimal
	at            time.Time
}

// NewBalances returns a comparison for the rows of one file, from the first.
func NewBalances() *Balances { return &Balances{map[[2]string]balanceAt{}, map[[2]string]Stated{}} }

// Newest returns the newest balance of each asset and account so far, in no particular order.
func (b *Balances) Newest() []Stated { return slices.Collect(maps.Values(b.newest)) }

// keep keeps a balance if it is the newest. Of rows with the same time, the later one in the order of events counts.
func (b *Balances) keep(key [2]string, now balanceAt, later bool) {
	before, known := b.newest[key]
	if !now.at.IsZero() && (!known || now.at.After(before.At) || now.at.Equal(before.At) && later) {
		b.newest[key] = Stated{Account: key[0], Currency: key[1], Amount: now.amount, At: now.at}
	}
}

// Compare returns a fault if the balance of a row does not follow from the balance before it, or, in a file that begins with
// the newest row, does not lead to it. Rows without a balance or with faults say nothing about those around them.
func (b *Balances) Compare(row Row) *Fault {
	if len(row.Faults) > 0 {
		clear(b.last)
		return nil
	}
	stated := row.Balance
	if stated == nil {
		return nil
	}
	var moved money.Decimal
	for _, r := range row.Records {
		change := r.Moved()
		if change == nil {
			clear(b.last)
			return nil
		}
		if r.Currency != stated.Currency { // a fee in another asset, whose balance the row does not state
			b.forget(r.Currency)
			continue
		}
		moved = moved.Add(*change)
	}
	now := balanceAt{amount: stated.Amount, moved: moved}
	if len(row.Records) > 0 {
		now.at = row.Records[0].Timestamp
	}
	key := [2]string{stated.Account, stated.Currency}
	before, known := b.last[key]
	b.last[key] = now
	forward, backward := before.amount.Add(moved), before.amount.Sub(before.moved)
	b.keep(key, now, !known || forward.Equal(stated.Amount) || !backward.Equal(stated.Amount))
	if !known || forward.Equal(stated.Amount) || backward.Equal(stated.Amount) {
		return nil
	}
	yields := forward
	if now.at.Before(before.at) {
		yields = backward
	}
	return &Fault{Line: row.Line, Column: stated.column, Message: fmt.Sprintf(
		"the file states a balance of %s %s, but its rows yield %s: rows are missing, or a fee is not where the layout expects it",
		stated.Amount, stated.Currency, yields)}
}

// forget drops the balances of an asset.
func (b *Balances) forget(currency string) {
	for key := range b.last {
		if strings.EqualFold(key[1], currency) {
			delete(b.last, key)
		}
	}
}
