package firm

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// Knows reports whether a firm is in this database and has a record that says that an organization is its client. An organization that
// is imported from another database stays the client of such a firm.
func (s *Service) Knows(ctx context.Context, firmOrganizationID, clientID, organizationID string) (bool, error) {
	var c Client
	err := s.db.ReadOne(ctx, firmOrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		c, err = FindClient(ctx, tx, clientID)
		return err
	})
	if err != nil {
		return false, ignoreMissing(err)
	}
	return c.Status == Active && c.OrganizationID == organizationID, nil
}

// EndUnknownAccess ends the access of the firm that an imported organization was the client of, and that does not know it in this database.
// It reports whether there was one. Nothing is done at the firm. It is a building block.
func (s *Service) EndUnknownAccess(ctx context.Context, tx *db.Tx) (ended bool, err error) {
	before, err := FindActive(ctx, tx)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return false, err
	}
	switch owners, err := access.OwnerEmails(ctx, tx); {
	case err != nil:
		return false, err
	case len(owners) == 0:
		return false, fault.Conflictf("nobody would own the books: they have no owner, and the firm that keeps them is not in this database. " +
			"Add an owner where they are now, with `bursar members add --role owner`, and export them again; or import the firm first")
	}
	_, err = s.endHere(ctx, tx, before)
	return true, err
}
