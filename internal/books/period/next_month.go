package period

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// CreateNextMonthTask is the background task that creates the next period before it begins, so that the current period always
// exists and reading it writes nothing.
type CreateNextMonthTask struct{}

// Kind returns the name under which the task is stored.
func (CreateNextMonthTask) Kind() string { return "period_turn" }

// createAhead is how long before its beginning a period is created: longer than the task may be late.
const createAhead = 24 * time.Hour

// CreateNextMonths creates the period that begins soon in every organization where it does not exist yet. If that fails for
// an organization it goes on with the others and returns all errors together.
func CreateNextMonths(ctx context.Context, d *db.DB) error {
	soon := d.Clock().Now().Add(createAhead)
	var behind []string
	err := d.ReadAcross(ctx, "the next period is created in all organizations", func(ctx context.Context, tx *db.Tx) (err error) {
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
