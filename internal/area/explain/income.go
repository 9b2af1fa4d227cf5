package explain

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/area/account"
	"github.com/bursarhq/bursar/internal/area/report"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

// The rows of an income statement that its sections come to.
const (
	rowGrossProfit     = "gross_profit"
	rowOperatingIncome = "operating_income"
	rowNetIncome       = "net_income"
)

// addend is a row that counts into another one.
type addend struct {
	row  string
	less bool
}

// results says what each of those rows is made up of.
var results = map[string][]addend{
	rowGrossProfit:     {{string(statement.SectionRevenue), false}, {string(statement.SectionCostOfRevenue), true}},
	rowOperatingIncome: {{rowGrossProfit, false}, {string(statement.SectionOperatingExpense), true}},
	rowNetIncome:       {{rowOperatingIncome, false}, {string(statement.SectionOtherIncome), false}, {string(statement.SectionOtherExpense), true}},
}

// income explains a figure of the income statement.
func (i *inquiry) income(ctx context.Context) error {
	c, err := i.cell(ctx)
	if err != nil {
		return err
	}
	if i.q.Row != "" {
		return i.incomeRow(ctx, c)
	}
	if permanent(c.account) {
		return fault.Invalidf("ledger_account_id", "is an account of the balance sheet, which is not in the income statement")
	}
	r, err := i.reports.IncomeStatement(ctx, params(i.q, c.account, c.at))
	if err != nil {
		return err
	}
	for s, section := range r.Sections {
		for n, row := range section.Rows {
			if r.Accounts[s][n].ID == c.account.ID {
				i.out.value(row.Amounts[0], r.Currency)
			}
		}
	}
	if i.out.Value == nil {
		return fault.Missing("ledger account")
	}
	cells, _, err := i.trialRow(ctx, i.q, c.account, c.at)
	if err != nil {
		return err
	}
	listed := Lines
	if c.translated {
		listed = NoList
	}
	i.out.add("debits", natural(c.account, cells[0].Debits), i.q.with("report", "trial-balance", "column", debits), listed)
	i.out.add("credits", natural(c.account, cells[0].Credits.Neg()), i.q.with("report", "trial-balance", "column", credits), listed)
	i.out.rest("difference to what the period was closed with")
	if listed == NoList {
		return nil
	}
	return i.list(ctx, i.lines(c, ""), c.account.NormalBalance == account.Credit)
}

// incomeRow explains a section by its accounts, and what sections come to by them.
func (i *inquiry) incomeRow(ctx context.Context, c cell) error {
	r, err := i.reports.IncomeStatement(ctx, params(i.q, account.Account{}, c.at))
	if err != nil {
		return err
	}
	value, known := incomeFigure(r, i.q.Row)
	if !known {
		names := []string{rowGrossProfit, rowOperatingIncome, rowNetIncome}
		for _, s := range statement.Sections {
			names = append(names, string(s))
		}
		return wrongRow(names...)
	}
	i.out.value(value, r.Currency)
	for _, a := range results[i.q.Row] {
		part, _ := incomeFigure(r, a.row)
		if a.less {
			part = part.Neg()
		}
		i.out.add(a.row, part, i.q.with("row", a.row), NoList)
	}
	s := slices.Index(statement.Sections, statement.Section(i.q.Row))
	if s < 0 {
		return nil
	}
	income := r.Sections[s].Section == statement.SectionRevenue || r.Sections[s].Section == statement.SectionOtherIncome
	for n, row := range r.Sections[s].Rows {
		a, amount := r.Accounts[s][n], row.Amounts[0]
		if income != (a.NormalBalance == account.Credit) {
			amount = amount.Neg()
		}
		i.out.some(a.String(), amount, i.q.with("row", "", "ledger_account_id", a.ID))
	}
	return nil
}

func incomeFigure(r report.IncomeStatement, row string) (money.Decimal, bool) {
	switch row {
	case rowGrossProfit:
		return r.GrossProfit[0], true
	case rowOperatingIncome:
		return r.OperatingIncome[0], true
	case rowNetIncome:
		return r.NetIncome[0], true
	}
	for _, s := range r.Sections {
		if string(s.Section) == row {
			return s.Totals[0], true
		}
	}
	return money.Decimal{}, false
}
