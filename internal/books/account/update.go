package account

import (
	"context"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// UpdateParams are the changes asked for; nil leaves a field as it is, and an empty code, parent or asset type takes it away.
type UpdateParams struct {
	Name          *string
	Code          *string
	Type          *Type
	NormalBalance *Balance
	ParentID      *string
	Postable      *bool
	Clearing      *bool
	AssetType     *string
}

// Update changes an account. It is a building block.
func Update(ctx context.Context, tx *db.Tx, accountID string, p UpdateParams) (Account, error) {
	if _, err := orgstate.Touch(ctx, tx); err != nil {
		return Account{}, err
	}
	before, err := find(ctx, tx, accountID)
	if err != nil {
		return Account{}, err
	}
	after := p.apply(before)
	if after == before {
		return before, nil
	}
	if err := after.validateInChart(ctx, tx, before); err != nil {
		return Account{}, err
	}
	if err := after.validateChange(ctx, tx, before); err != nil {
		return Account{}, err
	}
	return store(ctx, tx, "ledger_account.updated", before, after)
}

// store writes a changed account and records the change.
func store(ctx context.Context, tx *db.Tx, action string, before, after Account) (Account, error) {
	now := tx.Now()
	after.UpdatedAt = &now
	if err := update(ctx, tx, after); err != nil {
		return Account{}, err
	}
	audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: "ledger_account", ResourceID: after.ID, Before: before.facts(),
		After: after.facts()})
	return after, nil
}

func (p UpdateParams) apply(a Account) Account {
	contra := a.NormalBalance != a.Type.NormalBalance()
	set(&a.Name, p.Name)
	set(&a.Code, p.Code)
	if set(&a.Type, p.Type); p.Type != nil && p.NormalBalance == nil {
		// A contra account stays one, and an ordinary account ordinary.
		if a.NormalBalance = a.Type.NormalBalance(); contra {
			a.NormalBalance = a.NormalBalance.Contra()
		}
	}
	set(&a.NormalBalance, p.NormalBalance)
	set(&a.ParentID, p.ParentID)
	set(&a.Postable, p.Postable)
	set(&a.Clearing, p.Clearing)
	set(&a.AssetType, p.AssetType)
	return a
}

func set[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}

// validateChange refuses a change that what is there already stands against.
func (a Account) validateChange(ctx context.Context, tx *db.Tx, before Account) error {
	var fixed []string // what may not change for some accounts
	for name, changed := range map[string]bool{
		"type": a.Type != before.Type, "normal_balance": a.NormalBalance != before.NormalBalance,
		"is_postable": a.Postable != before.Postable, "is_clearing_account": a.Clearing != before.Clearing,
	} {
		if changed {
			fixed = append(fixed, name)
		}
	}
	slices.Sort(fixed)
	if before.Role != "" && len(fixed) > 0 {
		return fault.Conflictf("%s of the system account %s cannot change: the service itself uses it as %s",
			strings.Join(fixed, " and "), before, before.Role)
	}
	if before.Postable && !a.Postable {
		used, err := activeUses(ctx, tx, before)
		if err != nil {
			return err
		}
		if len(used) > 0 {
			return fault.Conflictf("the account %s must stay postable: %s", before, used[0])
		}
	}
	if a.Type == before.Type && a.NormalBalance == before.NormalBalance {
		return nil
	}
	uses, err := usesOf(ctx, tx, before)
	if err != nil {
		return err
	}
	if len(uses) > 0 {
		return fault.Conflictf("the type and the normal balance of the account %s cannot change any more: %s", before, uses)
	}
	if a.Type == before.Type {
		return nil
	}
	children, err := selectChildren(ctx, tx, a.ID)
	if err != nil || len(children) == 0 {
		return err
	}
	return fault.Conflictf("the type of the account %s cannot change while %s, for example %s, below it of type %s", before,
		plural(len(children), "account is", "accounts are"), children[0], before.Type)
}
