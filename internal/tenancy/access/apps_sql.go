package access

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// MembersByID returns those of some users who are members of the organization, by their ids. It is a building block.
func MembersByID(ctx context.Context, tx *db.Tx, userIDs []string) (map[string]Member, error) {
	rows, err := db.All[memberUserRow](ctx, tx, memberQuery+" AND m.user_id {any}", userIDs)
	out := make(map[string]Member, len(rows))
	for _, r := range rows {
		out[r.UserID] = r.member()
	}
	return out, err
}

// LastUsesIn is LastUses for credentials of several organizations. It is a building block for a transaction that is bound to none.
func LastUsesIn(ctx context.Context, tx *db.Tx, organizationIDs, credentialIDs []string) (map[string]Use, error) {
	rows, err := db.All[useRow](ctx, tx, "SELECT "+db.Columns[useRow]()+" FROM credential_uses WHERE organization_id {any} AND "+
		"credential_id {any}", organizationIDs, credentialIDs)
	out := make(map[string]Use, len(rows))
	for _, r := range rows {
		out[r.CredentialID] = Use{r.UsedAt, r.Address}
	}
	return out, err
}
