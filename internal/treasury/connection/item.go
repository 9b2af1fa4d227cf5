package connection

import (
	"context"
	"errors"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Aggregators returns the providers at which one sign-in shows several accounts, by their names, for the deletion of the last of them.
func (s *Service) Aggregators() map[string]source.Aggregator {
	out := map[string]source.Aggregator{}
	for name, p := range s.providers {
		if p.fillsSources() && sourceTypes[p.Kind] == "" {
			out[name] = aggregator{s, name}
		}
	}
	return out
}

// aggregator ends the sign-ins at a provider.
type aggregator struct {
	service  *Service
	provider string
}

// RemoveItem ends the access to the account of a connection, and disconnects the connection.
func (a aggregator) RemoveItem(ctx context.Context, externalItemID string) error {
	s, organizationID := a.service, actor.From(ctx).OrganizationID
	var found *Connection
	err := s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		all, err := selectOfProvider(ctx, tx, a.provider)
		for _, c := range all {
			if c.ExternalAccountID == externalItemID && c.Status != Disconnected {
				found = &c
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	if found == nil {
		return source.ErrNoItem
	}
	if revoke := s.providers[a.provider].Revoke; revoke != nil && found.credentials != "" {
		credentials, err := s.open(organizationID, *found)
		if err != nil {
			return errors.Join(ErrSealed, err)
		}
		if err := revoke(ctx, credentials, s.keeper(organizationID, found.ID)); err != nil {
			return err
		}
	}
	_, err = s.Disconnect(context.WithoutCancel(ctx), found.ID, "")
	return err
}
