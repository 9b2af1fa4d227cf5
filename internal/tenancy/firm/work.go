package firm

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Work is a client for which somebody of a firm works.
type Work struct {
	ClientID       string `db:"firm_client_id"`
	OrganizationID string `db:"client_organization_id"`
}

// WorksFor returns the clients for which an actor of a firm works, by id: all of them, or those with some ids. Keys without a user, apps
// and people who see only a part of the firm work for none. It opens a transaction of its own.
func (s *Service) WorksFor(ctx context.Context, who actor.Actor, clientIDs []string) (out []Work, err error) {
	if !who.MayWorkForClients() {
		return nil, nil
	}
	err = s.db.ReadAcross(ctx, "somebody of a firm works for its clients", func(ctx context.Context, tx *db.Tx) error {
		out, err = selectWork(ctx, tx, who, clientIDs)
		return err
	})
	return out, err
}

// AllWork returns the clients that have given a firm access, by id. It opens a transaction of its own.
func (s *Service) AllWork(ctx context.Context, firmOrganizationID string) (out []Work, err error) {
	err = s.db.ReadAcross(ctx, "a firm checks all its clients", func(ctx context.Context, tx *db.Tx) error {
		out, err = selectAllWork(ctx, tx, firmOrganizationID)
		return err
	})
	return out, err
}

// ActNow is Act for somebody of the actor's firm, and asks the database: it is for work that goes on for long. It does not check what the
// person has shown when the work began.
func (s *Service) ActNow(ctx context.Context, who actor.Actor, organizationID string) (actor.Actor, error) {
	found, err := s.readActing(ctx, who.UserID, organizationID)
	if err == nil && found.firmOrganizationID != who.OrganizationID {
		err = errNoClient
	}
	if err != nil {
		return who, err
	}
	return found.actor(who), nil
}

// HasAccess reports whether a firm has access to the organization of the transaction. It is a building block.
func HasAccess(ctx context.Context, tx *db.Tx, firmOrganizationID string) (bool, error) {
	a, err := FindActive(ctx, tx)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil && a.FirmOrganizationID == firmOrganizationID, err
}

// FirmsOf returns the access of the firms that work for some organizations, by the ids of these.
func (s *Service) FirmsOf(ctx context.Context, organizationIDs []string) (out map[string]Access, err error) {
	if len(organizationIDs) == 0 {
		return nil, nil
	}
	err = s.db.ReadAcross(ctx, "an owner of several organizations sees which firms work for them", func(ctx context.Context, tx *db.Tx) error {
		out, err = selectWorking(ctx, tx, organizationIDs)
		return err
	})
	return out, err
}
