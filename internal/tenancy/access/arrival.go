package access

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
)

// An organization arrives with its archive from another database. These are the building blocks for what then becomes of its people and
// API keys.

// Arriving is a user as an archive has it.
type Arriving struct {
	UserID string
	Email  string
	Name   string
}

// unreachable is the domain of addresses that no mail can be sent to (RFC 2606).
const unreachable = "moved.invalid"

// PlaceholderEmail is the address of a user that arrives with an address which another user has already.
func PlaceholderEmail(userID string) string { return userID + "@" + unreachable }

// Problem returns what is wrong with a user that an archive has, or an empty text.
func (a Arriving) Problem() string {
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
