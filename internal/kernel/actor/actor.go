// Package actor says who is acting, for which organization, and what they may do.
package actor

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// Scope is what a key was given.
type Scope string

// The scopes. All includes Read.
const (
	ScopeRead   Scope = "apis.read"
	ScopeAll    Scope = "apis.all"
	ScopeMemory Scope = "write:memory"
	ScopeRules  Scope = "write:operational-rules"
)

// Scopes lists every scope there is.
var Scopes = []Scope{ScopeRead, ScopeAll, ScopeMemory, ScopeRules}

// Role is what a person is in an organization.
type Role string

// The roles.
const (
	Owner      Role = "owner"
	Admin      Role = "admin"
	Accountant Role = "accountant"
	Viewer     Role = "viewer"
	Auditor    Role = "auditor"
)

// Class is how much an operation needs.
type Class string

// The classes.
const (
	Read       Class = "read"
	Write      Class = "write"
	Privileged Class = "privileged"
)

// classRoles says which roles may act in a class. Reading needs none in particular.
var classRoles = map[Class][]Role{
	Write:      {Owner, Admin, Accountant},
	Privileged: {Owner, Admin},
}

// Actor is who sent a request. The zero value is the system itself, acting for no person.
type Actor struct {
	OrganizationID string
	UserID         string // empty for a key that belongs to no person
	Role           Role
	APIKeyID       string
	Scopes         []Scope
	LegalEntityIDs []string // empty means all
	RequestID      string
}

// Need is what an operation asks of its actor.
type Need struct {
	Class Class
	Scope Scope
	Roles []Role // beyond the class's own; empty means no more
}

// Check refuses an actor who may not. A key can never do more than its user; one without a user cannot do what takes a person.
func (a Actor) Check(n Need) error {
	if !slices.Contains(a.Scopes, n.Scope) && (n.Scope != ScopeRead || !slices.Contains(a.Scopes, ScopeAll)) {
		return fault.Forbiddenf("the key lacks the scope %s", n.Scope)
	}
	if a.UserID == "" {
		if n.Class == Privileged || len(n.Roles) > 0 {
			return fault.Forbiddenf("this needs a key that is associated with a user")
		}
		return nil
	}
	for _, allowed := range [][]Role{classRoles[n.Class], n.Roles} {
		if len(allowed) > 0 && !slices.Contains(allowed, a.Role) {
			return fault.Forbiddenf("the role %s does not allow this", a.Role)
		}
	}
	return nil
}

// Sees tells whether a legal entity is among those the actor's key is for.
func (a Actor) Sees(legalEntityID string) bool {
	return len(a.LegalEntityIDs) == 0 || slices.Contains(a.LegalEntityIDs, legalEntityID)
}

type key struct{}

// With puts the actor where use cases find it.
func With(ctx context.Context, a Actor) context.Context { return context.WithValue(ctx, key{}, a) }

// From is the actor of the request under way.
func From(ctx context.Context) Actor {
	a, _ := ctx.Value(key{}).(Actor)
	return a
}
