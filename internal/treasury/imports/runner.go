package imports

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/task"
)

// NewRunner makes what reads imports in the background.
func NewRunner(s *Service, log *slog.Logger) *task.Runner {
	return task.NewRunner(kind, s.db, log, func(ctx context.Context, organizationID, importID string) error {
		_, err := s.Run(ctx, organizationID, importID, nil)
		return err
	})
}

// Sweep is the job that clears away what is left of imports that are over and of uploads that broke off.
type Sweep struct{}

// Kind names the job.
func (Sweep) Kind() string { return "import_sweep" }

// uploadMax is how long an upload may take; it is far longer than any request lasts.
const uploadMax = 24 * time.Hour

// Clear takes away uploads that broke off, and the files of imports that are over.
func (s *Service) Clear(ctx context.Context) error {
	var left []leftover
	err := s.db.WriteAcross(ctx, "uploads of all organizations break off alike", func(ctx context.Context, tx *db.Tx) (err error) {
		if err := abandonUploadsBefore(ctx, tx, tx.Now().Add(-uploadMax)); err != nil {
			return err
		}
		left, err = selectLeftovers(ctx, tx)
		return err
	})
	for _, w := range left {
		err = errors.Join(err, s.clear(ctx, w.OrganizationID, w.ID))
	}
	return err
}
