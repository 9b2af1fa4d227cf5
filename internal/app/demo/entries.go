package demo

import (
	"fmt"

	"github.com/bursarhq/bursar/internal/area/account"
	"github.com/bursarhq/bursar/internal/area/journal"
)

// accountsAll asks for the whole chart.
var accountsAll = account.Filter{}

// amount writes cents.
func amount(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

// of gives the entries of a month. They grow and vary, but the same ones come out every time.
func (c *company) of(n int) (out []journal.CreateParams) {
	us := func(day int, memo string, lines ...journal.LineParams) {
		out = append(out, journal.CreateParams{LegalEntityID: c.us, AccountingDate: c.day(n, day), Memo: memo, Status: journal.Posted, OriginatedBy: journal.ByHand, Lines: lines})
	}
	de := func(day int, memo string, lines ...journal.LineParams) {
		out = append(out, journal.CreateParams{LegalEntityID: c.de, AccountingDate: c.day(n, day), Memo: memo, Status: journal.Posted, OriginatedBy: journal.ByHand, Lines: lines})
	}
	if n == 0 {
		us(1, "Founders' capital", c.line("Dr", "1010", "500000.00"), c.line("Cr", "3010", "500000.00"))
		us(2, "Share capital of the subsidiary", c.line("Dr", account.RoleDueFrom(c.de), "53000.00"), c.line("Cr", "1010", "53000.00"))
		de(2, "Share capital from the parent", c.line("Dr", "1010", "50000.00"), c.line("Cr", account.RoleDueTo(c.us), "50000.00"))
		us(3, "Digital assets bought", c.line("Dr", "1210", "120000.00"), c.line("Dr", "6230", "300.00"), c.line("Cr", "1010", "120300.00"))
		us(4, "Laptops", c.line("Dr", "1610", "18000.00", "Engineering"), c.line("Cr", "1010", "18000.00"))
	}
	sales := 4_200_000 + 155_000*n + 7_919*(n*n%13)
	us(5, "Subscriptions invoiced", c.line("Dr", "1310", amount(sales), "Northwind"), c.line("Cr", "4010", amount(sales), "Sales", "Northwind"))
	fee := sales * 29 / 1000
	us(12, "Card payments collected", c.line("Dr", "1020", amount(sales*8/10-fee)), c.line("Dr", "5030", amount(fee)), c.line("Cr", "1310", amount(sales*8/10), "Northwind"))
	us(14, "Payout to the bank", c.line("Dr", "1010", amount(sales*8/10-fee)), c.line("Cr", "1020", amount(sales*8/10-fee)))
	reward := 310_000 + 41_000*(n*7%5)
	us(16, "Staking rewards", c.line("Dr", "1230", amount(reward), "Validators"), c.line("Cr", "4020", amount(reward), "Validators"))
	us(17, "Network fees", c.line("Dr", "6210", amount(4_137+n*31)), c.line("Cr", "1230", amount(4_137+n*31)))
	us(20, "Hosting", c.line("Dr", "5010", amount(380_000+9_000*n), "Engineering", "Cloudhost"), c.line("Cr", "2010", amount(380_000+9_000*n), "Cloudhost"))
	us(22, "Supplier paid", c.line("Dr", "2010", amount(380_000+9_000*n), "Cloudhost"), c.line("Dr", "6220", "15.00"), c.line("Cr", "1010", amount(381_500+9_000*n)))
	payroll := 2_900_000 + 60_000*(n/3)
	us(25, "Payroll", c.line("Dr", "6010", amount(payroll), "Engineering"), c.line("Cr", "2040", amount(payroll/4)), c.line("Cr", "1010", amount(payroll-payroll/4)))
	us(26, "Payroll taxes paid", c.line("Dr", "2040", amount(payroll/4)), c.line("Cr", "1010", amount(payroll/4)))
	us(27, "Office", c.line("Dr", "6080", "6500.00"), c.line("Cr", "1010", "6500.00"))
	us(28, "Depreciation", c.line("Dr", "6100", "500.00", "Engineering"), c.line("Cr", "1690", "500.00"))
	if n%3 == 2 {
		us(28, "Audit", c.line("Dr", "6050", "9800.00"), c.line("Cr", "2020", "9800.00"))
	}

	germany := 1_450_000 + 62_000*n
	de(6, "Licences sold", c.line("Dr", "1010", amount(germany)), c.line("Cr", "4010", amount(germany), "Sales"))
	de(18, "Contractors", c.line("Dr", "6020", amount(germany/2), "Engineering"), c.line("Cr", "1010", amount(germany/2)))
	de(24, "Rent in Berlin", c.line("Dr", "6080", "3200.00"), c.line("Cr", "1010", "3200.00"))
	usd := c.line("Dr", "6030", amount(95_000+700*n), "Engineering")
	bank := c.line("Cr", "1010", amount(95_000+700*n))
	usd.Currency, bank.Currency = "USD", "USD"
	de(26, "Software, paid in dollars", usd, bank)
	return out
}
