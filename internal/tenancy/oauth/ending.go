package oauth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// end ends an authorization that has not ended, and with it its tokens and what the app has created: API keys, invitations that nobody has
// accepted, and further apps. The person is told.
func (s *Service) end(ctx context.Context, tx *db.Tx, before Authorization, why EndReason) error {
	ended, err := s.endSilently(ctx, tx, before, why)
	if err == nil && s.Ended != nil {
		err = s.Ended(ctx, tx, ended)
	}
	return err
}

// endSilently is end without telling the person.
func (s *Service) endSilently(ctx context.Context, tx *db.Tx, before Authorization, why EndReason) (Authorization, error) {
	after, now := before, tx.Now()
	after.EndedAt, after.EndReason = &now, why
	c, err := selectClient(ctx, tx, before.ClientID)
	if err != nil {
		return after, err
	}
	after.Client = c
	tx.AfterCommit(func() { s.known.ForgetWhere(func(t cachedToken) bool { return t.who.AuthorizationID == before.ID }) })
	if err := updateEnded(ctx, tx, after); err != nil {
		return after, err
	}
	if err := s.endCreated(ctx, tx, after.ID); err != nil {
		return after, err
	}
	ended := []Authorization{after}
	if err := addPeople(ctx, tx, ended); err != nil {
		return after, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "oauth_authorization.ended", ResourceType: "oauth_authorization", ResourceID: after.ID,
		Before: before.facts(), After: after.facts(), Object: ended[0]})
	return ended[0], nil
}

// endCreated ends what an app has created, itself or with its keys.
func (s *Service) endCreated(ctx context.Context, tx *db.Tx, authorizationID string) (err error) {
	by := audit.Maker{AuthorizationID: authorizationID}
	if s.EndKeys != nil {
		if by.APIKeyIDs, err = s.EndKeys(ctx, tx, authorizationID); err != nil {
			return err
		}
	}
	for _, end := range s.EndCreated {
		if err := end(ctx, tx, by); err != nil {
			return err
		}
	}
	registered, err := lockClients(ctx, tx)
	if err != nil || len(registered) == 0 {
		return err
	}
	ids := make([]string, len(registered))
	for i, c := range registered {
		ids[i] = c.ID
	}
	made, err := audit.MadeBy(ctx, tx, "oauth_client.created", ids, by)
	if err != nil {
		return err
	}
	for _, c := range registered {
		if made[c.ID] {
			if err := s.revokeClient(ctx, tx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// Hold reports whether all of some authorizations hold: neither has one ended, nor was its app revoked. It is a building block.
func Hold(ctx context.Context, tx *db.Tx, authorizationIDs []string) (bool, error) {
	n, err := countHolding(ctx, tx, authorizationIDs)
	return n == int64(len(authorizationIDs)), err
}

// endIfActive ends an authorization, unless it has ended before.
func (s *Service) endIfActive(ctx context.Context, tx *db.Tx, authorizationID string, why EndReason) error {
	a, err := lockAuthorization(ctx, tx, authorizationID)
	if err != nil || a.EndedAt != nil {
		return err
	}
	return s.end(ctx, tx, a, why)
}

// EndOfUser ends all that a person has allowed apps in the organization, because the person is no longer a member. It is a building block.
func (s *Service) EndOfUser(ctx context.Context, tx *db.Tx, userID string) error {
	all, err := selectActiveOf(ctx, tx, userID)
	if err != nil {
		return err
	}
	for _, a := range all {
		if err := s.end(ctx, tx, a, MemberRemoved); err != nil {
			return err
		}
	}
	return nil
}

// Disconnect ends an authorization: one's own, or as an owner or admin that of anybody in the organization. One that has ended is no error.
func (s *Service) Disconnect(ctx context.Context, authorizationID string) error {
	return s.disconnect(ctx, authorizationID, sightOf)
}

// DisconnectOwn ends an authorization of the actor, whatever the role. One that has ended is no error.
func (s *Service) DisconnectOwn(ctx context.Context, authorizationID string) error {
	return s.disconnect(ctx, authorizationID, func(_ context.Context, _ *db.Tx, who actor.Actor) (sight, error) {
		return sight{userID: who.UserID}, nil
	})
}

func (s *Service) disconnect(ctx context.Context, authorizationID string,
	sightOf func(context.Context, *db.Tx, actor.Actor) (sight, error)) error {
	who := actor.From(ctx)
	return s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // first, as whoever ends authorizations of a person does
			return err
		}
		a, err := lockAuthorization(ctx, tx, authorizationID)
		if err != nil {
			return err
		}
		sees, err := sightOf(ctx, tx, who)
		if err != nil {
			return err
		}
		if !sees.includes(a) {
			return fault.Missing(noun)
		}
		if a.EndedAt != nil {
			return nil
		}
		return s.end(ctx, tx, a, Disconnected)
	})
}

// sight says which authorizations an actor sees.
type sight struct {
	all    bool
	userID string // whose authorizations it sees if not all; empty for none
}

// sightOf returns which authorizations an actor sees: owners and admins those of everybody, others their own. Who is limited to some legal
// entities sees none of a person with access to others, because the apps of that person have access to them too.
func sightOf(ctx context.Context, tx *db.Tx, who actor.Actor) (sight, error) {
	if !who.Limited() {
		return sight{who.UserID != "" && (who.Role == actor.Owner || who.Role == actor.Admin), who.UserID}, nil
	}
	if who.UserID == "" {
		return sight{}, nil
	}
	m, err := access.FindMember(ctx, tx, who.UserID)
	if err != nil {
		return sight{}, err
	}
	if len(m.LegalEntityIDs) == 0 || slices.ContainsFunc(m.LegalEntityIDs, func(id string) bool { return !who.Sees(id) }) {
		return sight{}, nil
	}
	return sight{userID: who.UserID}, nil
}

// includes reports whether an actor sees an authorization.
func (s sight) includes(a Authorization) bool { return s.all || s.userID != "" && a.UserID == s.userID }

// RequireActive returns an Unauthorized fault for an authorization that has ended, and keeps it from ending until the transaction does. It
// is a building block.
func RequireActive(ctx context.Context, tx *db.Tx, authorizationID string) error {
	a, err := lockAuthorization(ctx, tx, authorizationID)
	if err == nil && a.EndedAt != nil {
		err = errBadToken
	}
	return err
}

// EndAuthorizations is the job that ends all that people have allowed an app that was revoked.
type EndAuthorizations struct {
	ClientID string `json:"oauth_client_id"`
}

// Kind returns the name of the job.
func (EndAuthorizations) Kind() string { return "oauth_end_authorizations" }

// EndOfClient ends the authorizations of an app that was revoked, in all organizations.
func (s *Service) EndOfClient(ctx context.Context, j EndAuthorizations) error {
	return s.endInBatches(ctx, ClientRevoked, func(ctx context.Context, tx *db.Tx, after place, limit int) ([]place, error) {
		return selectActiveOfClient(ctx, tx, j.ClientID, after, limit)
	})
}

// place says where an authorization is.
type place struct {
	OrganizationID  string `db:"organization_id"`
	AuthorizationID string `db:"oauth_authorization_id"`
}

const (
	// batchMax bounds what is found or deleted in one database transaction.
	batchMax = 500
	// codesKept is how long codes are kept after they have expired, so that one that is used again ends what it gave.
	codesKept = 24 * time.Hour
	// unusedKept is how long an app that has registered itself is kept if nobody connects it.
	unusedKept = 7 * 24 * time.Hour
)

const everywhere = "authorizations of all organizations end in the same way"

// finder finds authorizations after another one, in the order of their organizations and ids.
type finder func(ctx context.Context, tx *db.Tx, after place, limit int) ([]place, error)

// endInBatches ends the authorizations that a function finds. Each is ended in a transaction of its organization. One that cannot be ended
// does not keep the others from it, and is in the error.
func (s *Service) endInBatches(ctx context.Context, why EndReason, find finder) error {
	var last place
	var errs []error
	for {
		var found []place
		err := s.db.ReadAcross(ctx, everywhere, func(ctx context.Context, tx *db.Tx) (err error) {
			found, err = find(ctx, tx, last, batchMax)
			return err
		})
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		for _, last = range found {
			err := s.db.Write(ctx, last.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
				if _, err := orgstate.Lock(ctx, tx); err != nil {
					return err
				}
				return s.endIfActive(ctx, tx, last.AuthorizationID, why)
			})
			if err != nil {
				errs = append(errs, fmt.Errorf("the connected app %s of %s does not end: %w", last.AuthorizationID, last.OrganizationID, err))
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if len(found) < batchMax {
			return errors.Join(errs...)
		}
	}
}

// Sweep is the job that deletes codes and tokens that have expired and apps that nobody uses, and ends authorizations that no token is left
// of.
type Sweep struct{}

// Kind returns the name of the job.
func (Sweep) Kind() string { return "oauth_sweep" }

// Sweep ends the authorizations of apps that have not refreshed their tokens for too long, and of apps that were revoked, and deletes codes
// and tokens that have expired. A refresh token that was exchanged is kept as long as it would have been valid, so that its use ends the
// authorization. Apps that have registered themselves are deleted after a week in which nobody has connected them. What fails does not keep
// the rest from being done.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.db.Clock().Now()
	err := s.endInBatches(ctx, Expired, func(ctx context.Context, tx *db.Tx, after place, limit int) ([]place, error) {
		return selectExpired(ctx, tx, now, after, limit)
	})
	if err == nil { // an authorization that could not be ended is found by its token the next time
		err = s.deleteInBatches(ctx, deleteTokens, now)
	}
	return errors.Join(err,
		s.endInBatches(ctx, ClientRevoked, selectActiveOfRevoked),
		s.deleteInBatches(ctx, deleteCodes, now.Add(-codesKept)),
		s.deleteInBatches(ctx, deleteUnused, now.Add(-unusedKept)))
}

// deleteInBatches deletes what is older than a time.
func (s *Service) deleteInBatches(ctx context.Context, some func(context.Context, *db.Tx, time.Time, int) (int64, error),
	before time.Time) error {
	for {
		var n int64
		err := s.db.WriteAcross(ctx, everywhere, func(ctx context.Context, tx *db.Tx) (err error) {
			n, err = some(ctx, tx, before, batchMax)
			return err
		})
		if err != nil || n < batchMax {
			return err
		}
	}
}
