package firm

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// FindActive returns the access of the firm that works for the organization. The error is NotFound if none does. It is a building block.
func FindActive(ctx context.Context, tx *db.Tx) (Access, error) { return activeAccess(ctx, tx) }

// WorkingFor returns the firms that work for some organizations, by the ids of these.
func (s *Service) WorkingFor(ctx context.Context, organizationIDs []string) (out map[string]Settings, err error) {
	if len(organizationIDs) == 0 {
		return nil, nil
	}
	err = s.db.ReadAcross(ctx, "an owner of several organizations sees which firms work for them", func(ctx context.Context, tx *db.Tx) error {
		out, err = selectWorking(ctx, tx, organizationIDs)
		return err
	})
	return out, err
}

// AfterCommit runs a function after the database transaction, without its context, because the function opens another one.
func AfterCommit(tx *db.Tx, fn func(context.Context) error) { afterCommit(tx, fn) }
