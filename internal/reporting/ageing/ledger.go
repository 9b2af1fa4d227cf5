package ageing

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// Key is a currency in the books of a legal entity.
type Key struct{ LegalEntityID, Currency string }

// Balances are the balances of a ledger account, debits less credits.
type Balances struct {
	ByCurrency map[Key]money.Decimal    // what was booked in each currency
	Base       map[string]money.Decimal // by legal entity: the balance in its base currency, as the balance sheet shows it
}

// AccountAt returns the balances of a ledger account of some legal entities at an instant; nil means all of them. It takes what they are
// now and undoes the entries since, so that its cost depends on those and not on the age of the books.
func AccountAt(ctx context.Context, tx *db.Tx, b *snapshot.Books, accountID string, legalEntityIDs []string, end time.Time) (
	Balances, error) {
	out := Balances{map[Key]money.Decimal{}, map[string]money.Decimal{}}
	totals, err := balance.Select(ctx, tx, "", legalEntityIDs, nil, []string{accountID})
	if err != nil {
		return out, err
	}
	for _, t := range totals {
		out.Base[t.LegalEntityID] = out.Base[t.LegalEntityID].Add(t.Debits).Sub(t.Credits)
	}
	own := func(legalEntityID string) Key { return Key{legalEntityID, b.Entities[legalEntityID].BaseCurrency} }
	for id, amount := range out.Base {
		out.ByCurrency[own(id)] = amount
	}
	units, err := balance.UnitsOn(ctx, tx, accountID)
	if err != nil {
		return out, err
	}
	for _, u := range units {
		k := Key{u.LegalEntityID, u.Unit}
		out.ByCurrency[own(u.LegalEntityID)] = out.ByCurrency[own(u.LegalEntityID)].Sub(u.Amount)
		out.ByCurrency[k] = out.ByCurrency[k].Add(u.Quantity)
	}
	since, err := invoice.ControlSince(ctx, tx, accountID, legalEntityIDs, end)
	if err != nil {
		return out, err
	}
	for _, m := range since {
		sign := func(d money.Decimal) money.Decimal {
			if m.Side == string(book.Credit) {
				return d
			}
			return d.Neg()
		}
		k := own(m.LegalEntityID)
		if m.Unit != nil {
			k.Currency = *m.Unit
		}
		if m.Quantity != nil {
			out.ByCurrency[k] = out.ByCurrency[k].Add(sign(*m.Quantity))
		}
		out.Base[m.LegalEntityID] = out.Base[m.LegalEntityID].Add(sign(m.Amount))
	}
	for k := range out.ByCurrency {
		if _, covered := out.Base[k.LegalEntityID]; !covered {
			delete(out.ByCurrency, k)
		}
	}
	return out, nil
}
