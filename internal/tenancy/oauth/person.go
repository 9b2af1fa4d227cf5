package oauth

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// ownAppsMax bounds how many apps of a person are listed, of all organizations together.
const ownAppsMax = 500

// OfPerson lists what a person has allowed apps in some organizations and not ended, by organization, the newest first. It does not
// authorize anybody: the organizations must be those that the person is a member of.
func (s *Service) OfPerson(ctx context.Context, userID string, organizationIDs []string) (out []Authorization, err error) {
	if len(organizationIDs) == 0 {
		return nil, nil
	}
	err = s.db.ReadAcross(ctx, "a person sees their apps of all organizations", func(ctx context.Context, tx *db.Tx) error {
		if out, err = selectOfPerson(ctx, tx, userID, organizationIDs, ownAppsMax); err != nil || len(out) == 0 {
			return err
		}
		used, err := access.LastUsesIn(ctx, tx, organizationIDs, idsOf(out))
		setLastUses(out, used)
		return err
	})
	return out, err
}

// idsOf returns the ids of authorizations.
func idsOf(all []Authorization) []string {
	ids := make([]string, len(all))
	for i, a := range all {
		ids[i] = a.ID
	}
	return ids
}

// setLastUses sets when apps were used last.
func setLastUses(all []Authorization, used map[string]access.Use) {
	for i, a := range all {
		if use, ok := used[a.ID]; ok {
			all[i].LastUse = &use
		}
	}
}

// addPeople sets whom apps act for. People who are no longer members stay without a name.
func addPeople(ctx context.Context, tx *db.Tx, all []Authorization) error {
	ids := make([]string, len(all))
	for i, a := range all {
		ids[i] = a.UserID
	}
	found, err := access.MembersByID(ctx, tx, ids)
	for i, a := range all {
		all[i].UserEmail, all[i].UserName = found[a.UserID].Email, found[a.UserID].Name
	}
	return err
}
