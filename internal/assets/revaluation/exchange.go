package revaluation

import (
	"context"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// exchange plans the remeasurement of foreign currencies, with one item for each currency.
func (s *subject) exchange(ctx context.Context) error {
	units, err := selectUnits(ctx, s.tx, s.ID, s.period.Key)
	if err != nil {
		return err
	}
	byCurrency := map[string][]unitRow{}
	var order []string
	for _, u := range units {
		a := s.books.Accounts[u.AccountID]
		if !money.IsFiat(u.Unit) || u.Unit == s.BaseCurrency || a.Type != account.Asset && a.Type != account.Liability {
			continue
		}
		u.Amount = u.Amount.Sub(s.ownOn(Exchange, u.Unit, u.AccountID))
		if _, known := byCurrency[u.Unit]; !known {
			order = append(order, u.Unit)
		}
		byCurrency[u.Unit] = append(byCurrency[u.Unit], u)
	}
	for key, own := range s.own { // currencies that are no longer held but have an entry
		if _, known := byCurrency[key[1]]; key[0] == string(Exchange) && own.EntryID != nil && !known {
			order = append(order, key[1])
		}
	}
	for _, currency := range order {
		if err := s.currency(ctx, currency, byCurrency[currency]); err != nil {
			return err
		}
	}
	return nil
}

// currency plans the accounts of one foreign currency.
func (s *subject) currency(ctx context.Context, currency string, accounts []unitRow) error {
	quote, err := s.rate(ctx, currency, accounts)
	if err != nil {
		return err
	}
	i := Item{Kind: Exchange, Unit: currency, Price: quote}
	var rows []Row
	var total measure.Effect
	for _, a := range accounts {
		value, effect := measure.Exchange(a.Quantity, quote.valueOr(money.Decimal{}), a.Amount, s.digits)
		if a.Quantity.IsZero() && a.Amount.IsZero() {
			continue
		}
		rows = append(rows, Row{SubjectID: a.AccountID, Quantity: a.Quantity, Before: a.Amount, Value: value, After: value})
		i.Quantity, i.Before, i.Value = i.Quantity.Add(a.Quantity), i.Before.Add(a.Amount), i.Value.Add(value)
		total = total.Add(effect)
		side := book.Debit
		if effect.Adjustment.Sign() < 0 {
			side = book.Credit
		}
		if !effect.Adjustment.IsZero() {
			i.Lines = append(i.Lines, Line{AccountID: a.AccountID, Side: side, Amount: effect.Adjustment.Abs()})
		}
	}
	i.After = i.Value
	total.Adjustment = money.Decimal{} // it is booked on the accounts themselves
	i.Lines = append(i.Lines, s.lines(total, "")...)
	if len(rows) == 0 && s.own[[2]string{string(Exchange), currency}].EntryID == nil {
		return nil
	}
	s.setOutcome(i, rows)
	return nil
}

// rate returns the exchange rate of the last day of the period, nil if nothing is held.
func (s *subject) rate(ctx context.Context, currency string, accounts []unitRow) (*Quote, error) {
	needed := false
	for _, a := range accounts {
		needed = needed || !a.Quantity.IsZero()
	}
	if !needed {
		return nil, nil
	}
	day := calendar.DateOf(s.asOf, s.books.Zone)
	found, err := fx.ListBetween(ctx, s.tx, currency, s.BaseCurrency, day, day)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		s.addMissing(currency, s.BaseCurrency, fmt.Sprintf("has no rate of %s", day))
		return nil, nil
	}
	at, err := calendar.StartOfDay(found[0].Date, time.UTC)
	return &Quote{Value: found[0].Rate, At: at, Origin: found[0].Source}, err
}
