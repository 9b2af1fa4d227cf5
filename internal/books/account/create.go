package account

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Limits of an account.
const (
	NameMax      = 200
	codeMax      = 32
	assetTypeMax = 64
)

// CreateParams describe a new account.
type CreateParams struct {
	Name          string
	Code          string
	Type          Type
	NormalBalance Balance // empty: that of the type
	ParentID      string
	Postable      *bool // nil: true
	Clearing      bool
	Monetary      *bool // nil: that of the parent account, or of the type
	AssetType     string
	Role          string // only for accounts that the service creates for its own use
	NamedAfter    string // the legal entity of the source that the account is for
}

// Create creates an account. It runs in the caller's transaction.
func Create(ctx context.Context, tx *db.Tx, p CreateParams) (Account, error) {
	state, err := orgstate.Touch(ctx, tx)
	if err != nil {
		return Account{}, err
	}
	a := p.account()
	a.CreatedAt = tx.Now()
	if p.Monetary != nil {
		a.Monetary = *p.Monetary
	} else if a.Monetary, err = inheritedMonetary(ctx, tx, a); err != nil {
		return Account{}, err
	}
	if err := a.validateInChart(ctx, tx, Account{}); err != nil {
		return Account{}, err
	}
	state.AccountNumber++
	a.ID, a.SequenceNumber = tx.NewID(id.LedgerAccount), state.AccountNumber
	if err := insert(ctx, tx, a); err != nil {
		return Account{}, err
	}
	recordCreated(ctx, tx, a)
	return a, nil
}

// account returns the account without what its place in the chart decides.
func (p CreateParams) account() Account {
	a := Account{
		Code: p.Code, Name: p.Name, Type: p.Type, NormalBalance: p.NormalBalance, ParentID: p.ParentID,
		Postable: p.Postable == nil || *p.Postable,
		Clearing: p.Clearing, AssetType: p.AssetType, Role: p.Role, NamedAfter: p.NamedAfter,
	}
	if a.NormalBalance == "" {
		a.NormalBalance = a.Type.NormalBalance()
	}
	return a
}

// Validate returns every fault that the account has in any chart, or nil.
func (p CreateParams) Validate() error {
	var faults fault.List
	a := p.account()
	a.Monetary = p.Monetary != nil && *p.Monetary
	a.validateFields(&faults)
	return faults.Err()
}

// InheritedMonetary reports whether an account is monetary if nobody says so: as the account above it, which is the zero Account
// for none, or as its type.
func (a Account) InheritedMonetary(parent Account) bool {
	if parent.ID != "" {
		return parent.Monetary
	}
	return a.Type.Monetary()
}

// inheritedMonetary returns InheritedMonetary by the stored parent. A parent that does not exist or has another type is a fault that
// validateInChart reports.
func inheritedMonetary(ctx context.Context, tx *db.Tx, a Account) (bool, error) {
	if a.ParentID == "" {
		return a.Type.Monetary(), nil
	}
	parent, err := find(ctx, tx, a.ParentID)
	if fault.KindOf(err) == fault.NotFound || err == nil && parent.Type != a.Type {
		return a.Type.Monetary(), nil
	}
	return a.InheritedMonetary(parent), err
}

func recordCreated(ctx context.Context, tx *db.Tx, a Account) {
	audit.Record(ctx, tx, audit.Change{Action: "ledger_account.created", ResourceType: "ledger_account", ResourceID: a.ID, After: a.facts(),
		Object: a})
}

// validateInChart returns every fault of a new or changed account: in its fields, and in its place in the chart. Before is the
// account before the change, or zero for a new one.
func (a Account) validateInChart(ctx context.Context, tx *db.Tx, before Account) error {
	var faults fault.List
	a.validateFields(&faults)
	var above Account
	var missing error
	if a.ParentID != "" && (a.ParentID != before.ParentID || a.Type != before.Type) {
		above, missing = find(ctx, tx, a.ParentID)
		if err := faults.MergeMissing(missing, "parent_account_id"); err != nil {
			return err
		}
		if missing == nil && a.Type.Valid() && above.Type != a.Type {
			if a.ParentID != before.ParentID {
				faults.Addf("parent_account_id", "must be an account of type %s: %s is of type %s", a.Type, above, above.Type)
			} else {
				faults.Addf("type", "must be %s, as that of its parent account %s", above.Type, above)
			}
		}
	}
	if a.ParentID != before.ParentID && before.ID != "" && missing == nil {
		circle, err := isBelow(ctx, tx, before.ID, a.ParentID)
		if err != nil {
			return err
		}
		if circle {
			faults.Addf("parent_account_id", "must not be the account itself or one below it")
		}
	}
	if err := faults.Err(); err != nil {
		return err
	}
	if above.Archived() && !a.Archived() {
		return fault.Conflictf("the parent account %s is archived; unarchive it first", above)
	}
	return a.requireFreeCode(ctx, tx)
}

func (a Account) validateFields(faults *fault.List) {
	validateLength(faults, "name", a.Name, NameMax)
	if strings.TrimSpace(a.Name) == "" {
		faults.Addf("name", "must not be empty")
	}
	validateLength(faults, "code", a.Code, codeMax)
	if a.Code != strings.TrimSpace(a.Code) {
		faults.Addf("code", "must not begin or end with a space")
	}
	validateLength(faults, "asset_type", a.AssetType, assetTypeMax)
	if !a.Type.Valid() {
		faults.Addf("type", "must be Asset, Liability, Equity, Revenue or Expense")
	}
	if a.NormalBalance != Debit && a.NormalBalance != Credit {
		faults.Addf("normal_balance", "must be debit or credit")
	}
	if a.Monetary && a.Type.Valid() && !a.Type.Monetary() {
		faults.Addf("is_monetary", "must be false for an account of type %s: only assets and liabilities are monetary", a.Type)
	}
}

func validateLength(faults *fault.List, field, text string, limit int) {
	if utf8.RuneCountInString(text) > limit {
		faults.Addf(field, "must have at most %d characters", limit)
	}
}

func (a Account) requireFreeCode(ctx context.Context, tx *db.Tx) error {
	if a.Code == "" {
		return nil
	}
	others, err := selectByCode(ctx, tx, a.Code)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.ID != a.ID {
			return fault.Conflictf("the code %s belongs to the account %s (%s)", a.Code, other.Name, other.ID)
		}
	}
	return nil
}

// isBelow reports whether an account is top or anywhere below it.
func isBelow(ctx context.Context, tx *db.Tx, top, accountID string) (bool, error) {
	chart, err := selectAll(ctx, tx)
	if err != nil {
		return false, err
	}
	for _, a := range subtree(chart, top) {
		if a.ID == accountID {
			return true, nil
		}
	}
	return false, nil
}

// subtree returns an account and all below it, parents before their children.
func subtree(chart []Account, top string) []Account {
	children := map[string][]Account{}
	var out []Account
	for _, a := range chart {
		if a.ID == top {
			out = append(out, a)
			continue // in a circular chart the top would be visited again
		}
		children[a.ParentID] = append(children[a.ParentID], a)
	}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i].ID]...)
	}
	return out
}
