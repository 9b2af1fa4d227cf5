package oauth

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// Authorization is what a person has allowed an app to do in an organization.
type Authorization struct {
	ID        string
	UserID    string
	ClientID  string
	Client    Client // in lists and events
	Scopes    []actor.Scope
	CreatedAt time.Time
	EndedAt   *time.Time
	EndReason EndReason

	// In lists and events.
	UserEmail, UserName string // of the person; empty if they are no longer a member

	// In lists only.
	OrganizationID string      // set if the list is of several organizations
	LastUse        *access.Use // nil if it was not used yet
}

// noun is what people call an authorization.
const noun = "connected app"

// EndReason is why an authorization has ended.
type EndReason string

// The reasons.
const (
	Revoked       EndReason = "revoked"        // by the app
	Disconnected  EndReason = "disconnected"   // by a person
	Replaced      EndReason = "replaced"       // the person has connected the app again
	CodeReplayed  EndReason = "code_replayed"  // the code was used twice
	TokenReplayed EndReason = "token_replayed" // a refresh token was used long after it was exchanged
	MemberRemoved EndReason = "member_removed" // the person is no longer a member
	ClientRevoked EndReason = "client_revoked" // the app is not registered any more
	Expired       EndReason = "expired"        // the app has not refreshed its tokens for too long
)

func (a Authorization) facts() map[string]any {
	return map[string]any{"id": a.ID, "user_id": a.UserID, "oauth_client_id": a.ClientID, "scopes": a.Scopes, "created_at": a.CreatedAt,
		"ended_at": a.EndedAt, "end_reason": db.OrNull(string(a.EndReason))}
}

const (
	codePrefix    = "buc_"
	accessPrefix  = "bua_"
	refreshPrefix = "brt_"

	codeMax    = time.Minute
	accessMax  = 24 * time.Hour
	refreshMax = 90 * 24 * time.Hour

	// repeatMax is how long a refresh token may be exchanged again for the same tokens, by an app that did not get the answer.
	repeatMax = 10 * time.Second
)

// prefixIn returns the beginning of the texts of an organization: the prefix and the id of the organization without its own prefix.
func prefixIn(prefix, organizationID string) string { return prefix + organizationID[len("org_"):] }

// organizationOf returns the organization that a text belongs to, or false if it is no such text.
func organizationOf(text, prefix string) (string, bool) {
	const suffix = 26
	if len(text) < len(prefix)+suffix {
		return "", false
	}
	org := "org_" + text[len(prefix):len(prefix)+suffix]
	return org, id.Valid(id.Organization, org) && token.Looks(text, prefixIn(prefix, org))
}

// Approve returns a code for an app that a person has allowed to act for them in an organization, with some of the scopes that the request
// asks for. The person must be signed in: neither a key nor an app can allow an app anything.
func (s *Service) Approve(ctx context.Context, who actor.Actor, c Client, r AuthorizationRequest,
	scopes []actor.Scope) (secret.Text, error) {
	if who.UserID == "" || who.APIKeyID != "" || who.AuthorizationID != "" {
		return secret.Text{}, fault.Forbiddenf("only a person who is signed in can allow an app to act for them")
	}
	asked, wrong := r.check()
	switch {
	case wrong != nil:
		return secret.Text{}, fault.Malformedf("%s", wrong.Description)
	case r.ClientID != c.ID || !c.allowsRedirect(r.RedirectURI):
		return secret.Text{}, fault.Malformedf("the request is that of another app, or for an address that is not registered")
	case len(scopes) == 0 || !within(scopes, asked):
		return secret.Text{}, fault.Malformedf("the scopes must be some of those that the app asks for")
	}
	text, err := token.New(s.db.Random(), prefixIn(codePrefix, who.OrganizationID))
	if err != nil {
		return text, err
	}
	err = s.db.Write(actor.With(ctx, who), who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := access.FindMember(ctx, tx, who.UserID); err != nil {
			return err
		}
		return insertCode(ctx, tx, code{hash: token.Hash(text.Reveal()), UserID: who.UserID, ClientID: c.ID, RedirectURI: r.RedirectURI,
			Challenge: r.CodeChallenge, Scopes: scopes, CreatedAt: tx.Now(), ExpiresAt: tx.Now().Add(codeMax)})
	})
	return text, err
}

// within reports whether all scopes are among others or included in them.
func within(scopes, others []actor.Scope) bool {
	has := actor.Actor{Scopes: others}
	return !slices.ContainsFunc(scopes, func(one actor.Scope) bool { return !has.Allows(one) })
}

// code is a code as it is stored.
type code struct {
	hash            string
	UserID          string
	ClientID        string
	RedirectURI     string
	Challenge       string
	Scopes          []actor.Scope
	CreatedAt       time.Time
	ExpiresAt       time.Time
	UsedAt          *time.Time
	AuthorizationID string
}

// Tokens is what an app gets.
type Tokens struct {
	Access    secret.Text
	Refresh   secret.Text
	Scopes    []actor.Scope
	ExpiresIn time.Duration
}

// ExchangeParams are what an app sends for tokens.
type ExchangeParams struct {
	ClientID    string
	Code        secret.Text
	RedirectURI string
	Verifier    secret.Text
}

var errBadCode = &Error{InvalidGrant, "the code is unknown, has expired, was used, or was not given to this app, for this address and " +
	"with this verifier"}

// Exchange returns the tokens for a code. An earlier authorization of the same app by the same person in the organization is replaced.
//
// A code that is used twice ends what it gave, also if both requests arrive at the same time: one of them gets tokens, which end with the
// other request. The app cannot tell which of the two was its own, and connects again.
func (s *Service) Exchange(ctx context.Context, p ExchangeParams) (out Tokens, err error) {
	c, err := s.FindClient(ctx, p.ClientID)
	if err != nil {
		return out, asInvalidClient(err)
	}
	plain := p.Code.Reveal()
	org, ok := organizationOf(plain, codePrefix)
	if !ok {
		return out, errBadCode
	}
	hash := token.Hash(plain)
	err = s.db.ReadOne(ctx, org, func(ctx context.Context, tx *db.Tx) error { // so that texts that are made up do not cause writes
		_, err := selectCode(ctx, tx, hash)
		return err
	})
	if err != nil {
		return out, asInvalidGrant(err, errBadCode)
	}
	var refused *Error
	err = s.db.Write(ctx, org, func(ctx context.Context, tx *db.Tx) error {
		out, refused = Tokens{}, nil
		if _, err := orgstate.Lock(ctx, tx); err != nil { // so that neither another code is exchanged nor the member removed meanwhile
			return err
		}
		given, err := lockCode(ctx, tx, hash)
		if err != nil {
			return err
		}
		if given.ClientID != c.ID || given.RedirectURI != p.RedirectURI || !proves(p.Verifier.Reveal(), given.Challenge) {
			refused = errBadCode
			return nil
		}
		ctx = actor.With(ctx, actor.Actor{OrganizationID: org, UserID: given.UserID, RequestID: actor.From(ctx).RequestID})
		out, refused, err = s.exchange(ctx, tx, c, given)
		return err
	})
	if err != nil {
		return Tokens{}, asInvalidGrant(err, errBadCode)
	}
	if refused != nil {
		return Tokens{}, refused
	}
	return out, nil
}

// exchange returns the tokens for a code that an app has shown and that it was given.
func (s *Service) exchange(ctx context.Context, tx *db.Tx, c Client, given code) (out Tokens, refused *Error, err error) {
	if given.UsedAt != nil {
		return out, errBadCode, s.endIfActive(ctx, tx, given.AuthorizationID, CodeReplayed)
	}
	if !tx.Now().Before(given.ExpiresAt) {
		return out, errBadCode, nil
	}
	if _, err := access.FindMember(ctx, tx, given.UserID); fault.KindOf(err) == fault.NotFound {
		return out, errBadCode, nil
	} else if err != nil {
		return out, nil, err
	}
	out, err = s.grant(ctx, tx, c, given)
	return out, nil, err
}

// grant stores an authorization with its first tokens.
func (s *Service) grant(ctx context.Context, tx *db.Tx, c Client, given code) (Tokens, error) {
	earlier, err := selectActive(ctx, tx, given.UserID, c.ID)
	if err != nil {
		return Tokens{}, err
	}
	for _, one := range earlier {
		if err := s.end(ctx, tx, one, Replaced); err != nil {
			return Tokens{}, err
		}
	}
	a := Authorization{ID: tx.NewID(id.OAuthAuthorization), UserID: given.UserID, ClientID: c.ID, Client: c, Scopes: given.Scopes,
		CreatedAt: tx.Now()}
	if err := insertAuthorization(ctx, tx, a); err != nil {
		return Tokens{}, err
	}
	if err := updateCodeUsed(ctx, tx, given.hash, a.ID, tx.Now()); err != nil {
		return Tokens{}, err
	}
	out := Tokens{Scopes: a.Scopes, ExpiresIn: accessMax}
	if out.Access, err = token.New(s.db.Random(), prefixIn(accessPrefix, tx.Organization())); err != nil {
		return out, err
	}
	if out.Refresh, err = token.New(s.db.Random(), prefixIn(refreshPrefix, tx.Organization())); err != nil {
		return out, err
	}
	if err := s.store(ctx, tx, a, out); err != nil {
		return out, err
	}
	granted := []Authorization{a}
	if err := addPeople(ctx, tx, granted); err != nil {
		return out, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "oauth_authorization.granted", ResourceType: "oauth_authorization", ResourceID: a.ID,
		After: a.facts(), Object: granted[0]})
	return out, nil
}

// Authorizations lists the apps that people of the actor's organization have connected and not ended, the newest first. Who is not an owner
// or admin sees their own.
func (s *Service) Authorizations(ctx context.Context, p page.Request) (page.Page[Authorization], error) {
	who := actor.From(ctx)
	key := func(a Authorization) string { return a.ID }
	return page.ListByKey("connected-apps", nil, p, "~", key, func(below string, limit int) (rows []Authorization, err error) {
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			sees, err := sightOf(ctx, tx, who)
			if err != nil {
				return err
			}
			if rows, err = selectAuthorizations(ctx, tx, sees, below, limit); err != nil {
				return err
			}
			used, err := access.LastUses(ctx, tx, idsOf(rows))
			setLastUses(rows, used)
			return err
		})
		return rows, err
	})
}

// Authorization returns what a person has allowed an app, also if it has ended: one's own, or as an owner or admin that of anybody in the
// organization.
func (s *Service) Authorization(ctx context.Context, authorizationID string) (a Authorization, err error) {
	who := actor.From(ctx)
	err = s.db.ReadOne(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		sees, err := sightOf(ctx, tx, who)
		if err != nil {
			return err
		}
		found, err := selectAuthorization(ctx, tx, authorizationID)
		if err == nil && !sees.includes(found) {
			err = fault.Missing(noun)
		}
		if err == nil {
			a = found
		}
		return err
	})
	return a, err
}

// asInvalidClient returns the error of the protocol for an app that is not known.
func asInvalidClient(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return &Error{InvalidClient, "client_id is not that of a registered app"}
	}
	return err
}

// asInvalidGrant returns the error of the protocol for a code or a token that is not known.
func asInvalidGrant(err error, known *Error) error {
	if fault.KindOf(err) == fault.NotFound {
		return known
	}
	return err
}
