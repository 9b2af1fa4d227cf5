package statements

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

// readQuotes reads the rates of every currency that is translated, up to the last period.
func (r *reading) readQuotes(ctx context.Context, tx *db.Tx) (map[string][]fx.Quotation, error) {
	out := map[string][]fx.Quotation{}
	for _, e := range r.entities {
		from, to := e.BaseCurrency, r.books.Currency
		if from == to || out[from] != nil || len(r.periods) == 0 {
			continue
		}
		quotes, err := fx.ListBetween(ctx, tx, from, to, "", lastDay(r.periods[len(r.periods)-1]))
		if err != nil {
			return nil, err
		}
		out[from] = quotes
	}
	return out, nil
}

// rates returns the rates of each period from a currency, or nil if it is that of the report. The first period is the opening
// period, whose rate is that of the beginning of the books.
func (r *reading) rates(currency string) *statement.Rates {
	if currency == r.books.Currency || len(r.periods) == 0 {
		return nil
	}
	quotes := r.quotes[currency]
	rates := &statement.Rates{Closing: make([]statement.Rate, len(r.periods)), Average: make([]statement.Rate, len(r.periods))}
	var latest *fx.Quotation
	for i, p := range r.periods {
		sum, n, start, end := money.Decimal{}, int64(0), firstDay(p), lastDay(p)
		for len(quotes) > 0 && quotes[0].Date <= end {
			latest, quotes = &quotes[0], quotes[1:]
			if latest.Date >= start {
				sum, n = sum.Add(latest.Rate), n+1
			}
		}
		if latest != nil {
			rates.Closing[i] = exact(latest.Rate)
		}
		if n > 0 {
			rates.Average[i] = statement.Rate{Times: sum, Over: money.FromInt(n)}
		}
	}
	if rate, there := r.rateOn(currency, r.beginning(currency)); there {
		rates.Closing[0] = exact(rate)
	}
	return rates
}

// beginning returns the date at whose rate opening balances are translated: the first day of the first month or, if no rate is
// stored for that or a day before it, the last one.
func (r *reading) beginning(currency string) string {
	first := r.periods[1]
	if _, there := r.rateOn(currency, firstDay(first)); there {
		return firstDay(first)
	}
	return lastDay(first)
}

func exact(rate money.Decimal) statement.Rate {
	return statement.Rate{Times: rate, Over: money.FromInt(1)}
}

// rateOn returns the latest rate from a currency on or before a date.
func (r *reading) rateOn(currency, date string) (money.Decimal, bool) {
	quotes := r.quotes[currency]
	after, _ := slices.BinarySearchFunc(quotes, date, func(q fx.Quotation, date string) int {
		if q.Date > date {
			return 1
		}
		return -1
	})
	if after == 0 {
		return money.Decimal{}, false
	}
	return quotes[after-1].Rate, true
}

// totalKey identifies the total of an account of a legal entity in a period.
type totalKey struct{ legalEntityID, ledgerAccountID, periodID string }

// historical translates the lines on equity accounts of legal entities with another currency, and adds them up. Each line is
// translated at the rate of its date: the one that was kept with it or, if none was stored for its date by then, the latest
// rate up to the date. If that is missing too, the error is kept for the statements that show equity. Equity has few lines, so
// this costs little however long the history is.
func (r *reading) historical(ctx context.Context, tx *db.Tx, tagID string) (map[totalKey]statement.Sides, error) {
	f := equityFilter{tagID: tagID}
	base := map[string]string{}
	for _, e := range r.entities {
		if e.BaseCurrency != r.books.Currency {
			f.entities, base[e.ID] = append(f.entities, e.ID), e.BaseCurrency
		}
	}
	for _, a := range r.chart {
		if a.Type == account.Equity && a.Postable {
			f.accounts = append(f.accounts, a.ID)
		}
	}
	if len(r.columns) == 0 || len(f.entities) == 0 || len(f.accounts) == 0 {
		return nil, nil
	}
	f.until = r.periods[len(r.periods)-1].End
	lines, err := selectEquity(ctx, tx, f)
	if err != nil {
		return nil, err
	}
	zone, err := snapshot.Zone(ctx, tx)
	if err != nil {
		return nil, err
	}
	places, _ := money.MinorUnits(r.books.Currency)
	out := map[totalKey]statement.Sides{}
	for _, l := range lines {
		rate, err := r.rateOf(l, base[l.LegalEntityID], zone)
		switch {
		case fault.KindOf(err) == fault.Conflict:
			r.unknownRate = err
			continue
		case err != nil:
			return nil, err
		}
		key := totalKey{l.LegalEntityID, l.LedgerAccountID, l.PeriodID}
		sum := out[key]
		sum.Add(l.Side == "DEBIT", exact(rate).Convert(l.Amount, places))
		out[key] = sum
	}
	return out, nil
}

// rateOf returns the rate at which a line on an equity account is translated.
func (r *reading) rateOf(l equityRow, currency string, zone *time.Location) (money.Decimal, error) {
	rate, kept, err := fx.Kept(db.OrEmpty(l.Rates)).To(r.books.Currency)
	if err != nil || kept {
		return rate, err
	}
	date := calendar.DateOf(l.Date, zone)
	if period.IsOpening(l.Date) {
		date = r.beginning(currency)
	}
	rate, there := r.rateOn(currency, date)
	if !there {
		return rate, fault.Conflictf("no rate from %s to %s is stored for %s or a day before it, at which the line of JE-%d on an equity "+
			"account is translated: store it with POST /v1/fx-rates", currency, r.books.Currency, date, l.Number)
	}
	return rate, nil
}

func firstDay(p period.Period) string { return p.Key + "-01" }

// lastDay returns the last date of a period.
func lastDay(p period.Period) string {
	m, _ := calendar.ParseKey(p.Key)
	return time.Date(m.Year, m.Month+1, 0, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// missingRate returns the error for a missing rate.
func (r *reading) missingRate(err error) error {
	var missing *statement.MissingRate
	if !errors.As(err, &missing) {
		return err
	}
	from, to, p := r.entities[missing.Entity].BaseCurrency, r.books.Currency, r.periods[min(max(1, missing.Period), len(r.periods)-1)]
	if missing.Average {
		return fault.Conflictf("no rate from %s to %s is stored for a day from %s to %s, which the average of %s needs: store it with "+
			"POST /v1/fx-rates", from, to, firstDay(p), lastDay(p), p.Key)
	}
	return fault.Conflictf("no rate from %s to %s is stored for %s or a day before it: store it with POST /v1/fx-rates", from, to, lastDay(p))
}
