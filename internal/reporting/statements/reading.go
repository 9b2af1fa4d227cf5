package statements

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

// reading is the data that a report is computed from.
type reading struct {
	entities []entity.LegalEntity
	all      bool // the entities are all of the organization's
	chart    []account.Account
	only     []string        // the accounts requested; empty for all
	periods  []period.Period // the opening period, and the others up to the last one shown
	later    bool            // there are later periods
	columns  []int
	closed   map[string]map[int]money.Decimal // by closing and account
	books    statement.Books

	translations []*translation // by legal entity; nil for books that are in the currency of the report
	unknownRate  error          // a line on an equity account cannot be translated
}

// resolve finds the legal entities, periods and accounts that a report covers. A requested one that does not exist is
// not found.
func resolve(ctx context.Context, tx *db.Tx, p Params, s span) (*reading, error) {
	r := &reading{only: p.AccountIDs}
	var err error
	if r.entities, r.all, err = entitiesOf(ctx, tx, p.LegalEntityIDs); err != nil {
		return nil, err
	}
	if p.TagID != "" {
		if _, err := tag.Get(ctx, tx, p.TagID); err != nil {
			return nil, err
		}
	}
	periods, err := snapshot.Periods(ctx, tx)
	if err != nil {
		return nil, err
	}
	if r.columns, err = s.pick(periods); err != nil {
		return nil, err
	}
	if n := len(r.columns); n > 0 {
		r.periods = append([]period.Period{period.Opening(tx.Organization())}, periods[:r.columns[n-1]+1]...)
		for i := range r.columns {
			r.columns[i]++
		}
		r.later = len(r.periods)-1 < len(periods)
	}
	if r.chart, err = snapshot.Accounts(ctx, tx); err != nil {
		return nil, err
	}
	for _, id := range r.only {
		if !slices.ContainsFunc(r.chart, func(a account.Account) bool { return a.ID == id }) {
			return nil, fault.Missing("ledger account")
		}
	}
	return r, nil
}

// figuresMax bounds the accounts times the periods of a statement, so that its size is bounded too.
const figuresMax = 100_000

// requireFewFigures returns a fault if a statement would have too many figures.
func (r *reading) requireFewFigures(p Params) error {
	accounts := 0
	for _, a := range r.chart {
		if r.wanted(a) {
			accounts++
		}
	}
	if accounts*len(r.columns) <= figuresMax {
		return nil
	}
	names := []string{"start_date", "end_date"}
	switch {
	case p.FromInception:
		names[0] = "from_inception"
	case len(p.PeriodIDs) > 0:
		names = []string{"accounting_period_ids"}
	}
	var faults fault.List
	for _, name := range names {
		faults.Addf(name, "must select fewer periods: %d accounts in %d periods are more than %d figures; ask for at most %d periods at a time",
			accounts, len(r.columns), figuresMax, max(1, figuresMax/accounts))
	}
	return faults.Err()
}

func (r *reading) wanted(a account.Account) bool {
	return len(r.only) == 0 || slices.Contains(r.only, a.ID)
}

// entitiesOf returns the legal entities requested, or all that the actor may see. One that the actor may not see is not
// found.
func entitiesOf(ctx context.Context, tx *db.Tx, ids []string) (out []entity.LegalEntity, all bool, err error) {
	known, err := snapshot.Entities(ctx, tx)
	if err != nil {
		return nil, false, err
	}
	who := actor.From(ctx)
	for _, e := range known {
		if who.Sees(e.ID) && (len(ids) == 0 || slices.Contains(ids, e.ID)) {
			out = append(out, e)
		}
	}
	for _, id := range ids {
		if !slices.ContainsFunc(out, func(e entity.LegalEntity) bool { return e.ID == id }) {
			return nil, false, fault.Missing("legal entity")
		}
	}
	return out, len(out) == len(known), nil
}

// currency returns the currency of the report.
func (r *reading) currency(p Params) (string, error) {
	if p.PresentationCurrency != "" {
		return p.PresentationCurrency, nil
	}
	currency := ""
	for _, e := range r.entities {
		if currency != "" && e.BaseCurrency != currency {
			return "", fault.Invalidf("presentation_currency",
				"is required, because the legal entities keep their books in different currencies (%s and %s)", currency, e.BaseCurrency)
		}
		currency = e.BaseCurrency
	}
	return currency, nil
}

// read reads the data of a statement.
func read(ctx context.Context, tx *db.Tx, p Params, s span) (*reading, error) {
	r, err := resolve(ctx, tx, p, s)
	if err != nil {
		return nil, err
	}
	if err := r.requireFewFigures(p); err != nil {
		return nil, err
	}
	b := &r.books
	if b.Currency, err = r.currency(p); err != nil {
		return nil, err
	}
	b.Columns, b.Periods, b.Entities = r.columns, make([]string, len(r.periods)), make([]statement.Entity, len(r.entities))
	for i, p := range r.periods {
		b.Periods[i] = p.Key
	}
	for i, e := range r.entities {
		b.Entities[i] = statement.Entity{FiscalYearStart: int(e.FiscalYearStartMonth)}
	}
	var totals []balance.Total
	var closed []period.ClosedBalance
	if len(r.columns) > 0 {
		if totals, err = r.rows(ctx, tx, p.TagID); err != nil {
			return nil, err
		}
	}
	if err := r.readRates(ctx, tx, totals); err != nil {
		return nil, err
	}
	if len(r.columns) > 0 && p.TagID == "" { // closing balances are not stored by tag
		if closed, err = r.closings(ctx, tx); err != nil {
			return nil, err
		}
	}
	r.accounts(totals, closed, p.OmitZero)
	historical, err := r.historical(ctx, tx, p.TagID)
	if err != nil {
		return nil, err
	}
	r.fill(totals, closed, historical)
	return r, nil
}

// accounts returns the properties of the accounts that a statement needs. It leaves out accounts without postings if
// zeros are left out.
func (r *reading) accounts(totals []balance.Total, closed []period.ClosedBalance, omitZero bool) {
	sections := account.Sections(r.chart)
	if len(r.only) > 0 {
		r.chart = slices.DeleteFunc(r.chart, func(a account.Account) bool { return !r.wanted(a) })
	}
	if omitZero {
		used := make(map[string]bool, len(r.chart))
		for i := range totals {
			used[totals[i].LedgerAccountID] = true
		}
		for i := range closed {
			used[closed[i].LedgerAccountID] = true
		}
		r.chart = slices.DeleteFunc(r.chart, func(a account.Account) bool {
			return !used[a.ID] && a.Role != account.RoleCurrentEarnings && a.Role != account.RoleRetainedEarnings &&
				a.Role != account.RoleTranslationAdjustment
		})
	}
	r.books.Accounts = make([]statement.Account, len(r.chart))
	for i, a := range r.chart {
		r.books.Accounts[i] = statement.Account{Type: statement.Type(a.Type), Credit: a.NormalBalance == account.Credit,
			KeepsRates: a.KeepsRates(), Role: statement.Role(a.Role), Section: statement.Section(sections[a.ID])}
	}
}

// fill stores the totals at the indexes of their legal entity, account and period.
func (r *reading) fill(totals []balance.Total, closed []period.ClosedBalance, historical map[totalKey]statement.Sides) {
	entityAt, accountAt, periodAt := indexByID(r.entities, entityID), indexByID(r.chart, accountID), indexByID(r.periods, periodID)
	for i := range totals {
		t := &totals[i]
		e := &r.books.Entities[entityAt[t.LegalEntityID]]
		if e.Totals == nil {
			e.Totals = make([]statement.Total, 0, len(totals)/len(r.entities))
		}
		e.Totals = append(e.Totals, statement.Total{Account: accountAt[t.LedgerAccountID], Period: periodAt[t.PeriodID], Debits: t.Debits,
			Credits: t.Credits, Historical: historical[totalKey{t.LegalEntityID, t.LedgerAccountID, t.PeriodID}]})
	}
	for _, c := range closed {
		if at, shown := accountAt[c.LedgerAccountID]; shown {
			r.closed[c.ClosingID][at] = c.Balance
		}
	}
}

// rows reads the totals that the report covers, up to the last period it shows.
func (r *reading) rows(ctx context.Context, tx *db.Tx, tagID string) ([]balance.Total, error) {
	var entities, periods []string
	if !r.all {
		entities = r.entityIDs()
	}
	if r.later {
		for _, p := range r.periods {
			periods = append(periods, p.ID)
		}
	}
	return balance.Select(ctx, tx, tagID, entities, periods, r.only)
}

func (r *reading) entityIDs() []string {
	out := make([]string, len(r.entities))
	for i, e := range r.entities {
		out[i] = e.ID
	}
	return out
}

// indexByID returns the indexes of items by id.
func indexByID[T any](things []T, id func(T) string) map[string]int {
	out := make(map[string]int, len(things))
	for i, t := range things {
		out[id(t)] = i
	}
	return out
}

func entityID(e entity.LegalEntity) string { return e.ID }
func accountID(a account.Account) string   { return a.ID }
func periodID(p period.Period) string      { return p.ID }

// closings reads the balances that closed periods were closed with, where the report compares them, and prepares the
// columns for fill.
func (r *reading) closings(ctx context.Context, tx *db.Tx) ([]period.ClosedBalance, error) {
	standing, err := snapshot.Closings(ctx, tx)
	if err != nil || len(standing) == 0 {
		return nil, err
	}
	entityAt, periodAt := indexByID(r.entities, entityID), indexByID(r.periods, periodID)
	closed, idOf := make([][]int, len(r.entities)), map[[2]int]string{}
	for _, c := range standing {
		e, ours := entityAt[c.LegalEntityID]
		p, shown := periodAt[c.PeriodID]
		if ours && shown {
			closed[e] = append(closed[e], p)
			idOf[[2]int{e, p}] = c.ID
		}
	}
	r.closed = map[string]map[int]money.Decimal{}
	for e := range r.entities {
		for _, p := range r.books.Boundaries(e, closed[e]) {
			balances := map[int]money.Decimal{}
			r.closed[idOf[[2]int{e, p}]] = balances
			r.books.Entities[e].Closings = append(r.books.Entities[e].Closings, statement.Closing{Period: p, Balances: balances})
		}
	}
	if len(r.closed) == 0 {
		return nil, nil
	}
	return period.ClosedBalances(ctx, tx, slices.Sorted(maps.Keys(r.closed)))
}
