package holdings

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// TreasuryParams say as of when balances are listed: a date or an instant, now without one.
type TreasuryParams struct {
	Filter
	AsOf string
}

func (p TreasuryParams) validate(faults *fault.List) { validateTime(faults, "as_of", p.AsOf) }

// Balance is how much of an asset or a currency is where. Of money, the books know what stands on the ledger account:
// where several sources share one, the balance is that of all of them and has no source.
type Balance struct {
	Position
	Source *source.Source // nil where it is parked, or where sources share an account
	Worth  Worth          // in Currency
	Rate   *fx.Quotation  // by which foreign money was translated
}

// TreasuryBalances lists what is held, money too, by legal entity, source and asset.
func (s *Service) TreasuryBalances(ctx context.Context, p TreasuryParams, pr page.Request) (page.Page[Balance], error) {
	return report(ctx, s, "treasury-balances", p, pr, func(b Balance) []string { return b.key() },
		func(ctx context.Context, tx *db.Tx, s *scope, after []string, limit int) ([]Balance, error) {
			end := s.endOf(p.AsOf, tx.Now())
			held, err := s.positionsAt(ctx, tx, end, s.Filter, after, limit)
			if err != nil {
				return nil, err
			}
			money, err := s.moneyAt(ctx, tx, end)
			if err != nil {
				return nil, err
			}
			for _, m := range money {
				if after == nil || slices.Compare(m.key(), after) > 0 {
					held = append(held, m)
				}
			}
			slices.SortFunc(held, func(a, b Position) int { return slices.Compare(a.key(), b.key()) })
			return s.balances(ctx, tx, end, atMost(held, limit))
		})
}

// entityAccount is a ledger account of a legal entity.
type entityAccount struct{ legalEntityID, accountID string }

// moneyAt gives the balances of money before an end. It is what stands on the accounts of sources that may hold some,
// in the currency of the books and in others; wallets hold none. The accounts are few, and each is a sum over
// periods.
func (s *scope) moneyAt(ctx context.Context, tx *db.Tx, end time.Time) ([]Position, error) {
	month, some := s.periodAt(end.Add(-time.Millisecond))
	if !some {
		return nil, nil
	}
	holders, err := s.moneySources(ctx, tx)
	if err != nil || len(holders) == 0 {
		return nil, err
	}
	var ids []string
	for l := range holders {
		ids = append(ids, l.accountID)
	}
	slices.Sort(ids)
	amounts, err := selectMoney(ctx, tx, month, end, s.LegalEntityIDs, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	var out []Position
	for k, amount := range amounts {
		of, known := holders[k.entityAccount]
		books := s.entity(k.legalEntityID).BaseCurrency
		unit := k.unit
		if unit == "" {
			unit = books
		}
		if !known || amount.IsZero() || !money.IsFiat(unit) || len(s.AssetTypes) > 0 && !slices.Contains(s.AssetTypes, unit) {
			continue
		}
		p := Position{LegalEntityID: k.legalEntityID, LedgerAccountID: k.accountID, AssetType: unit, Currency: books, Quantity: amount}
		if len(of) == 1 {
			p.SourceID = of[0]
		}
		out = append(out, p)
	}
	return out, nil
}

// moneySources gives the sources that may hold money, by ledger account. Of an account that sources share, all are named
// or it is left out: a part of them has no balance of its own.
func (s *scope) moneySources(ctx context.Context, tx *db.Tx) (map[entityAccount][]string, error) {
	all, err := source.All(ctx, tx)
	if err != nil {
		return nil, err
	}
	out, unwanted := map[entityAccount][]string{}, map[entityAccount]bool{}
	for _, one := range all {
		if one.Type == source.Wallet || !slices.Contains(s.LegalEntityIDs, one.LegalEntityID) {
			continue
		}
		l := entityAccount{one.LegalEntityID, one.LedgerAccountID}
		out[l] = append(out[l], one.ID)
		unwanted[l] = unwanted[l] || len(s.SourceIDs) > 0 && !slices.Contains(s.SourceIDs, one.ID)
	}
	for l, is := range unwanted {
		if is {
			delete(out, l)
		}
	}
	return out, nil
}

// balances says whose positions are and what they are worth.
func (s *scope) balances(ctx context.Context, tx *db.Tx, end time.Time, held []Position) ([]Balance, error) {
	at := end.Add(-time.Millisecond)
	var wanted []assetCurrency
	var ids []string
	for _, p := range held {
		if !money.IsFiat(p.AssetType) {
			wanted = append(wanted, assetCurrency{p.AssetType, p.Currency})
		}
		ids = append(ids, p.SourceID)
	}
	prices, err := pricesAt(ctx, tx, at, wanted)
	if err != nil {
		return nil, err
	}
	sources, err := source.FindSomeUnchecked(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Balance, len(held))
	for i, p := range held {
		b := Balance{Position: p}
		if one, known := sources[p.SourceID]; known {
			b.Source = &one
		}
		if money.IsFiat(p.AssetType) {
			err = b.translate(ctx, tx, at, s.zone)
		} else {
			b.Worth = worthOf(at, prices[assetCurrency{p.AssetType, p.Currency}], p.Quantity, p.Currency)
		}
		if err != nil {
			return nil, err
		}
		out[i] = b
	}
	return out, nil
}

// translate says what money is worth in the currency of the books, by the last rate there is.
func (b *Balance) translate(ctx context.Context, tx *db.Tx, at time.Time, zone *time.Location) error {
	b.Worth.At = at
	value := b.Quantity
	if b.AssetType != b.Currency {
		rate, some, err := fx.Last(ctx, tx, b.AssetType, b.Currency, calendar.DateOf(at, zone))
		if err != nil || !some {
			return err
		}
		b.Rate, value = &rate, b.Quantity.Mul(rate.Rate).RoundTo(b.Currency)
	}
	b.Worth.Value = &value
	return nil
}
