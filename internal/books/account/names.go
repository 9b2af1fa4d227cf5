package account

import (
	"context"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// For returns the account as an actor may see it. The chart belongs to the organization, but some accounts are named after a legal entity
// or after a source of it: an actor whose key has no access to that legal entity gets another name.
func (a Account) For(who actor.Actor) Account {
	if a.hiddenFrom(who) {
		a.Name = a.neutralName()
	}
	return a
}

// AllFor returns accounts as an actor may see them.
func AllFor(who actor.Actor, accounts []Account) []Account {
	if !who.Limited() {
		return accounts
	}
	out := make([]Account, len(accounts))
	for i, a := range accounts {
		out[i] = a.For(who)
	}
	return out
}

// hiddenFrom reports whether the account is named after a legal entity that the actor's key has no access to.
func (a Account) hiddenFrom(who actor.Actor) bool {
	about, ok := a.entityOf()
	if !ok {
		about = a.NamedAfter
	}
	return about != "" && !who.Sees(about)
}

// neutralName returns what the account is called where its own name must not be shown.
func (a Account) neutralName() string {
	switch a.bareRole() {
	case dueFrom:
		return "Due from another legal entity"
	case dueTo:
		return "Due to another legal entity"
	}
	return "Account of another legal entity"
}

// RoleFor returns the role as an actor may see it: without the id of a legal entity that the actor's key has no access to.
func (a Account) RoleFor(who actor.Actor) string {
	if a.hiddenFrom(who) {
		return a.bareRole()
	}
	return a.Role
}

// NameAfter records that the source which an account was created for has moved from one legal entity to another. It runs in the caller's
// transaction.
func NameAfter(ctx context.Context, tx *db.Tx, accountID, from, to string) error {
	before, err := find(ctx, tx, accountID)
	if err != nil || before.NamedAfter != from {
		return err
	}
	if _, err := orgstate.Touch(ctx, tx); err != nil {
		return err
	}
	after, now := before, tx.Now()
	after.NamedAfter, after.UpdatedAt = to, &now
	if err := update(ctx, tx, after); err != nil {
		return err
	}
	audit.Record(ctx, tx, audit.Change{Action: "ledger_account.updated", ResourceType: "ledger_account", ResourceID: after.ID,
		Before: before.facts(), After: after.facts(), Object: after})
	return nil
}
