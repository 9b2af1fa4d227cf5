// Package actor describes who makes a request: an API key, an app or a browser, the user behind it, the organization it belongs to, and
// what it is allowed to do. The actor travels in the context of the request.
package actor

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// Scope is a permission of an API key.
type Scope string

// The scopes. All includes Read.
const (
	ScopeRead   Scope = "apis.read"
	ScopeAll    Scope = "apis.all"
	ScopeMemory Scope = "write:memory"
	ScopeRules  Scope = "write:operational-rules"
)

// Scopes lists every scope.
var Scopes = []Scope{ScopeRead, ScopeAll, ScopeMemory, ScopeRules}

// ScopeNames returns scopes as texts. It never returns nil, so that an empty list is one in JSON too.
func ScopeNames(scopes []Scope) []string {
	out := make([]string, len(scopes))
	for i, s := range scopes {
		out[i] = string(s)
	}
	return out
}

// JoinScopes returns scopes as one text with spaces between them, as RFC 6749 writes them and as they are stored.
func JoinScopes(scopes []Scope) string { return strings.Join(ScopeNames(scopes), " ") }

// SplitScopes returns the scopes of a text that JoinScopes has returned. It does not check that they exist.
func SplitScopes(text string) []Scope {
	out := []Scope{}
	for _, name := range strings.Fields(text) {
		out = append(out, Scope(name))
	}
	return out
}

// Role is the role of a user in an organization.
type Role string

// The roles.
const (
	Owner      Role = "owner"
	Admin      Role = "admin"
	Accountant Role = "accountant"
	Viewer     Role = "viewer"
	Auditor    Role = "auditor"
)

// Roles lists every role.
var Roles = []Role{Owner, Admin, Accountant, Viewer, Auditor}

// Class is the level of permission that an operation requires.
type Class string

// The classes.
const (
	Read       Class = "read"
	Write      Class = "write"
	Privileged Class = "privileged"
)

// classRoles lists the roles that may run operations of a class. Every role may read.
var classRoles = map[Class][]Role{
	Write:      {Owner, Admin, Accountant},
	Privileged: {Owner, Admin},
}

// includes reports whether a role for a client may do what another may.
func (r FirmRole) includes(other FirmRole) bool {
	return slices.Index(FirmRoles, r) >= slices.Index(FirmRoles, other)
}

// Actor is the API key, app or session that makes a request, and the user behind it. The zero value is the system itself.
type Actor struct {
	OrganizationID string
	UserID         string // empty for a key without a user
	Role           Role   // of the user; for a key without a user that of the user who created it, empty if nobody did
	APIKeyID       string
	Scopes         []Scope
	LegalEntityIDs []string // empty means all
	RequestID      string

	AuthorizationID string    // of the app that acts for the user; empty if none does
	SessionID       string    // of the browser in which the user is signed in; empty for keys and apps
	AuthenticatedAt time.Time // when the user of the session last proved who they are

	// Of a person of an accounting firm who acts for a client; empty for members of the organization.
	FirmID             string // the settings of the firm
	FirmOrganizationID string
	FirmRole           FirmRole
}

// FirmRole is the role of a person of an accounting firm for a client.
type FirmRole string

// The roles for a client. Each may do what the one before may.
const (
	Preparer FirmRole = "preparer" // keeps the books, as an accountant does
	Reviewer FirmRole = "reviewer" // also closes and reopens periods, and reads the audit log
	Partner  FirmRole = "partner"  // what an admin may, and writes rules
)

// FirmRoles lists every role for a client.
var FirmRoles = []FirmRole{Preparer, Reviewer, Partner}

// Role returns the role in the client's organization that a role for a client is worth.
func (r FirmRole) Role() Role {
	if r == Partner {
		return Admin
	}
	return Accountant
}

// ForFirm returns the actor as somebody of a firm who does something in the organization of a client.
func (a Actor) ForFirm(firmID, organizationID string) Actor {
	a.FirmID, a.FirmOrganizationID, a.OrganizationID = firmID, a.OrganizationID, organizationID
	return a
}

// MayWorkForClients reports whether the actor is one who may have a role for clients of the firm: a person who sees all of the firm, by a
// session or an API key, and no app. Whether they have a role is stored with the client.
func (a Actor) MayWorkForClients() bool {
	return a.UserID != "" && a.AuthorizationID == "" && !a.Limited()
}

// Manages reports whether the role is one of those that manage an organization.
func (r Role) Manages() bool { return r == Owner || r == Admin }

// KnowsAllClients reports whether somebody of a firm with the role may know of every client, with or without a role for it: those who
// manage the firm give the roles, and auditors read its audit log.
func (r Role) KnowsAllClients() bool { return r.Manages() || r == Auditor }

// Need is what an operation requires of its actor.
type Need struct {
	Class Class
	Scope Scope
	Roles []Role // a further restriction besides that of the class; empty means none

	// WholeOrganization excludes keys that are limited to legal entities, because the operation concerns all of them.
	WholeOrganization bool

	// Confirmed means that a user in a browser must have proved recently who they are.
	Confirmed bool

	// MembersOnly excludes the people of an accounting firm, because the operation lets others in, or because the firm's access could outlast
	// its end by it.
	MembersOnly bool

	// FirmRole is the least role for a client with which people of an accounting firm may run the operation although their role in the
	// organization does not allow it; empty means none.
	FirmRole FirmRole
}

// ConfirmedFor is how long a user in a browser need not prove again who they are.
const ConfirmedFor = 15 * time.Minute

// Authorize returns a Forbidden fault if the actor may not run an operation. A key can never do more than its user, or
// than the user who created it; a key without a user may not run privileged operations or those restricted to roles.
func (a Actor) Authorize(n Need) error {
	if !a.Allows(n.Scope) {
		return &missingScope{fault.Forbiddenf("the %s lacks the scope %s", a.Credential(), n.Scope), n.Scope}
	}
	if n.WholeOrganization && a.Limited() {
		return a.RequireUnlimited()
	}
	if n.MembersOnly && a.FirmID != "" {
		return fault.Forbiddenf("this is for members of the organization: people of its accounting firm cannot do it")
	}
	if n.FirmRole != "" && a.FirmRole.includes(n.FirmRole) {
		return nil
	}
	if a.UserID == "" && (n.Class == Privileged || len(n.Roles) > 0) {
		return fault.Forbiddenf("this needs a key that is associated with a user")
	}
	if a.UserID == "" && a.Role == "" {
		return nil
	}
	for _, allowed := range [][]Role{classRoles[n.Class], n.Roles} {
		if len(allowed) > 0 && !slices.Contains(allowed, a.Role) {
			return a.roleRefused(n, allowed)
		}
	}
	return nil
}

// missingScope is a Forbidden fault because of a scope.
type missingScope struct {
	error
	scope Scope
}

func (e *missingScope) Unwrap() error { return e.error }

// MissingScope returns the scope whose lack an error of Authorize reports, or nothing if it has another reason.
func MissingScope(err error) Scope {
	var e *missingScope
	if errors.As(err, &e) {
		return e.scope
	}
	return ""
}

// roleRefused returns the fault for an operation that the role of the actor does not allow. People of a firm are told of the roles that
// they can have.
func (a Actor) roleRefused(n Need, allowed []Role) error {
	if a.FirmID == "" {
		return fault.Forbiddenf("the role %s does not allow this: it is for the role %s", a.Role, fault.Choices(allowed))
	}
	var roles []FirmRole
	for _, r := range FirmRoles {
		if n.FirmRole != "" && r.includes(n.FirmRole) || slices.Contains(allowed, r.Role()) {
			roles = append(roles, r)
		}
	}
	if len(roles) == 0 {
		return fault.Forbiddenf("this is for the role %s in the organization: people of its accounting firm cannot do it", fault.Choices(allowed))
	}
	return fault.Forbiddenf("the role %s for this client does not allow this: it is for the role %s", a.FirmRole, fault.Choices(roles))
}

// RequireUnlimited returns an error of kind Forbidden if the actor's key is limited to legal entities. It is for changes to what belongs to
// the whole organization within an operation that limited keys may call.
func (a Actor) RequireUnlimited() error {
	switch {
	case !a.Limited():
		return nil
	case a.APIKeyID == "" && a.UserID != "":
		return fault.Forbiddenf("this concerns the whole organization, and you are limited to some of its legal entities")
	}
	return fault.Forbiddenf("this concerns the whole organization: use a key that is not limited to legal entities, itself or through its " +
		"user")
}

// RequireConfirmed returns an error of kind Forbidden if an operation needs a user who has proved recently who they are, and the one in
// the browser has not.
func (a Actor) RequireConfirmed(n Need, now time.Time) error {
	if n.Confirmed && a.SessionID != "" && now.Sub(a.AuthenticatedAt) >= ConfirmedFor {
		return fault.Forbiddenf("confirm first that it is you: send your password to POST /v1/session/confirm, or open /confirm, then send " +
			"this request again")
	}
	return nil
}

// Credential returns what the actor has shown, in words.
func (a Actor) Credential() string {
	switch {
	case a.AuthorizationID != "":
		return "access token"
	case a.SessionID != "":
		return "session"
	}
	return "API key"
}

// NeedsUnlimited is the reason and the next step for what a key that is limited to legal entities may see in part, but not change. It
// follows the name of the record.
const NeedsUnlimited = "also concerns a legal entity that this key has no access to: use a key that is not limited to legal entities"

// CredentialID returns the id of what the actor has shown: a key, the authorization of an app, or a session.
func (a Actor) CredentialID() string { return cmp.Or(a.APIKeyID, a.AuthorizationID, a.SessionID) }

// Limited reports whether the actor's key has access to some legal entities only.
func (a Actor) Limited() bool { return len(a.LegalEntityIDs) > 0 }

// Allows reports whether the actor's key has a scope.
func (a Actor) Allows(s Scope) bool {
	return slices.Contains(a.Scopes, s) || s == ScopeRead && slices.Contains(a.Scopes, ScopeAll)
}

// Sees reports whether the actor's key has access to a legal entity.
func (a Actor) Sees(legalEntityID string) bool {
	return len(a.LegalEntityIDs) == 0 || slices.Contains(a.LegalEntityIDs, legalEntityID)
}

type key struct{}

// With returns a context that carries the actor; use cases read it with From.
func With(ctx context.Context, a Actor) context.Context { return context.WithValue(ctx, key{}, a) }

// From returns the actor of the current request, or the zero Actor if there is none.
func From(ctx context.Context) Actor {
	a, _ := ctx.Value(key{}).(Actor)
	return a
}
