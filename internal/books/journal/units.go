package journal

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// UnitQuery asks for the balance of an asset or a currency on an account of a legal entity. What is booked without a unit is in
// the base currency. Without a unit, the query asks for the carrying amount of everything on the account.
type UnitQuery struct {
	LegalEntityID, LedgerAccountID, Unit string
	// At is the time up to which entries count. If its period is closed, it is the beginning of the first open period, where an
	// entry of that time is posted.
	At time.Time
	// ExceptTransactionID is a transaction whose entries do not count.
	ExceptTransactionID string
}

// UnitBalance returns a quantity and its carrying amount in the base currency, debits less credits. It adds up the balances of
// earlier periods and the lines of the last one. It runs in the caller's transaction.
func UnitBalance(ctx context.Context, tx *db.Tx, b *snapshot.Books, q UnitQuery) (balance.Unit, error) {
	q, month, err := q.inOpenPeriod(b)
	if err != nil {
		return balance.Unit{}, err
	}
	var sum balance.Unit
	inBase := q.Unit == b.Entities[q.LegalEntityID].BaseCurrency
	before, err := balancesOf(ctx, tx, q, inBase)
	if err != nil {
		return sum, err
	}
	for id, u := range before {
		if p, there := b.PeriodByID(id); there && p.Key < month.Key() {
			sum.Quantity, sum.Amount = sum.Quantity.Add(u.Quantity), sum.Amount.Add(u.Amount)
		}
	}
	within, err := selectUnitLines(ctx, tx, q, inBase, month.Start(b.Zone))
	if err != nil {
		return sum, err
	}
	own, err := selectUnitLinesOf(ctx, tx, q, inBase)
	if err != nil {
		return sum, err
	}
	for _, r := range within {
		sum = r.addTo(sum, 1)
	}
	for _, r := range own {
		sum = r.addTo(sum, -1)
	}
	for _, e := range stateOf(tx).entries { // entries that are not written yet
		if e.Status == Posted && !e.AccountingDate.After(q.At) && (e.TransactionID == "" || e.TransactionID != q.ExceptTransactionID) {
			sum = q.addLines(sum, e, inBase)
		}
	}
	return sum, nil
}

// inOpenPeriod returns the query with the time at which an entry is posted, and its month.
func (q UnitQuery) inOpenPeriod(b *snapshot.Books) (UnitQuery, calendar.Month, error) {
	month := calendar.MonthOf(q.At, b.Zone)
	if through := b.ClosedThrough(q.LegalEntityID); month.Key() <= through {
		last, err := calendar.ParseKey(through)
		if err != nil {
			return q, month, err
		}
		month = last.Next()
		q.At = month.Start(b.Zone)
	}
	return q, month, nil
}

// LeastUnitBalance returns what is left of a balance of units after everything that is posted with a later date: the least quantity
// from the time of the query on, nothing if it changes sides, and its share of the carrying amount. An entry that settles no more
// leaves nothing for a later one that is not there. It runs in the caller's transaction.
func LeastUnitBalance(ctx context.Context, tx *db.Tx, b *snapshot.Books, q UnitQuery) (balance.Unit, error) {
	sum, err := UnitBalance(ctx, tx, b, q)
	if err != nil || sum.Quantity.IsZero() {
		return sum, err
	}
	if q, _, err = q.inOpenPeriod(b); err != nil {
		return sum, err
	}
	later, err := q.movementsAfter(ctx, tx, q.Unit == b.Entities[q.LegalEntityID].BaseCurrency)
	if err != nil {
		return sum, err
	}
	least, running, sign := sum.Quantity, sum.Quantity, money.FromInt(int64(sum.Quantity.Sign()))
	for _, m := range later {
		if running = running.Add(m); running.Mul(sign).Cmp(least.Mul(sign)) < 0 {
			least = running
		}
	}
	if least.Mul(sign).Sign() <= 0 {
		return balance.Unit{}, nil
	}
	if !least.Equal(sum.Quantity) {
		currency := b.Entities[q.LegalEntityID].BaseCurrency
		places, _ := money.MinorUnits(currency)
		sum = balance.Unit{Quantity: least, Amount: sum.Amount.Mul(least).Quo(sum.Quantity, places)}
	}
	return sum, nil
}

// movementsAfter returns the net movements by date after the time of the query, in order.
func (q UnitQuery) movementsAfter(ctx context.Context, tx *db.Tx, inBase bool) (out []money.Decimal, err error) {
	rows, err := selectUnitLinesAfter(ctx, tx, q, inBase)
	if err != nil {
		return nil, err
	}
	byDate := map[time.Time]balance.Unit{}
	for _, r := range rows {
		byDate[r.Date.UTC()] = r.addTo(byDate[r.Date.UTC()], 1)
	}
	for _, e := range stateOf(tx).entries {
		if e.Status == Posted && e.AccountingDate.After(q.At) && (e.TransactionID == "" || e.TransactionID != q.ExceptTransactionID) {
			at := e.AccountingDate.UTC()
			byDate[at] = q.addLines(byDate[at], e, inBase)
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(byDate), time.Time.Compare) {
		out = append(out, byDate[at].Quantity)
	}
	return out, nil
}

// addLines adds the lines of an entry that the query asks for.
func (q UnitQuery) addLines(sum balance.Unit, e Entry, inBase bool) balance.Unit {
	for _, l := range e.Lines {
		if l.LegalEntityID != q.LegalEntityID || l.LedgerAccountID != q.LedgerAccountID || l.Base == nil {
			continue
		}
		side := unitSide{Side: string(l.Side), Amount: *l.Base}
		switch {
		case q.Unit == "" || inBase && l.Unit == "":
			side.Quantity = *l.Base
		case l.Unit == q.Unit && l.Quantity != nil:
			side.Quantity = *l.Quantity
		default:
			continue
		}
		sum = side.addTo(sum, 1)
	}
	return sum
}

// balancesOf returns the balances of periods. What is in the base currency is what no unit accounts for.
func balancesOf(ctx context.Context, tx *db.Tx, q UnitQuery, inBase bool) (map[string]balance.Unit, error) {
	if !inBase && q.Unit != "" {
		return balance.UnitsOf(ctx, tx, q.LegalEntityID, q.LedgerAccountID, q.Unit)
	}
	totals, err := balance.Select(ctx, tx, "", []string{q.LegalEntityID}, nil, []string{q.LedgerAccountID})
	if err != nil {
		return nil, err
	}
	inUnits := map[string]money.Decimal{}
	if q.Unit != "" {
		if inUnits, err = balance.AmountsInUnits(ctx, tx, q.LegalEntityID, q.LedgerAccountID, q.Unit); err != nil {
			return nil, err
		}
	}
	rest := make(map[string]balance.Unit, len(totals))
	for _, t := range totals {
		amount := t.Debits.Sub(t.Credits).Sub(inUnits[t.PeriodID])
		rest[t.PeriodID] = balance.Unit{Quantity: amount, Amount: amount}
	}
	return rest, nil
}
