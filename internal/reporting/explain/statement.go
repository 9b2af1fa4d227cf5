package explain

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/rules/statement"
)

// cell locates a figure of a statement.
type cell struct {
	account    account.Account
	at, before *period.Period // before is nil for the first period
	entities   []entity.LegalEntity
	all        bool // the entities are all of the organization's
	translated bool
}

// cell resolves the names of a query about a statement.
func (i *inquiry) cell(ctx context.Context) (c cell, err error) {
	if c.at, c.before, err = i.findPeriod(i.q.PeriodID); err != nil {
		return c, err
	}
	if c.entities, c.all, err = i.findEntities(ctx); err != nil {
		return c, err
	}
	for _, e := range c.entities {
		c.translated = c.translated || i.q.PresentationCurrency != "" && e.BaseCurrency != i.q.PresentationCurrency
	}
	if i.q.Column == fxEffect && !c.translated {
		return c, fault.Invalidf("column", "fx_effect exists only in a translated report: send presentation_currency with another "+
			"currency than that of the books")
	}
	if i.q.LedgerAccountID != "" {
		c.account, err = account.Get(ctx, i.tx, i.q.LedgerAccountID)
	}
	return c, err
}

// findEntities returns the legal entities to add together: those requested, or all that the actor may see. Legal
// entities that the actor may not see, and unknown tags, are not found.
func (i *inquiry) findEntities(ctx context.Context) (out []entity.LegalEntity, all bool, err error) {
	known, err := snapshot.Entities(ctx, i.tx)
	if err != nil {
		return nil, false, err
	}
	who, ids := actor.From(ctx), i.q.LegalEntityIDs
	found := map[string]bool{}
	for _, e := range known {
		if who.Sees(e.ID) && (len(ids) == 0 || slices.Contains(ids, e.ID)) {
			out = append(out, e)
			found[e.ID] = true
		}
	}
	for _, id := range ids {
		if !found[id] {
			return nil, false, fault.Missing("legal entity")
		}
	}
	if i.q.TagID != "" {
		_, err = tag.Get(ctx, i.tx, i.q.TagID)
	}
	return out, len(out) == len(known), err
}

// computed reports whether an account has no lines, because its balance is computed from others.
func computed(a account.Account) bool {
	return a.Role == account.RoleCurrentEarnings || a.Role == account.RoleRetainedEarnings || a.Role == account.RoleTranslationAdjustment
}

// historical reports whether the lines of an account keep the rates of their dates in a translation.
func historical(a account.Account) bool { return a.KeepsRates() && !computed(a) }

func permanent(a account.Account) bool { return a.Type != account.Revenue && a.Type != account.Expense }

// inNormalSign converts debits less credits to the normal sign of an account.
func inNormalSign(a account.Account, balance money.Decimal) money.Decimal {
	if a.NormalBalance == account.Credit {
		return balance.Neg()
	}
	return balance
}

// params returns the parameters to read a statement for some periods. For an account that is not computed from others,
// it reads only that account.
func params(q Query, a account.Account, months ...*period.Period) statements.Params {
	p := statements.Params{TagID: q.TagID, LegalEntityIDs: q.LegalEntityIDs, PresentationCurrency: q.PresentationCurrency}
	for _, m := range months {
		if m != nil {
			p.PeriodIDs = append(p.PeriodIDs, m.ID)
		}
	}
	if a.ID != "" && !computed(a) {
		p.AccountIDs = []string{a.ID}
	}
	return p
}

// of returns the query for one legal entity.
func (q Query) of(legalEntityID string) Query {
	q.LegalEntityIDs = []string{legalEntityID}
	return q
}

// booked returns the query without translation.
func (q Query) booked() *Query {
	q.PresentationCurrency = ""
	return &q
}

// lines returns the filter for the lines of a cell.
func (i *inquiry) lines(c cell, side string) lineFilter {
	f := lineFilter{accountID: c.account.ID, tagID: i.q.TagID, from: c.at.Start, until: c.at.End, side: side}
	if !c.all {
		f.entities = c.entityIDs()
	}
	return f
}

func (c cell) entityIDs() []string {
	out := make([]string, len(c.entities))
	for n, e := range c.entities {
		out[n] = e.ID
	}
	return out
}

// startingFiscalYear returns the legal entities whose fiscal year begins with the period.
func (c cell) startingFiscalYear() (out []entity.LegalEntity) {
	month, err := strconv.Atoi(c.at.Key[len("2006-"):])
	for _, e := range c.entities {
		if err == nil && c.before != nil && int(e.FiscalYearStartMonth) == month {
			out = append(out, e)
		}
	}
	return out
}

// byEntity explains a figure of several legal entities with different currencies by the figure of each.
func (i *inquiry) byEntity(c cell, figure func(Query) (money.Decimal, error)) error {
	for _, e := range c.entities {
		q := i.q.of(e.ID)
		value, err := figure(q)
		if err != nil {
			return err
		}
		i.out.addNonZero(e.Name, value, &q)
	}
	i.out.addRemainder("netting between legal entities")
	return nil
}

// translate explains a figure of one legal entity by the untranslated one.
func (i *inquiry) translate(c cell, value money.Decimal, rate statement.Rate) {
	e := c.entities[0]
	text := "the rate of " + c.at.Key
	if rate.Known() {
		text = rate.Times.Quo(rate.Over, ratePlaces).String()
	}
	i.out.add(fmt.Sprintf("%s %s at %s", value.Fixed(e.BaseCurrency), e.BaseCurrency, text), *i.out.Value, i.q.booked(), NoList)
}

// translateLines explains the debits or credits of an equity account by the untranslated ones, each line of which was
// translated at the rate of its date.
func (i *inquiry) translateLines(c cell, value money.Decimal) {
	e := c.entities[0]
	i.out.add(fmt.Sprintf("%s %s at the rates of the lines' dates", value.Fixed(e.BaseCurrency), e.BaseCurrency), *i.out.Value, i.q.booked(),
		NoList)
}

// ratePlaces is the number of decimals of an average rate.
const ratePlaces = 10

// unknownRow returns the error for a row that a statement does not have.
func unknownRow(names ...string) error {
	text := ""
	for n, name := range names {
		if n > 0 {
			text += ", "
		}
		text += name
	}
	return fault.Invalidf("row", "must be one of %s", text)
}

// The rows of an income statement that are computed from its sections.
const (
	rowGrossProfit     = "gross_profit"
	rowOperatingIncome = "operating_income"
	rowNetIncome       = "net_income"
)

// addend is a row that is added to another one.
type addend struct {
	row  string
	less bool
}

// results lists the addends of each computed row.
var results = map[string][]addend{
	rowGrossProfit:     {{string(statement.SectionRevenue), false}, {string(statement.SectionCostOfRevenue), true}},
	rowOperatingIncome: {{rowGrossProfit, false}, {string(statement.SectionOperatingExpense), true}},
	rowNetIncome: {{rowOperatingIncome, false}, {string(statement.SectionOtherIncome), false},
		{string(statement.SectionOtherExpense), true}},
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
		return fault.Invalidf("ledger_account_id", "is a balance sheet account: ask for it in the balance-sheet report")
	}
	r, err := i.reports.IncomeStatement(ctx, params(i.q, c.account, c.at))
	if err != nil {
		return err
	}
	for s, section := range r.Sections {
		for n, row := range section.Rows {
			if r.Accounts[s][n].ID == c.account.ID {
				i.out.setValue(row.Amounts[0], r.Currency)
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
	i.out.add("debits", inNormalSign(c.account, cells[0].Debits), i.q.with("report", "trial-balance", "column", debits), listed)
	i.out.add("credits", inNormalSign(c.account, cells[0].Credits.Neg()), i.q.with("report", "trial-balance", "column", credits), listed)
	i.out.addRemainder("difference from the closed balance")
	if listed == NoList {
		return nil
	}
	return i.listLines(ctx, i.lines(c, ""), c.account.NormalBalance == account.Credit)
}

// incomeRow explains a section by its accounts, or a computed row by its sections.
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
		return unknownRow(names...)
	}
	i.out.setValue(value, r.Currency)
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
		i.out.addNonZero(a.String(), amount, i.q.with("row", "", "ledger_account_id", a.ID))
	}
	return nil
}

func incomeFigure(r statements.IncomeStatement, row string) (money.Decimal, bool) {
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
