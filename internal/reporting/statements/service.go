package statements

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

// Service holds the use cases.
type Service struct{ db *db.DB }

// NewService makes one.
func NewService(d *db.DB) *Service { return &Service{d} }

// Frame is what every statement has around its figures.
type Frame struct {
	Currency       string
	Periods        []period.Period // the columns
	LegalEntityIDs []string        // whose books were added together
	Warnings       []string

	columns []int
	rates   []*statement.Rates // by legal entity; nil for books that are in the currency already
}

// Rates are what a legal entity's figures of a column were translated by: balances at the end of the period, income
// and expenses on average over it.
func (f *Frame) Rates(entity, column int) (closing, average statement.Rate) {
	r := f.rates[entity]
	if r == nil {
		one := statement.Rate{Times: money.FromInt(1), Over: money.FromInt(1)}
		return one, one
	}
	return r.Closing[f.columns[column]], r.Average[f.columns[column]]
}

// Has tells whether a legal entity, by its place among LegalEntityIDs, had anything in a row by the end of a column.
func (f *Frame) Has(row *statement.Row, entity, column int) bool {
	return row.Since[entity] <= f.columns[column]
}

// BalanceSheet is a balance sheet with its rows and the accounts they are of, side by side.
type BalanceSheet struct {
	Frame
	Accounts   []account.Account
	Rows       []statement.Row
	Negative   []Total // periods with less than nothing in assets
	Unbalanced []Total // periods whose sides differ
}

// Total is what a period comes to.
type Total struct {
	Period period.Period
	statement.SheetTotal
}

// TrialBalance is a trial balance with its rows and the accounts they are of, side by side.
type TrialBalance struct {
	Frame
	Accounts   []account.Account
	Rows       []statement.TrialRow
	Totals     []statement.TrialTotal
	Unbalanced []period.Period
}

// IncomeStatement is an income statement and the accounts of its rows, section by section.
type IncomeStatement struct {
	Frame
	Accounts [][]account.Account
	*statement.Income
}

// BalanceSheet reports what there is and whose it is at the end of each period.
func (s *Service) BalanceSheet(ctx context.Context, p Params) (out BalanceSheet, err error) {
	err = s.read(ctx, p, func(r *reading) error {
		sheet, err := statement.BalanceSheet(&r.books)
		if err != nil {
			return err
		}
		out = BalanceSheet{Frame: r.frame(sheet.Alarms)}
		for _, row := range sheet.Rows {
			if !p.OmitZero || !row.Zero() {
				out.Accounts, out.Rows = append(out.Accounts, r.chart[row.Account]), append(out.Rows, row)
			}
		}
		if p.TagID != "" {
			return nil // lines with a tag need not balance, and need not be all of an asset
		}
		for i, total := range sheet.Totals {
			if total.Assets.Sign() < 0 {
				out.Negative = append(out.Negative, Total{out.Periods[i], total})
			}
			if !total.Difference.IsZero() {
				out.Unbalanced = append(out.Unbalanced, Total{out.Periods[i], total})
			}
		}
		return nil
	})
	return out, err
}

// TrialBalance reports every account's balance by side.
func (s *Service) TrialBalance(ctx context.Context, p Params) (out TrialBalance, err error) {
	err = s.read(ctx, p, func(r *reading) error {
		trial, err := statement.TrialBalance(&r.books)
		if err != nil {
			return err
		}
		out = TrialBalance{Frame: r.frame(trial.Alarms), Totals: trial.Totals}
		for _, row := range trial.Rows {
			if !p.OmitZero || !row.Zero() {
				out.Accounts, out.Rows = append(out.Accounts, r.chart[row.Account]), append(out.Rows, row)
			}
		}
		for i, total := range trial.Totals {
			if p.TagID == "" && !total.Balanced() {
				out.Unbalanced = append(out.Unbalanced, out.Periods[i])
			}
		}
		return nil
	})
	return out, err
}

// IncomeStatement reports what was earned in each period.
func (s *Service) IncomeStatement(ctx context.Context, p Params) (out IncomeStatement, err error) {
	err = s.read(ctx, p, func(r *reading) error {
		income, err := statement.IncomeStatement(&r.books)
		if err != nil {
			return err
		}
		out = IncomeStatement{Frame: r.frame(income.Alarms), Accounts: make([][]account.Account, len(income.Sections)), Income: income}
		for i := range income.Sections {
			section := &income.Sections[i]
			var kept []statement.IncomeRow
			for _, row := range section.Rows {
				if !p.OmitZero || !row.Zero() {
					kept, out.Accounts[i] = append(kept, row), append(out.Accounts[i], r.chart[row.Account])
				}
			}
			section.Rows = kept
		}
		return nil
	})
	return out, err
}

// read does what every statement begins with, and hands over what was read.
func (s *Service) read(ctx context.Context, p Params, compute func(*reading) error) error {
	span, err := p.validate()
	if err != nil {
		return err
	}
	var r *reading
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		r, err = read(ctx, tx, p, span)
		return err
	})
	if err != nil {
		return err
	}
	return r.explain(compute(r))
}

// alarmsMax bounds how many balances that changed after a close are named one by one.
const alarmsMax = 50

func (r *reading) frame(alarms []statement.Alarm) Frame {
	f := Frame{Currency: r.books.Currency, Periods: make([]period.Period, len(r.columns)), LegalEntityIDs: r.entityIDs(),
		Warnings: []string{}, columns: r.columns}
	for i, c := range r.columns {
		f.Periods[i] = r.periods[c]
	}
	for _, e := range r.books.Entities {
		f.rates = append(f.rates, e.Rates)
	}
	for i, a := range alarms {
		if i == alarmsMax {
			f.Warnings = append(f.Warnings, fmt.Sprintf("and %d more balances are not what they were when their period was closed", len(alarms)-i))
			break
		}
		e := r.entities[a.Entity]
		f.Warnings = append(f.Warnings, fmt.Sprintf("%s: the balance of %s (%s) of %s was %s when the period was closed and is %s now",
			r.periods[a.Period].Key,
			r.chart[a.Account], r.chart[a.Account].ID, e.Name, a.Closed.Fixed(e.BaseCurrency), a.Now.Fixed(e.BaseCurrency)))
	}
	return f
}
