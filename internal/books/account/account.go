package account

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Account is one ledger account.
type Account struct {
	ID             string
	SequenceNumber int64
	Code           string // empty when it has none
	Name           string
	Type           Type
	NormalBalance  Balance
	ParentID       string // empty at the top
	Postable       bool
	Clearing       bool
	Monetary       bool // balances in other units than the base currency are remeasured at the end of a period
	ArchivedAt     *time.Time
	AssetType      string
	Role           string // empty unless the service itself uses the account
	NamedAfter     string // the legal entity of the source that it was created for; empty if none
	CreatedAt      time.Time
	UpdatedAt      *time.Time
}

// Type is one of the five kinds of account.
type Type string

// The types.
const (
	Asset     Type = "Asset"
	Liability Type = "Liability"
	Equity    Type = "Equity"
	Revenue   Type = "Revenue"
	Expense   Type = "Expense"
)

// Balance is the side on which an account grows.
type Balance string

// The sides.
const (
	Debit  Balance = "debit"
	Credit Balance = "credit"
)

// NormalBalance is the side on which accounts of the type grow; a contra account grows on the other.
func (t Type) NormalBalance() Balance {
	if t == Asset || t == Expense {
		return Debit
	}
	return Credit
}

// Valid reports whether it is one of the five types.
func (t Type) Valid() bool {
	return t == Asset || t == Liability || t == Equity || t == Revenue || t == Expense
}

// Monetary reports whether accounts of the type are monetary unless they or an account above them say otherwise: assets and
// liabilities are. Equity, revenue and expenses keep the rate of their day and are never monetary.
func (t Type) Monetary() bool { return t == Asset || t == Liability }

// Contra returns the other side.
func (b Balance) Contra() Balance {
	if b == Debit {
		return Credit
	}
	return Debit
}

// Archived reports whether the account is archived and therefore gets no new lines.
func (a Account) Archived() bool { return a.ArchivedAt != nil }

// String returns the account as messages name it: 1010 Bank accounts.
func (a Account) String() string {
	if a.Code == "" {
		return a.Name
	}
	return a.Code + " " + a.Name
}

// facts describes an account in the audit log and in events.
func (a Account) facts() map[string]any {
	return map[string]any{
		"id": a.ID, "sequence_number": a.SequenceNumber, "code": db.OrNull(a.Code), "name": a.Name, "type": a.Type,
		"normal_balance": a.NormalBalance, "parent_account_id": db.OrNull(a.ParentID), "is_postable": a.Postable,
		"is_clearing_account": a.Clearing, "is_monetary": a.Monetary, "archived_at": a.ArchivedAt,
		"asset_type": db.OrNull(a.AssetType), "role": db.OrNull(a.Role),
		"named_after": db.OrNull(a.NamedAfter),
	}
}

// All returns every account, archived ones included, by sequence number, as the actor may see it. It runs in the caller's transaction.
func All(ctx context.Context, tx *db.Tx) ([]Account, error) {
	chart, err := selectAll(ctx, tx)
	return AllFor(actor.From(ctx), chart), err
}

// AllUnchecked returns every account, archived ones included, by sequence number. It does not check what the actor may see. It runs in
// the caller's transaction.
func AllUnchecked(ctx context.Context, tx *db.Tx) ([]Account, error) { return selectAll(ctx, tx) }

// Get returns an account as the actor may see it. It runs in the caller's transaction.
func Get(ctx context.Context, tx *db.Tx, accountID string) (Account, error) {
	a, err := find(ctx, tx, accountID)
	return a.For(actor.From(ctx)), err
}

// ByCode returns the account with a code. It runs in the caller's transaction.
func ByCode(ctx context.Context, tx *db.Tx, code string) (Account, error) {
	found, err := selectByCode(ctx, tx, code)
	switch {
	case err != nil:
		return Account{}, err
	case len(found) == 0:
		return Account{}, fault.Missing(noun)
	}
	return found[0], nil
}

// ByRole returns the account with a role. It runs in the caller's transaction.
func ByRole(ctx context.Context, tx *db.Tx, role string) (Account, error) {
	return findByRole(ctx, tx, role)
}
