package access

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
)

// Resident is a user that is in the database already, with the id or the address of one that arrives.
type Resident struct{ Arriving }

// Residents returns the users that have the id or the address of one of some that arrive.
func Residents(ctx context.Context, tx *db.Tx, arriving []Arriving) ([]Resident, error) {
	ids, emails := make([]string, len(arriving)), make([]string, len(arriving))
	for n, a := range arriving {
		ids[n], emails[n] = a.UserID, a.Email
	}
	var out []Resident
	for _, q := range []struct {
		condition string
		values    []string
	}{{"user_id {any}", ids}, {"email {any}", emails}} {
		rows, err := db.All[userRow](ctx, tx, "SELECT user_id, email, name, created_at FROM users WHERE "+q.condition, q.values)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			out = append(out, Resident{Arriving{r.UserID, r.Email, db.OrEmpty(r.Name)}})
		}
	}
	return out, nil
}
