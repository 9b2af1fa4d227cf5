// Package demo makes the books of a company that does not exist: two legal entities, what eight sources told in two
// years, everything of it booked and measured, and all months but the last closed.
package demo

import (
	"context"
	"fmt"
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

// company is what is made.
type company struct {
	app          *app.App
	tell         func(format string, args ...any)
	zone         *time.Location
	accounts     map[string]string // by code and role
	us, de       string
	tags         map[string]string
	activity     activity.Activity
	sources      []source.Source // in the order of the activity's
	transactions []string        // ids, in the order of the activity's
	partners     map[int]int     // of those that are one of a pair, by their places
}

// Found makes the company and its books, which end with the month before this one, and tells what it is at.
func Found(ctx context.Context, a *app.App, tell func(format string, args ...any)) (organization.Founded, error) {
	f, err := a.Org.Found(ctx, organization.FoundParams{Name: "Demo Company", Email: "demo@example.com", Currency: "USD",
		Timezone: "America/New_York"})
	if err != nil {
		return f, err
	}
	ctx = actor.With(ctx, actor.Actor{OrganizationID: f.Organization.ID, UserID: f.Owner.UserID, Role: actor.Owner})
	c := &company{app: a, tell: tell, us: f.LegalEntity.ID, tags: map[string]string{}, accounts: map[string]string{}}
	if c.zone, err = time.LoadLocation(f.Organization.Timezone); err != nil {
		return f, err
	}
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"the chart and the sources", c.set}, {"rates and prices", c.value}, {"transactions",
			c.arrive}, {"opening balances and entries by hand", c.write}, {"entries of transactions", c.book},
		{"the close of months", c.closeMonths}, {"what came late", c.late},
		{"documents and rules", c.remember}, {"suggestions", c.suggest},
	} {
		tell("Making %s", step.what)
		if err := step.do(ctx); err != nil {
			return f, fmt.Errorf("make %s of the demo: %w", step.what, err)
		}
	}
	return f, nil
}

// inOrder makes one step of several.
func inOrder(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *company) set(ctx context.Context) error {
	return inOrder(ctx, c.entities, c.addAccounts, c.readChart, c.openSources, c.labels)
}

func (c *company) value(ctx context.Context) error { return inOrder(ctx, c.rates, c.prices) }

func (c *company) write(ctx context.Context) error { return inOrder(ctx, c.openings, c.entries) }

// month is the n-th month of the books.
func (c *company) month(n int) calendar.Month {
	m := calendar.MonthOf(c.app.DB.Clock().Now(), c.zone)
	for range months - n {
		m = m.Prev()
	}
	return m
}

func (c *company) day(n, day int) string { return fmt.Sprintf("%s-%02d", c.month(n).Key(), day) }

func (c *company) entities(ctx context.Context) error {
	name := "Demo Company, Inc."
	if _, err := c.app.Entities.Update(ctx, c.us, entity.UpdateParams{Name: &name, Country: new("US"),
		Measurement: new(entity.MeasuredAtFairValue)}); err != nil {
		return err
	}
	// From its second year on it takes the dearest lots first.
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

// grants is the code of the account of what the company gives away.
const grants = "6110"

// addAccounts adds what the usual chart does not have.
func (c *company) addAccounts(ctx context.Context) error {
	if err := c.readChart(ctx); err != nil {
		return err
	}
	for _, p := range []account.CreateParams{
		{Name: "Prepaid company cards", Code: "1030", Type: account.Asset, ParentID: c.accounts["1000"]}, {Name: "Grants", Code: grants,
			Type: account.Expense, ParentID: c.accounts["6000"]},
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

func (c *company) labels(ctx context.Context) error {
	for name, kind := range map[string]tag.Kind{"Engineering": tag.Department, "Sales": tag.Department, "Validators": tag.Project,
		"Cloudhost": tag.Supplier, "Northwind": tag.Customer} {
		t, err := c.app.Tags.Create(ctx, kind, name)
		if err != nil {
			return err
		}
		c.tags[name] = t.ID
	}
	return nil
}
