package report

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/area/account"
	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/period"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
)

// LedgerParams say which lines a general ledger lists. It is not translated: each line is what was booked.
type LedgerParams struct {
	Params
	AccountIDs []string
}

// Line is one posted line. Amounts are in the legal entity's currency, balances in the natural sign of the account.
type Line struct {
	Account       account.Account
	Period        period.Period
	EntryID       string
	Number        int64 // the entry's
	Position      int64 // among the entry's lines
	ID            string
	LegalEntityID string
	Date          time.Time
	Debit         bool
	Amount        money.Decimal
	Currency      string
	Given         money.Decimal // the amount as it was sent
	GivenCurrency string
	Memo          string
	EntryMemo     string
	TagIDs        []string // its own and the entry's
	Opening       money.Decimal
	Closing       money.Decimal
}

// SequenceNumber is how people call the entry the line is of.
func (l Line) SequenceNumber() string { return "JE-" + strconv.FormatInt(l.Number, 10) }

// place is where a page begins: after this line, with this balance.
type place struct {
	account  int64
	date     time.Time
	number   int64
	position int64
	balance  money.Decimal
}

const placeParts = 5

func (l Line) key() []string {
	return []string{strconv.FormatInt(l.Account.SequenceNumber, 10), clock.Format(l.Date), strconv.FormatInt(l.Number, 10), strconv.FormatInt(l.Position, 10), l.Closing.String()}
}

// placeOf reads what key wrote. A cursor is checked before, so that it is somebody's own doing if this fails.
func placeOf(key []string) (p place, err error) {
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

// GeneralLedger lists posted lines, account by account in the order of the chart, each by date, with the balance before and after it.
func (s *Service) GeneralLedger(ctx context.Context, p LedgerParams, pr page.Request) (page.Page[Line], error) {
	span, err := p.check()
	if err != nil {
		return page.Page[Line]{}, err
	}
	return page.List("general-ledger", p, pr, Line.key, func(after []string, limit int) (out []Line, err error) {
		var from *place
		if after != nil {
			at, err := placeOf(after)
			if err != nil {
				return nil, err
			}
			from = &at
		}
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			r, err := cover(ctx, tx, p.Params, span)
			if err != nil {
				return err
			}
			out, err = r.lines(ctx, tx, p, from, limit)
			return err
		})
		return out, err
	})
}

func (p LedgerParams) check() (span, error) {
	var faults fault.List
	s, err := p.Params.check()
	if err := faults.Take(err); err != nil {
		return s, err
	}
	atMost(&faults, "ledger_account_ids", p.AccountIDs)
	return s, faults.Err()
}

// walk reads the lines of one account after another.
type walk struct {
	*reading
	tagID    string
	currency string
	ranges   [][2]time.Time // when the periods shown begin and end, those side by side as one
	nets     []money.Decimal
}

func (r *reading) lines(ctx context.Context, tx *db.Tx, p LedgerParams, from *place, limit int) ([]Line, error) {
	currency, err := r.currency(p.Params)
	if err != nil {
		return nil, fault.Invalidf("legal_entity_ids", "must be legal entities that keep their books in one currency")
	}
	if err := r.known(p.AccountIDs); err != nil || len(r.columns) == 0 {
		return nil, err
	}
	w := &walk{reading: r, tagID: p.TagID, currency: currency, ranges: r.ranges()}
	active, err := w.open(ctx, tx)
	if err != nil {
		return nil, err
	}
	var out []Line
	for i, a := range r.chart {
		wanted := len(p.AccountIDs) == 0 || slices.Contains(p.AccountIDs, a.ID)
		if !wanted || !active[i] || from != nil && a.SequenceNumber < from.account {
			continue
		}
		var after *place
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

func (r *reading) known(accountIDs []string) error {
	for _, id := range accountIDs {
		if !slices.ContainsFunc(r.chart, func(a account.Account) bool { return a.ID == id }) {
			return fault.Missing("ledger account")
		}
	}
	return nil
}

func (r *reading) ranges() (out [][2]time.Time) {
	for i, c := range r.columns {
		p := r.periods[c]
		if i > 0 && r.columns[i-1] == c-1 {
			out[len(out)-1][1] = p.End
			continue
		}
		out = append(out, [2]time.Time{p.Start, p.End})
	}
	return out
}

// open reads what each account moved by in each period, and says which have lines in the periods shown.
func (w *walk) open(ctx context.Context, tx *db.Tx) ([]bool, error) {
	rows, err := w.rows(ctx, tx, w.tagID)
	if err != nil {
		return nil, err
	}
	accountAt, periodAt := places(w.chart, accountID), places(w.periods, periodID)
	shown := make([]bool, len(w.periods))
	for _, c := range w.columns {
		shown[c] = true
	}
	active := make([]bool, len(w.chart))
	w.nets = make([]money.Decimal, len(w.chart)*len(w.periods))
	for i := range rows {
		t := &rows[i]
		a, p := accountAt[t.ledgerAccountID], periodAt[t.periodID]
		net := &w.nets[a*len(w.periods)+p]
		*net = net.Add(t.debits).Sub(t.credits)
		active[a] = active[a] || shown[p]
	}
	return active, nil
}

// before is an account's balance when a period begins, debits less credits.
func (w *walk) before(accountAt, periodAt int) (sum money.Decimal) {
	at := accountAt * len(w.periods)
	return money.Sum(w.nets[at : at+periodAt]...)
}

// account gives the lines of one account with their balances. Each period begins with the balance that the totals give it; within one the lines
// add up from there, or from where the page before ended.
func (w *walk) account(ctx context.Context, tx *db.Tx, at int, after *place, limit int) ([]Line, error) {
	rows, err := selectLines(ctx, tx, w.lineFilter(w.chart[at].ID), after, limit)
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
			inPeriod, balance = p, natural(w.chart[at], w.before(at, p))
		}
		l := r.line()
		l.Account, l.Period, l.Currency, l.Opening = w.chart[at], w.periods[inPeriod], w.currency, balance
		moved := l.Amount
		if !l.Debit {
			moved = moved.Neg()
		}
		balance = balance.Add(natural(w.chart[at], moved))
		l.Closing = balance
		out[i] = l
	}
	return out, nil
}

func natural(a account.Account, balance money.Decimal) money.Decimal {
	if a.NormalBalance == account.Credit {
		return balance.Neg()
	}
	return balance
}

// periodOf is the place of the period an instant lies in. Lines are read from periods that are there.
func (w *walk) periodOf(at time.Time) int {
	i, _ := slices.BinarySearchFunc(w.periods, at, func(p period.Period, at time.Time) int {
		if p.End.After(at) {
			return 1
		}
		return -1
	})
	return min(i, len(w.periods)-1)
}

func (w *walk) lineFilter(accountID string) lineFilter {
	f := lineFilter{accountID: accountID, tagID: w.tagID, ranges: w.ranges}
	if !w.all {
		f.entities = w.entityIDs()
	}
	return f
}
