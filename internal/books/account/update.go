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

// UpdateParams are the requested changes; nil leaves a field unchanged, and an empty code, parent or asset type clears it.
type UpdateParams struct {
	Name          *string
	Code          *string
	Type          *Type
	NormalBalance *Balance
	ParentID      *string
	Postable      *bool
	Clearing      *bool
	Monetary      *bool
	AssetType     *string
}

// Update changes an account. It runs in the caller's transaction.
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
		After: after.facts(), Object: after})
	return after, nil
}

func (p UpdateParams) apply(a Account) Account {
	was, contra := a.Type, a.NormalBalance != a.Type.NormalBalance()
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
	if a.Type.Monetary() != was.Monetary() {
		a.Monetary = a.Type.Monetary()
	}
	set(&a.Monetary, p.Monetary)
	set(&a.AssetType, p.AssetType)
	return a
}

func set[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}

// validateChange returns a conflict if the account's role, uses or children rule out the change.
func (a Account) validateChange(ctx context.Context, tx *db.Tx, before Account) error {
	var fixed []string // the changed fields that a system account must keep
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
		return fault.Conflictf("%s of the system account %s cannot be changed: the service itself uses it as %s",
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
		return fault.Conflictf("the type and the normal balance of the account %s cannot be changed while it is in use: %s", before, uses)
	}
	if a.Type == before.Type {
		return nil
	}
	children, err := selectChildren(ctx, tx, a.ID)
	if err != nil || len(children) == 0 {
		return err
	}
	return fault.Conflictf("the type of the account %s cannot be changed while %s of type %s, for example %s", before,
		plural(len(children), "account below it is", "accounts below it are"), before.Type, children[0])
}
