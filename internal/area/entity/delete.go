package entity

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/audit"
	"github.com/bursarhq/bursar/internal/area/head"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// Delete removes a legal entity that nothing refers to, with the accounts other entities would owe it by.
func (s *Service) Delete(ctx context.Context, legalEntityID string) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := head.Touch(ctx, tx); err != nil {
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
			return fault.Conflictf("the legal entity is in use: %s", strings.Join(uses, "; "))
		}
		for _, a := range accountsOf(e.ID) {
			if err := dropAccount(ctx, tx, a); err != nil {
				return err
			}
		}
		if err := remove(ctx, tx, e.ID); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "legal_entity.deleted", ResourceType: "legal_entity", ResourceID: e.ID, Before: e.facts()})
		return nil
	})
}

// accountsOf are the roles of the accounts by which other entities owe this one and are owed by it.
func accountsOf(legalEntityID string) []string {
	return []string{"due_from:" + legalEntityID, "due_to:" + legalEntityID}
}

func dropAccount(ctx context.Context, tx *db.Tx, role string) error {
	accounts, err := removeAccount(ctx, tx, role)
	for _, a := range accounts {
		audit.Record(ctx, tx, audit.Change{
			Action: "ledger_account.deleted", ResourceType: "ledger_account", ResourceID: a.ID, Before: map[string]any{"id": a.ID, "name": a.Name, "role": role},
		})
	}
	return err
}

// use is how often something refers to a thing, and the number of the first journal entry that does, where it is one.
type use struct {
	Count int64  `db:"count"`
	First *int64 `db:"first"`
}

func (u use) text(label string) string {
	text := fmt.Sprintf("%s: %d", label, u.Count)
	if u.First != nil {
		text += fmt.Sprintf(" (such as JE-%d)", *u.First)
	}
	return text
}

// uses names everything that refers to the entity.
func (e LegalEntity) uses(ctx context.Context, tx *db.Tx) (out []string, err error) {
	all, err := All(ctx, tx)
	if err != nil {
		return nil, err
	}
	if len(all) == 1 {
		out = append(out, "it is the only one of the organization")
	}
	out = append(out, e.below(ctx, all)...)
	for _, r := range []struct {
		label, query string
		args         []any
	}{
		{"journal entries", entriesOfEntity, []any{e.ID}},
		{"journal lines", linesOfEntity, []any{e.ID}},
		{"lines on the accounts due from and due to it", linesOfRoles, []any{accountsOf(e.ID)[0], accountsOf(e.ID)[1]}},
		{"period closings", closingsOfEntity, []any{e.ID}},
		{"balances", balancesOfEntity, []any{e.ID}},
		{"API keys limited to it", keysOfEntity, []any{"% " + e.ID + " %", tx.Now()}},
	} {
		used, err := selectUse(ctx, tx, r.query, r.args...)
		if err != nil {
			return nil, err
		}
		if used.Count > 0 {
			out = append(out, used.text(r.label))
		}
	}
	return out, nil
}

// below counts the entities whose parent this is, and names one that the actor may know of.
func (e LegalEntity) below(ctx context.Context, all []LegalEntity) []string {
	n, example := int64(0), ""
	for _, other := range all {
		if other.ParentID != e.ID {
			continue
		}
		n++
		if example == "" && actor.From(ctx).Sees(other.ID) {
			example = " (such as " + other.Name + ")"
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("legal entities below it: %d%s", n, example)}
}
