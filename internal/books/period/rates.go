package period

import (
	"context"
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
		k := rateKeeper{tx: tx, closing: closings[i], entity: e, period: x.period, zone: zone}
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
	rates   []KeptRate
}

func (k *rateKeeper) add(quote, appliesTo string, sum money.Decimal, count int64) {
	k.rates = append(k.rates, KeptRate{ClosingID: k.closing.ID, Quote: quote, AppliesTo: appliesTo, Sum: sum, Count: count})
}

// keep stores the rates at the end of the period, the averages of the month, and the rates of the lines on some equity accounts.
func (k *rateKeeper) keep(ctx context.Context, equity []string) error {
	month := k.period.month()
	err := k.addLatest(ctx, RateClosing, month.LastDay(), nil)
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

// addLatest adds the latest rate on or before a day into each currency for which none was kept.
func (k *rateKeeper) addLatest(ctx context.Context, appliesTo, day string, kept map[string]bool) error {
	for _, quote := range k.quotes {
		if kept[quote] {
			continue
		}
		q, there, err := fx.Latest(ctx, k.tx, k.entity.BaseCurrency, quote, day)
		if err != nil {
			return err
		}
		if there {
			k.add(quote, appliesTo, q.Rate, 1)
		}
	}
	return nil
}

// addEquity adds the rates of the lines on equity accounts in the period and in the opening period, unless an earlier closing keeps them:
// that of opening balances, or that of a reversal dated before the entry that it reverses.
func (k *rateKeeper) addEquity(ctx context.Context, equity []string) error {
	entries, err := selectEquityEntries(ctx, k.tx, k.period, k.entity.ID, equity)
	if err != nil {
		return err
	}
	opening, err := selectEquityEntries(ctx, k.tx, Opening(k.tx.Organization()), k.entity.ID, equity)
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
	for _, e := range entries {
		if err := k.addLatest(ctx, e.ID, calendar.DateOf(e.Date, k.zone), kept[e.ID]); err != nil {
			return err
		}
	}
	if len(opening) == 0 {
		return nil
	}
	return k.addOpening(ctx, kept[RateOpening])
}

func (k *rateKeeper) addOpening(ctx context.Context, kept map[string]bool) error {
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
