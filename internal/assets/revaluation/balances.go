package revaluation

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/measure"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// remeasure plans the balances that are measured on their own accounts, with one item for each unit: foreign currency at the closing
// rate, or digital assets that no lots carry at the closing price. It reports whether there were any.
func (s *subject) remeasure(ctx context.Context, kind Kind) (bool, error) {
	found, err := s.monetaryBalances(ctx, kind)
	if err != nil {
		return false, err
	}
	byUnit := map[string][]balance.ClosingUnits{}
	var units []string
	for _, u := range s.withPlanned(found, kind) {
		u.Amount = u.Amount.Sub(s.ownOn(kind, u.Unit, u.AccountID)).Add(s.plannedOn(u.AccountID, u.Unit))
		if _, known := byUnit[u.Unit]; !known {
			units = append(units, u.Unit)
		}
		byUnit[u.Unit] = append(byUnit[u.Unit], u)
	}
	for key, own := range s.own { // units that are no longer held but have an entry
		if _, known := byUnit[key[1]]; key[0] == string(kind) && own.EntryID != nil && !known {
			units = append(units, key[1])
		}
	}
	quotes, err := s.closingQuotes(ctx, kind, units, byUnit)
	if err != nil {
		return false, err
	}
	for _, unit := range units {
		s.balance(kind, unit, byUnit[unit], quotes[unit])
	}
	return len(units) > 0, nil
}

// withPlanned returns balances with those that have nothing yet, but on which handovers book something in this run.
func (s *subject) withPlanned(found []balance.ClosingUnits, kind Kind) []balance.ClosingUnits {
	out := slices.Clone(found)
	for key, amount := range s.planned {
		there := slices.ContainsFunc(found, func(u balance.ClosingUnits) bool { return u.AccountID == key[0] && u.Unit == key[1] })
		if !there && !amount.IsZero() && money.IsFiat(key[1]) == (kind == Exchange) {
			out = append(out, balance.ClosingUnits{AccountID: key[0], Unit: key[1]})
		}
	}
	slices.SortFunc(out, func(a, b balance.ClosingUnits) int {
		return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.AccountID, b.AccountID))
	})
	return out
}

// monetaryBalances returns the balances of monetary accounts that a kind measures.
func (s *subject) monetaryBalances(ctx context.Context, kind Kind) (out []balance.ClosingUnits, err error) {
	if s.units == nil {
		if s.units, err = balance.UnitsThrough(ctx, s.tx, s.ID, s.period.Key); err != nil {
			return nil, err
		}
	}
	for _, u := range s.units {
		if u.Unit == s.BaseCurrency || !s.books.Accounts[u.AccountID].Monetary || money.IsFiat(u.Unit) != (kind == Exchange) {
			continue
		}
		if kind == UnitBalance {
			carries, err := s.carriesLots(ctx, u.AccountID, u.Unit)
			if err != nil {
				return nil, err
			}
			if carries {
				continue
			}
		}
		out = append(out, u)
	}
	return out, nil
}

// carriesLots reports whether what is on an account of a digital asset is lots, or becomes lots when the missing transaction is
// booked: the account belongs to a source or is a clearing account, or lots were parked on it.
func (s *subject) carriesLots(ctx context.Context, accountID, asset string) (bool, error) {
	sources, err := source.OfLedgerAccountUnchecked(ctx, s.tx, accountID)
	if err != nil || len(sources) > 0 || s.books.Accounts[accountID].Clearing {
		return true, err
	}
	held, err := lots.HasPosition(ctx, s.tx, s.ID, accountID, asset)
	if err != nil || held {
		return held, err
	}
	return lots.HasParkedPool(ctx, s.tx, s.ID, accountID, asset)
}

// balance plans the accounts with one unit. Each balance is measured by itself: the gain on one and the loss on another are booked
// apart, though they are of the same unit.
func (s *subject) balance(kind Kind, unit string, accounts []balance.ClosingUnits, quote *Quote) {
	i := Item{Kind: kind, Unit: unit, Price: quote}
	var rows []Row
	var gains, losses measure.Effect
	for _, a := range accounts {
		if a.Quantity.IsZero() && a.Amount.IsZero() {
			continue
		}
		remeasured := measure.UnitBalance
		if kind == Exchange {
			remeasured = measure.Exchange
		}
		value, effect := remeasured(a.Quantity, quote.valueOr(money.Decimal{}), a.Amount, s.digits)
		rows = append(rows, Row{SubjectID: a.AccountID, Quantity: a.Quantity, Before: a.Amount, Value: value, After: value})
		i.Quantity, i.Before, i.Value = i.Quantity.Add(a.Quantity), i.Before.Add(a.Amount), i.Value.Add(value)
		change := effect.Adjustment
		effect.Adjustment = money.Decimal{} // it is booked on the account itself
		switch change.Sign() {
		case 1:
			gains = gains.Add(effect)
			i.Lines = append(i.Lines, Line{AccountID: a.AccountID, Side: book.Debit, Amount: change})
		case -1:
			losses = losses.Add(effect)
			i.Lines = append(i.Lines, Line{AccountID: a.AccountID, Side: book.Credit, Amount: change.Abs()})
		}
	}
	i.After = i.Value
	i.Lines = append(append(i.Lines, s.lines(gains, "")...), s.lines(losses, "")...)
	if len(rows) > 0 || s.own[[2]string{string(kind), unit}].EntryID != nil {
		s.setOutcome(i, rows)
	}
}

// closingQuotes returns the rates or prices at the end of the period. A unit of which no account has a quantity needs none.
func (s *subject) closingQuotes(ctx context.Context, kind Kind, units []string,
	byUnit map[string][]balance.ClosingUnits) (map[string]*Quote, error) {
	out := map[string]*Quote{}
	var wanted []price.Query
	for _, unit := range units {
		needed := false
		for _, a := range byUnit[unit] {
			needed = needed || !a.Quantity.IsZero()
		}
		switch {
		case !needed:
		case kind == UnitBalance:
			wanted = append(wanted, price.Query{AssetType: unit, Currency: s.BaseCurrency, At: s.asOf})
		default:
			rate, err := s.rate(ctx, unit)
			if err != nil {
				return nil, err
			}
			out[unit] = rate
		}
	}
	return out, s.addPrices(ctx, wanted, out)
}

// rate returns the exchange rate of the last day of the period, or nil if there is none, which is noted as missing.
func (s *subject) rate(ctx context.Context, currency string) (*Quote, error) {
	day := calendar.DateOf(s.asOf, s.books.Zone)
	found, err := fx.ListBetween(ctx, s.tx, currency, s.BaseCurrency, day, day)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		s.addMissing(fault.Field{Name: currency + "/" + s.BaseCurrency, Message: "has no rate of " + day + ": store it with POST /v1/fx-rates"})
		return nil, nil
	}
	at, err := calendar.StartOfDay(found[0].Date, time.UTC)
	return &Quote{Value: found[0].Rate, At: at, Origin: found[0].Source}, err
}
