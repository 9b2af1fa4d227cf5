package organization

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

func toRow(o Organization) orgstate.Organization {
	return orgstate.Organization{ID: o.ID, Name: o.Name, WebAddress: db.OrNull(o.WebAddress), Timezone: o.Timezone,
		TimeFormat: o.TimeFormat, OnboardingStatus: db.OrNull(o.OnboardingStatus), LogoURL: db.OrNull(o.LogoURL),
		CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt}
}

func fromRow(r orgstate.Organization) Organization {
	return Organization{ID: r.ID, Name: r.Name, WebAddress: db.OrEmpty(r.WebAddress), Timezone: r.Timezone,
		TimeFormat: r.TimeFormat, OnboardingStatus: db.OrEmpty(r.OnboardingStatus), LogoURL: db.OrEmpty(r.LogoURL),
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
}

func find(ctx context.Context, tx *db.Tx) (Organization, error) {
	r, err := orgstate.FindOrganization(ctx, tx)
	return fromRow(r), err
}

// lock reads the organization and locks its row until the database transaction ends.
func lock(ctx context.Context, tx *db.Tx) (Organization, error) {
	r, err := orgstate.LockOrganization(ctx, tx)
	return fromRow(r), err
}
