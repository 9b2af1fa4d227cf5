package firmrequest

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// CountPending counts the pending requests of a firm to some of its clients, in a transaction across organizations. Clients without one are
// left out.
func CountPending(ctx context.Context, tx *db.Tx, firmOrganizationID string, clientIDs []string) (map[string]int64, error) {
	rows, err := db.All[struct {
		ClientID string `db:"firm_client_id"`
		Count    int64  `db:"n"`
	}](ctx, tx, "SELECT firm_client_id, count(*) AS n FROM firm_requests WHERE organization_id = ? AND status = 'pending' AND expires_at > ? "+
		"AND firm_client_id {any} GROUP BY firm_client_id", firmOrganizationID, tx.Now(), clientIDs)
	out := make(map[string]int64, len(rows))
	for _, r := range rows {
		out[r.ClientID] = r.Count
	}
	return out, err
}
