package firm

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// selectWork reads the clients for which somebody of a firm works, in a transaction across organizations.
func selectWork(ctx context.Context, tx *db.Tx, who actor.Actor, clientIDs []string) ([]Work, error) {
	q := db.Select("SELECT p.firm_client_id, p.organization_id AS client_organization_id"+FromRoles+
		"WHERE p.user_id = ? AND p.firm_organization_id = ?", who.UserID, who.OrganizationID)
	if clientIDs != nil {
		q.And("p.firm_client_id {any}", clientIDs)
	}
	return db.All[Work](ctx, tx, q.Then("ORDER BY p.firm_client_id"), q.Args...)
}

// selectAllWork reads the clients that have given a firm access, in a transaction across organizations.
func selectAllWork(ctx context.Context, tx *db.Tx, firmOrganizationID string) ([]Work, error) {
	return db.All[Work](ctx, tx, "SELECT c.firm_client_id, a.organization_id AS client_organization_id FROM firm_clients c "+
		"JOIN firm_access a ON a.organization_id = c.client_organization_id AND a.firm_client_id = c.firm_client_id AND a.status = 'active' "+
		"AND a.firm_organization_id = c.organization_id WHERE c.organization_id = ? ORDER BY c.firm_client_id", firmOrganizationID)
}

// selectWorking reads the access of the firms that work for some organizations, in a transaction across organizations.
func selectWorking(ctx context.Context, tx *db.Tx, organizationIDs []string) (map[string]Access, error) {
	rows, err := db.All[struct {
		OrganizationID     string    `db:"organization_id"`
		ClientID           string    `db:"firm_client_id"`
		FirmOrganizationID string    `db:"firm_organization_id"`
		FirmID             string    `db:"firm_id"`
		FirmName           string    `db:"firm_name"`
		GrantedAt          time.Time `db:"granted_at"`
	}](ctx, tx, "SELECT a.organization_id, a.firm_client_id, a.firm_organization_id, a.firm_id, f.firm_name, a.granted_at FROM firm_access a "+
		"JOIN firms f ON f.organization_id = a.firm_organization_id WHERE a.organization_id {any} AND a.status = 'active'", organizationIDs)
	out := map[string]Access{}
	for _, r := range rows {
		out[r.OrganizationID] = Access{ClientID: r.ClientID, FirmOrganizationID: r.FirmOrganizationID, FirmID: r.FirmID, FirmName: r.FirmName,
			Status: Active, GrantedAt: r.GrantedAt}
	}
	return out, err
}
