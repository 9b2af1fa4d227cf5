package explain

import (
	"context"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

var positionColumns = []string{"cost_basis", "quantity", "fair_value", "price", "adjustment", "carrying_amount", "unrealized_gain_loss"}

// holdingsFilter returns the filter for the rows that a query about holdings may refer to.
func (i *inquiry) holdingsFilter(ctx context.Context) (f holdings.Filter, err error) {
	f = holdings.Filter{LegalEntityIDs: []string{i.q.LegalEntityID}, AssetTypes: []string{i.q.AssetType}}
	if i.q.SourceID != "" {
		s, err := source.Find(ctx, i.tx, i.q.SourceID)
		if err != nil {
			return f, err
		}
		f.SourceIDs = []string{s.ID}
	}
	return f, nil
}

// matches reports whether a query refers to a row. Names that are not given match every row, except the source: without
// one, the query refers to a row without a source.
func (i *inquiry) matches(p holdings.Position) bool {
	alike := func(asked, is string) bool { return asked == "" || asked == is }
	return (i.q.SourceID != "" || p.SourceID == "") && alike(i.q.LedgerAccountID, p.LedgerAccountID) && alike(i.q.Chain, p.Chain) &&
		alike(i.q.TokenID, p.TokenID)
}

// singleRow returns the only row that a query refers to.
func singleRow[T any](i *inquiry, rows []T, position func(T) holdings.Position) (out T, err error) {
	var found []holdings.Position
	for _, r := range rows {
		if p := position(r); i.matches(p) {
			out, found = r, append(found, p)
		}
	}
	switch {
	case len(found) == 0:
		return out, fault.Missing("row of the report")
	case len(found) == 1:
		return out, nil
	}
	var faults fault.List
	for name, of := range map[string]func(holdings.Position) string{
		"ledger_account_id": func(p holdings.Position) string {
			return p.LedgerAccountID
		}, "chain": func(p holdings.Position) string { return p.Chain },
		"token_id": func(p holdings.Position) string { return p.TokenID },
	} {
		for _, p := range found[1:] {
			if of(p) != of(found[0]) && *i.q.names()[name] == "" {
				faults.Addf(name, "is required, because several rows of the report match")
				break
			}
		}
	}
	return out, faults.Err()
}

// allPages reads all pages of a report.
func allPages[T any](read func(page.Request) (page.Page[T], error)) (out []T, err error) {
	pr := page.Request{Limit: page.LimitMax}
	for {
		p, err := read(pr)
		if err != nil {
			return nil, err
		}
		if out = append(out, p.Items...); !p.HasMore {
			return out, nil
		}
		pr.Cursor = p.NextCursor
	}
}

func positionOf(c holdings.Closing) holdings.Position { return c.Position }

// closings reads the closing positions of a period that a query may refer to.
func (i *inquiry) closings(ctx context.Context, f holdings.Filter, periodID string) ([]holdings.Closing, error) {
	return allPages(func(pr page.Request) (page.Page[holdings.Closing], error) {
		return i.holdings.ClosingPositions(ctx, holdings.ClosingParams{Filter: f, PeriodID: periodID}, pr)
	})
}

// position explains a figure of the holdings at the end of a period.
func (i *inquiry) position(ctx context.Context) error {
	at, before, err := i.findPeriod(i.q.PeriodID)
	if err != nil {
		return err
	}
	f, err := i.holdingsFilter(ctx)
	if err != nil {
		return err
	}
	rows, err := i.closings(ctx, f, at.ID)
	if err != nil {
		return err
	}
	c, err := singleRow(i, rows, positionOf)
	if err != nil {
		return err
	}
	column := func(name string) *Query { return i.q.with("column", name) }
	i.out.Price = c.Worth.Price
	switch i.q.Column {
	case "quantity", "cost_basis":
		return i.explainHeld(ctx, f, c.Position, *at, before)
	case "price":
		i.explainPrice(c.Worth, c.AssetType, c.Currency)
	case "fair_value":
		i.explainValue(c.Worth, c.Quantity, c.AssetType, c.Currency, column("quantity"))
	case "adjustment":
		return i.adjustment(ctx, c, at.ID)
	case "carrying_amount":
		i.out.setValue(c.Carrying, c.Currency)
		i.out.add("cost basis", c.Basis, column("cost_basis"), NoList)
		i.out.add("adjustment", c.Adjustment, column("adjustment"), NoList)
	case "unrealized_gain_loss":
		i.out.Value, i.out.Unit = c.Unrealized, c.Currency
		if c.Unrealized != nil {
			i.out.add("fair value", *c.Worth.Value, column("fair_value"), NoList)
			i.out.add("cost basis", c.Basis.Neg(), column("cost_basis"), NoList)
		}
	}
	return nil
}

// explainHeld explains a quantity held or its cost by the opening figure and the movements of the period, and lists the
// lots.
func (i *inquiry) explainHeld(ctx context.Context, f holdings.Filter, p holdings.Position, at period.Period, before *period.Period) error {
	figure := func(p holdings.Position) money.Decimal { return p.Basis }
	unit := p.Currency
	if i.q.Column != "cost_basis" {
		figure, unit = func(p holdings.Position) money.Decimal { return p.Quantity }, p.AssetType
	}
	i.out.setValue(figure(p), unit)
	if before != nil {
		rows, err := i.closings(ctx, f, before.ID)
		if err != nil {
			return err
		}
		if c, err := singleRow(i, rows, positionOf); err == nil {
			i.out.add("held at the start of "+at.Key, figure(c.Position), i.q.with("accounting_period_id", before.ID), NoList)
		}
	}
	entered := []period.Period{at}
	if before == nil {
		entered = []period.Period{period.Opening(i.tx.Organization()), at}
	}
	for _, in := range entered {
		quantity, basis, err := lots.Added(ctx, i.tx, lots.PositionKey{LegalEntityID: p.LegalEntityID, SourceID: p.SourceID,
			LedgerAccountID: p.LedgerAccountID, AssetType: p.AssetType, Chain: p.Chain, TokenID: p.TokenID, PeriodID: in.ID})
		if err != nil {
			return err
		}
		label := "acquired"
		if in.Key == period.OpeningKey {
			label = "opening balances"
		}
		i.out.addNonZero(label, figure(holdings.Position{Quantity: quantity, Basis: basis}), nil)
	}
	if p.SourceID != "" {
		gone := &Query{Report: "schedule-of-dispositions", Column: i.q.Column, PeriodID: at.ID, LegalEntityID: p.LegalEntityID,
			SourceID: p.SourceID, AssetType: p.AssetType}
		total, _, err := sumUses(ctx, i.tx, useFilter{entities: f.LegalEntityIDs, sourceID: p.SourceID, assetType: p.AssetType,
			from: at.Start, until: at.End, realized: true})
		if err != nil {
			return err
		}
		i.out.addNonZero("disposed of", total[i.q.Column].Neg(), gone)
	}
	i.out.addRemainder("net transfers in")
	return i.listLots(ctx, f, at.End, figure)
}

// listLots lists the lots held before an end, each with its contribution.
func (i *inquiry) listLots(ctx context.Context, f holdings.Filter, end time.Time, figure func(holdings.Position) money.Decimal) error {
	i.cursorUsed = true
	asOf := end.Add(-time.Millisecond).UTC().Format(time.RFC3339Nano)
	lots, err := i.holdings.AssetTaxLots(ctx, holdings.TaxLotsParams{Filter: f, AsOf: asOf}, i.page)
	if err != nil {
		return err
	}
	i.out.HasMore, i.out.NextCursor, i.out.lotsHeld = lots.HasMore, lots.NextCursor, true
	for _, l := range lots.Items {
		at := holdings.Position{SourceID: l.SourceID, LedgerAccountID: l.LedgerAccountID, Chain: l.Chain, TokenID: l.TokenID}
		if at.SourceID != "" {
			at.LedgerAccountID = i.q.LedgerAccountID // a row of the report has the lots of its source on all accounts
		}
		if !i.matches(at) {
			continue
		}
		counts := figure(holdings.Position{Quantity: l.RemainingQuantity, Basis: l.RemainingBasis})
		i.out.Lots = append(i.out.Lots, Lot{
			ID: l.ID, Amount: &counts, AssetType: l.AssetType, LegalEntityID: l.LegalEntityID, SourceID: l.SourceID,
			LedgerAccountID: l.LedgerAccountID, AcquiredAt: l.AcquiredAt,
			Quantity: l.Quantity, RemainingQuantity: l.RemainingQuantity, CostBasis: l.CostBasis, RemainingBasis: l.RemainingBasis,
			Currency: l.Currency, Origin: string(l.Origin), ParentID: l.ParentID, TransactionID: l.TransactionID, averaged: l.Averaged,
		})
	}
	return nil
}

// adjustment explains a location's share of the adjustment of an asset in the books: the total less the shares of the
// other locations.
func (i *inquiry) adjustment(ctx context.Context, c holdings.Closing, periodID string) error {
	i.out.setValue(c.Adjustment, c.Currency)
	a, err := account.ByRole(ctx, i.tx, account.RoleFairValueAdjustment(c.AssetType))
	if fault.KindOf(err) == fault.NotFound {
		i.out.Formula = "the books do not adjust it"
		return nil
	}
	if err != nil {
		return err
	}
	at, _, err := i.findPeriod(periodID)
	if err != nil {
		return err
	}
	q := Query{Report: "balance-sheet", Column: currentBalance, LedgerAccountID: a.ID, PeriodID: periodID,
		LegalEntityIDs: []string{c.LegalEntityID}}
	cells, _, err := i.sheetRow(ctx, q, a, at)
	if err != nil {
		return err
	}
	i.out.add(a.String(), inNormalSign(a, cells[0].Current), &q, NoList)
	rows, err := i.closings(ctx, holdings.Filter{LegalEntityIDs: []string{c.LegalEntityID}, AssetTypes: []string{c.AssetType}}, periodID)
	for _, other := range rows {
		if p := other.Position; p.SourceID != c.SourceID || p.LedgerAccountID != c.LedgerAccountID || p.Chain != c.Chain ||
			p.TokenID != c.TokenID {
			i.out.addNonZero("share of another holding", other.Adjustment.Neg(), i.q.with("source_id", p.SourceID, "ledger_account_id",
				p.LedgerAccountID, "chain", p.Chain, "token_id", p.TokenID))
		}
	}
	i.out.addRemainder("not allocated")
	return err
}

var treasuryColumns = []string{"book_quantity", "value"}

func (i *inquiry) balances(ctx context.Context, f holdings.Filter, asOf string) ([]holdings.Balance, error) {
	return allPages(func(pr page.Request) (page.Page[holdings.Balance], error) {
		return i.holdings.TreasuryBalances(ctx, holdings.TreasuryParams{Filter: f, AsOf: asOf}, pr)
	})
}

func positionOfBalance(b holdings.Balance) holdings.Position { return b.Position }

// treasury explains a quantity held at a location, and its value.
func (i *inquiry) treasury(ctx context.Context) error {
	f, err := i.holdingsFilter(ctx)
	if err != nil {
		return err
	}
	rows, err := i.balances(ctx, f, i.q.AsOf)
	if err != nil {
		return err
	}
	b, err := singleRow(i, rows, positionOfBalance)
	if err != nil {
		return err
	}
	fiat := money.IsFiat(b.AssetType)
	switch {
	case i.q.Column == "value" && !fiat:
		i.explainValue(b.Worth, b.Quantity, b.AssetType, b.Currency, i.q.with("column", "book_quantity"))
		return nil
	case i.q.Column == "value":
		i.out.Value, i.out.Unit = b.Worth.Value, b.Currency
		switch {
		case b.Worth.Value == nil:
			i.out.Formula = fmt.Sprintf("unknown: no rate from %s to %s is stored for %s or a day before it", b.AssetType, b.Currency,
				clock.Format(b.Worth.At))
		case b.Rate != nil:
			i.out.add(fmt.Sprintf("%s %s at %s of %s", b.Quantity, b.AssetType, b.Rate.Rate, b.Rate.Date), *b.Worth.Value,
				i.q.with("column", "book_quantity"), NoList)
		default:
			i.out.add("balance", *b.Worth.Value, i.q.with("column", "book_quantity"), NoList)
		}
		return nil
	}
	i.out.setValue(b.Quantity, b.AssetType)
	end := b.Worth.At.Add(time.Millisecond)
	began, at, some, err := i.heldBefore(ctx, f, end)
	if err != nil {
		return err
	}
	if some {
		i.out.add("balance at the start of "+at.Key, began, i.q.with("as_of", clock.Format(at.Start.Add(-time.Millisecond))), NoList)
	}
	if !fiat {
		i.out.addRemainder("net change since then")
		return i.listLots(ctx, f, end, func(p holdings.Position) money.Decimal { return p.Quantity })
	}
	i.out.add("lines since then", b.Quantity.Sub(began), nil, Lines)
	return i.listMoneyLines(ctx, b, at.Start, end)
}

// heldBefore returns the quantity at the beginning of the period.
func (i *inquiry) heldBefore(ctx context.Context, f holdings.Filter, end time.Time) (began money.Decimal, at period.Period,
	some bool, err error) {
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
	b, missing := singleRow(i, rows, positionOfBalance)
	if missing != nil {
		return began, at, false, nil
	}
	return b.Quantity, at, true, nil
}

// listMoneyLines lists the lines that moved money since a time. Lines in the currency of the books have no unit; lines
// in another currency do.
func (i *inquiry) listMoneyLines(ctx context.Context, b holdings.Balance, from, until time.Time) error {
	unit := b.AssetType
	if unit == b.Currency {
		unit = ""
	}
	err := i.listLines(ctx, lineFilter{accountID: b.LedgerAccountID, entities: []string{b.LegalEntityID}, from: from, until: until,
		unit: &unit}, false)
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
