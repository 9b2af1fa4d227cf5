package oauth

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// kind is what a token is for.
type kind string

const (
	accessToken  kind = "access"
	refreshToken kind = "refresh"
)

// stored is a token as it is stored.
type stored struct {
	hash            string
	AuthorizationID string
	Kind            kind
	Scopes          []actor.Scope
	salt            string
	CreatedAt       time.Time
	ExpiresAt       time.Time
	ReplacedAt      *time.Time
}

const saltBytes = 32

// store stores the tokens of an authorization.
func (s *Service) store(ctx context.Context, tx *db.Tx, a Authorization, t Tokens) error {
	salt := make([]byte, saltBytes)
	if _, err := io.ReadFull(s.db.Random(), salt); err != nil {
		return err
	}
	now := tx.Now()
	return insertTokens(ctx, tx,
		stored{hash: token.Hash(t.Access.Reveal()), AuthorizationID: a.ID, Kind: accessToken, Scopes: t.Scopes, CreatedAt: now,
			ExpiresAt: now.Add(accessMax)},
		stored{hash: token.Hash(t.Refresh.Reveal()), AuthorizationID: a.ID, Kind: refreshToken, Scopes: a.Scopes, salt: hex.EncodeToString(salt),
			CreatedAt: now, ExpiresAt: now.Add(refreshMax)})
}

// successors returns the tokens that a refresh token is exchanged for.
func successors(former secret.Text, salt, organizationID string) (access, refresh secret.Text) {
	return token.Derive(former, "access "+salt, prefixIn(accessPrefix, organizationID)),
		token.Derive(former, "refresh "+salt, prefixIn(refreshPrefix, organizationID))
}

// RefreshParams are what an app sends for new tokens.
type RefreshParams struct {
	ClientID string
	Token    secret.Text
	Scope    string // some of the scopes that were granted; empty means all
}

// errMustEnd says that an authorization must end, which needs the lock of the organization.
var errMustEnd = errors.New("the authorization must end")

var errBadRefresh = &Error{InvalidGrant, "the refresh token is unknown, has expired, was used, was revoked, or belongs to another app"}

// Refresh exchanges a refresh token for new tokens. Within some seconds it returns the same ones again, because the answer may have been
// lost. Later, or once the new refresh token was used itself, which shows that the answer has arrived, the former token must have been
// stolen, by whoever uses it now or by who has used it before: the authorization ends. Only then is the organization locked, and before the
// authorization, as whoever ends authorizations does.
func (s *Service) Refresh(ctx context.Context, p RefreshParams) (out Tokens, err error) {
	c, err := s.FindClient(ctx, p.ClientID)
	if err != nil {
		return out, asInvalidClient(err)
	}
	plain := p.Token.Reveal()
	org, ok := organizationOf(plain, refreshPrefix)
	if !ok {
		return out, errBadRefresh
	}
	hash := token.Hash(plain)
	if err := s.know(ctx, org, hash); err != nil {
		return out, asInvalidGrant(err, errBadRefresh)
	}
	var refused *Error
	exchange := func(mayEnd bool) error {
		return s.db.Write(ctx, org, func(ctx context.Context, tx *db.Tx) error {
			out, refused = Tokens{}, nil
			if mayEnd {
				if _, err := orgstate.Lock(ctx, tx); err != nil {
					return err
				}
			}
			t, a, err := lockToken(ctx, tx, hash)
			if err != nil {
				return err
			}
			if a.ClientID != c.ID || a.EndedAt != nil {
				refused = errBadRefresh
				return nil
			}
			ctx = actor.With(ctx, actor.Actor{OrganizationID: org, UserID: a.UserID, AuthorizationID: a.ID,
				RequestID: actor.From(ctx).RequestID})
			var ends EndReason
			if out, refused, ends, err = s.refresh(ctx, tx, a, t, p); err != nil || ends == "" {
				return err
			}
			if !mayEnd {
				return errMustEnd
			}
			return s.end(ctx, tx, a, ends)
		})
	}
	if err = exchange(false); errors.Is(err, errMustEnd) {
		err = exchange(true)
	}
	if err != nil {
		return Tokens{}, asInvalidGrant(err, errBadRefresh)
	}
	if refused != nil {
		return Tokens{}, refused
	}
	return out, nil
}

// know returns an error of kind NotFound for a token that is not known, so that texts that are made up do not cause writes.
func (s *Service) know(ctx context.Context, org, hash string) error {
	return s.db.ReadOne(ctx, org, func(ctx context.Context, tx *db.Tx) error {
		_, err := selectToken(ctx, tx, hash)
		return err
	})
}

// refresh returns the successors of a refresh token of an active authorization, or why the authorization must end.
func (s *Service) refresh(ctx context.Context, tx *db.Tx, a Authorization, t stored, p RefreshParams) (out Tokens, refused *Error,
	ends EndReason, err error) {
	out = Tokens{Scopes: a.Scopes, ExpiresIn: accessMax}
	out.Access, out.Refresh = successors(p.Token, t.salt, tx.Organization())
	if t.ReplacedAt != nil {
		next, err := selectToken(ctx, tx, token.Hash(out.Refresh.Reveal()))
		if err != nil {
			return Tokens{}, nil, "", err
		}
		since := tx.Now().Sub(*t.ReplacedAt)
		if since > repeatMax || next.ReplacedAt != nil {
			return Tokens{}, errBadRefresh, TokenReplayed, nil
		}
		first, err := selectToken(ctx, tx, token.Hash(out.Access.Reveal()))
		out.Scopes, out.ExpiresIn = first.Scopes, accessMax-since
		return out, nil, "", err
	}
	if !tx.Now().Before(t.ExpiresAt) {
		return Tokens{}, errBadRefresh, "", nil
	}
	if p.Scope != "" {
		scopes, wrong := parseScopes(p.Scope)
		if wrong != nil || !within(scopes, a.Scopes) {
			return Tokens{}, &Error{InvalidScope, "scope must be among those that the person has granted"}, "", nil
		}
		out.Scopes = scopes
	}
	if _, err := access.FindMember(ctx, tx, a.UserID); fault.KindOf(err) == fault.NotFound {
		return Tokens{}, errBadRefresh, MemberRemoved, nil
	} else if err != nil {
		return Tokens{}, nil, "", err
	}
	if err := updateReplaced(ctx, tx, t.hash, tx.Now()); err != nil {
		return Tokens{}, nil, "", err
	}
	return out, nil, "", s.store(ctx, tx, a, out)
}

// Revoke ends the authorization that a token belongs to, be it an access token, a refresh token or one that was exchanged before. A token
// that is unknown, has expired or was revoked is no error; one of another app is.
func (s *Service) Revoke(ctx context.Context, clientID string, text secret.Text) error {
	c, err := s.FindClient(ctx, clientID)
	if err != nil {
		return asInvalidClient(err)
	}
	plain := text.Reveal()
	org, ok := organizationOf(plain, refreshPrefix)
	if !ok {
		if org, ok = organizationOf(plain, accessPrefix); !ok {
			return nil
		}
	}
	hash := token.Hash(plain)
	if err := s.know(ctx, org, hash); fault.KindOf(err) == fault.NotFound {
		return nil
	} else if err != nil {
		return err
	}
	var refused *Error
	err = s.db.Write(ctx, org, func(ctx context.Context, tx *db.Tx) error {
		refused = nil
		if _, err := orgstate.Lock(ctx, tx); err != nil { // first, as whoever ends authorizations of a person does
			return err
		}
		_, a, err := lockToken(ctx, tx, hash)
		switch {
		case fault.KindOf(err) == fault.NotFound:
			return nil
		case err != nil:
			return err
		case a.ClientID != c.ID:
			refused = &Error{InvalidRequest, "the token belongs to another app"}
			return nil
		case a.EndedAt != nil:
			return nil
		}
		ctx = actor.With(ctx, actor.Actor{OrganizationID: org, UserID: a.UserID, AuthorizationID: a.ID, RequestID: actor.From(ctx).RequestID})
		return s.end(ctx, tx, a, Revoked)
	})
	if err == nil && refused != nil {
		return refused
	}
	return err
}
