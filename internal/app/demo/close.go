package demo

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/app/demo/activity"
	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/period"
)

// closePeriods revalues and closes each period for both legal entities, except the last ones.
func (c *company) closePeriods(ctx context.Context) error {
	return c.eachPeriod(ctx, func(p period.State) error {
		if p.Key >= c.month(closed).Key() {
			return nil
		}
		if err := c.revalue(ctx, p); err != nil {
			return err
		}
		_, err := c.app.Periods.Close(ctx, p.ID, "")
		return err
	})
}

// eachPeriod calls do for each period, in order.
func (c *company) eachPeriod(ctx context.Context, do func(period.State) error) error {
	list, err := c.app.Periods.List(ctx, period.Filter{}, page.Request{Limit: page.LimitMax})
	if err != nil {
		return err
	}
	slices.SortFunc(list.Items, func(a, b period.State) int { return cmp.Compare(a.Key, b.Key) })
	for _, p := range list.Items {
		if err := do(p); err != nil {
			return fmt.Errorf("%s: %w", p.Key, err)
		}
	}
	return nil
}

// revalue revalues holdings and foreign currency at the end of a period.
func (c *company) revalue(ctx context.Context, p period.State) error {
	_, err := c.app.Revaluations.Run(ctx, revaluation.RunParams{PeriodID: p.ID})
	return err
}

// addLate adds and books transactions that were reported after their period was closed, which creates true-ups and corrections.
// It also corrects one entry, and revalues the open periods except the last one, which is not completely booked yet.
func (c *company) addLate(ctx context.Context) error {
	for n, x := range c.activity.Transactions {
		if !x.Truth.Late {
			continue
		}
		if err := c.add(ctx, []int{n}); err != nil {
			return err
		}
		if _, err := c.create(ctx, []booking.Params{c.paramsFor(n)}); err != nil {
			return err
		}
	}
	if err := c.correctEntry(ctx); err != nil {
		return err
	}
	return c.eachPeriod(ctx, func(p period.State) error {
		if p.Key < c.month(closed).Key() || p.Key >= c.month(months-1).Key() {
			return nil
		}
		return c.revalue(ctx, p)
	})
}

// correctEntry moves the last posted purchase of electronics to equipment.
func (c *company) correctEntry(ctx context.Context) error {
	for n := len(c.activity.Transactions) - 1; n >= 0; n-- {
		x := c.activity.Transactions[n]
		if c.waits(x) || x.Card == nil || x.Card.Category != "Electronics" || x.Direction != activity.Debit {
			continue
		}
		t, err := c.app.Transactions.Get(ctx, c.transactions[n])
		if err != nil {
			return err
		}
		_, err = c.app.Bookings.Correct(ctx, t.JournalEntryID, booking.CorrectParams{LedgerAccountID: new(c.accounts["1610"])})
		return err
	}
	return nil
}
