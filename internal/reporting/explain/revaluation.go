package explain

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/journal"
)

var revaluationColumns = []string{"delta", "before", "after", "value", "quantity", "cost_basis", "price"}

// measured is an item of a revaluation, or one of the rows that it consists of.
type measured struct {
	unit, currency                 string
	quantity, before, value, after money.Decimal
	cost                           *money.Decimal
	price                          *revaluation.Quote
}

func (m measured) figure(column string) (money.Decimal, bool) {
	switch column {
	case "quantity":
		return m.quantity, true
	case "before":
		return m.before, true
	case "after":
		return m.after, true
	case "value":
		return m.value, true
	case "cost_basis":
		if m.cost == nil {
			return money.Decimal{}, false
		}
		return *m.cost, true
	case "price":
		if m.price == nil {
			return money.Decimal{}, false
		}
		return m.price.Value, true
	}
	return m.after.Sub(m.before), true
}

// revaluation explains a figure of a revaluation: of an asset or a unit of balances of a legal entity, or of one of its lots or
// accounts.
func (i *inquiry) revaluation(ctx context.Context) error {
	run, err := i.revaluations.Get(ctx, i.q.RevaluationID)
	if err != nil {
		return err
	}
	var items []revaluation.Item
	for _, one := range run.Items {
		if one.LegalEntityID == i.q.LegalEntityID && one.Unit == i.q.AssetType && (i.q.Kind == "" || string(one.Kind) == i.q.Kind) {
			items = append(items, one)
		}
	}
	switch {
	case len(items) == 0:
		return fault.Missing("row of the report")
	case len(items) > 1:
		return fault.Invalidf("kind", "is required, because the revaluation measured the asset in several ways")
	}
	item := items[0]
	rows, err := allPages(func(pr page.Request) (page.Page[revaluation.Row], error) {
		return i.revaluations.Rows(ctx, run.ID, revaluation.RowFilter{Kind: item.Kind, Unit: item.Unit}, pr)
	})
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r revaluation.Row) bool { return r.LegalEntityID != item.LegalEntityID })
	subject := i.q.AssetID + i.q.LedgerAccountID
	if subject == "" {
		m := measured{unit: item.Unit, currency: item.Currency, quantity: item.Quantity, before: item.Before, value: item.Value,
			after: item.After, cost: item.Cost, price: item.Price}
		return i.explainItem(ctx, item, m, rows)
	}
	n := slices.IndexFunc(rows, func(r revaluation.Row) bool { return r.SubjectID == subject })
	if n < 0 {
		return fault.Missing("row of the report")
	}
	r := rows[n]
	return i.measuredRow(ctx, run, item, measured{unit: r.Unit, currency: r.Currency, quantity: r.Quantity, before: r.Before,
		value: r.Value, after: r.After, cost: r.Cost, price: r.Price})
}

// setMeasured sets the figure and the price it was measured with. Without a price there is nothing to explain.
func (i *inquiry) setMeasured(m measured) money.Decimal {
	value, some := m.figure(i.q.Column)
	i.out.Unit = m.currency
	switch i.q.Column {
	case "quantity":
		i.out.Unit = m.unit
	case "price":
		i.out.Unit = perUnit(m.currency, m.unit)
	}
	if some {
		i.out.Value = &value
	} else {
		i.out.Formula = "not applicable: the revaluation has no such figure for this row"
	}
	if m.price != nil && m.price.PriceID != "" {
		p := price.Price{ID: m.price.PriceID, AssetType: m.unit, Currency: m.currency, At: m.price.At, Value: m.price.Value,
			Origin: price.Origin(m.price.Origin)}
		i.out.Price = &p
	}
	return value
}

// explainItem explains a figure of an asset or a unit of balances by its lots or accounts.
func (i *inquiry) explainItem(ctx context.Context, item revaluation.Item, m measured, rows []revaluation.Row) error {
	value := i.setMeasured(m)
	if i.out.Value == nil {
		return nil
	}
	switch i.q.Column {
	case "price":
		i.out.add("price at the time", value, nil, NoList)
		return nil
	case "delta":
		i.explainDelta(m)
		return i.showBooking(ctx, item)
	}
	for _, r := range rows {
		name := "asset_id"
		if r.IsAccount() {
			name = "ledger_account_id"
		}
		part, _ := measured{unit: r.Unit, currency: r.Currency, quantity: r.Quantity, before: r.Before, value: r.Value, after: r.After,
			cost: r.Cost, price: r.Price}.figure(i.q.Column)
		i.out.addNonZero(r.SubjectID, part, i.q.with(name, r.SubjectID))
	}
	i.out.addRemainder("rounding of the total")
	return nil
}

func (i *inquiry) explainDelta(m measured) {
	i.out.add("after", m.after, i.q.with("column", "after"), NoList)
	i.out.add("before", m.before.Neg(), i.q.with("column", "before"), NoList)
}

// showBooking shows the journal entry of the revaluation.
func (i *inquiry) showBooking(ctx context.Context, item revaluation.Item) error {
	if item.EntryID == "" {
		return nil
	}
	if _, err := journal.Find(ctx, i.tx, item.EntryID); err != nil {
		return err
	}
	lines, err := selectEntry(ctx, i.tx, item.EntryID, linesMax)
	i.out.Lines = lines
	return err
}

// measuredRow explains a figure of a lot or an account.
func (i *inquiry) measuredRow(ctx context.Context, run revaluation.Run, item revaluation.Item, m measured) error {
	value := i.setMeasured(m)
	if i.out.Value == nil {
		return nil
	}
	asOf := clock.Format(run.AsOf)
	var of *Query // the lot at that time
	if i.q.AssetID != "" {
		of = &Query{Report: "asset-tax-lots", AssetID: i.q.AssetID, AsOf: asOf}
		if err := i.showLotChain(ctx, i.q.AssetID); err != nil {
			return err
		}
	}
	lot := func(column string) *Query {
		if of == nil || m.quantity.IsZero() { // nothing is left of it at that time
			return nil
		}
		return of.with("column", column)
	}
	switch i.q.Column {
	case "delta":
		i.explainDelta(m)
		return i.showBooking(ctx, item)
	case "quantity":
		label := "remaining quantity at the time"
		if item.Kind.ByAccount() {
			label = "balance of the account at the time"
		}
		i.out.add(label, value, lot("remaining_quantity"), NoList)
	case "cost_basis":
		i.out.add("remaining basis at the time", value, lot("remaining_basis"), NoList)
	case "value":
		label := "nothing held"
		if m.price != nil {
			label = fmt.Sprintf("%s %s at %s", m.quantity, m.unit, m.price.Value)
		}
		i.out.add(label, value, i.q.with("column", "quantity"), NoList)
	case "after":
		if m.cost != nil && m.value.Sub(*m.cost).Equal(m.after) {
			i.out.add("value", m.value, i.q.with("column", "value"), NoList)
			i.out.add("cost basis", m.cost.Neg(), i.q.with("column", "cost_basis"), NoList)
			return nil
		}
		fallthrough
	default:
		i.out.add("as measured", value, nil, NoList)
	}
	return nil
}
