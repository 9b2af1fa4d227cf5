package organization

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// FirmOf returns the id of the firm that an organization is a client of, or an empty one. It is a building block.
func FirmOf(ctx context.Context, tx *db.Tx) (string, error) {
	f, err := orgstate.FindFirm(ctx, tx)
	return db.OrEmpty(f.FirmID), err
}

// IsFirm reports whether an organization has clients. It is a building block.
func IsFirm(ctx context.Context, tx *db.Tx) (bool, error) {
	f, err := orgstate.FindFirm(ctx, tx)
	return f.Since != nil, err
}

// markAsFirm stores that an organization has clients. This is a property of the firm's own row, because a query about
// one organization must not read others.
func (s *Service) markAsFirm(ctx context.Context, organizationID string) error {
	missing := fault.Missing("firm")
	if !id.Valid(id.Organization, organizationID) {
		return missing
	}
	err := s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		f, err := orgstate.FindFirm(ctx, tx)
		if err != nil || f.Since != nil {
			return err
		}
		if err := orgstate.BecomeFirm(ctx, tx); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{
			Action: "organization.updated", ResourceType: "organization", ResourceID: organizationID,
			Before: map[string]any{"id": organizationID, "is_firm": false}, After: map[string]any{"id": organizationID, "is_firm": true},
		})
		return nil
	})
	if fault.KindOf(err) == fault.NotFound {
		return missing
	}
	return err
}
