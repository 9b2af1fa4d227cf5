package demo

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/app/demo/activity"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// accountsAll selects the whole chart.
var accountsAll = account.Filter{}

// amount formats cents.
func amount(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

// entries posts what no source reports: invoices, payroll, accruals and depreciation.
func (c *company) entries(ctx context.Context) error {
	paid := c.paid()
	for n := range months {
		if _, err := c.app.Journal.CreateBatch(ctx, c.entriesOf(n, paid[c.month(n)])); err != nil {
			return err
		}
	}
	drafts := c.entriesOf(months, money.FromInt(60_000)) // the current month
	for i := range drafts {
		drafts[i].Status = journal.Draft
	}
	_, err := c.app.Journal.CreateBatch(ctx, drafts)
	return err
}

// paid returns what customers pay on invoices, by month.
func (c *company) paid() map[calendar.Month]money.Decimal {
	out := map[calendar.Month]money.Decimal{}
	for _, x := range c.activity.Transactions {
		if !x.Truth.Spam && c.treatmentOf(x).target == "1310" {
			m := calendar.MonthOf(x.At, c.zone)
			out[m] = out[m].Add(x.Value.Gross)
		}
	}
	return out
}

// entriesOf returns the entries of a month in which customers pay so much. Amounts grow and vary, but are the same in every run.
func (c *company) entriesOf(n int, paid money.Decimal) (out []journal.CreateParams) {
	us := func(day int, memo string, lines ...journal.LineParams) {
		out = append(out, journal.CreateParams{LegalEntityID: c.us, AccountingDate: c.day(n, day), Memo: memo, Status: journal.Posted,
			OriginatedBy: journal.ByHand, Lines: lines})
	}
	open := 50_000
	if n == 0 {
		open = 1_800_000
		us(3, "Laptops", c.line("Dr", "1610", "18000.00", "Engineering"), c.line("Cr", "2010", "18000.00"))
	}
	invoiced := paid.Add(money.MustParse(amount(open))).Fixed("USD")
	us(1, "Invoices sent", c.line("Dr", "1310", invoiced, "Northwind"), c.line("Cr", "4010", invoiced, "Sales", "Northwind"))
	payroll := (2_900_000 + 60_000*(n/3)) / 2 * 2
	us(12, "Payroll", c.line("Dr", "6010", amount(payroll), "Engineering"), c.line("Cr", "2040", amount(payroll)))
	hosting := amount(380_000 + 9_000*n)
	us(20, "Hosting", c.line("Dr", "5010", hosting, "Engineering", "Cloudhost"), c.line("Cr", "2010", hosting, "Cloudhost"))
	if n%3 == 2 {
		us(20, "Audit", c.line("Dr", "6050", "9800.00"), c.line("Cr", "2020", "9800.00"))
	}
	if n == 9 {
		interest := amount(100 * activity.LoanInterest)
		accrued := c.line("Cr", "2220", interest) // it is owed in the asset of the loan
		accrued.Unit, accrued.Quantity = activity.LoanAsset, new(money.FromInt(activity.LoanInterest))
		us(28, "Interest on the loan", c.line("Dr", "7050", interest), accrued)
	}
	us(28, "Depreciation", c.line("Dr", "6100", "500.00", "Engineering"), c.line("Cr", "1690", "500.00"))
	out = append(out, journal.CreateParams{LegalEntityID: c.de, AccountingDate: c.day(n, 28), Memo: "Trade tax",
		Status: journal.Posted, OriginatedBy: journal.ByHand,
		Lines: []journal.LineParams{c.line("Dr", "7070", amount(42_000+1_100*n)), c.line("Cr", "2050", amount(42_000+1_100*n))}})
	return out
}

// line returns a line such as "Dr 1010 100.00".
func (c *company) line(side, account, amount string, tags ...string) journal.LineParams {
	l := journal.LineParams{LedgerAccountID: c.accounts[account], Side: book.Credit, Amount: amount}
	if side == "Dr" {
		l.Side = book.Debit
	}
	for _, name := range tags {
		l.TagIDs = append(l.TagIDs, c.tags[name])
	}
	return l
}
