package period

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// CreateNextMonthTask is the job that makes the next month before it begins, so that the current one is always there and reading it need not write it.
type CreateNextMonthTask struct{}

// Kind names the job.
func (CreateNextMonthTask) Kind() string { return "period_turn" }

// createAhead is how long before it begins a month is made: longer than the job may be late.
const createAhead = 24 * time.Hour

// CreateNextMonths creates the month that begins soon where it does not exist yet. An organization where that fails does not
// keep the others from theirs: the errors are returned together.
func CreateNextMonths(ctx context.Context, d *db.DB) error {
	soon := d.Clock().Now().Add(createAhead)
	var behind []string
	err := d.ReadAcross(ctx, "months turn in all organizations alike", func(ctx context.Context, tx *db.Tx) (err error) {
		behind, err = selectOrganizationsEndingBy(ctx, tx, soon)
		return err
	})
	if err != nil {
		return err
	}
	var failed []error
	for _, organizationID := range behind {
		err := d.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
			loc, err := Zone(ctx, tx)
			if err != nil {
				return err
			}
			_, err = Ensure(ctx, tx, calendar.MonthOf(soon, loc))
			return err
		})
		if err != nil {
			failed = append(failed, fmt.Errorf("create the next accounting period of organization %s: %w", organizationID, err))
		}
	}
	return errors.Join(failed...)
}
