package period

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// What a rate that was kept with a closing applies to, beside the journal entries whose lines on equity accounts are translated at
// the rate of their date.
const (
	RateClosing = "closing" // assets and liabilities at the end of the period
	RateAverage = "average" // income and expenses of the period
	RateOpening = "opening" // opening balances, in the first closed period of a legal entity
)

// KeptRate is an exchange rate, Sum / Count, that was kept when a period was closed. Rates that are stored later do not change what a
// closed period shows in another currency.
type KeptRate struct {
	ClosingID string
	Quote     string
	AppliesTo string // one of the constants, or the id of a journal entry
	Sum       money.Decimal
	Count     int64
}

// KeptRates returns the rates into a currency that were kept with some closings. It runs in the caller's transaction.
func KeptRates(ctx context.Context, tx *db.Tx, closings []string, quote string) ([]KeptRate, error) {
	return selectKeptRates(ctx, tx, closings, quote)
}

// FirstMonth returns the first month of a legal entity's books: that of its first entry beside opening balances or, without one, that
// in which the legal entity was created. It runs in the caller's transaction.
func FirstMonth(ctx context.Context, tx *db.Tx, e entity.LegalEntity) (calendar.Month, error) {
	key, err := selectFirstUsed(ctx, tx, e.ID)
	if err != nil {
		return calendar.Month{}, err
	}
	if key != "" {
		return calendar.ParseKey(key)
	}
	zone, err := Zone(ctx, tx)
	if err != nil {
		return calendar.Month{}, err
	}
	return calendar.MonthOf(e.CreatedAt, zone), nil
}

// keepRates stores the rates by which reports translate the period from now on, with the closing of each legal entity.
func (x *examination) keepRates(ctx context.Context, tx *db.Tx, closings []Closing) error {
	chart, err := account.All(ctx, tx)
	if err != nil {
		return err
	}
	zone, err := Zone(ctx, tx)
	if err != nil {
		return err
	}
	var equity []string
	for _, a := range chart {
		if a.Type == account.Equity && a.Postable {
			equity = append(equity, a.ID)
		}
	}
	for i, e := range x.entities {
		k := rateKeeper{tx: tx, closing: closings[i], entity: e, period: x.period, zone: zone, latest: map[string]*fx.Quotation{}}
		if k.quotes, err = fx.Quotes(ctx, tx, e.BaseCurrency); err != nil {
			return err
		}
		if len(k.quotes) == 0 {
			continue
		}
		if err := k.keep(ctx, equity); err != nil {
			return err
		}
	}
	return nil
}

// rateKeeper collects the rates to keep with a closing.
type rateKeeper struct {
	tx      *db.Tx
	closing Closing
	entity  entity.LegalEntity
	period  Period
	zone    *time.Location
	quotes  []string
	latest  map[string]*fx.Quotation // by currency and day, what was read; nil where there is no rate
	rates   []KeptRate
}

func (k *rateKeeper) add(quote, appliesTo string, sum money.Decimal, count int64) {
	k.rates = append(k.rates, KeptRate{ClosingID: k.closing.ID, Quote: quote, AppliesTo: appliesTo, Sum: sum, Count: count})
}

// keep stores the rates at the end of the period, the averages of the month, and the rates of the lines on some equity accounts.
func (k *rateKeeper) keep(ctx context.Context, equity []string) error {
	month := k.period.Month()
	err := k.addLatest(ctx, RateClosing, month.LastDay(), func(string) (bool, error) { return false, nil })
	if err != nil {
		return err
	}
	averages, err := fx.Averages(ctx, k.tx, k.entity.BaseCurrency, "", month.FirstDay(), month.LastDay())
	if err != nil {
		return err
	}
	for _, a := range averages {
		k.add(a.Quote, RateAverage, a.Sum, a.Count)
	}
	if err := k.addEquity(ctx, equity); err != nil {
		return err
	}
	return insertKeptRates(ctx, k.tx, k.rates)
}

// addLatest adds the latest rate on or before a day into each currency for which none is kept.
func (k *rateKeeper) addLatest(ctx context.Context, appliesTo, day string, isKept func(quote string) (bool, error)) error {
	for _, quote := range k.quotes {
		if kept, err := isKept(quote); err != nil || kept {
			if err != nil {
				return err
			}
			continue
		}
		q, err := k.latestOn(ctx, quote, day)
		if err != nil {
			return err
		}
		if q != nil {
			k.add(quote, appliesTo, q.Rate, 1)
		}
	}
	return nil
}

// latestOn returns the latest rate on or before a day, or nil if there is none. It reads each rate once.
func (k *rateKeeper) latestOn(ctx context.Context, quote, day string) (*fx.Quotation, error) {
	key := quote + " " + day
	if q, known := k.latest[key]; known {
		return q, nil
	}
	q, there, err := fx.Latest(ctx, k.tx, k.entity.BaseCurrency, quote, day)
	if err != nil {
		return nil, err
	}
	k.latest[key] = nil
	if there {
		k.latest[key] = &q
	}
	return k.latest[key], nil
}

// addEquity adds the rates of the lines on equity accounts in the period and in the opening period, except those that lines keep
// themselves, and those that an earlier closing keeps: that of opening balances, or that of a reversal dated before the entry that it
// reverses.
func (k *rateKeeper) addEquity(ctx context.Context, equity []string) error {
	entries, err := selectEquityEntries(ctx, k.tx, k.period, k.entity.ID, equity)
	if err != nil {
		return err
	}
	subjects := []string{RateOpening}
	for _, e := range entries {
		subjects = append(subjects, e.ID)
	}
	kept, err := selectKeptQuotes(ctx, k.tx, k.entity.ID, subjects)
	if err != nil {
		return err
	}
	done := len(k.rates)
	for _, e := range entries {
		isKept := func(quote string) (bool, error) {
			if kept[e.ID][quote] || slices.ContainsFunc(k.rates[done:], func(r KeptRate) bool { return r.AppliesTo == e.ID && r.Quote == quote }) {
				return true, nil
			}
			_, there, err := fx.Kept(db.OrEmpty(e.Rates)).To(quote)
			return there, err
		}
		if err := k.addLatest(ctx, e.ID, calendar.DateOf(e.Date, k.zone), isKept); err != nil {
			return err
		}
	}
	return k.addOpening(ctx, equity, kept[RateOpening])
}

// addOpening adds the rates of opening balances into each currency for which none is kept, if some are on equity accounts.
func (k *rateKeeper) addOpening(ctx context.Context, equity []string, kept map[string]bool) error {
	if !slices.ContainsFunc(k.quotes, func(quote string) bool { return !kept[quote] }) {
		return nil
	}
	if some, err := hasEquityLines(ctx, k.tx, Opening(k.tx.Organization()), k.entity.ID, equity); err != nil || !some {
		return err
	}
	first, err := FirstMonth(ctx, k.tx, k.entity)
	if err != nil {
		return err
	}
	for _, quote := range k.quotes {
		if kept[quote] {
			continue
		}
		q, there, err := fx.AtBeginning(ctx, k.tx, k.entity.BaseCurrency, quote, first.FirstDay(), first.LastDay())
		if err != nil {
			return err
		}
		if there {
			k.add(quote, RateOpening, q.Rate, 1)
		}
	}
	return nil
}
