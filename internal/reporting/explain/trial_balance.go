package explain

import (
	"context"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

const (
	openingDebit  = "opening_debit"
	openingCredit = "opening_credit"
	closingDebit  = "closing_debit"
	closingCredit = "closing_credit"

	rowTotal = "total"
)

var trialColumns = []string{closingDebit, closingCredit, openingDebit, openingCredit, debits, credits, fxEffect}

// trialBalance returns the balance behind a column, as debits less credits.
func trialBalance(c statement.TrialCell, column string) money.Decimal {
	if column == openingDebit || column == openingCredit {
		return c.Opening
	}
	return c.Closing
}

// trialFigure returns the figure of a column.
func trialFigure(c statement.TrialCell, column string) money.Decimal {
	switch column {
	case debits:
		return c.Debits
	case credits:
		return c.Credits
	case fxEffect:
		return c.FXEffect
	}
	balance := onSide(trialBalance(c, column), column)
	if balance.Sign() < 0 {
		return money.Decimal{}
	}
	return balance
}

// onSide converts debits less credits to the sign of a column.
func onSide(balance money.Decimal, column string) money.Decimal {
	if strings.HasSuffix(column, "_credit") {
		return balance.Neg()
	}
	return balance
}

// side returns the column that shows a balance.
func side(which string, balance money.Decimal) string {
	if balance.Sign() < 0 {
		return which + "_credit"
	}
	return which + "_debit"
}

// trialRow reads the row of an account, with one cell per period.
func (i *inquiry) trialRow(ctx context.Context, q Query, a account.Account, months ...*period.Period) ([]statement.TrialCell,
	statements.Frame, error) {
	r, err := i.reports.TrialBalance(ctx, params(q, a, months...))
	if err != nil {
		return nil, r.Frame, err
	}
	n, err := rowOf(r.Accounts, a)
	if err != nil {
		return nil, r.Frame, err
	}
	return r.Rows[n].Cells, r.Frame, nil
}

// trial explains a figure of the trial balance.
func (i *inquiry) trial(ctx context.Context) error {
	c, err := i.cell(ctx)
	if err != nil {
		return err
	}
	if i.q.Row != "" {
		return i.trialTotal(ctx, c)
	}
	cells, frame, err := i.trialRow(ctx, i.q, c.account, c.before, c.at)
	if err != nil {
		return err
	}
	now, before := cells[len(cells)-1], statement.TrialCell{}
	if c.before != nil {
		before = cells[0]
	}
	if i.q.Column == fxEffect {
		return i.trialEffect(ctx, c, now, frame.Currency)
	}
	i.out.setValue(trialFigure(now, i.q.Column), frame.Currency)
	moved := i.q.Column == debits || i.q.Column == credits
	switch {
	case !moved && i.out.Value.IsZero():
		i.out.Formula = "the balance is zero or on the other side"
		return nil
	case c.translated && len(c.entities) > 1:
		return i.trialByEntity(ctx, c)
	case c.account.Role == account.RoleTranslationAdjustment && c.translated:
		return i.trialAdjustment(ctx, c)
	case moved && c.translated:
		return i.trialTranslated(ctx, c, frame)
	case moved:
		return i.explainSide(ctx, c)
	case i.q.Column == openingDebit || i.q.Column == openingCredit:
		return i.trialOpening(ctx, c, before, now)
	case c.translated && permanent(c.account) && !c.account.KeepsRates():
		return i.trialTranslated(ctx, c, frame)
	}
	return i.trialClosing(ctx, c, now)
}

// trialEffect explains by how much a balance moved because the rate did: the part of its change that was not booked.
func (i *inquiry) trialEffect(ctx context.Context, c cell, now statement.TrialCell, currency string) error {
	normal := func(balance money.Decimal) money.Decimal { return inNormalSign(c.account, balance) }
	i.out.setValue(normal(now.FXEffect), currency)
	if len(c.entities) > 1 {
		return i.byEntity(c, func(q Query) (money.Decimal, error) {
			cells, _, err := i.trialRow(ctx, q, c.account, c.at)
			if err != nil {
				return money.Decimal{}, err
			}
			return normal(cells[0].FXEffect), nil
		})
	}
	i.out.add("closing balance", normal(now.Closing), i.q.with("column", side("closing", now.Closing)), NoList)
	i.out.add("opening balance", normal(now.Opening).Neg(), i.q.with("column", side("opening", now.Opening)), NoList)
	i.out.add("debits", normal(now.Debits).Neg(), i.q.with("column", debits), NoList)
	i.out.add("credits", normal(now.Credits), i.q.with("column", credits), NoList)
	i.out.addRemainder("difference from the closed balance")
	return nil
}

// explainSide explains the debits or the credits of an account by its lines.
func (i *inquiry) explainSide(ctx context.Context, c cell) error {
	if computed(c.account) {
		return nil // the account has no lines
	}
	i.out.add(strings.TrimSuffix(i.q.Column, "s")+" lines", *i.out.Value, nil, Lines)
	if i.q.Column == credits {
		return i.listLines(ctx, i.lines(c, credit), true)
	}
	return i.listLines(ctx, i.lines(c, debit), false)
}

// trialOpening explains an opening balance by the closing balance of the period before and the transfers at the end of a
// fiscal year.
func (i *inquiry) trialOpening(ctx context.Context, c cell, before, now statement.TrialCell) error {
	if c.before == nil {
		return i.explainOpeningBalances(ctx, c, *i.out.Value, i.q.Column == openingCredit)
	}
	i.out.addNonZero("closing balance of "+c.before.Key, onSide(before.Closing, i.q.Column), i.q.with("accounting_period_id", c.before.ID,
		"column", side("closing", before.Closing)))
	for _, e := range c.startingFiscalYear() {
		label := "fiscal year-end transfer of " + e.Name
		switch {
		case c.account.Role == account.RoleRetainedEarnings:
			q, current, err := i.currentEarnings(ctx, c, e.ID)
			if err != nil {
				return err
			}
			i.out.addNonZero(label, onSide(current.Neg(), i.q.Column), q)
		case !permanent(c.account):
			q := i.q.of(e.ID)
			cells, _, err := i.trialRow(ctx, q, c.account, c.before)
			if err != nil {
				return err
			}
			i.out.addNonZero(label, onSide(cells[0].Closing.Neg(), i.q.Column), q.with("accounting_period_id", c.before.ID, "column",
				side("closing", cells[0].Closing)))
		}
	}
	i.out.addRemainder("difference from the closed balance")
	return nil
}

// trialClosing explains a closing balance.
func (i *inquiry) trialClosing(ctx context.Context, c cell, now statement.TrialCell) error {
	listed := Lines
	if c.translated || computed(c.account) {
		listed = NoList
	}
	i.out.addNonZero("opening balance", onSide(now.Opening, i.q.Column), i.q.with("column", side("opening", now.Opening)))
	i.out.add("debits", onSide(now.Debits, i.q.Column), i.q.with("column", debits), listed)
	i.out.add("credits", onSide(now.Credits.Neg(), i.q.Column), i.q.with("column", credits), listed)
	i.out.addRemainder("difference from the closed balance")
	if listed == NoList {
		return nil
	}
	return i.listLines(ctx, i.lines(c, ""), i.q.Column == closingCredit)
}

// trialByEntity explains a balance of several legal entities with different currencies. That of one may be on the other
// side.
func (i *inquiry) trialByEntity(ctx context.Context, c cell) error {
	for _, e := range c.entities {
		q := i.q.of(e.ID)
		cells, _, err := i.trialRow(ctx, q, c.account, c.at)
		if err != nil {
			return err
		}
		if i.q.Column == debits || i.q.Column == credits {
			i.out.addNonZero(e.Name, trialFigure(cells[0], i.q.Column), &q)
			continue
		}
		balance := trialBalance(cells[0], i.q.Column)
		which, _, _ := strings.Cut(i.q.Column, "_")
		i.out.addNonZero(e.Name, onSide(balance, i.q.Column), q.with("column", side(which, balance)))
	}
	i.out.addRemainder("netting between legal entities")
	return nil
}

// trialTranslated explains a translated figure by the untranslated one.
func (i *inquiry) trialTranslated(ctx context.Context, c cell, frame statements.Frame) error {
	if computed(c.account) {
		return nil
	}
	books, _, err := i.trialRow(ctx, *i.q.booked(), c.account, c.at)
	if err != nil {
		return err
	}
	if historical(c.account) {
		i.translateLines(c, trialFigure(books[0], i.q.Column))
		return nil
	}
	rate, average := frame.Rates(0, len(frame.Periods)-1)
	if !permanent(c.account) {
		rate = average
	}
	i.translate(c, trialFigure(books[0], i.q.Column), rate)
	return nil
}

// trialAdjustment explains the translation adjustment by all other accounts.
func (i *inquiry) trialAdjustment(ctx context.Context, c cell) error {
	r, err := i.reports.TrialBalance(ctx, params(i.q, account.Account{}, c.at))
	if err != nil {
		return err
	}
	for n, a := range r.Accounts {
		now := r.Rows[n].Cells[0]
		switch {
		case a.ID == c.account.ID:
		case i.q.Column == debits || i.q.Column == credits:
			sign := money.FromInt(1)
			if i.q.Column == debits {
				sign = sign.Neg()
			}
			i.out.addNonZero(a.String()+", debits", now.Debits.Mul(sign), i.q.with("ledger_account_id", a.ID, "column", debits))
			i.out.addNonZero(a.String()+", credits", now.Credits.Neg().Mul(sign), i.q.with("ledger_account_id", a.ID, "column", credits))
		default:
			balance := trialBalance(now, i.q.Column)
			which, _, _ := strings.Cut(i.q.Column, "_")
			i.out.addNonZero(a.String(), onSide(balance.Neg(), i.q.Column), i.q.with("ledger_account_id", a.ID, "column", side(which, balance)))
		}
	}
	i.out.addRemainder("out-of-balance amount in the books")
	return nil
}

// trialTotal explains the total of a column.
func (i *inquiry) trialTotal(ctx context.Context, c cell) error {
	switch {
	case i.q.Row != rowTotal:
		return unknownRow(rowTotal)
	case i.q.Column == fxEffect:
		return fault.Invalidf("column", "fx_effect has no total: ask for it by ledger_account_id")
	}
	r, err := i.reports.TrialBalance(ctx, params(i.q, account.Account{}, c.at))
	if err != nil {
		return err
	}
	i.out.setValue(totalFigure(r.Totals[0], i.q.Column), r.Currency)
	for n, a := range r.Accounts {
		i.out.addNonZero(a.String(), trialFigure(r.Rows[n].Cells[0], i.q.Column), i.q.with("row", "", "ledger_account_id", a.ID))
	}
	return nil
}

func totalFigure(t statement.TrialTotal, column string) money.Decimal {
	return map[string]money.Decimal{
		openingDebit: t.OpeningDebit, openingCredit: t.OpeningCredit, debits: t.Debits, credits: t.Credits, closingDebit: t.ClosingDebit,
		closingCredit: t.ClosingCredit,
	}[column]
}
