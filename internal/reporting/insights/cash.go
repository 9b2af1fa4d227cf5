package insights

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/reporting/explain"
	"github.com/bursarhq/bursar/internal/rules/statement"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// cashHoldings adds up cash, in total and by the currency that is held.
type cashHoldings struct {
	*inquiry
	rates      map[string]statement.Rate // by legal entity
	unsourced  map[string]bool           // the ledger accounts that hold cash without a source
	onAccount  map[string][]heldMoney    // by ledger account
	value      money.Decimal
	parts      []Part
	byCurrency map[string]*Holding
}

// heldMoney is money in one currency on an account of a legal entity.
type heldMoney struct {
	legalEntityID, sourceID string
	currency                string
	quantity                money.Decimal // in currency
	amount                  money.Decimal // carrying amount in the base currency
}

// read reads the money that legal entities hold at the end of the period. What has no unit is in the base currency.
func (c *cashHoldings) read(ctx context.Context, legalEntityIDs []string) error {
	c.onAccount = map[string][]heldMoney{}
	books, err := snapshot.Read(ctx, c.tx)
	if err != nil {
		return err
	}
	sources, err := source.AllUnchecked(ctx, c.tx)
	if err != nil {
		return err
	}
	for _, id := range legalEntityIDs {
		byAccount := map[string]string{} // the source, empty if there are several or none
		for accountID := range c.unsourced {
			byAccount[accountID] = ""
		}
		for _, s := range sources {
			if s.LegalEntityID != id || s.Type == source.Wallet || s.LedgerAccountID == "" {
				continue
			}
			if _, shared := byAccount[s.LedgerAccountID]; shared {
				byAccount[s.LedgerAccountID] = ""
			} else {
				byAccount[s.LedgerAccountID] = s.ID
			}
		}
		rest, err := balance.Through(ctx, c.tx, id, c.out.Period.Key, slices.Sorted(maps.Keys(byAccount)))
		if err != nil {
			return err
		}
		units, err := balance.UnitsThrough(ctx, c.tx, id, c.out.Period.Key)
		if err != nil {
			return err
		}
		base := books.Entities[id].BaseCurrency
		for _, u := range units {
			sourceID, holds := byAccount[u.AccountID]
			if !holds || u.Unit == base {
				continue
			}
			rest[u.AccountID] = rest[u.AccountID].Sub(u.Amount)
			if money.IsFiat(u.Unit) && !u.Amount.IsZero() {
				c.onAccount[u.AccountID] = append(c.onAccount[u.AccountID], heldMoney{legalEntityID: id, sourceID: sourceID, currency: u.Unit,
					quantity: u.Quantity, amount: u.Amount})
			}
		}
		for accountID, amount := range rest {
			if !amount.IsZero() {
				c.onAccount[accountID] = append(c.onAccount[accountID], heldMoney{legalEntityID: id, sourceID: byAccount[accountID],
					currency: base, quantity: amount, amount: amount})
			}
		}
	}
	return nil
}

// add adds the cash on an account, which consists of parts. If it is in several currencies, the largest one has all parts, less what is
// in the others.
func (c *cashHoldings) add(a account.Account, parts []Part) {
	whole := contributions(parts)
	if whole.IsZero() {
		return
	}
	c.value, c.parts = c.value.Add(whole), append(c.parts, parts...)
	sums := map[string]money.Decimal{}
	for _, m := range c.onAccount[a.ID] {
		sums[m.currency] = sums[m.currency].Add(c.convert(m.amount, c.rates[m.legalEntityID]))
	}
	main := c.out.Currency
	if names := slices.Collect(maps.Keys(sums)); len(names) > 0 {
		main = slices.MaxFunc(names, func(x, y string) int { return cmp.Or(sums[x].Abs().Cmp(sums[y].Abs()), cmp.Compare(y, x)) })
	}
	for _, m := range c.onAccount[a.ID] {
		if m.currency == main {
			continue
		}
		p := Part{Label: m.quantity.String() + " " + m.currency + " on " + a.String(), Value: m.quantity, Currency: m.currency,
			Contribution: c.convert(m.amount, c.rates[m.legalEntityID]), Explain: c.moneyQuery(m, a.ID)}
		c.hold(m.currency, p)
		p.Label, p.Contribution = "less "+p.Label, p.Contribution.Neg()
		parts = append(slices.Clip(parts), p)
	}
	c.hold(main, parts...)
}

// hold adds parts to the holding of a currency.
func (c *cashHoldings) hold(currency string, parts ...Part) {
	h := c.byCurrency[currency]
	if h == nil {
		h = &Holding{Name: currency, Cash: true}
		c.byCurrency[currency] = h
	}
	h.Value, h.Parts = h.Value.Add(contributions(parts)), append(h.Parts, parts...)
}

// holdings returns the holdings by currency.
func (c *cashHoldings) holdings() (out []Holding) {
	for _, currency := range slices.Sorted(maps.Keys(c.byCurrency)) {
		out = append(out, *c.byCurrency[currency])
	}
	return out
}

// moneyQuery returns the query for the quantity of money on an account at the end of the period.
func (c *cashHoldings) moneyQuery(m heldMoney, accountID string) *explain.Query {
	first, _ := time.Parse("2006-01", c.out.Period.Key)
	return &explain.Query{Report: "treasury-balances", Column: "book_quantity", AsOf: first.AddDate(0, 1, -1).Format(time.DateOnly),
		LegalEntityID: m.legalEntityID, SourceID: m.sourceID, AssetType: m.currency, LedgerAccountID: accountID}
}
