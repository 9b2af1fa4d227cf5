package imports

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/task"
)

// NewRunner returns the runner that reads imports in the background.
func NewRunner(s *Service, log *slog.Logger) *task.Runner {
	return task.NewRunner(Kind, s.db, log, func(ctx context.Context, organizationID, importID string) error {
		_, err := s.Run(ctx, organizationID, importID, nil)
		return err
	})
}

// Sweep is the job that deletes the leftovers of ended imports and interrupted uploads.
type Sweep struct{}

// Kind returns the name of the job.
func (Sweep) Kind() string { return "import_sweep" }

// uploadLease is how long an upload may go without storing a piece of its file before it counts as interrupted.
const uploadLease = time.Minute

// DeleteLeftovers deletes interrupted uploads and the files of ended imports.
func (s *Service) DeleteLeftovers(ctx context.Context) error {
	var left []leftover
	err := s.db.WriteAcross(ctx, "expire interrupted uploads of all organizations", func(ctx context.Context, tx *db.Tx) (err error) {
		if err := abandonInterrupted(ctx, tx); err != nil {
			return err
		}
		left, err = selectLeftovers(ctx, tx)
		return err
	})
	for _, w := range left {
		err = errors.Join(err, s.deleteFile(ctx, w.OrganizationID, w.ID))
	}
	return err
}
