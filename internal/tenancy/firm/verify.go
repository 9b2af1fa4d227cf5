package firm

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Verify returns the violated invariants of an organization as a firm and as the client of one.
func Verify(ctx context.Context, tx *db.Tx) (problems []string, err error) {
	o, err := orgstate.FindFirm(ctx, tx)
	if err != nil {
		return nil, err
	}
	a, err := FindActive(ctx, tx)
	if err = ignoreMissing(err); err != nil {
		return nil, err
	}
	if a.FirmOrganizationID != "" && a.FirmOrganizationID != db.OrEmpty(o.FirmID) {
		problems = append(problems, "firms: the firm whose documents the organization reads is not the one that has access to it")
	}
	strays, err := countStrays(ctx, tx)
	if err != nil {
		return nil, err
	}
	if strays > 0 {
		problems = append(problems, "firms: somebody has a role by an access that has ended")
	}
	switch _, err := selectSettings(ctx, tx); {
	case err == nil && o.Since == nil:
		problems = append(problems, "firms: the organization has firm settings and is not marked as a firm")
	case err != nil && fault.KindOf(err) != fault.NotFound:
		return nil, err
	}
	return problems, nil
}
