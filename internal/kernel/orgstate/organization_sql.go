package orgstate

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// Organization is the row of an organization. Packages below tenancy need its time zone, so it is stored here; the package
// tenancy/organization has the use cases.
type Organization struct {
	ID               string     `db:"organization_id"`
	Name             string     `db:"name"`
	WebAddress       *string    `db:"web_address"`
	Timezone         string     `db:"timezone"`
	TimeFormat       string     `db:"time_format"`
	OnboardingStatus *string    `db:"onboarding_status"`
	LogoURL          *string    `db:"logo_url"`
	CreatedAt        time.Time  `db:"created_at"`
	UpdatedAt        *time.Time `db:"updated_at"`
}

var selectOrganization = "SELECT " + db.Columns[Organization]() + " FROM organizations WHERE organization_id = @org"

// InsertOrganization stores a new organization.
func InsertOrganization(ctx context.Context, tx *db.Tx, o Organization) error {
	return db.Insert(ctx, tx, "organizations", o)
}

// FindOrganization returns the organization of the transaction.
func FindOrganization(ctx context.Context, tx *db.Tx) (Organization, error) {
	return db.One[Organization](ctx, tx, "organization", selectOrganization)
}

// LockOrganization returns the organization of the transaction and keeps others from changing it until the transaction ends.
func LockOrganization(ctx context.Context, tx *db.Tx) (Organization, error) {
	return db.One[Organization](ctx, tx, "organization", selectOrganization+" {for_update}")
}

// UpdateOrganization stores what users may change of an organization.
func UpdateOrganization(ctx context.Context, tx *db.Tx, o Organization) error {
	_, err := tx.Exec(ctx, "UPDATE organizations SET name = ?, web_address = ?, timezone = ?, time_format = ?, logo_url = ?, "+
		"updated_at = ? WHERE organization_id = @org",
		o.Name, o.WebAddress, o.Timezone, o.TimeFormat, o.LogoURL, o.UpdatedAt)
	return err
}

// Timezone returns the IANA name of the time zone of the organization.
func Timezone(ctx context.Context, tx *db.Tx) (string, error) {
	return db.One[string](ctx, tx, "organization", "SELECT timezone FROM organizations WHERE organization_id = @org")
}

// OrganizationIDs returns the ids of the organizations in the database, at most limit of them. It needs a transaction across organizations.
func OrganizationIDs(ctx context.Context, tx *db.Tx, limit int) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT organization_id FROM organizations ORDER BY organization_id LIMIT ?", limit)
}

// Firm says of which firm an organization is a client, and since when it is a firm itself.
type Firm struct {
	FirmID *string    `db:"firm_organization_id"`
	Since  *time.Time `db:"firm_since"`
}

// FindFirm returns whether the organization is a firm, or a client of one.
func FindFirm(ctx context.Context, tx *db.Tx) (Firm, error) {
	return db.One[Firm](ctx, tx, "organization", "SELECT firm_organization_id, firm_since FROM organizations WHERE organization_id = @org")
}

// SetFirm stores the firm that the organization is a client of; an empty one means none.
func SetFirm(ctx context.Context, tx *db.Tx, firmID string) error {
	_, err := tx.Exec(ctx, "UPDATE organizations SET firm_organization_id = ? WHERE organization_id = @org", db.OrNull(firmID))
	return err
}

// BecomeFirm notes that the organization is a firm from now on.
func BecomeFirm(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, "UPDATE organizations SET firm_since = ? WHERE organization_id = @org", tx.Now())
	return err
}
