package firmjob

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

const (
	// nightHour is when the nightly check of all clients begins, in UTC.
	nightHour = 2
	// keepScheduled is for how many nights the results of nightly checks are kept.
	keepScheduled = 31
)

// Nightly is the background job that starts the readiness check over all clients of each firm, once a night.
type Nightly struct{}

// Kind returns the name of the job.
func (Nightly) Kind() string { return "firm_jobs_nightly" }

// nightOf returns the night that has begun last, as the date of its morning.
func nightOf(now time.Time) string {
	return now.UTC().Add(-nightHour * time.Hour).Format(time.DateOnly)
}

// StartNightly runs the job: for each firm that has no check of this night yet, it starts one. It deletes those of nights long ago. A
// failure of one firm does not affect the others.
func (s *Service) StartNightly(ctx context.Context) error {
	night := nightOf(s.db.Clock().Now())
	var due []string
	err := s.db.ReadAcross(ctx, "all clients of all firms are checked at night", func(ctx context.Context, tx *db.Tx) (err error) {
		due, err = selectDue(ctx, tx, night)
		return err
	})
	failed := []error{err}
	for _, organizationID := range due {
		if err := s.startNightly(ctx, organizationID, night); err != nil {
			failed = append(failed, fmt.Errorf("start the nightly check of the clients of %s: %w", organizationID, err))
		}
	}
	return errors.Join(failed...)
}

func (s *Service) startNightly(ctx context.Context, firmOrganizationID, night string) error {
	clients, err := s.firms.AllWork(ctx, firmOrganizationID)
	if err != nil || len(clients) == 0 {
		return err
	}
	p := Prepared{job: Job{Kind: Readiness, Scheduled: night}, work: clients}
	return s.db.Write(actor.With(ctx, actor.Actor{OrganizationID: firmOrganizationID}), firmOrganizationID,
		func(ctx context.Context, tx *db.Tx) error {
			if _, err := orgstate.Lock(ctx, tx); err != nil {
				return err
			}
			_, err := findScheduled(ctx, tx, night)
			if fault.KindOf(err) != fault.NotFound {
				return err // another node has started it
			}
			oldest, err := time.Parse(time.DateOnly, night)
			if err != nil {
				return err
			}
			if err := deleteScheduled(ctx, tx, oldest.AddDate(0, 0, -keepScheduled).Format(time.DateOnly)); err != nil {
				return err
			}
			_, err = create(ctx, tx, p)
			return err
		})
}
