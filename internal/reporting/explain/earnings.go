package explain

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

// computedSheet explains a figure of an account whose balance is computed from others.
func (i *inquiry) computedSheet(ctx context.Context, c cell, now statement.Cell) error {
	moved := i.q.Column == debits || i.q.Column == credits
	switch {
	case c.account.Role == account.RoleTranslationAdjustment && moved:
		i.explainAdjustmentMovement(c, now)
		return nil
	case c.account.Role == account.RoleTranslationAdjustment:
		return i.explainAdjustment(ctx, c)
	case i.q.Column == currentBalance:
		if err := i.addCurrentOpening(ctx, c); err != nil {
			return err
		}
		i.out.add("debits", inNormalSign(c.account, now.Debits), i.q.with("column", debits), NoList)
		i.out.add("credits", inNormalSign(c.account, now.Credits.Neg()), i.q.with("column", credits), NoList)
		i.out.addRemainder("difference from the closed balances")
		return nil
	}
	if !moved {
		i.addOpening(c, now)
	}
	if err := i.addYearEndTransfers(ctx, c); err != nil {
		return err
	}
	if c.account.Role == account.RoleCurrentEarnings {
		if err := i.addEarnings(ctx, c); err != nil {
			return err
		}
	}
	i.out.addRemainder("difference from the closed balance")
	return nil
}

// addCurrentOpening adds the figure of the period before as it is now. This may differ from the balance less the
// movements, because closed earnings move at the end of a fiscal year.
func (i *inquiry) addCurrentOpening(ctx context.Context, c cell) error {
	if c.before == nil {
		return nil
	}
	cells, _, err := i.sheetRow(ctx, i.q, c.account, c.before)
	if err != nil {
		return err
	}
	i.out.add("opening balance", cells[0].Current, i.q.with("accounting_period_id", c.before.ID), NoList)
	return nil
}

// addYearEndTransfers adds the transfers from current to retained earnings at the beginning of a fiscal year.
func (i *inquiry) addYearEndTransfers(ctx context.Context, c cell) error {
	for _, e := range c.startingFiscalYear() {
		q, current, err := i.currentEarnings(ctx, c, e.ID)
		if err != nil {
			return err
		}
		credit := current // sign for retained earnings
		if c.account.Role == account.RoleCurrentEarnings {
			credit = credit.Neg()
		}
		switch {
		case i.q.Column == debits:
			credit = credit.Neg()
			fallthrough
		case i.q.Column == credits:
			if credit.Sign() < 0 {
				continue
			}
		}
		i.out.addNonZero("fiscal year-end transfer of "+e.Name, credit, q)
	}
	return nil
}

// currentEarnings returns the earnings of a legal entity in its fiscal year by the end of the period before, and the
// query that explains them.
func (i *inquiry) currentEarnings(ctx context.Context, c cell, legalEntityID string) (*Query, money.Decimal, error) {
	a, err := account.ByRole(ctx, i.tx, account.RoleCurrentEarnings)
	if err != nil {
		return nil, money.Decimal{}, err
	}
	q := i.q.of(legalEntityID).with("report", "balance-sheet", "column", closingBalance, "ledger_account_id", a.ID,
		"accounting_period_id", c.before.ID)
	cells, _, err := i.sheetRow(ctx, *q, a, c.before)
	if err != nil {
		return nil, money.Decimal{}, err
	}
	return q, cells[0].Closing, nil
}

// addEarnings adds the effect of every income and expense account on earnings in the period.
func (i *inquiry) addEarnings(ctx context.Context, c cell) error {
	if i.q.Column == debits || i.q.Column == credits {
		r, err := i.reports.TrialBalance(ctx, params(i.q, account.Account{}, c.at))
		if err != nil {
			return err
		}
		for n, a := range r.Accounts {
			if permanent(a) {
				continue
			}
			value := r.Rows[n].Cells[0].Debits
			if i.q.Column == credits {
				value = r.Rows[n].Cells[0].Credits
			}
			i.out.addNonZero(a.String(), value, i.q.with("report", "trial-balance", "ledger_account_id", a.ID))
		}
		return nil
	}
	r, err := i.reports.IncomeStatement(ctx, params(i.q, account.Account{}, c.at))
	if err != nil {
		return err
	}
	for s, section := range r.Sections {
		for n, row := range section.Rows {
			a := r.Accounts[s][n]
			i.out.addNonZero(a.String(), inNormalSign(a, row.Amounts[0]).Neg(), i.q.with("report", "income-statement", "column", "amount",
				"ledger_account_id", a.ID))
		}
	}
	return nil
}

// explainAdjustment explains the translation adjustment: the amount that the other rows lack to balance, because they
// are translated at different rates.
func (i *inquiry) explainAdjustment(ctx context.Context, c cell) error {
	r, err := i.reports.BalanceSheet(ctx, params(i.q, account.Account{}, c.at))
	if err != nil {
		return err
	}
	for n, a := range r.Accounts {
		if a.ID != c.account.ID {
			value := inNormalSign(a, sheetFigure(r.Rows[n].Cells[0], i.q.Column)).Neg()
			i.out.addNonZero(a.String(), inNormalSign(c.account, value), i.q.with("ledger_account_id", a.ID))
		}
	}
	i.out.addRemainder("out-of-balance amount in the books")
	return nil
}

// explainAdjustmentMovement explains the movement of the translation adjustment by its balances before and after.
func (i *inquiry) explainAdjustmentMovement(c cell, now statement.Cell) {
	if i.out.Value.IsZero() {
		i.out.Formula = "the balance did not move on this side"
		return
	}
	to, from := inNormalSign(c.account, now.Closing), inNormalSign(c.account, now.Opening.Neg())
	if i.q.Column == credits {
		to, from = to.Neg(), from.Neg()
	}
	i.out.addNonZero("closing balance", to, i.q.with("column", closingBalance))
	i.out.addNonZero("opening balance", from, i.q.with("column", openingBalance))
	i.out.addRemainder("netting between legal entities")
}
