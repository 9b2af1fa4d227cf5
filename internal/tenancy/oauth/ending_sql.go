package oauth

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// selectActiveOf reads and locks the authorizations of a person that have not ended.
func selectActiveOf(ctx context.Context, tx *db.Tx, userID string) ([]Authorization, error) {
	return queryAuthorizations(ctx, tx, "user_id = ? AND ended_at IS NULL ORDER BY oauth_authorization_id {for_update}", userID)
}

// inOrder is the condition and the order of authorizations that are read in batches.
const inOrder = "(a.organization_id, a.oauth_authorization_id) > (?, ?) ORDER BY a.organization_id, a.oauth_authorization_id LIMIT ?"

// selectActiveOfClient finds authorizations of an app that have not ended, in all organizations.
func selectActiveOfClient(ctx context.Context, tx *db.Tx, clientID string, after place, limit int) ([]place, error) {
	return db.All[place](ctx, tx, "SELECT a.organization_id, a.oauth_authorization_id FROM oauth_authorizations a WHERE "+
		"a.oauth_client_id = ? AND a.ended_at IS NULL AND "+inOrder, clientID, after.OrganizationID, after.AuthorizationID, limit)
}

// selectActiveOfRevoked finds authorizations of apps that were revoked.
func selectActiveOfRevoked(ctx context.Context, tx *db.Tx, after place, limit int) ([]place, error) {
	return db.All[place](ctx, tx, "SELECT a.organization_id, a.oauth_authorization_id FROM oauth_clients c JOIN oauth_authorizations a ON "+
		"a.oauth_client_id = c.oauth_client_id WHERE c.revoked_at IS NOT NULL AND a.ended_at IS NULL AND "+inOrder, after.OrganizationID,
		after.AuthorizationID, limit)
}

// selectExpired finds authorizations whose last refresh token has expired.
func selectExpired(ctx context.Context, tx *db.Tx, now time.Time, after place, limit int) ([]place, error) {
	return db.All[place](ctx, tx, "SELECT a.organization_id, a.oauth_authorization_id FROM oauth_tokens t JOIN oauth_authorizations a ON "+
		"a.organization_id = t.organization_id AND a.oauth_authorization_id = t.oauth_authorization_id WHERE t.expires_at <= ? AND "+
		"t.kind = 'refresh' AND t.replaced_at IS NULL AND a.ended_at IS NULL AND "+inOrder, now, after.OrganizationID,
		after.AuthorizationID, limit)
}

func deleteTokens(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(ctx, "DELETE FROM oauth_tokens WHERE (organization_id, token_hash) IN (SELECT organization_id, token_hash FROM "+
		"oauth_tokens WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)", before, limit)
}

func deleteCodes(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(ctx, "DELETE FROM oauth_codes WHERE (organization_id, code_hash) IN (SELECT organization_id, code_hash FROM "+
		"oauth_codes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)", before, limit)
}

// deleteUnused deletes apps that have registered themselves before a time and that nobody has connected since.
func deleteUnused(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(ctx, "DELETE FROM oauth_clients WHERE oauth_client_id IN (SELECT c.oauth_client_id FROM oauth_clients c WHERE "+
		"c.registered_by = 'itself' AND c.created_at <= ? AND "+
		"NOT EXISTS (SELECT 1 FROM oauth_authorizations a WHERE a.oauth_client_id = c.oauth_client_id) AND "+
		"NOT EXISTS (SELECT 1 FROM oauth_codes o WHERE o.oauth_client_id = c.oauth_client_id) ORDER BY c.created_at LIMIT ?)", before, limit)
}

// countOwnRegistrations counts the apps that have registered themselves, up to a limit.
func countOwnRegistrations(ctx context.Context, tx *db.Tx, limit int) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM (SELECT 1 FROM oauth_clients WHERE registered_by = 'itself' LIMIT ?) "+
		"AS found", limit)
}

// lockClient returns an app that nobody else changes until the transaction ends.
func lockClient(ctx context.Context, tx *db.Tx, clientID string) (Client, error) {
	r, err := db.One[clientRow](ctx, tx, "OAuth client", "SELECT "+db.Columns[clientRow]()+
		" FROM oauth_clients WHERE oauth_client_id = ? {for_update}", clientID)
	return r.client(), err
}

// lockClients returns the apps of the organization that were not revoked, which nobody else changes until the transaction ends.
func lockClients(ctx context.Context, tx *db.Tx) ([]Client, error) {
	rows, err := db.All[clientRow](ctx, tx, "SELECT "+db.Columns[clientRow]()+
		" FROM oauth_clients WHERE registered_for = @org AND revoked_at IS NULL ORDER BY oauth_client_id {for_update}")
	out := make([]Client, len(rows))
	for i, r := range rows {
		out[i] = r.client()
	}
	return out, err
}

// countHolding counts those of some authorizations that have not ended and whose app was not revoked.
func countHolding(ctx context.Context, tx *db.Tx, authorizationIDs []string) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM oauth_authorizations a JOIN oauth_clients c ON "+
		"c.oauth_client_id = a.oauth_client_id WHERE a.organization_id = @org AND a.oauth_authorization_id {any} AND a.ended_at IS NULL AND "+
		"c.revoked_at IS NULL", authorizationIDs)
}

func updateClientRevoked(ctx context.Context, tx *db.Tx, c Client) error {
	_, err := tx.Exec(ctx, "UPDATE oauth_clients SET revoked_at = ? WHERE oauth_client_id = ?", c.RevokedAt, c.ID)
	return err
}

// countClients counts the apps of the organization that were not revoked.
func countClients(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM oauth_clients WHERE registered_for = @org AND revoked_at IS NULL")
}

func selectAllClients(ctx context.Context, tx *db.Tx, below string, limit int) ([]Client, error) {
	rows, err := db.All[clientRow](ctx, tx, "SELECT "+db.Columns[clientRow]()+" FROM oauth_clients WHERE oauth_client_id < ? "+
		"ORDER BY oauth_client_id DESC LIMIT ?", below, limit)
	out := make([]Client, len(rows))
	for i, r := range rows {
		out[i] = r.client()
	}
	return out, err
}
