package explain

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

const (
	openingBalance = "opening_balance"
	closingBalance = "closing_balance"
	currentBalance = "current_balance"
	debits         = "debits"
	credits        = "credits"
	fxEffect       = "fx_effect"
	change         = "change" // of the balance in the period, which the balance sheet itself does not show
)

var sheetColumns = []string{closingBalance, openingBalance, currentBalance, debits, credits, fxEffect, change}

// The rows of a balance sheet that are totals of others.
const (
	rowAssets = "assets"
	rowOthers = "liabilities_plus_equity"
)

func sheetFigure(c statement.Cell, column string) money.Decimal {
	switch column {
	case openingBalance:
		return c.Opening
	case currentBalance:
		return c.Current
	case debits:
		return c.Debits
	case credits:
		return c.Credits
	case fxEffect:
		return c.FXEffect
	case change:
		return c.Closing.Sub(c.Opening)
	}
	return c.Closing
}

// sheetRow reads the row of an account, with one cell per period.
func (i *inquiry) sheetRow(ctx context.Context, q Query, a account.Account, months ...*period.Period) ([]statement.Cell,
	statements.Frame, error) {
	r, err := i.reports.BalanceSheet(ctx, params(q, a, months...))
	if err != nil {
		return nil, r.Frame, err
	}
	n, err := rowOf(r.Accounts, a)
	if err != nil {
		return nil, r.Frame, err
	}
	return r.Rows[n].Cells, r.Frame, nil
}

// rowOf returns the index of the row of an account in a report.
func rowOf(accounts []account.Account, a account.Account) (int, error) {
	n := slices.IndexFunc(accounts, func(b account.Account) bool { return b.ID == a.ID })
	if n < 0 {
		return 0, fault.Missing("ledger account")
	}
	return n, nil
}

// sheet explains a figure of the balance sheet.
func (i *inquiry) sheet(ctx context.Context) error {
	c, err := i.cell(ctx)
	if err != nil {
		return err
	}
	if i.q.Row != "" {
		return i.sheetTotal(ctx, c)
	}
	if !permanent(c.account) {
		return fault.Invalidf("ledger_account_id", "is an income or expense account, which the balance sheet only shows "+
			"as part of earnings: ask for it in the income-statement report")
	}
	cells, frame, err := i.sheetRow(ctx, i.q, c.account, c.at)
	if err != nil {
		return err
	}
	now := cells[0]
	i.out.setValue(sheetFigure(now, i.q.Column), frame.Currency)
	switch {
	case c.translated && len(c.entities) > 1:
		return i.byEntity(c, func(q Query) (money.Decimal, error) {
			cells, _, err := i.sheetRow(ctx, q, c.account, c.at)
			if err != nil {
				return money.Decimal{}, err
			}
			return sheetFigure(cells[0], q.Column), nil
		})
	case i.q.Column == fxEffect:
		i.explainEffect(c, now)
		return nil
	case i.q.Column == change:
		i.out.add("closing balance", now.Closing, i.q.with("column", closingBalance), NoList)
		i.out.add("opening balance", now.Opening.Neg(), i.q.with("column", openingBalance), NoList)
		return nil
	case i.q.Column == openingBalance && c.account.Role != account.RoleTranslationAdjustment:
		return i.explainOpening(ctx, c, now.Opening)
	case computed(c.account):
		return i.computedSheet(ctx, c, now)
	case c.translated && historical(c.account):
		return i.explainHistorical(ctx, c, now)
	case c.translated:
		books, _, err := i.sheetRow(ctx, *i.q.booked(), c.account, c.at)
		if err != nil {
			return err
		}
		rate, _ := frame.Rates(0, 0)
		i.translate(c, sheetFigure(books[0], i.q.Column), rate)
		return nil
	}
	return i.explainPosted(ctx, c, now)
}

// explainHistorical explains a translated figure of an equity account, whose lines keep the rates of their dates.
func (i *inquiry) explainHistorical(ctx context.Context, c cell, now statement.Cell) error {
	if i.q.Column == debits || i.q.Column == credits {
		books, _, err := i.sheetRow(ctx, *i.q.booked(), c.account, c.at)
		if err != nil {
			return err
		}
		i.translateLines(c, sheetFigure(books[0], i.q.Column))
		return nil
	}
	i.addOpening(c, now)
	i.out.add("debits", inNormalSign(c.account, now.Debits), i.q.with("column", debits), NoList)
	i.out.add("credits", inNormalSign(c.account, now.Credits.Neg()), i.q.with("column", credits), NoList)
	i.out.addRemainder("difference from the closed balance")
	return nil
}

// explainEffect explains by how much a balance moved because the rate did: the part of its change that was not booked.
func (i *inquiry) explainEffect(c cell, now statement.Cell) {
	i.out.add("closing balance", now.Closing, i.q.with("column", closingBalance), NoList)
	i.out.add("opening balance", now.Opening.Neg(), i.q.with("column", openingBalance), NoList)
	i.out.add("debits", inNormalSign(c.account, now.Debits).Neg(), i.q.with("column", debits), NoList)
	i.out.add("credits", inNormalSign(c.account, now.Credits), i.q.with("column", credits), NoList)
	i.out.addRemainder("difference from the closed balance")
}

// explainOpening explains an opening balance by the closing balance of the period before.
func (i *inquiry) explainOpening(ctx context.Context, c cell, value money.Decimal) error {
	switch {
	case c.before != nil:
		i.out.add("closing balance of "+c.before.Key, value, i.q.with("accounting_period_id", c.before.ID, "column", closingBalance), NoList)
		return nil
	case value.IsZero():
		i.out.Formula = "there is no earlier period, so the opening balance is zero"
		return nil
	}
	return i.explainOpeningBalances(ctx, c, value, c.account.NormalBalance == account.Credit)
}

// explainOpeningBalances explains the opening balance of the first period by the lines of the opening balances, which stand
// before it. credits says that the figure grows by credits.
func (i *inquiry) explainOpeningBalances(ctx context.Context, c cell, value money.Decimal, credits bool) error {
	if c.translated || computed(c.account) {
		i.out.add("opening balances", value, nil, NoList)
		return nil
	}
	i.out.add("opening balances", value, nil, Lines)
	f, opening := i.lines(c, ""), period.Opening(i.tx.Organization())
	f.from, f.until = opening.Start, opening.End
	return i.listLines(ctx, f, credits)
}

// explainPosted explains a figure of an account that has lines.
func (i *inquiry) explainPosted(ctx context.Context, c cell, now statement.Cell) error {
	x := i.out
	switch i.q.Column {
	case debits:
		x.add("debit lines", now.Debits, nil, Lines)
		return i.listLines(ctx, i.lines(c, debit), false)
	case credits:
		x.add("credit lines", now.Credits, nil, Lines)
		return i.listLines(ctx, i.lines(c, credit), true)
	}
	i.addOpening(c, now)
	x.add("debits", inNormalSign(c.account, now.Debits), i.q.with("column", debits), Lines)
	x.add("credits", inNormalSign(c.account, now.Credits.Neg()), i.q.with("column", credits), Lines)
	x.addRemainder("difference from the closed balance")
	return i.listLines(ctx, i.lines(c, ""), c.account.NormalBalance == account.Credit)
}

// addOpening adds the opening balance as a part: the balance of the period before, as it was closed or as it is now.
func (i *inquiry) addOpening(c cell, now statement.Cell) {
	before := now.Opening
	if i.q.Column == currentBalance {
		before = now.Current.Sub(inNormalSign(c.account, now.Debits.Sub(now.Credits)))
	}
	var from *Query
	if c.before != nil {
		from = i.q.with("accounting_period_id", c.before.ID)
	}
	i.out.add("opening balance", before, from, NoList)
}

// sheetTotal explains total assets, or total liabilities and equity.
func (i *inquiry) sheetTotal(ctx context.Context, c cell) error {
	if i.q.Row != rowAssets && i.q.Row != rowOthers {
		return unknownRow(rowAssets, rowOthers)
	}
	r, err := i.reports.BalanceSheet(ctx, params(i.q, account.Account{}, c.at))
	if err != nil {
		return err
	}
	var sum money.Decimal
	for n, a := range r.Accounts {
		if (a.Type == account.Asset) != (i.q.Row == rowAssets) {
			continue
		}
		value := inNormalSign(a, sheetFigure(r.Rows[n].Cells[0], i.q.Column))
		if i.q.Row == rowOthers {
			value = value.Neg()
		}
		if i.q.Column == debits || i.q.Column == credits {
			value = sheetFigure(r.Rows[n].Cells[0], i.q.Column)
		}
		sum = sum.Add(value)
		i.out.addNonZero(a.String(), value, i.q.with("row", "", "ledger_account_id", a.ID))
	}
	i.out.setValue(sum, r.Currency)
	return nil
}
