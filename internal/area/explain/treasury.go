package explain

import (
	"context"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/area/holdings"
	"github.com/bursarhq/bursar/internal/area/period"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
)

var treasuryColumns = []string{"book_quantity", "value"}

func (i *inquiry) balances(ctx context.Context, f holdings.Filter, asOf string) ([]holdings.Balance, error) {
	return every(func(pr page.Request) (page.Page[holdings.Balance], error) {
		return i.holdings.TreasuryBalances(ctx, holdings.TreasuryParams{Filter: f, AsOf: asOf}, pr)
	})
}

func positionOfBalance(b holdings.Balance) holdings.Position { return b.Position }

// treasury explains how much of something is where, and what it is worth.
func (i *inquiry) treasury(ctx context.Context) error {
	f, err := i.only(ctx)
	if err != nil {
		return err
	}
	rows, err := i.balances(ctx, f, i.q.AsOf)
	if err != nil {
		return err
	}
	b, err := theOne(i, rows, positionOfBalance)
	if err != nil {
		return err
	}
	fiat := money.IsFiat(b.AssetType)
	switch {
	case i.q.Column == "value" && !fiat:
		i.valued(b.Worth, b.Quantity, b.AssetType, b.Currency, i.q.with("column", "book_quantity"))
		return nil
	case i.q.Column == "value":
		i.out.Value, i.out.Unit = b.Worth.Value, b.Currency
		switch {
		case b.Worth.Value == nil:
			i.out.Formula = "no rate is stored, so that nobody knows"
		case b.Rate != nil:
			i.out.add(fmt.Sprintf("%s %s at %s of %s", b.Quantity, b.AssetType, b.Rate.Rate, b.Rate.Date), *b.Worth.Value, i.q.with("column", "book_quantity"), NoList)
		default:
			i.out.add("the balance itself", *b.Worth.Value, i.q.with("column", "book_quantity"), NoList)
		}
		return nil
	}
	i.out.value(b.Quantity, b.AssetType)
	end := b.Worth.At.Add(time.Millisecond)
	began, at, some, err := i.heldBefore(ctx, f, end)
	if err != nil {
		return err
	}
	if some {
		i.out.add("when "+at.Key+" began", began, i.q.with("as_of", clock.Format(at.Start.Add(-time.Millisecond))), NoList)
	}
	if !fiat {
		i.out.rest("what came since, less what went")
		return i.lotsHeld(ctx, f, end, func(p holdings.Position) money.Decimal { return p.Quantity })
	}
	i.out.add("lines since", b.Quantity.Sub(began), nil, Lines)
	return i.moneyLines(ctx, b, at.Start, end)
}

// heldBefore gives what there was when the period of an end began.
func (i *inquiry) heldBefore(ctx context.Context, f holdings.Filter, end time.Time) (began money.Decimal, at period.Period, some bool, err error) {
	for _, p := range i.periods {
		if p.Start.Before(end) {
			at, some = p, true
		}
	}
	if !some {
		return began, at, false, nil
	}
	rows, err := i.balances(ctx, f, clock.Format(at.Start.Add(-time.Millisecond)))
	if err != nil {
		return began, at, false, err
	}
	b, missing := theOne(i, rows, positionOfBalance)
	if missing != nil {
		return began, at, false, nil
	}
	return b.Quantity, at, true, nil
}

// moneyLines lists the lines that moved money since a time: those in the currency of the books have no unit, those in another have it.
func (i *inquiry) moneyLines(ctx context.Context, b holdings.Balance, from, until time.Time) error {
	unit := b.AssetType
	if unit == b.Currency {
		unit = ""
	}
	err := i.list(ctx, lineFilter{accountID: b.LedgerAccountID, entities: []string{b.LegalEntityID}, from: from, until: until, unit: &unit}, false)
	for n, l := range i.out.Lines {
		if unit != "" && l.Quantity != nil {
			i.out.Lines[n].Amount, i.out.Lines[n].Currency = *l.Quantity, unit
			if !l.Debit {
				i.out.Lines[n].Amount = l.Quantity.Neg()
			}
		}
	}
	return err
}
