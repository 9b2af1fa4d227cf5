package interchange_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/fx/fxsample"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

const (
	months = 24
	closed = 18
)

// group is a company and its subsidiary with two years of manually kept books, the first months of which are closed.
type group struct {
	*apitest.Service
	zone     *time.Location
	accounts map[string]string // by code
	us, de   string
	tags     map[string]string
}

// twoYears creates a group and its books.
func twoYears(t *testing.T, s *apitest.Service) *world {
	t.Helper()
	f, err := s.App.Org.Create(t.Context(), organization.CreateParams{Name: "Demo Company", Email: "demo@example.com", Currency: "USD",
		Timezone: "America/New_York"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner})
	c := &group{Service: s, us: f.LegalEntity.ID, tags: map[string]string{}}
	if c.zone, err = time.LoadLocation(f.Organization.Timezone); err != nil {
		t.Fatal(err)
	}
	for _, step := range []func(context.Context) error{c.entities, c.readChart, c.labels, c.rates, c.entries, c.closeMonths} {
		if err := step(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return enter(t, s, f)
}

// month returns the n-th month of the books.
func (c *group) month(n int) calendar.Month {
	m := calendar.MonthOf(c.App.DB.Clock().Now(), c.zone)
	for range months - n {
		m = m.Prev()
	}
	return m
}

func (c *group) day(n, day int) string { return fmt.Sprintf("%s-%02d", c.month(n).Key(), day) }

func (c *group) entities(ctx context.Context) error {
	name := "Demo Company, Inc."
	if _, err := c.App.Entities.Update(ctx, c.us, entity.UpdateParams{Name: &name, Country: new("US")}); err != nil {
		return err
	}
	de, err := c.App.Entities.Create(ctx, entity.CreateParams{Name: "Demo Company GmbH", BaseCurrency: "EUR", Country: "DE",
		ParentID: c.us, OwnershipPercent: "100"})
	c.de = de.ID
	return err
}

func (c *group) readChart(ctx context.Context) error {
	c.accounts = map[string]string{}
	p := page.Request{Limit: page.LimitMax}
	for {
		got, err := c.App.Accounts.List(ctx, account.Filter{}, p)
		if err != nil {
			return err
		}
		for _, a := range got.Items {
			c.accounts[a.Code] = a.ID
			c.accounts[a.Role] = a.ID
		}
		if !got.HasMore {
			return nil
		}
		p.Cursor = got.NextCursor
	}
}

func (c *group) labels(ctx context.Context) error {
	for name, kind := range map[string]tag.Kind{"Engineering": tag.Department, "Sales": tag.Department, "Validators": tag.Project,
		"Cloudhost": tag.Supplier, "Northwind": tag.Customer} {
		t, err := c.App.Tags.Create(ctx, kind, name)
		if err != nil {
			return err
		}
		c.tags[name] = t.ID
	}
	return nil
}

// rates stores the rates of every day, the same as those of the demo company.
func (c *group) rates(ctx context.Context) error {
	all := fxsample.Rates(c.month(0).Start(time.UTC), c.month(months).Next().Start(time.UTC))
	for batch := range slices.Chunk(all, fx.RatesMax) {
		if _, err := c.App.FX.Store(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

func (c *group) entries(ctx context.Context) error {
	for n := range months {
		if _, err := c.App.Journal.CreateBatch(ctx, c.entriesOf(n)); err != nil {
			return err
		}
	}
	drafts := c.entriesOf(months)[:3] // the current month has begun
	for i := range drafts {
		drafts[i].Status = journal.Draft
	}
	_, err := c.App.Journal.CreateBatch(ctx, drafts)
	return err
}

// closeMonths closes the first months of the parent. The subsidiary would have to revalue its dollars first.
func (c *group) closeMonths(ctx context.Context) error {
	list, err := c.App.Periods.List(ctx, period.Filter{}, page.Request{Limit: page.LimitMax})
	if err != nil {
		return err
	}
	for n := range closed {
		for _, p := range list.Items {
			if p.Key == c.month(n).Key() {
				if _, err := c.App.Periods.Close(ctx, p.ID, c.us); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// line parses a line such as "Dr 1010 100.00".
func (c *group) line(side, account, amount string, tags ...string) journal.LineParams {
	l := journal.LineParams{LedgerAccountID: c.accounts[account], Side: book.Credit, Amount: amount}
	if side == "Dr" {
		l.Side = book.Debit
	}
	for _, name := range tags {
		l.TagIDs = append(l.TagIDs, c.tags[name])
	}
	return l
}

// amount formats cents.
func amount(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

// entriesOf returns the entries of a month. They grow and vary, but are the same every time.
func (c *group) entriesOf(n int) (out []journal.CreateParams) {
	us := func(day int, memo string, lines ...journal.LineParams) {
		out = append(out, journal.CreateParams{LegalEntityID: c.us, AccountingDate: c.day(n, day), Memo: memo, Status: journal.Posted,
			OriginatedBy: journal.ByHand, Lines: lines})
	}
	de := func(day int, memo string, lines ...journal.LineParams) {
		out = append(out, journal.CreateParams{LegalEntityID: c.de, AccountingDate: c.day(n, day), Memo: memo, Status: journal.Posted,
			OriginatedBy: journal.ByHand, Lines: lines})
	}
	if n == 0 {
		us(1, "Founders' capital", c.line("Dr", "1010", "500000.00"), c.line("Cr", "3010", "500000.00"))
		us(2, "Share capital of the subsidiary", c.line("Dr", account.RoleDueFrom(c.de), "53000.00"), c.line("Cr", "1010", "53000.00"))
		de(2, "Share capital from the parent", c.line("Dr", "1010", "50000.00"), c.line("Cr", account.RoleDueTo(c.us), "50000.00"))
		us(3, "Digital assets bought", c.line("Dr", "1210", "120000.00"), c.line("Dr", "6230", "300.00"), c.line("Cr", "1010", "120300.00"))
		us(4, "Laptops", c.line("Dr", "1610", "18000.00", "Engineering"), c.line("Cr", "1010", "18000.00"))
	}
	sales := 4_200_000 + 155_000*n + 7_919*(n*n%13)
	us(5, "Subscriptions invoiced", c.line("Dr", "1310", amount(sales), "Northwind"), c.line("Cr", "4010", amount(sales), "Sales",
		"Northwind"))
	fee := sales * 29 / 1000
	us(12, "Card payments collected", c.line("Dr", "1020", amount(sales*8/10-fee)), c.line("Dr", "5030", amount(fee)),
		c.line("Cr", "1310", amount(sales*8/10), "Northwind"))
	us(14, "Payout to the bank", c.line("Dr", "1010", amount(sales*8/10-fee)), c.line("Cr", "1020", amount(sales*8/10-fee)))
	reward := 310_000 + 41_000*(n*7%5)
	us(16, "Staking rewards", c.line("Dr", "1230", amount(reward), "Validators"), c.line("Cr", "4020", amount(reward), "Validators"))
	us(17, "Network fees", c.line("Dr", "6210", amount(4_137+n*31)), c.line("Cr", "1230", amount(4_137+n*31)))
	us(20, "Hosting", c.line("Dr", "5010", amount(380_000+9_000*n), "Engineering", "Cloudhost"),
		c.line("Cr", "2010", amount(380_000+9_000*n), "Cloudhost"))
	us(22, "Supplier paid", c.line("Dr", "2010", amount(380_000+9_000*n), "Cloudhost"), c.line("Dr", "6220", "15.00"),
		c.line("Cr", "1010", amount(381_500+9_000*n)))
	payroll := 2_900_000 + 60_000*(n/3)
	us(25, "Payroll", c.line("Dr", "6010", amount(payroll), "Engineering"), c.line("Cr", "2040", amount(payroll/4)),
		c.line("Cr", "1010", amount(payroll-payroll/4)))
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
