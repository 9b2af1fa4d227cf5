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
	// nightsKept is for how many nights the results of nightly checks are kept, the last one included.
	nightsKept = 31
	// daysKept is for how many days after their end jobs are kept that people have started.
	daysKept = 400
	// deletedMax is how many jobs of a firm are deleted at a time.
	deletedMax = 50
)

// Nightly is the background job that starts the readiness check over all clients of each firm, once a night.
type Nightly struct{}

// Kind returns the name of the job.
func (Nightly) Kind() string { return "firm_jobs_nightly" }

// nightOf returns when the last night began: that of its UTC date.
func nightOf(now time.Time) time.Time {
	return now.UTC().Add(-nightHour * time.Hour).Truncate(24 * time.Hour).Add(nightHour * time.Hour)
}

// StartNightly runs the job: for each firm that has no check of this night yet, and had a client when the night began, it starts one. It
// deletes jobs that were kept for long enough. A failure of one firm does not affect the others.
func (s *Service) StartNightly(ctx context.Context) error {
	now := s.db.Clock().Now()
	night, old := nightOf(now), expiry{
		night: nightOf(now).AddDate(0, 0, -nightsKept).Format(time.DateOnly), ended: now.AddDate(0, 0, -daysKept),
	}
	var due, expired []string
	err := s.db.ReadAcross(ctx, "all clients of all firms are checked at night", func(ctx context.Context, tx *db.Tx) (err error) {
		if due, err = selectDue(ctx, tx, night); err == nil {
			expired, err = selectWithExpired(ctx, tx, old)
		}
		return err
	})
	failed := []error{err}
	for _, organizationID := range due {
		if err := s.startNightly(ctx, organizationID, night.Format(time.DateOnly)); err != nil {
			failed = append(failed, fmt.Errorf("start the nightly check of the clients of %s: %w", organizationID, err))
		}
	}
	for _, organizationID := range expired {
		if err := s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error { return deleteExpired(ctx, tx, old) }); err != nil {
			failed = append(failed, fmt.Errorf("delete old jobs of %s: %w", organizationID, err))
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
			if fault.KindOf(err) == fault.NotFound { // no other node has started it
				_, err = create(ctx, tx, p)
			}
			return err
		})
}
