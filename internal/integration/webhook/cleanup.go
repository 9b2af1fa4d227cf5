package webhook

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// Cleanup is the job that deletes old parts of the logs, and the logs of endpoints that were deleted.
type Cleanup struct{}

// Kind returns the name of the job.
func (Cleanup) Kind() string { return "webhook_cleanup" }

const (
	// logKept is how long deliveries are kept that are not tried any more.
	logKept = 30 * 24 * time.Hour
	// cleanupMax is how many deliveries are deleted in one database transaction.
	cleanupMax = 200
)

// Cleanup deletes old parts of the logs, and the logs of endpoints that were deleted.
func (s *Service) Cleanup(ctx context.Context) error {
	for _, find := range []func(context.Context, *db.Tx, int) ([]loggedRow, error){s.selectOld, selectOrphaned} {
		for more := true; more; {
			var err error
			if more, err = s.deleteSome(ctx, find); err != nil {
				return err
			}
		}
	}
	return s.db.WriteAcross(ctx, "endpoints of all organizations are deleted", deleteFinished)
}

func (s *Service) selectOld(ctx context.Context, tx *db.Tx, limit int) ([]loggedRow, error) {
	return selectOlder(ctx, tx, tx.Now().Add(-logKept), limit)
}

// deleteSome deletes some deliveries with their attempts, and reports whether there may be more.
func (s *Service) deleteSome(ctx context.Context, find func(context.Context, *db.Tx, int) ([]loggedRow, error)) (more bool, err error) {
	err = s.db.WriteAcross(ctx, "logs of all organizations are deleted", func(ctx context.Context, tx *db.Tx) error {
		found, err := find(ctx, tx, cleanupMax)
		if err != nil {
			return err
		}
		more = len(found) == cleanupMax
		byOrganization := map[string][]string{}
		for _, r := range found {
			byOrganization[r.OrganizationID] = append(byOrganization[r.OrganizationID], r.DeliveryID)
		}
		for organizationID, ids := range byOrganization {
			if err := deleteDeliveries(ctx, tx, organizationID, ids); err != nil {
				return err
			}
		}
		return nil
	})
	return more, err
}
