package organization

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type row struct {
	OrganizationID   string     `db:"organization_id"`
	Name             string     `db:"name"`
	WebAddress       *string    `db:"web_address"`
	Timezone         string     `db:"timezone"`
	TimeFormat       string     `db:"time_format"`
	OnboardingStatus *string    `db:"onboarding_status"`
	LogoURL          *string    `db:"logo_url"`
	CreatedAt        time.Time  `db:"created_at"`
	UpdatedAt        *time.Time `db:"updated_at"`
}

func toRow(o Organization) row {
	return row{OrganizationID: o.ID, Name: o.Name, WebAddress: db.OrNull(o.WebAddress), Timezone: o.Timezone, TimeFormat: o.TimeFormat,
		OnboardingStatus: db.OrNull(o.OnboardingStatus), LogoURL: db.OrNull(o.LogoURL), CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt}
}

func (r row) organization() Organization {
	return Organization{ID: r.OrganizationID, Name: r.Name, WebAddress: db.OrEmpty(r.WebAddress), Timezone: r.Timezone,
		TimeFormat: r.TimeFormat, OnboardingStatus: db.OrEmpty(r.OnboardingStatus), LogoURL: db.OrEmpty(r.LogoURL),
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
}

var selectOne = "SELECT " + db.Columns[row]() + " FROM organizations WHERE organization_id = @org"

func insert(ctx context.Context, tx *db.Tx, o Organization) error {
	return db.Insert(ctx, tx, "organizations", toRow(o))
}

func find(ctx context.Context, tx *db.Tx) (Organization, error) {
	r, err := db.One[row](ctx, tx, "organization", selectOne)
	return r.organization(), err
}

// lock reads the organization and keeps others from changing it until the transaction ends.
func lock(ctx context.Context, tx *db.Tx) (Organization, error) {
	r, err := db.One[row](ctx, tx, "organization", selectOne+" {for_update}")
	return r.organization(), err
}

func update(ctx context.Context, tx *db.Tx, o Organization) error {
	_, err := tx.Exec(ctx, "UPDATE organizations SET name = ?, web_address = ?, timezone = ?, time_format = ?, logo_url = ?, "+
		"updated_at = ? WHERE organization_id = @org",
		o.Name, db.OrNull(o.WebAddress), o.Timezone, o.TimeFormat, db.OrNull(o.LogoURL), o.UpdatedAt)
	return err
}

func selectIDs(ctx context.Context, tx *db.Tx, limit int) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT organization_id FROM organizations ORDER BY organization_id LIMIT ?", limit)
}

type firmRow struct {
	FirmID *string    `db:"firm_organization_id"`
	Since  *time.Time `db:"firm_since"`
}

func findFirm(ctx context.Context, tx *db.Tx) (firmRow, error) {
	return db.One[firmRow](ctx, tx, "organization", "SELECT firm_organization_id, firm_since FROM organizations WHERE organization_id = @org")
}

func updateFirm(ctx context.Context, tx *db.Tx, firmID string) error {
	_, err := tx.Exec(ctx, "UPDATE organizations SET firm_organization_id = ? WHERE organization_id = @org", firmID)
	return err
}

func updateFirmSince(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, "UPDATE organizations SET firm_since = ? WHERE organization_id = @org", tx.Now())
	return err
}
