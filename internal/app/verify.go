package app

import (
	"context"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/automation/classification"
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/spam"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

// checks lists the verification of every package: each recomputes the invariants of an organization's data and describes
// those that are broken.
var checks = []func(context.Context, *db.Tx) ([]string, error){
	audit.Verify,
	outbox.Verify,
	access.Verify,
	period.Verify,
	journal.Verify,
	account.Verify,
	entity.Verify,
	tag.Verify,
	memory.Verify,
	assetpolicy.Verify,
	source.Verify,
	fx.Verify,
	revaluation.Verify,
	price.Verify,
	holdings.Verify,
	transaction.Verify,
	spam.Verify,
	transfers.Verify,
	imports.Verify,
	classification.Verify,
	replay.Verify,
	booking.Verify,
}

// Finding is one broken invariant.
type Finding struct {
	OrganizationID string
	Text           string
}

// Verify recomputes every invariant of every organization. It calls progress, if not nil, after each organization.
func (a *App) Verify(ctx context.Context, progress func(done, total int)) ([]Finding, error) {
	ids, err := a.Org.IDs(ctx)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for i, id := range ids {
		found, err := a.verifyOne(ctx, id)
		if out = append(out, found...); err != nil {
			return out, err
		}
		if progress != nil {
			progress(i+1, len(ids))
		}
	}
	return out, nil
}

// verifyOne recomputes every invariant of an organization.
func (a *App) verifyOne(ctx context.Context, organizationID string) (out []Finding, err error) {
	err = a.DB.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		for _, check := range checks {
			texts, err := check(ctx, tx)
			if err != nil {
				return err
			}
			for _, text := range texts {
				out = append(out, Finding{organizationID, text})
			}
		}
		return nil
	})
	return out, err
}
