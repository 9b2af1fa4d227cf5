package journal

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// postingMonth returns the month and time of a posting on a date: those of the date or, if its period is closed for one
// of the legal entities, the first month that is open for all of them, at its beginning.
func (c *composer) postingMonth(at time.Time, entities []string) (calendar.Month, time.Time) {
	month := c.month(at)
	through := c.books.ClosedThrough(entities...)
	if through == "" || month.Key() > through {
		return month, at
	}
	last, err := calendar.ParseKey(through)
	if err != nil {
		panic(fmt.Sprintf("journal: a period's key is %q", through))
	}
	next := last.Next()
	if next.Key() > c.month(c.now).Key() {
		c.conflict("accounting_date", fmt.Sprintf("the period %s is closed, and there is no open period after it: reopen one", month.Key()))
	}
	return next, next.Start(c.books.Zone)
}

// post turns a draft into a posted entry: it sets the period, the amounts in the currency of each legal entity and the time
// of posting. If the period does not exist yet it returns its month, which the caller must create to set the period id.
func (c *composer) post(ctx context.Context, tx *db.Tx, e *Entry) (missing []calendar.Month, err error) {
	month, at := c.postingMonth(e.AccountingDate, e.entities())
	if err := c.translate(ctx, tx, e, at); err != nil || !c.ok() {
		return nil, err
	}
	if err := c.keepRates(ctx, tx, e, at); err != nil {
		return nil, err
	}
	if !at.Equal(e.AccountingDate) {
		if e.IntendedDate == nil {
			intended := e.AccountingDate
			e.IntendedDate = &intended
		}
		e.AccountingDate = at
	}
	now := c.now
	p, there := c.books.Period(month.Key())
	e.Status, e.PostedAt, e.PeriodID = Posted, &now, p.ID
	if !there {
		missing = []calendar.Month{month}
	}
	return missing, nil
}

// requirePeriods makes the creation of periods a precondition of the write.
func requirePeriods(ctx context.Context, tx *db.Tx, months []calendar.Month) error {
	return tx.Group().Precondition(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := period.Ensure(ctx, tx, months...)
		return err
	})
}

// translate sets the amounts in each legal entity's base currency, at the stored rates of the day. It keeps amounts that
// are set already, such as those of a reversal.
func (c *composer) translate(ctx context.Context, tx *db.Tx, e *Entry, at time.Time) error {
	own := func(entity string) string { return c.books.Entities[entity].BaseCurrency }
	rates := map[[2]string]money.Decimal{}
	var open []int
	for i, l := range e.Lines {
		if l.Base != nil {
			continue
		}
		open = append(open, i)
		if l.Currency != own(l.LegalEntityID) && !money.IsFiat(l.Currency) { // it has prices, and no exchange rates
			c.conflict(fmt.Sprintf("lines[%d].currency", i), l.Currency+" is not a currency: lines by hand are in currencies such as USD; an "+
				"asset is booked from a transaction (POST /v1/journal-entries with transaction_id)")
			continue
		}
		if pair := [2]string{l.Currency, own(l.LegalEntityID)}; pair[0] != pair[1] {
			rates[pair] = money.Decimal{}
		}
	}
	day := calendar.DateOf(at, c.books.Zone)
	for _, pair := range slices.SortedFunc(maps.Keys(rates), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		rate, there, err := fx.Rate(ctx, tx, pair[0], pair[1], day)
		if err != nil {
			return err
		}
		if !there {
			c.conflict("lines", fmt.Sprintf("no rate from %s to %s is stored for %s: store it with POST /v1/fx-rates", pair[0], pair[1], day))
		}
		rates[pair] = rate
	}
	if !c.ok() {
		return nil
	}
	lines := e.bookLines()
	picked := make([]book.Line, len(open))
	for n, i := range open {
		picked[n] = lines[i]
	}
	book.Translate(picked, own, func(from, to string) money.Decimal { return rates[[2]string{from, to}] })
	for n, i := range open {
		base := picked[n].Base
		e.Lines[i].Base, lines[i].Base = &base, base
	}
	if len(open) < len(lines) {
		c.requireBalancedBase(lines)
	}
	return nil
}

// keepRates sets the rates of the day on lines of equity accounts, into every currency for which one is stored. Reports in
// another currency translate these lines at the kept rates, whatever is stored for the day later. A reversal has the rates of
// the entry that it reverses, so that both together are zero in every currency.
func (c *composer) keepRates(ctx context.Context, tx *db.Tx, e *Entry, at time.Time) error {
	if e.OriginatedBy == ByReversal {
		return nil
	}
	day, kept := calendar.DateOf(at, c.books.Zone), map[string]fx.Kept{}
	for i, l := range e.Lines {
		if c.books.Accounts[l.LedgerAccountID].Type != account.Equity {
			continue
		}
		base := c.books.Entities[l.LegalEntityID].BaseCurrency
		if _, known := kept[base]; !known {
			rates, err := fx.OfDay(ctx, tx, base, day)
			if err != nil {
				return err
			}
			kept[base] = fx.Keep(rates)
		}
		e.Lines[i].Rates = kept[base]
	}
	return nil
}

// requireBalancedBase reports base amounts that do not balance. Amounts that were set before translation may not.
func (c *composer) requireBalancedBase(lines []book.Line) {
	for i := range lines {
		lines[i].Amount, lines[i].Currency = lines[i].Base, c.books.Entities[lines[i].Entity].BaseCurrency
	}
	for _, d := range book.Differences(lines) {
		c.fault("lines", fmt.Sprintf("do not balance in the currency of %s: debits are %s %s and credits %s",
			c.books.Entities[d.Entity].Name, d.Debits, d.Currency, d.Credits))
	}
}
