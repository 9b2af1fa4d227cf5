package entity

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/reference"
)

// Delete deletes a legal entity that nothing refers to, with its intercompany accounts.
func (s *Service) Delete(ctx context.Context, legalEntityID string) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Touch(ctx, tx); err != nil {
			return err
		}
		e, err := Get(ctx, tx, legalEntityID)
		if err != nil {
			return err
		}
		uses, err := e.uses(ctx, tx)
		if err != nil {
			return err
		}
		if len(uses) > 0 {
			return fault.Conflictf("the legal entity %s cannot be deleted, because it is in use: %s", e.Name, strings.Join(uses, "; "))
		}
		if err := account.DeleteIntercompany(ctx, tx, e.ID); err != nil {
			return err
		}
		if err := reference.DeleteDependents(ctx, tx, table, e.ID); err != nil {
			return err
		}
		if err := remove(ctx, tx, e.ID); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "legal_entity.deleted", ResourceType: "legal_entity", ResourceID: e.ID, Before: e.facts()})
		return nil
	})
}

// uses describes everything that refers to the legal entity or to its intercompany accounts. To a limited key it does not count
// API keys, and does not count or name bookings of other legal entities.
func (e LegalEntity) uses(ctx context.Context, tx *db.Tx) (out []string, err error) {
	all, err := All(ctx, tx)
	if err != nil {
		return nil, err
	}
	if len(all) == 1 {
		out = append(out, "it is the only legal entity of the organization")
	}
	out = append(out, e.describeChildren(ctx, all)...)
	found, err := reference.To(ctx, tx, table, e.ID)
	if err != nil {
		return nil, err
	}
	limited := actor.From(ctx).Limited()
	for _, u := range found {
		if limited && u.Table == "api_keys" {
			out = append(out, "API keys limited to it")
			continue
		}
		out = append(out, u.String())
	}
	ofAccounts, err := account.IntercompanyUses(ctx, tx, e.ID)
	switch {
	case ofAccounts == "":
	case limited:
		out = append(out, "bookings on its intercompany accounts")
	default:
		out = append(out, ofAccounts)
	}
	return out, err
}

// describeChildren counts the legal entities whose parent this is, and names one. Those that the actor does not see are neither counted
// nor named.
func (e LegalEntity) describeChildren(ctx context.Context, all []LegalEntity) (out []string) {
	var seen []string
	hidden := false
	for _, other := range all {
		switch {
		case other.ParentID != e.ID:
		case actor.From(ctx).Sees(other.ID):
			seen = append(seen, other.Name)
		default:
			hidden = true
		}
	}
	switch len(seen) {
	case 0:
	case 1:
		out = append(out, "1 legal entity below it, for example "+seen[0])
	default:
		out = append(out, fmt.Sprintf("%d legal entities below it, for example %s", len(seen), seen[0]))
	}
	if hidden {
		out = append(out, "legal entities below it that the API key has no access to")
	}
	return out
}
