package insights

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/reporting/explain"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/rules/statement"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// The decimal places of shares and of months.
const (
	SharePlaces  = 4
	RunwayPlaces = 1
)

// deriveHoldings computes cash, digital assets and their concentration. Cash is what stands on the asset accounts of sources
// besides the cost of digital assets, and on the accounts of source.UnsourcedCash.
func (i *inquiry) deriveHoldings(ctx context.Context, sheet *statements.BalanceSheet) error {
	positions, err := i.positions(ctx)
	if err != nil {
		return err
	}
	held, err := i.sourceAccounts(ctx, sheet)
	if err != nil {
		return err
	}
	unsourced, err := source.UnsourcedCash(ctx, i.tx)
	if err != nil {
		return err
	}
	rates := map[string]statement.Rate{}
	for n, id := range sheet.LegalEntityIDs {
		rates[id], _ = sheet.Rates(n, len(i.compared)-1)
	}
	x := i.out
	onAccount := map[string][]holdings.Closing{}
	for _, p := range positions {
		onAccount[p.LedgerAccountID] = append(onAccount[p.LedgerAccountID], p)
	}
	cash := &cashHoldings{inquiry: i, rates: rates, unsourced: unsourced, byCurrency: map[string]*Holding{}}
	if err := cash.read(ctx, sheet.LegalEntityIDs); err != nil {
		return err
	}
	for n, a := range sheet.Accounts {
		if (held[a.ID] || unsourced[a.ID]) && a.Type == account.Asset {
			cash.add(a, i.cashParts(a, sheet.Rows[n].Cells[len(i.compared)-1].Closing, onAccount[a.ID], rates))
		}
	}
	known := len(held) > 0 || len(cash.parts) > 0
	if known {
		x.Cash = Figure{Value: &cash.value, Formula: "balances of the accounts of sources less the cost of digital assets on them, and of " +
			"other cash accounts", Parts: cash.parts}
	} else {
		x.Cash.Reason = "no source has a ledger account, and no account below 1000 Cash and bank or 1100 Exchange balances has a balance, " +
			"so it is not known which accounts hold cash: create a source"
	}
	assets := i.digitalAssets(positions, rates)
	total := money.Decimal{}
	for _, a := range assets {
		total = total.Add(a.Value)
		x.DigitalAssets.Parts = append(x.DigitalAssets.Parts, a.Parts...)
	}
	x.DigitalAssets.Value, x.DigitalAssets.Formula = &total, "carrying amounts of digital assets"
	x.cashValue, x.digitalAssetValue = cash.value, total
	i.concentrate(append(assets, cash.holdings()...), known)
	return nil
}

// positions reads the holdings of digital assets at the end of the period.
func (i *inquiry) positions(ctx context.Context) (out []holdings.Closing, err error) {
	p := holdings.ClosingParams{Filter: holdings.Filter{LegalEntityIDs: i.p.LegalEntityIDs}, PeriodID: i.out.Period.ID}
	for pr := (page.Request{Limit: page.LimitMax}); ; {
		found, err := i.holdings.ClosingPositions(ctx, p, pr)
		if err != nil {
			return nil, err
		}
		if out = append(out, found.Items...); !found.HasMore {
			return out, nil
		}
		pr.Cursor = found.NextCursor
	}
}

// sourceAccounts returns the ledger accounts of the sources of the legal entities.
func (i *inquiry) sourceAccounts(ctx context.Context, sheet *statements.BalanceSheet) (map[string]bool, error) {
	sources, err := source.AllUnchecked(ctx, i.tx)
	out := map[string]bool{}
	for _, s := range sources {
		if slices.Contains(sheet.LegalEntityIDs, s.LegalEntityID) && s.LedgerAccountID != "" {
			out[s.LedgerAccountID] = true
		}
	}
	return out, err
}

// cashParts returns what the cash on an account is computed from: its balance, and the cost of each position of digital assets on it,
// which is subtracted. Costs are translated together, as they are part of the balance, so that their contributions add up to the same
// rounded sum.
func (i *inquiry) cashParts(a account.Account, balance money.Decimal, positions []holdings.Closing,
	rates map[string]statement.Rate) []Part {
	whole := Part{Label: a.String(), Value: balance, Currency: i.out.Currency, Contribution: balance,
		Explain: i.queryWith("balance-sheet", "closing_balance", func(q *explain.Query) { q.LedgerAccountID = a.ID })}
	if a.NormalBalance == account.Credit {
		whole.Contribution = balance.Neg()
	}
	parts, sums := []Part{whole}, map[string]money.Decimal{}
	for _, p := range positions {
		if p.Basis.IsZero() {
			continue
		}
		before := sums[p.LegalEntityID]
		sum := before.Add(p.Basis)
		sums[p.LegalEntityID] = sum
		rate := rates[p.LegalEntityID]
		parts = append(parts, Part{Label: "less the cost of " + p.Quantity.String() + " " + p.AssetType, Value: p.Basis, Currency: p.Currency,
			Contribution: i.convert(before, rate).Sub(i.convert(sum, rate)), Explain: i.positionQuery(p, "cost_basis")})
	}
	return parts
}

// contributions adds up what parts contribute.
func contributions(parts []Part) (sum money.Decimal) {
	for _, p := range parts {
		sum = sum.Add(p.Contribution)
	}
	return sum
}

// positionQuery returns the query for a figure of a position.
func (i *inquiry) positionQuery(p holdings.Closing, column string) *explain.Query {
	return &explain.Query{Report: "closing-positions", Column: column, PeriodID: i.out.Period.ID, LegalEntityID: p.LegalEntityID,
		AssetType: p.AssetType, SourceID: p.SourceID, LedgerAccountID: p.LedgerAccountID, Chain: p.Chain, TokenID: p.TokenID}
}

// convert translates an amount. A rate of one leaves it as it is.
func (i *inquiry) convert(amount money.Decimal, rate statement.Rate) money.Decimal {
	if !rate.Known() || rate.Times.Equal(rate.Over) {
		return amount
	}
	return rate.Convert(amount, i.out.places)
}

// digitalAssets returns the digital assets at their carrying amounts, by symbol.
func (i *inquiry) digitalAssets(positions []holdings.Closing, rates map[string]statement.Rate) []Holding {
	byAsset := map[string]*Holding{}
	for _, p := range positions {
		value := i.convert(p.Carrying, rates[p.LegalEntityID])
		if value.IsZero() {
			continue
		}
		if byAsset[p.AssetType] == nil {
			byAsset[p.AssetType] = &Holding{Name: p.AssetType}
		}
		h := byAsset[p.AssetType]
		h.Value = h.Value.Add(value)
		h.Parts = append(h.Parts, Part{Label: p.Quantity.String() + " " + p.AssetType, Value: p.Carrying, Currency: p.Currency,
			Contribution: value, Explain: i.positionQuery(p, "carrying_amount")})
	}
	var out []Holding
	for _, name := range slices.Sorted(maps.Keys(byAsset)) {
		out = append(out, *byAsset[name])
	}
	return out
}

// concentrate computes what share of all holdings each one is, the largest first.
func (i *inquiry) concentrate(all []Holding, cashKnown bool) {
	x := i.out
	all = slices.DeleteFunc(all, func(h Holding) bool { return h.Value.IsZero() })
	slices.SortStableFunc(all, func(a, b Holding) int { return cmp.Or(b.Value.Cmp(a.Value), cmp.Compare(a.Name, b.Name)) })
	x.Holdings = all
	total := money.Decimal{}
	for _, h := range all {
		total = total.Add(h.Value)
	}
	switch {
	case !cashKnown:
		x.LargestShare.Reason = x.Cash.Reason
		return
	case total.Sign() <= 0:
		x.LargestShare.Reason = "cash and digital assets are not positive in total, so that there are no shares of them"
		return
	}
	for n := range all {
		share := all[n].Value.Quo(total, SharePlaces)
		all[n].Share = &share
	}
	x.LargestShare = Figure{Value: all[0].Share, Formula: fmt.Sprintf("%s %s / total %s", all[0].Name, all[0].Value.Fixed(x.Currency),
		total.Fixed(x.Currency)), Parts: all[0].Parts}
}

// deriveBurn averages operating costs, and operating costs less revenue, over the months.
func (i *inquiry) deriveBurn(ctx context.Context) error {
	x := i.out
	income, err := i.reports.IncomeStatement(ctx, statements.Params{LegalEntityIDs: i.p.LegalEntityIDs, PeriodIDs: periodIDs(i.months),
		PresentationCurrency: i.p.PresentationCurrency})
	if fault.KindOf(err) == fault.Conflict {
		x.GrossBurn.Reason, x.NetBurn.Reason = err.Error(), err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	var gross, net money.Decimal
	for n, m := range i.months {
		explained := func(row string) *explain.Query {
			return i.queryWith("income-statement", "amount", func(q *explain.Query) { q.PeriodID, q.Row = m.ID, row })
		}
		for s, section := range income.Sections {
			if section.Section != statement.SectionCostOfRevenue && section.Section != statement.SectionOperatingExpense {
				continue
			}
			amount := income.Sections[s].Totals[n]
			gross = gross.Add(amount)
			x.GrossBurn.Parts = append(x.GrossBurn.Parts, Part{Label: m.Key + " " + strings.ReplaceAll(string(section.Section), "_", " "),
				Value: amount, Currency: x.Currency, Contribution: amount, Explain: explained(string(section.Section))})
		}
		net = net.Sub(income.OperatingIncome[n])
		x.NetBurn.Parts = append(x.NetBurn.Parts, Part{Label: "less " + m.Key + " operating income", Value: income.OperatingIncome[n],
			Currency: x.Currency, Contribution: income.OperatingIncome[n].Neg(), Explain: explained("operating_income")})
	}
	count := money.FromInt(int64(len(i.months)))
	average := func(sum money.Decimal) *money.Decimal {
		value := sum.Quo(count, x.places)
		return &value
	}
	x.GrossBurn.Value, x.NetBurn.Value, x.sumNetBurn = average(gross), average(net), &net
	x.GrossBurn.Formula = fmt.Sprintf("cost of revenue and operating expenses %s / %s months", gross.Fixed(x.Currency), count)
	x.NetBurn.Formula = fmt.Sprintf("operating costs less revenue %s / %s months", net.Fixed(x.Currency), count)
	return nil
}

// deriveRunway computes for how many months cash lasts, alone and with digital assets, if they go on like the last ones.
func (i *inquiry) deriveRunway() {
	x := i.out
	for _, r := range []struct {
		into  *Figure
		label string
		funds money.Decimal
	}{{&x.Runway, "cash", x.cashValue}, {&x.RunwayWithAssets, "cash and digital assets", x.cashValue.Add(x.digitalAssetValue)}} {
		switch {
		case x.Cash.Value == nil:
			r.into.Reason = x.Cash.Reason
		case x.sumNetBurn == nil:
			r.into.Reason = x.NetBurn.Reason
		case x.sumNetBurn.Sign() <= 0:
			r.into.Reason = "revenue covers operating costs, so that nothing is being burned"
		default:
			value := money.Decimal{}
			if r.funds.Sign() > 0 {
				value = r.funds.Mul(money.FromInt(int64(len(i.months)))).Quo(*x.sumNetBurn, RunwayPlaces)
			}
			parts := append(slices.Clone(x.Cash.Parts), x.NetBurn.Parts...)
			if r.into == &x.RunwayWithAssets {
				parts = append(parts, x.DigitalAssets.Parts...)
			}
			*r.into = Figure{Value: &value, Parts: parts, Formula: fmt.Sprintf("%s %s / net burn %s a month", r.label, r.funds.Fixed(x.Currency),
				x.NetBurn.Value.Fixed(x.Currency))}
		}
	}
}

// deriveMovements finds the accounts that moved most in the period. Accounts that are computed from others do not count.
func (i *inquiry) deriveMovements(ctx context.Context, sheet *statements.BalanceSheet) error {
	x, at := i.out, len(i.compared)-1
	income, err := i.reports.IncomeStatement(ctx, statements.Params{LegalEntityIDs: i.p.LegalEntityIDs, PeriodIDs: periodIDs(i.compared),
		PresentationCurrency: i.p.PresentationCurrency})
	if fault.KindOf(err) == fault.Conflict {
		x.MovementsReason = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	add := func(a account.Account, report, column string, amount func(period int) money.Decimal) {
		explained := func(period int) *explain.Query {
			return i.queryWith(report, column, func(q *explain.Query) { q.LedgerAccountID, q.PeriodID = a.ID, i.compared[period].ID })
		}
		m := Movement{Account: a, Amount: amount(at), Explain: explained(at)}
		if at > 0 {
			previous := amount(at - 1)
			m.Previous, m.PreviousExplain = &previous, explained(at-1)
		}
		if !m.Amount.IsZero() {
			x.Movements = append(x.Movements, m)
		}
	}
	for n, a := range sheet.Accounts {
		switch a.Role {
		case account.RoleCurrentEarnings, account.RoleRetainedEarnings, account.RoleTranslationAdjustment:
			continue
		}
		add(a, "balance-sheet", "change", func(period int) money.Decimal {
			c := sheet.Rows[n].Cells[period]
			return c.Closing.Sub(c.Opening)
		})
	}
	for s, section := range income.Sections {
		for n, row := range section.Rows {
			add(income.Accounts[s][n], "income-statement", "amount", func(period int) money.Decimal { return row.Amounts[period] })
		}
	}
	slices.SortStableFunc(x.Movements, func(a, b Movement) int {
		return cmp.Or(b.Amount.Abs().Cmp(a.Amount.Abs()), cmp.Compare(a.Account.SequenceNumber, b.Account.SequenceNumber))
	})
	x.Movements = x.Movements[:min(len(x.Movements), movementsMax)]
	return nil
}
