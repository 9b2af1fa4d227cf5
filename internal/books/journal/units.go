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
	"github.com/bursarhq/bursar/internal/rules/book"
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
	// Except is a posted entry up to that time that does not count, because it is about to be unposted; nil if there is none.
	Except *Entry
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
	if q.Except != nil {
		own := q.addLines(balance.Unit{}, *q.Except, inBase)
		sum.Quantity, sum.Amount = sum.Quantity.Sub(own.Quantity), sum.Amount.Sub(own.Amount)
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

// LeastUnitBalance returns a balance of units, and what is left of it after everything that is posted with a later date: the least
// quantity from the time of the query on, nothing if it changes sides, and its share of the carrying amount. An entry that settles no
// more leaves nothing for a later one that is not there. It runs in the caller's transaction.
func LeastUnitBalance(ctx context.Context, tx *db.Tx, b *snapshot.Books, q UnitQuery) (left, sum balance.Unit, err error) {
	sum, err = UnitBalance(ctx, tx, b, q)
	if err != nil || sum.Quantity.IsZero() {
		return sum, sum, err
	}
	later, err := q.movementsAfter(ctx, tx, b)
	if err != nil {
		return sum, sum, err
	}
	least, running, sign := sum.Quantity, sum.Quantity, money.FromInt(int64(sum.Quantity.Sign()))
	for _, m := range later {
		if running = running.Add(m.quantity); running.Mul(sign).Cmp(least.Mul(sign)) < 0 {
			least = running
		}
	}
	switch {
	case least.Mul(sign).Sign() <= 0:
		return balance.Unit{}, sum, nil
	case least.Equal(sum.Quantity):
		return sum, sum, nil
	}
	places, _ := money.MinorUnits(b.Entities[q.LegalEntityID].BaseCurrency)
	return balance.Unit{Quantity: least, Amount: sum.Amount.Mul(least).Quo(sum.Quantity, places)}, sum, nil
}

// UnitHistory is a balance of units at a time, and how it changes afterwards. It is read once for any number of entries.
type UnitHistory struct {
	quantity money.Decimal
	later    []unitMovement
}

// unitMovement is what is posted at one time, debits less credits.
type unitMovement struct {
	at       time.Time
	quantity money.Decimal
}

// ReadUnitHistory returns the history of a balance of units from the time of the query on. It runs in the caller's transaction.
func ReadUnitHistory(ctx context.Context, tx *db.Tx, b *snapshot.Books, q UnitQuery) (UnitHistory, error) {
	sum, err := UnitBalance(ctx, tx, b, q)
	if err != nil {
		return UnitHistory{}, err
	}
	later, err := q.movementsAfter(ctx, tx, b)
	return UnitHistory{sum.Quantity, later}, err
}

// IsOverdrawn reports whether the balance is on another side than the given one, at the time of a query or later. The query asks for the
// balance of the history, at a time that is not before its beginning, and may name an entry that does not count.
func (h UnitHistory) IsOverdrawn(b *snapshot.Books, q UnitQuery, side book.Side) (bool, error) {
	q, _, err := q.inOpenPeriod(b)
	if err != nil {
		return false, err
	}
	running, wrong := h.quantity, -1
	if q.Except != nil {
		own := q.addLines(balance.Unit{}, *q.Except, q.Unit == b.Entities[q.LegalEntityID].BaseCurrency)
		running = running.Sub(own.Quantity)
	}
	if side == book.Credit {
		wrong = 1
	}
	next := 0
	for ; next < len(h.later) && !h.later[next].at.After(q.At); next++ {
		running = running.Add(h.later[next].quantity)
	}
	overdrawn := running.Sign() == wrong
	for _, m := range h.later[next:] {
		running = running.Add(m.quantity)
		overdrawn = overdrawn || running.Sign() == wrong
	}
	return overdrawn, nil
}

// LastSettling returns the last posted entry with a line on a side of the account that the query asks for, from the time of the query
// on, and reports whether there is one. Reversals, and entries that are reversed, do not count. It runs in the caller's transaction.
func LastSettling(ctx context.Context, tx *db.Tx, b *snapshot.Books, q UnitQuery, side book.Side) (Entry, bool, error) {
	found, err := selectLastSettling(ctx, tx, q, q.Unit == b.Entities[q.LegalEntityID].BaseCurrency, side)
	if err != nil || len(found) == 0 {
		return Entry{}, false, err
	}
	e, err := selectEntry(ctx, tx, found[0])
	return e, err == nil, err
}

// movementsAfter returns the net movements by date after the time of the query, in order.
func (q UnitQuery) movementsAfter(ctx context.Context, tx *db.Tx, b *snapshot.Books) (out []unitMovement, err error) {
	if q, _, err = q.inOpenPeriod(b); err != nil {
		return nil, err
	}
	inBase := q.Unit == b.Entities[q.LegalEntityID].BaseCurrency
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
		out = append(out, unitMovement{at, byDate[at].Quantity})
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
