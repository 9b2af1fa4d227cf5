package lots

import (
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Dated is an accounting date and the accounting period that it lies in.
type Dated struct {
	Date     time.Time
	PeriodID string
}

// correctionKey identifies a holding and an accounting date.
type correctionKey struct {
	date int64 // in milliseconds
	PositionKey
}

// CountLot adds a lot to the totals, or with sign -1 subtracts it. Its row says that it is counted with its entry. If it is counted at
// another date, because the entry that changed it is dated otherwise, the difference is stored as a correction.
func (c *Changes) CountLot(l Lot, entry, counted Dated, sign int64) {
	c.Totals.CountLot(l, counted.PeriodID, sign)
	if entry.Date.Equal(counted.Date) {
		return
	}
	c.correct(l, entry, -sign)
	c.correct(l, counted, sign)
}

// correct adds a lot to the corrections of a date, or with sign -1 subtracts it.
func (c *Changes) correct(l Lot, at Dated, sign int64) {
	k := correctionKey{at.Date.UnixMilli(), positionKey(l, at.PeriodID)}
	c.corrections[k] = c.corrections[k].Plus(positionOf(l, sign))
}

// positionKey returns the position that a lot is counted in.
func positionKey(l Lot, periodID string) PositionKey {
	return PositionKey{LegalEntityID: l.LegalEntityID, SourceID: l.SourceID, LedgerAccountID: l.LedgerAccountID, AssetType: l.AssetType,
		Chain: l.Chain, TokenID: l.TokenID, PeriodID: periodID}
}

// positionOf returns what a lot adds to a position, or with sign -1 takes from it.
func positionOf(l Lot, sign int64) Position {
	n := money.FromInt(sign)
	p := Position{Quantity: l.Quantity.Mul(n), Basis: l.CostBasis.Mul(n), Lots: sign}
	if l.Origin != Transferred {
		p.AddedQuantity, p.AddedBasis = p.Quantity, p.Basis
	}
	return p
}
