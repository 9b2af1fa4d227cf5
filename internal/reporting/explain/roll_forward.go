package explain

import (
	"context"
	"strconv"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/period"
)

var rollColumns = []string{
	"closing_fair_value", "opening_units", "opening_fair_value", "additions", "transfers", "dispositions", "gains", "losses", "units",
	"cost", "realized_gains", "realized_losses",
}

// roll explains a figure of the roll-forward of the fair value of an asset.
func (i *inquiry) roll(ctx context.Context) error {
	f, err := i.holdingsFilter(ctx)
	if err != nil {
		return err
	}
	year, _ := strconv.Atoi(i.q.FiscalYear)
	span := holdings.Span{PeriodID: i.q.PeriodID, StartDate: i.q.StartDate, EndDate: i.q.EndDate}
	found, err := i.holdings.RollForward(ctx, holdings.RollForwardParams{Filter: f, Span: span, FiscalYear: year}, page.Request{Limit: 1})
	if err != nil {
		return err
	}
	if len(found.Items) == 0 {
		return fault.Missing("row of the report")
	}
	r := found.Items[0]
	_, before, err := i.findPeriod(r.First.ID)
	if err != nil {
		return err
	}
	column := func(name string) *Query { return i.q.with("column", name) }
	i.out.Unit = r.Currency
	switch i.q.Column {
	case "opening_units":
		i.out.setValue(r.OpeningUnits, r.AssetType)
		return i.explainByLocation(ctx, f, before, "quantity")
	case "units":
		i.out.setValue(r.ClosingUnits, r.AssetType)
		return i.explainByLocation(ctx, f, &r.Last, "quantity")
	case "cost":
		i.out.setValue(r.Cost, r.Currency)
		return i.explainByLocation(ctx, f, &r.Last, "cost_basis")
	case "opening_fair_value":
		i.explainValue(r.Opening, r.OpeningUnits, r.AssetType, r.Currency, column("opening_units"))
	case "closing_fair_value":
		i.explainValue(r.Closing, r.ClosingUnits, r.AssetType, r.Currency, column("units"))
	case "dispositions":
		i.out.setValue(r.Dispositions, r.Currency)
		return i.realized(ctx, f, r, "proceeds", func(g holdings.Gains) money.Decimal { return g.Proceeds })
	case "realized_gains":
		i.out.setValue(r.Gain, r.Currency)
		return i.realized(ctx, f, r, "realized_gain", func(g holdings.Gains) money.Decimal { return g.Gain })
	case "realized_losses":
		i.out.setValue(r.Loss, r.Currency)
		return i.realized(ctx, f, r, "realized_loss", func(g holdings.Gains) money.Decimal { return g.Loss })
	case "additions":
		i.out.setValue(r.Additions, r.Currency)
		i.out.add("acquired, at cost", r.Additions, nil, NoList)
	case "transfers":
		i.out.setValue(r.Transfers, r.Currency)
		return i.explainTransfers(ctx, f, r, before)
	case "gains", "losses":
		i.explainChange(r, column)
	}
	return nil
}

// explainByLocation explains the holding of a legal entity by location.
func (i *inquiry) explainByLocation(ctx context.Context, f holdings.Filter, at *period.Period, column string) error {
	rows, err := i.heldBy(ctx, f, at)
	for _, p := range rows {
		value := p.Quantity
		if column == "cost_basis" {
			value = p.Basis
		}
		i.out.addNonZero("held at "+named(p), value, locationQuery(p, at, column))
	}
	if at == nil && len(rows) == 0 {
		i.out.Formula = "there is no earlier period"
	}
	i.out.addRemainder(unexplained)
	return err
}

// heldBy returns the positions at the end of a period or, if it is nil, the opening balances, which stand before all periods.
func (i *inquiry) heldBy(ctx context.Context, f holdings.Filter, at *period.Period) (out []holdings.Position, err error) {
	if at == nil {
		return holdings.Positions(ctx, i.tx, period.OpeningKey, f)
	}
	rows, err := i.closings(ctx, f, at.ID)
	for _, c := range rows {
		out = append(out, c.Position)
	}
	return out, err
}

func named(p holdings.Position) string {
	if p.SourceID == "" {
		return p.LedgerAccountID
	}
	return p.SourceID
}

// locationQuery returns the query for a position at the end of a period, or nil without one: no report shows opening balances alone.
func locationQuery(p holdings.Position, at *period.Period, column string) *Query {
	if at == nil {
		return nil
	}
	return &Query{
		Report: "closing-positions", Column: column, PeriodID: at.ID, LegalEntityID: p.LegalEntityID, SourceID: p.SourceID,
		LedgerAccountID: p.LedgerAccountID, AssetType: p.AssetType, Chain: p.Chain,
		TokenID: p.TokenID,
	}
}

// realized explains a gain realized over several periods by the gain of each.
func (i *inquiry) realized(ctx context.Context, f holdings.Filter, r holdings.RollForward, column string,
	figure func(holdings.Gains) money.Decimal) error {
	for _, p := range i.periods {
		if p.Key < r.First.Key || p.Key > r.Last.Key {
			continue
		}
		found, err := i.holdings.RealizedGainsLosses(ctx, holdings.GainsParams{Filter: f, Span: holdings.Span{PeriodID: p.ID}},
			page.Request{Limit: 1})
		if err != nil {
			return err
		}
		for _, g := range found.Items {
			i.out.addNonZero(p.Key, figure(g), &Query{Report: "realized-gains-losses", Column: column, PeriodID: p.ID,
				LegalEntityID: r.LegalEntityID, AssetType: r.AssetType})
		}
	}
	i.out.addRemainder(unexplained)
	return nil
}

// explainTransfers explains transfers in: the change in the cost basis held, less acquisitions, plus the cost of
// disposals.
func (i *inquiry) explainTransfers(ctx context.Context, f holdings.Filter, r holdings.RollForward, before *period.Period) error {
	i.out.add("cost basis at the end", r.Cost, i.q.with("column", "cost"), NoList)
	i.out.add("acquired", r.Additions.Neg(), i.q.with("column", "additions"), NoList)
	rows, err := i.heldBy(ctx, f, before)
	if err != nil {
		return err
	}
	for _, p := range rows {
		i.out.addNonZero("cost basis at the start, held at "+named(p), p.Basis.Neg(), locationQuery(p, before, "cost_basis"))
	}
	i.out.addRemainder("cost of disposals")
	return nil
}

// explainChange explains the change in fair value that remains without acquisitions, disposals and transfers.
func (i *inquiry) explainChange(r holdings.RollForward, column func(string) *Query) {
	i.out.Value = r.Gains()
	sign := money.FromInt(1)
	if i.q.Column == "losses" {
		i.out.Value, sign = r.Losses(), money.FromInt(-1)
	}
	switch {
	case r.Change == nil:
		w := r.Closing
		if r.Opening.Value == nil {
			w = r.Opening
		}
		i.out.Formula = noPrice(w, r.AssetType, r.Currency)
		return
	case i.out.Value.IsZero():
		i.out.Formula = "the change is zero or on the other side"
		return
	}
	i.out.add("closing fair value", r.Closing.Value.Mul(sign), column("closing_fair_value"), NoList)
	i.out.add("opening fair value", r.Opening.Value.Neg().Mul(sign), column("opening_fair_value"), NoList)
	i.out.add("additions", r.Additions.Neg().Mul(sign), column("additions"), NoList)
	i.out.add("transfers", r.Transfers.Neg().Mul(sign), column("transfers"), NoList)
	i.out.add("dispositions", r.Dispositions.Mul(sign), column("dispositions"), NoList)
}
