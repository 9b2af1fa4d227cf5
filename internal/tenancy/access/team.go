package access

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// UpdateMemberParams describe a change of a member. What is nil does not change.
type UpdateMemberParams struct {
	Role           *actor.Role
	LegalEntityIDs *[]string // empty means all
}

// UpdateMember changes the role of a member, or the legal entities that the member is limited to. Their keys and apps can do no more than
// they can from then on.
func (s *Service) UpdateMember(ctx context.Context, userID string, p UpdateMemberParams) (m Member, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // so that no other owner goes and no legal entity is deleted meanwhile
			return err
		}
		before, err := FindMember(ctx, tx, userID)
		if err != nil {
			return err
		}
		m = before
		if p.Role != nil {
			m.Role = *p.Role
		}
		if p.LegalEntityIDs != nil {
			m.LegalEntityIDs = append([]string{}, *p.LegalEntityIDs...)
		}
		if p.LegalEntityIDs == nil && m.Role == actor.Owner && len(m.LegalEntityIDs) > 0 {
			return fault.Invalidf("role", "cannot be owner while the member is limited to some legal entities: remove that limit too")
		}
		if err := CheckMembership(ctx, tx, m.Role, m.LegalEntityIDs); err != nil {
			return err
		}
		if err := authorizeChange(ctx, tx, before, m.Role); err != nil {
			return err
		}
		if m.Role == before.Role && slices.Equal(m.LegalEntityIDs, before.LegalEntityIDs) {
			return nil
		}
		if err := updateMember(ctx, tx, m); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "member.updated", ResourceType: "member", ResourceID: m.UserID, Before: before.facts(),
			After: m.facts(), Object: m})
		return s.memberChanged(ctx, tx, m)
	})
	return m, err
}

// CheckMembership returns a fault for a role that does not exist, for legal entities that do not exist or are not visible to the actor, and
// for an owner who is limited to some. It is a building block.
func CheckMembership(ctx context.Context, tx *db.Tx, role actor.Role, legalEntityIDs []string) error {
	var faults fault.List
	if !slices.Contains(actor.Roles, role) {
		faults.Addf("role", "must be one of %s, but is %q", fault.Choices(actor.Roles), role)
	}
	for i, one := range legalEntityIDs {
		_, err := entity.Get(ctx, tx, one)
		if err := faults.MergeMissing(err, fmt.Sprintf("legal_entity_ids[%d]", i)); err != nil {
			return err
		}
		if slices.Contains(legalEntityIDs[:i], one) {
			faults.Addf(fmt.Sprintf("legal_entity_ids[%d]", i), "is in the list twice")
		}
	}
	if role == actor.Owner && len(legalEntityIDs) > 0 {
		faults.Addf("legal_entity_ids", "must be empty for an owner, who has access to all: name none, or choose another role")
	}
	return faults.Err()
}

// RemoveMember ends the membership of a person in the actor's organization, revokes the person's keys and all that were created with them,
// and ends what the person has allowed apps to do. It returns the member, and how many keys it revoked. Owners and admins remove others,
// and everybody can leave. The only owner cannot be removed.
func (s *Service) RemoveMember(ctx context.Context, userID string) (m Member, revoked int, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // as CreateKey does, so that no key is created meanwhile
			return err
		}
		if m, err = FindMember(ctx, tx, userID); err != nil {
			return err
		}
		if err := MayRemove(actor.From(ctx), m.UserID); err != nil {
			return err
		}
		if m.Role == actor.Owner || !isSelf(actor.From(ctx), m.UserID) {
			if err := authorizeChange(ctx, tx, m, ""); err != nil {
				return err
			}
		}
		keys, err := selectKeysOf(ctx, tx, m.UserID)
		if err != nil {
			return err
		}
		if revoked, err = revokeFamilies(ctx, tx, keys, s.revoke); err != nil {
			return err
		}
		if s.EndAuthorizations != nil {
			if err := s.EndAuthorizations(ctx, tx, m.UserID); err != nil {
				return err
			}
		}
		if err := deleteMember(ctx, tx, m.UserID); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "member.removed", ResourceType: "member", ResourceID: m.UserID, Before: m.facts()})
		former := m
		former.Role = ""
		return s.memberChanged(ctx, tx, former)
	})
	return m, revoked, err
}

// MayRemove returns a Forbidden fault if an actor may not remove a user from the organization whatever the user's role is. People who
// cannot remove others, or see some legal entities only, can remove themselves.
func MayRemove(who actor.Actor, userID string) error {
	if isSelf(who, userID) || isOperator(who) {
		return nil
	}
	if who.Role != actor.Owner && who.Role != actor.Admin {
		return fault.Forbiddenf("the role %s does not allow to remove others: you can remove yourself only", who.Role)
	}
	return who.RequireUnlimited()
}

// CheckRemoval returns the faults of a removal that are known before it: that the actor may not remove the user, or that the user is no
// member.
func (s *Service) CheckRemoval(ctx context.Context, userID string) error {
	who := actor.From(ctx)
	if err := MayRemove(who, userID); err != nil {
		return err
	}
	return s.db.ReadOne(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		_, err := FindMember(ctx, tx, userID)
		return err
	})
}

// isSelf reports whether an actor is, or acts for, a user.
func isSelf(who actor.Actor, userID string) bool { return userID != "" && who.UserID == userID }

// MemberIDByEmail returns the user id of the member of the actor's organization with an email address. It is for the operator of the
// service, who knows people by their addresses.
func (s *Service) MemberIDByEmail(ctx context.Context, address string) (userID string, err error) {
	email, err := NormalEmail(address)
	if err != nil {
		return "", err
	}
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		m, err := MemberByEmail(ctx, tx, email)
		userID = m.UserID
		return err
	})
	return userID, err
}

// authorizeChange returns a fault if the actor may not give a member a role, of which an empty one means that the member is removed: only
// an owner makes, changes or removes an owner, and one remains. What the actor may do is read again, because it may have changed since the
// request was authenticated.
func authorizeChange(ctx context.Context, tx *db.Tx, m Member, to actor.Role) error {
	who := actor.From(ctx)
	touchesOwner := m.Role == actor.Owner || to == actor.Owner
	if touchesOwner && !isOperator(who) && who.Role != actor.Owner {
		return errOwnersOnly
	}
	if m.Role == actor.Owner && to != actor.Owner {
		switch owners, err := countRole(ctx, tx, actor.Owner); {
		case err != nil:
			return err
		case owners == 1:
			return fault.Conflictf("%s is the only owner of the organization, which needs one: add another owner first", m.Email)
		}
	}
	role, err := RoleNow(ctx, tx)
	switch {
	case err != nil:
		return err
	case touchesOwner && role != actor.Owner:
		return errOwnersOnly
	case role != actor.Owner && role != actor.Admin:
		return fault.Forbiddenf("the role %s does not allow this: it is for the role owner or admin", role)
	}
	return nil
}

var errOwnersOnly = fault.Forbiddenf("only an owner can make somebody an owner, or change or remove one")

// isOperator reports whether the actor is the operator of the service on the command line, who shows no key and is no user.
func isOperator(who actor.Actor) bool { return who.UserID == "" && who.CredentialID() == "" }

// RoleNow returns the role that the actor has now. The operator of the service may do what an owner may. The error is Forbidden for
// somebody who is no longer a member. It is a building block.
func RoleNow(ctx context.Context, tx *db.Tx) (actor.Role, error) {
	who := actor.From(ctx)
	if isOperator(who) {
		return actor.Owner, nil
	}
	role, err := selectRole(ctx, tx, who.UserID)
	if fault.KindOf(err) == fault.NotFound {
		return "", fault.Forbiddenf("you are no longer a member of the organization")
	}
	return role, err
}
