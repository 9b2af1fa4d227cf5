package demo

import (
	"cmp"
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/area/booking"
	"github.com/bursarhq/bursar/internal/area/period"
	"github.com/bursarhq/bursar/internal/base/page"
)

// closeMonths closes all months but the last ones for both entities.
func (c *company) closeMonths(ctx context.Context) error {
	list, err := c.app.Periods.List(ctx, period.Filter{}, page.Request{Limit: page.LimitMax})
	if err != nil {
		return err
	}
	slices.SortFunc(list.Items, func(a, b period.State) int { return cmp.Compare(a.Key, b.Key) })
	for _, p := range list.Items {
		if p.Key >= c.month(closed).Key() {
			break
		}
		if _, err := c.app.Periods.Close(ctx, p.ID, ""); err != nil {
			return err
		}
	}
	return nil
}

// late brings in what was told after its month was closed. What it changes about closed months is trued up, what it changes since is corrected.
func (c *company) late(ctx context.Context) error {
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
	return nil
}
