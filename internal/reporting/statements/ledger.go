package statements

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Line is one posted line. Amounts are in the legal entity's currency, balances in the normal sign of the account.
type Line struct {
	Account       account.Account
	Period        period.Period
	EntryID       string
	Number        int64 // of the entry
	Position      int64 // among the lines of the entry
	ID            string
	LegalEntityID string
	Date          time.Time
	Debit         bool
	Amount        money.Decimal
	Currency      string
	Given         money.Decimal // the amount as it was sent
	GivenCurrency string
	Unit          string         // the asset or foreign currency that the account holds, empty if it is the base currency
	UnitQuantity  *money.Decimal // of the unit, nil if there is none
	Memo          string
	EntryMemo     string
	TagIDs        []string // of the line and of the entry
	Opening       money.Decimal
	Closing       money.Decimal
}

// SequenceNumber returns the sequence number of the line's entry.
func (l Line) SequenceNumber() string { return "JE-" + strconv.FormatInt(l.Number, 10) }

// position is where a page begins: after this line, with this balance.
type position struct {
	account  int64
	date     time.Time
	number   int64
	position int64
	balance  money.Decimal
}

const placeParts = 5

func (l Line) key() []string {
	return []string{strconv.FormatInt(l.Account.SequenceNumber, 10), clock.Format(l.Date), strconv.FormatInt(l.Number, 10),
		strconv.FormatInt(l.Position, 10), l.Closing.String()}
}

// positionOf parses the result of key. The fingerprint of a cursor is verified before, so it fails only for one that was made up.
func positionOf(key []string) (p position, err error) {
	var errs [placeParts]error
	p.account, errs[0] = strconv.ParseInt(key[0], 10, 64)
	p.date, errs[1] = time.Parse(time.RFC3339, key[1])
	p.number, errs[2] = strconv.ParseInt(key[2], 10, 64)
	p.position, errs[3] = strconv.ParseInt(key[3], 10, 64)
	errs[4] = p.balance.Scan(key[4])
	if errors.Join(errs[:]...) != nil {
		return p, fault.Invalidf("cursor", "is not a cursor of this list")
	}
	return p, nil
}

// GeneralLedger lists posted lines by account in the order of the chart, and by date within an account, each with the
// balance before and after it. Amounts are not translated.
func (s *Service) GeneralLedger(ctx context.Context, p Params, pr page.Request) (page.Page[Line], error) {
	span, err := p.validate()
	if err != nil {
		return page.Page[Line]{}, err
	}
	return page.List("general-ledger", p, pr, Line.key, func(after []string, limit int) (out []Line, err error) {
		var from *position
		if after != nil {
			at, err := positionOf(after)
			if err != nil {
				return nil, err
			}
			from = &at
		}
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			r, err := resolve(ctx, tx, p, span)
			if err != nil {
				return err
			}
			out, err = r.lines(ctx, tx, p, from, limit)
			return err
		})
		return out, err
	})
}

// ledgerReader reads the lines of one account after another.
type ledgerReader struct {
	*reading
	tagID    string
	currency string
	shown    []bool          // by period
	moved    []bool          // by account and period: whether anything was posted
	nets     []money.Decimal // by account and period: debits less credits
}

func (r *reading) lines(ctx context.Context, tx *db.Tx, p Params, from *position, limit int) ([]Line, error) {
	currency, err := r.currency(p)
	if err != nil {
		return nil, fault.Invalidf("legal_entity_ids", "must be legal entities that keep their books in one currency")
	}
	if len(r.columns) == 0 {
		return nil, nil
	}
	w := &ledgerReader{reading: r, tagID: p.TagID, currency: currency}
	if err := w.loadTotals(ctx, tx); err != nil {
		return nil, err
	}
	var out []Line
	for i, a := range r.chart {
		if !r.wanted(a) || from != nil && a.SequenceNumber < from.account {
			continue
		}
		var after *position
		if from != nil && a.SequenceNumber == from.account {
			after = from
		}
		lines, err := w.account(ctx, tx, i, after, limit-len(out))
		if err != nil {
			return nil, err
		}
		if out = append(out, lines...); len(out) == limit {
			break
		}
	}
	return out, nil
}

// loadTotals reads the movement of each account in each period.
func (w *ledgerReader) loadTotals(ctx context.Context, tx *db.Tx) error {
	rows, err := w.rows(ctx, tx, w.tagID)
	if err != nil {
		return err
	}
	accountAt, periodAt := indexByID(w.chart, accountID), indexByID(w.periods, periodID)
	n := len(w.chart) * len(w.periods)
	w.shown, w.moved, w.nets = make([]bool, len(w.periods)), make([]bool, n), make([]money.Decimal, n)
	for _, c := range w.columns {
		w.shown[c] = true
	}
	for i := range rows {
		at := accountAt[rows[i].LedgerAccountID]*len(w.periods) + periodAt[rows[i].PeriodID]
		w.nets[at] = w.nets[at].Add(rows[i].Debits).Sub(rows[i].Credits)
		w.moved[at] = true
	}
	return nil
}

// runs returns the ranges of periods to read an account's lines from. Periods without lines are included, as they cost
// nothing, unless the lines are filtered by tag: then there may be many lines without it.
func (w *ledgerReader) runs(accountAt int) (out [][2]time.Time) {
	open := false
	for p, shown := range w.shown {
		moved := w.moved[accountAt*len(w.periods)+p]
		switch {
		case !shown || !moved && w.tagID != "":
			open = false
		case open:
			out[len(out)-1][1] = w.periods[p].End
		case moved:
			out, open = append(out, [2]time.Time{w.periods[p].Start, w.periods[p].End}), true
		}
	}
	return out
}

// openingBalance returns an account's balance at the beginning of a period, as debits less credits.
func (w *ledgerReader) openingBalance(accountAt, periodAt int) (sum money.Decimal) {
	at := accountAt * len(w.periods)
	return money.Sum(w.nets[at : at+periodAt]...)
}

// account returns the lines of one account with their balances. Each period begins with the balance from the totals;
// within a period the lines add up from there, or from the end of the page before.
func (w *ledgerReader) account(ctx context.Context, tx *db.Tx, at int, after *position, limit int) ([]Line, error) {
	rows, err := w.read(ctx, tx, at, after, limit)
	if err != nil {
		return nil, err
	}
	inPeriod := -1
	var balance money.Decimal
	if after != nil {
		inPeriod, balance = w.periodOf(after.date), after.balance
	}
	out := make([]Line, len(rows))
	for i, r := range rows {
		if p := w.periodOf(r.Date); p != inPeriod {
			inPeriod, balance = p, inNormalSign(w.chart[at], w.openingBalance(at, p))
		}
		l := r.line()
		l.Account, l.Period, l.Currency, l.Opening = w.chart[at], w.periods[inPeriod], w.currency, balance
		moved := l.Amount
		if !l.Debit {
			moved = moved.Neg()
		}
		balance = balance.Add(inNormalSign(w.chart[at], moved))
		l.Closing = balance
		out[i] = l
	}
	return out, nil
}

func (w *ledgerReader) read(ctx context.Context, tx *db.Tx, at int, after *position, limit int) (out []lineRow, err error) {
	f := lineFilter{accountID: w.chart[at].ID, tagID: w.tagID}
	if !w.all {
		f.entities = w.entityIDs()
	}
	for _, run := range w.runs(at) {
		begin := after
		switch {
		case after != nil && !after.date.Before(run[1]):
			continue
		case after != nil && after.date.Before(run[0]):
			begin = nil
		}
		f.from, f.until = run[0], run[1]
		rows, err := selectLines(ctx, tx, f, begin, limit-len(out))
		if err != nil {
			return nil, err
		}
		if out = append(out, rows...); len(out) == limit {
			break
		}
	}
	return out, nil
}

func inNormalSign(a account.Account, balance money.Decimal) money.Decimal {
	if a.NormalBalance == account.Credit {
		return balance.Neg()
	}
	return balance
}

// periodOf returns the index of the period that contains a time. Lines are only read from existing periods.
func (w *ledgerReader) periodOf(at time.Time) int {
	i, _ := slices.BinarySearchFunc(w.periods, at, func(p period.Period, at time.Time) int {
		if p.End.After(at) {
			return 1
		}
		return -1
	})
	return min(i, len(w.periods)-1)
}
