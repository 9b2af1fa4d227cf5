package firm

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// selectWorking reads which firms work for some organizations, in a transaction across organizations.
func selectWorking(ctx context.Context, tx *db.Tx, organizationIDs []string) (map[string]Settings, error) {
	rows, err := db.All[struct {
		OrganizationID     string `db:"organization_id"`
		FirmOrganizationID string `db:"firm_organization_id"`
		FirmID             string `db:"firm_id"`
		FirmName           string `db:"firm_name"`
	}](ctx, tx, "SELECT a.organization_id, a.firm_organization_id, a.firm_id, f.firm_name FROM firm_access a "+
		"JOIN firms f ON f.organization_id = a.firm_organization_id WHERE a.organization_id {any} AND a.status = 'active'", organizationIDs)
	out := map[string]Settings{}
	for _, r := range rows {
		out[r.OrganizationID] = Settings{ID: r.FirmID, OrganizationID: r.FirmOrganizationID, FirmName: r.FirmName}
	}
	return out, err
}
