package connection

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// Event is what a provider says has happened. Only its names are used: what they stand for is read from the provider.
type Event struct {
	ID         string
	Type       string
	ObjectType string
	ObjectID   string
	ReceivedAt time.Time
}

const (
	// eventTextMax bounds the texts of an event that are stored, in bytes.
	eventTextMax = 255
	// eventsWaitingMax bounds how many events of a connection wait to be handled.
	eventsWaitingMax = 1000
)

// ErrNotAccepted is the error for an event of an unknown connection and for one that cannot be verified. Nobody can tell the two apart.
var ErrNotAccepted = fault.Malformedf("the event was not accepted: the connection is unknown, or the signature does not match")

// Receive stores an event that a provider has sent for a connection, once, and has what it names read in the background. The function
// verifies the event with the credentials of the connection, and reports whether it concerns anything that is read. If too many events
// wait, it stores nothing: everything that has changed is then read instead.
func (s *Service) Receive(ctx context.Context, provider, connectionID string,
	verify func(Credentials) (e Event, concerns bool, err error)) error {
	c, organizationID, err := s.findAcross(ctx, connectionID)
	if err != nil {
		return err
	}
	var credentials Credentials
	if c.Provider == provider && c.Status != Disconnected && c.TakesWebhooks {
		if credentials, err = s.open(organizationID, c); err != nil {
			return fault.UnavailableBecause(err, "the event cannot be verified at present: send it again later")
		}
	}
	e, concerns, err := verify(credentials)
	if err != nil || credentials[webhookSecret].IsZero() {
		return ErrNotAccepted
	}
	for _, text := range []string{e.ID, e.Type, e.ObjectType, e.ObjectID} {
		if len(text) > eventTextMax {
			return ErrNotAccepted
		}
	}
	if !concerns {
		return nil
	}
	return s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		if err := lockSync(ctx, tx, connectionID); err != nil {
			return err
		}
		status, err := selectState(ctx, tx, connectionID)
		if err != nil {
			return err
		}
		if status == Disconnected { // meanwhile
			return ErrNotAccepted
		}
		waiting, err := countWaiting(ctx, tx, connectionID)
		if err != nil {
			return err
		}
		refused := status == Unauthorized // nothing is read until the credentials are replaced, and then all that has changed
		if waiting >= eventsWaitingMax && refused {
			return nil
		}
		if waiting >= eventsWaitingMax {
			return requestSync(ctx, tx, connectionID, CauseSchedule)
		}
		e.ReceivedAt = tx.Now()
		if isNew, err := insertEvent(ctx, tx, connectionID, e); err != nil || !isNew || refused {
			return err
		}
		return wake(ctx, tx, connectionID)
	})
}

// findAcross returns a connection of any organization, or an empty one if there is none.
func (s *Service) findAcross(ctx context.Context, connectionID string) (c Connection, organizationID string, err error) {
	err = s.db.ReadAcross(ctx, "a webhook names a connection, and no organization", func(ctx context.Context, tx *db.Tx) error {
		c, organizationID, err = selectAcross(ctx, tx, connectionID)
		if fault.KindOf(err) == fault.NotFound {
			err = nil
		}
		return err
	})
	if err != nil || organizationID == "" {
		return c, organizationID, err
	}
	err = s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		c, err = selectOne(ctx, tx, connectionID, "") // with its credentials
		return err
	})
	return c, organizationID, err
}
