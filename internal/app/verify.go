package app

import (
	"context"

	"github.com/bursarhq/bursar/internal/area/access"
	"github.com/bursarhq/bursar/internal/area/account"
	"github.com/bursarhq/bursar/internal/area/asset"
	"github.com/bursarhq/bursar/internal/area/assetpolicy"
	"github.com/bursarhq/bursar/internal/area/audit"
	"github.com/bursarhq/bursar/internal/area/booking"
	"github.com/bursarhq/bursar/internal/area/classification"
	"github.com/bursarhq/bursar/internal/area/entity"
	"github.com/bursarhq/bursar/internal/area/event"
	"github.com/bursarhq/bursar/internal/area/fx"
	"github.com/bursarhq/bursar/internal/area/holdings"
	"github.com/bursarhq/bursar/internal/area/imports"
	"github.com/bursarhq/bursar/internal/area/journal"
	"github.com/bursarhq/bursar/internal/area/memory"
	"github.com/bursarhq/bursar/internal/area/period"
	"github.com/bursarhq/bursar/internal/area/price"
	"github.com/bursarhq/bursar/internal/area/revaluation"
	"github.com/bursarhq/bursar/internal/area/source"
	"github.com/bursarhq/bursar/internal/area/spam"
	"github.com/bursarhq/bursar/internal/area/tag"
	"github.com/bursarhq/bursar/internal/area/transfers"
	"github.com/bursarhq/bursar/internal/area/txn"
	"github.com/bursarhq/bursar/internal/db"
)

// checks is every invariant there is: each recomputes one from an organization's data and says in sentences what is broken.
var checks = []func(context.Context, *db.Tx) ([]string, error){
	audit.Check,
	event.Check,
	access.Check,
	period.Check,
	journal.Check,
	account.Check,
	entity.Check,
	tag.Check,
	memory.Check,
	assetpolicy.Check,
	source.Check,
	fx.Check,
	revaluation.Check,
	price.Check,
	holdings.Check,
	txn.Check,
	spam.Check,
	transfers.Check,
	imports.Check,
	classification.Check,
	asset.Check,
	booking.Check,
}

// Finding is one broken invariant.
type Finding struct {
	OrganizationID string
	Text           string
}

// Verify recomputes every invariant of every organization, telling each how far it is.
func (a *App) Verify(ctx context.Context, progress func(done, total int)) ([]Finding, error) {
	ids, err := a.Org.All(ctx)
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
