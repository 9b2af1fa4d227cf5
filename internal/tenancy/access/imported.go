package access

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
)

// These are building blocks for the import of an organization from another database: what becomes of its people and API keys.

// UserAddress is a user, and the address of that user.
type UserAddress struct {
	UserID string
	Email  string
}

// unreachable is the domain of addresses that no mail can be sent to (RFC 2606).
const unreachable = "moved.invalid"

// PlaceholderEmail is the address of an imported user whose address an existing user has.
func PlaceholderEmail(userID string) string { return userID + "@" + unreachable }

// Problem returns what is wrong with a user of an archive, or an empty text.
func (a UserAddress) Problem() string {
	if !id.Valid(id.User, a.UserID) {
		return "its id is not that of a user"
	}
	if normal, err := NormalEmail(a.Email); err != nil || normal != a.Email {
		return "its email address is not valid"
	}
	return ""
}

// RevokeAll revokes every API key of the organization, and returns how many it revoked.
func (s *Service) RevokeAll(ctx context.Context, tx *db.Tx) (int, error) {
	keys, err := queryKeys(ctx, tx, "revoked_at IS NULL ORDER BY api_key_id")
	if err != nil {
		return 0, err
	}
	for _, k := range keys {
		if err := s.revoke(ctx, tx, k); err != nil {
			return 0, err
		}
	}
	return len(keys), nil
}
