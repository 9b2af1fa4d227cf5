package holdings

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/treasury/observation"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// TreasuryParams are the parameters of treasury balances. AsOf is a date or an instant; the default is now.
type TreasuryParams struct {
	Filter
	AsOf     string
	Observed bool // with what sources stated
}

func (p TreasuryParams) validate(faults *fault.List) { validateTime(faults, "as_of", p.AsOf) }

// Balance is the holding of an asset or a currency at a source. Balances of money are those of ledger accounts: if several
// sources share an account, the balance is that of all of them and has no source. Cash on an account without a source has none
// either.
type Balance struct {
	Position
	Source   *source.Source // nil if it is parked, or if the account has no source or several
	Worth    Worth          // in Currency
	Rate     *fx.Quotation  // at which foreign money was translated
	Observed *Observed      // what the source stated last, nil if that is not known
}

// TreasuryBalances returns a page of holdings, including money, by legal entity, source and asset.
func (s *Service) TreasuryBalances(ctx context.Context, p TreasuryParams, pr page.Request) (page.Page[Balance], error) {
	return report(ctx, s, "treasury-balances", p, pr, func(b Balance) []string { return b.key() },
		func(ctx context.Context, tx *db.Tx, s *scope, after []string, limit int) ([]Balance, error) {
			end := s.endOf(p.AsOf, tx.Now())
			held, err := s.heldAt(ctx, tx, end, after, limit)
			if err != nil {
				return nil, err
			}
			out, err := s.balances(ctx, tx, end, held)
			if err == nil && p.Observed {
				err = s.compare(ctx, tx, end, out)
			}
			return out, err
		})
}

// heldAt returns the positions just before an instant, including money, all of them or a page.
func (s *scope) heldAt(ctx context.Context, tx *db.Tx, end time.Time, after []string, limit int) ([]Position, error) {
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
	return atMost(held, limit), nil
}

// entityAccount is a ledger account of a legal entity.
type entityAccount struct{ legalEntityID, accountID string }

// moneyAt returns the balances of money just before an instant: the balances of the accounts of sources that may hold money,
// and of accounts that hold cash without a source, in the base currency and in others. Wallets hold none. There are few such
// accounts, and each balance is a sum over periods.
func (s *scope) moneyAt(ctx context.Context, tx *db.Tx, end time.Time) ([]Position, error) {
	month, some := s.periodAt(end.Add(-time.Millisecond))
	if !some {
		return nil, nil
	}
	sources, err := s.moneySources(ctx, tx)
	if err != nil || len(sources) == 0 {
		return nil, err
	}
	var ids []string
	for l := range sources {
		ids = append(ids, l.accountID)
	}
	slices.Sort(ids)
	amounts, err := selectMoney(ctx, tx, month, end, s.LegalEntityIDs, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	var out []Position
	for k, amount := range amounts {
		of, known := sources[k.entityAccount]
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

// moneySources returns the sources that may hold money, by ledger account. An account that several sources share is left out
// unless the filter selects all of them, because the balance cannot be split. Accounts that hold cash without a source have none,
// and are left out if the filter selects sources.
func (s *scope) moneySources(ctx context.Context, tx *db.Tx) (map[entityAccount][]string, error) {
	all, err := s.allSources(ctx, tx)
	if err != nil {
		return nil, err
	}
	out, unwanted := map[entityAccount][]string{}, map[entityAccount]bool{}
	if len(s.SourceIDs) == 0 {
		unsourced, err := source.UnsourcedCash(ctx, tx)
		if err != nil {
			return nil, err
		}
		for accountID := range unsourced {
			for _, id := range s.LegalEntityIDs {
				out[entityAccount{id, accountID}] = nil
			}
		}
	}
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

// balances adds sources and values to positions.
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

// compare sets what sources stated last up to an instant.
func (s *scope) compare(ctx context.Context, tx *db.Tx, end time.Time, all []Balance) error {
	shown := map[string][]*Balance{}
	for n := range all {
		if b := &all[n]; b.Source != nil {
			shown[b.SourceID] = append(shown[b.SourceID], b)
		}
	}
	stated, err := observation.AssetsOfSome(ctx, tx, slices.Collect(maps.Keys(shown)))
	if err != nil || len(stated) == 0 {
		return err
	}
	held, err := s.heldOf(ctx, tx, end, stated)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(stated)) {
		assets := slices.DeleteFunc(stated[id], func(asset string) bool {
			return !slices.ContainsFunc(shown[id], func(b *Balance) bool { return b.AssetType == asset })
		})
		found, err := s.observedAt(ctx, tx, *shown[id][0].Source, end.Add(-time.Millisecond), held[id], assets)
		if err != nil {
			return err
		}
		for _, b := range shown[id] {
			b.Observed = found[b.AssetType]
		}
	}
	return nil
}

// heldOf returns the positions of some assets of some sources just before an instant, by source.
func (s *scope) heldOf(ctx context.Context, tx *db.Tx, end time.Time, assets map[string][]string) (map[string][]Position, error) {
	narrowed := *s
	narrowed.SourceIDs, narrowed.AssetTypes = slices.Collect(maps.Keys(assets)), nil
	for _, some := range assets {
		narrowed.AssetTypes = append(narrowed.AssetTypes, some...)
	}
	held, err := narrowed.heldAt(ctx, tx, end, nil, 0)
	out := map[string][]Position{}
	for _, p := range held {
		out[p.SourceID] = append(out[p.SourceID], p)
	}
	return out, err
}

// translate sets the value of money in the base currency, at the last known rate.
func (b *Balance) translate(ctx context.Context, tx *db.Tx, at time.Time, zone *time.Location) error {
	b.Worth.At = at
	value := b.Quantity
	if b.AssetType != b.Currency {
		rate, some, err := fx.Latest(ctx, tx, b.AssetType, b.Currency, calendar.DateOf(at, zone))
		if err != nil || !some {
			return err
		}
		b.Rate, value = &rate, b.Quantity.Mul(rate.Rate).RoundTo(b.Currency)
	}
	b.Worth.Value = &value
	return nil
}
