package access

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// ExistingUsers returns the users of the database that have the id or the address of one of some imported users.
func ExistingUsers(ctx context.Context, tx *db.Tx, imported []UserAddress) ([]UserAddress, error) {
	ids, emails := make([]string, len(imported)), make([]string, len(imported))
	for n, u := range imported {
		ids[n], emails[n] = u.UserID, u.Email
	}
	type row struct {
		UserID string `db:"user_id"`
		Email  string `db:"email"`
	}
	byID, err := db.All[row](ctx, tx, "SELECT user_id, email FROM users WHERE user_id {any}", ids)
	if err != nil {
		return nil, err
	}
	byEmail, err := db.All[row](ctx, tx, "SELECT user_id, email FROM users WHERE email {any}", emails)
	var out []UserAddress
	for _, r := range append(byID, byEmail...) {
		out = append(out, UserAddress(r))
	}
	return out, err
}
