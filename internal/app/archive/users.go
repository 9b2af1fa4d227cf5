package archive

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// Users is what has become of the users of an archive.
type Users struct {
	Added int       // who must set a password
	Kept  int       // who were in the database, with the same id
	Moved []Renamed // whose address another user has here
}

// Renamed is a user who was added under an address that no mail can be sent to, because another user has the address here.
type Renamed struct{ UserID, Email, Placeholder string }

// storeUsers stores some users. One that is in the database already, with the same id, stays as it is. One whose address another user
// has is stored with an address that no mail can be sent to, so that nobody gets the access of somebody else.
func (i *importing) storeUsers(ctx context.Context, tx *db.Tx, of db.ArchivedTable, rows [][]any) error {
	l, err := of.Layout()
	if err != nil {
		return err
	}
	names := l.Names()
	idAt, emailAt := slices.Index(names, "user_id"), slices.Index(names, "email")
	imported := make([]access.UserAddress, len(rows))
	for n, values := range rows {
		one := access.UserAddress{UserID: values[idAt].(string), Email: values[emailAt].(string)}
		if problem := one.Problem(); problem != "" {
			return damaged("the user %s: %s", printable(one.UserID), problem)
		}
		imported[n] = one
	}
	existing, err := access.ExistingUsers(ctx, tx, imported)
	if err != nil {
		return err
	}
	var added [][]any
	for n, one := range imported {
		switch {
		case slices.ContainsFunc(existing, func(u access.UserAddress) bool { return u.UserID == one.UserID }):
			i.Users.Kept++
			i.changed = append(i.changed, one.UserID)
			continue
		case slices.ContainsFunc(existing, func(u access.UserAddress) bool { return u.Email == one.Email }):
			placeholder := access.PlaceholderEmail(one.UserID)
			rows[n][emailAt] = placeholder
			i.Users.Moved = append(i.Users.Moved, Renamed{one.UserID, one.Email, placeholder})
			i.changed = append(i.changed, one.UserID)
		default:
			i.Users.Added++
		}
		added = append(added, rows[n])
	}
	_, err = db.InsertArchived(ctx, tx, of, added)
	return err
}

// recordMembers has the audit log state the members whose users are not as the archive has them, or were not as its audit log states.
func (i *importing) recordMembers(ctx context.Context, tx *db.Tx) error {
	all := append(slices.Clone(i.changed), i.from.Unrecorded...)
	slices.Sort(all)
	for _, userID := range slices.Compact(all) {
		if err := access.RecordMember(ctx, tx, userID); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	return nil
}
