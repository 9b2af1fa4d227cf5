package access

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Current returns the actor with the rights that it has now: they may be fewer than when the request was authenticated, from what the node
// had read up to half a second before. It returns an Unauthorized fault if what the actor has shown has ended meanwhile: the membership,
// the session, the access of the app, or the key. It is a building block for what must not outlast those rights, in a transaction that has
// locked the organization, so that nobody takes them away until it ends.
func (s *Service) Current(ctx context.Context, tx *db.Tx) (actor.Actor, error) {
	who := actor.From(ctx)
	if who.FirmID != "" && s.RequireActing != nil { // what they have shown belongs to the firm, which another transaction would have to read
		return s.RequireActing(ctx, tx)
	}
	if who.APIKeyID != "" {
		return s.currentKey(ctx, tx, who)
	}
	if who.UserID == "" { // the operator of the service
		return who, nil
	}
	m, err := FindMember(ctx, tx, who.UserID)
	if fault.KindOf(err) == fault.NotFound {
		return who, fault.Unauthorizedf("you are no longer a member of the organization")
	}
	if err != nil {
		return who, err
	}
	who.Role, who.LegalEntityIDs = m.Role, m.LegalEntityIDs
	switch {
	case who.AuthorizationID != "" && s.RequireAuthorization != nil:
		return who, s.RequireAuthorization(ctx, tx, who.AuthorizationID)
	case who.SessionID != "" && s.RequireSession != nil:
		return who, s.RequireSession(ctx, tx, who.UserID, who.SessionID)
	}
	return who, nil
}

func (s *Service) currentKey(ctx context.Context, tx *db.Tx, who actor.Actor) (actor.Actor, error) {
	key, err := selectKey(ctx, tx, who.APIKeyID)
	if err != nil {
		return who, err
	}
	held, now, err := s.actorOf(ctx, tx, key)
	if fault.KindOf(err) == fault.NotFound || err == nil && held.ended(tx.Now()) {
		return who, fault.Unauthorizedf("the API key %s has been revoked or has expired", key.ID)
	}
	now.RequestID = who.RequestID
	return now, err
}

// RequireHeld returns the error that Current returns.
func (s *Service) RequireHeld(ctx context.Context, tx *db.Tx) error {
	_, err := s.Current(ctx, tx)
	return err
}
