package statements

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

// Service implements the financial statements.
type Service struct{ db *db.DB }

// NewService returns a Service on a database.
func NewService(d *db.DB) *Service { return &Service{d} }

// Frame is common to all statements.
type Frame struct {
	Currency       string
	Periods        []period.Period // the columns
	LegalEntityIDs []string        // whose books are added together
	Warnings       []string

	columns []int
	rates   []*statement.Rates // by legal entity; nil for books that are in the currency of the report
}

// Translated reports whether the books of any legal entity are in another currency than the report.
func (f *Frame) Translated() bool {
	return slices.ContainsFunc(f.rates, func(r *statement.Rates) bool { return r != nil })
}

// Rates returns the rates by which a legal entity's figures of a column were translated: assets and liabilities at the rate at
// the end of the period, income and expenses at the average of the period. Equity is translated line by line.
func (f *Frame) Rates(entity, column int) (closing, average statement.Rate) {
	r := f.rates[entity]
	if r == nil {
		one := statement.Rate{Times: money.FromInt(1), Over: money.FromInt(1)}
		return one, one
	}
	return r.Closing[f.columns[column]], r.Average[f.columns[column]]
}

// Has reports whether a legal entity, by its index in LegalEntityIDs, had any amount in a row by the end of a column.
func (f *Frame) Has(row *statement.Row, entity, column int) bool {
	return row.Since[entity] <= f.columns[column]
}

// BalanceSheet is a balance sheet: its rows and, at the same indexes, their accounts.
type BalanceSheet struct {
	Frame
	Accounts   []account.Account
	Rows       []statement.Row
	Totals     []statement.SheetTotal
	Negative   []Total // periods with negative total assets
	Unbalanced []Total // periods whose sides differ
}

// Total is the total of a period.
type Total struct {
	Period period.Period
	statement.SheetTotal
}

// TrialBalance is a trial balance: its rows and, at the same indexes, their accounts.
type TrialBalance struct {
	Frame
	Accounts   []account.Account
	Rows       []statement.TrialRow
	Totals     []statement.TrialTotal
	Unbalanced []period.Period
}

// IncomeStatement is an income statement with the accounts of its rows, by section.
type IncomeStatement struct {
	Frame
	Accounts [][]account.Account
	*statement.Income
}

// BalanceSheet reports assets, liabilities and equity at the end of each period.
func (s *Service) BalanceSheet(ctx context.Context, p Params) (out BalanceSheet, err error) {
	err = s.read(ctx, p, func(r *reading) error {
		sheet, err := statement.BalanceSheet(&r.books)
		if err = cmp.Or(err, r.unknownRate); err != nil {
			return err
		}
		out = BalanceSheet{Frame: r.frame(sheet.Alarms), Totals: sheet.Totals}
		for _, row := range sheet.Rows {
			if !p.OmitZero || !row.Zero() {
				out.Accounts, out.Rows = append(out.Accounts, r.chart[row.Account]), append(out.Rows, row)
			}
		}
		if p.TagID != "" {
			return nil // lines with a tag need not balance, and may be only a part of an asset
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

// TrialBalance reports the balance of every account by side.
func (s *Service) TrialBalance(ctx context.Context, p Params) (out TrialBalance, err error) {
	err = s.read(ctx, p, func(r *reading) error {
		trial, err := statement.TrialBalance(&r.books)
		if err = cmp.Or(err, r.unknownRate); err != nil {
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

// IncomeStatement reports the income and expenses of each period.
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

// read resolves the parameters, reads the data of a statement and passes it to a function.
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
	return r.missingRate(compute(r))
}

// alarmsMax bounds how many balances that changed after a close are listed.
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
