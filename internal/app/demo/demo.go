// Package demo creates a fictitious company with its books: two legal entities and two years of transactions from eight
// sources, booked and measured, with all accounting periods closed but the last ones.
package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/demo/activity"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

const (
	months = activity.Months
	closed = activity.LateMonth + 1
)

// company is the demo company while it is created.
type company struct {
	app          *app.App
	progress     func(format string, args ...any)
	zone         *time.Location
	accounts     map[string]string // by code and role
	us, de       string
	tags         map[string]string
	activity     activity.Activity
	sources      []source.Source // in the order of activity.Sources
	transactions []string        // ids, in the order of activity.Transactions
	partners     map[int]int     // the other transaction of a pair, by index
}

// Found creates the company and its books, which end with the month before this one, and reports its progress.
func Found(ctx context.Context, a *app.App, progress func(format string, args ...any)) (organization.Created, error) {
	f, err := a.Org.Create(ctx, organization.CreateParams{Name: "Demo Company", Email: "demo@example.com", Currency: "USD",
		Timezone: "America/New_York"})
	if err != nil {
		return f, err
	}
	ctx = actor.With(ctx, actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner})
	c := &company{app: a, progress: progress, us: f.LegalEntity.ID, tags: map[string]string{}, accounts: map[string]string{}}
	if c.zone, err = time.LoadLocation(f.Organization.Timezone); err != nil {
		return f, err
	}
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"Creating the chart of accounts and the sources", c.setUp},
		{"Adding FX rates and prices", c.addRatesAndPrices},
		{"Adding 5,000 transactions", c.addTransactions},
		{"Posting opening balances and manual entries", c.postManual},
		{"Booking transactions", c.book},
		{"Revaluing and closing periods", c.closePeriods},
		{"Booking a late transaction", c.addLate},
		{"Writing documents and rules", c.remember},
		{"Suggesting bookings for recent transactions", c.suggest},
	} {
		progress("%s ...", step.what)
		if err := step.do(ctx); err != nil {
			return f, fmt.Errorf("demo company: %s: %w", strings.ToLower(step.what), err)
		}
	}
	return f, nil
}

// inOrder runs steps one after another, until one fails.
func inOrder(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *company) setUp(ctx context.Context) error {
	return inOrder(ctx, c.entities, c.addAccounts, c.readChart, c.openSources, c.createTags)
}

func (c *company) addRatesAndPrices(ctx context.Context) error {
	return inOrder(ctx, c.rates, c.prices)
}

func (c *company) postManual(ctx context.Context) error { return inOrder(ctx, c.openings, c.entries) }

// month returns the n-th month of the books.
func (c *company) month(n int) calendar.Month {
	m := calendar.MonthOf(c.app.DB.Clock().Now(), c.zone)
	for range months - n {
		m = m.Prev()
	}
	return m
}

// day returns a date in the n-th month.
func (c *company) day(n, day int) string { return fmt.Sprintf("%s-%02d", c.month(n).Key(), day) }

func (c *company) entities(ctx context.Context) error {
	name := "Demo Company, Inc."
	if _, err := c.app.Entities.Update(ctx, c.us, entity.UpdateParams{Name: &name, Country: new("US"),
		Measurement: new(entity.MeasuredAtFairValue)}); err != nil {
		return err
	}
	// From its second year on it consumes the lots with the highest cost first.
	if _, err := c.app.Entities.Update(ctx, c.us, entity.UpdateParams{CostBasisMethod: new(entity.MethodHIFO),
		CostBasisFrom: new(c.day(months/2, 1))}); err != nil {
		return err
	}
	de, err := c.app.Entities.Create(ctx, entity.CreateParams{
		Name: "Demo Company GmbH", BaseCurrency: "EUR", Country: "DE", ParentID: c.us, OwnershipPercent: "100",
		CostBasisMethod: entity.MethodWeightedAverage, CostBasisScope: entity.ScopeLegalEntity,
	})
	c.de = de.ID
	return err
}

// grants is the code of the account for grants that the company pays.
const grants = "6110"

// investments is the code of the account for shares in subsidiaries.
const investments = "1710"

// addAccounts adds accounts that the default chart does not have.
func (c *company) addAccounts(ctx context.Context) error {
	if err := c.readChart(ctx); err != nil {
		return err
	}
	for _, p := range []account.CreateParams{
		{Name: "Prepaid company cards", Code: "1030", Type: account.Asset, ParentID: c.accounts["1000"]}, {Name: "Grants", Code: grants,
			Type: account.Expense, ParentID: c.accounts["6000"]},
		{Name: "Investments in subsidiaries", Code: investments, Type: account.Asset, Monetary: new(false)},
	} {
		if _, err := c.app.Accounts.Create(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (c *company) readChart(ctx context.Context) error {
	p := page.Request{Limit: page.LimitMax}
	for {
		got, err := c.app.Accounts.List(ctx, accountsAll, p)
		if err != nil {
			return err
		}
		for _, a := range got.Items {
			for _, name := range []string{a.Code, a.Role} {
				if name != "" {
					c.accounts[name] = a.ID
				}
			}
		}
		if !got.HasMore {
			return nil
		}
		p.Cursor = got.NextCursor
	}
}

func (c *company) createTags(ctx context.Context) error {
	for _, one := range []struct {
		kind tag.Kind
		name string
	}{{tag.Department, "Engineering"}, {tag.Department, "Sales"}, {tag.Project, "Validators"}, {tag.Supplier, "Cloudhost"},
		{tag.Customer, "Northwind"}} {
		t, err := c.app.Tags.Create(ctx, one.kind, one.name)
		if err != nil {
			return err
		}
		c.tags[one.name] = t.ID
	}
	return nil
}
