package firmrequest

import (
	"context"
	"errors"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// Sweep is the job that ends requests that have expired, and looks whether setups are finished from which the browser did not come back.
type Sweep struct{}

// Kind returns the name of the job.
func (Sweep) Kind() string { return "firm_request_sweep" }

// sweepMax is how many requests are looked for at a time.
const sweepMax = 500

// Sweep runs the job.
func (s *Service) Sweep(ctx context.Context) error {
	return errors.Join(s.expire(ctx), s.finishSetups(ctx))
}

const acrossFirms = "requests of all firms expire"

func (s *Service) expire(ctx context.Context) (err error) {
	for {
		var found []placed
		err := s.db.ReadAcross(ctx, acrossFirms, func(ctx context.Context, tx *db.Tx) (err error) {
			found, err = selectExpired(ctx, tx, tx.Now(), sweepMax)
			return err
		})
		if err != nil {
			return err
		}
		for _, p := range found {
			as := actor.With(ctx, actor.Actor{OrganizationID: p.OrganizationID})
			if err := s.write(as, p.OrganizationID, p.RequestID, func(ctx context.Context, tx *db.Tx, r Request) error {
				if r.Status != Expired || r.EndedAt != nil {
					return nil
				}
				_, err := s.end(ctx, tx, r, Expired, "")
				return err
			}); err != nil {
				return err
			}
		}
		if len(found) < sweepMax {
			return nil
		}
	}
}

func (s *Service) finishSetups(ctx context.Context) error {
	for above := ""; ; {
		var found []placed
		err := s.db.ReadAcross(ctx, acrossFirms, func(ctx context.Context, tx *db.Tx) (err error) {
			found, err = selectAwaiting(ctx, tx, above, sweepMax)
			return err
		})
		if err != nil {
			return err
		}
		for _, p := range found {
			above = p.RequestID
			if err := s.finishSetupsOf(ctx, p); err != nil && fault.KindOf(err) != fault.NotFound {
				return err
			}
		}
		if len(found) < sweepMax {
			return nil
		}
	}
}

func (s *Service) finishSetupsOf(ctx context.Context, p placed) error {
	var f Found
	var c firm.Client
	err := s.db.Read(ctx, p.OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		if f.Request, err = selectRequest(ctx, tx, p.RequestID); err != nil {
			return err
		}
		if f.Firm, err = firm.FindSettings(ctx, tx); err != nil {
			return err
		}
		c, err = firm.FindClient(ctx, tx, f.ClientID)
		return err
	})
	if err != nil || c.Status != firm.Active {
		return err
	}
	if err := s.findBooks(ctx, c, &f); err != nil {
		return err
	}
	_, err = s.refresh(ctx, Visitor{}, f)
	return err
}

// EndSetups is the job that ends the setups that were begun by a request and are not finished.
type EndSetups struct {
	OrganizationID string   `json:"organization_id"` // of the client
	FirmID         string   `json:"firm_id"`
	ConnectionIDs  []string `json:"connection_ids"`
}

// Kind returns the name of the job.
func (EndSetups) Kind() string { return "firm_request_end_setups" }

// endSetups ends the setups of a request after the database transaction.
func (s *Service) endSetups(ctx context.Context, tx *db.Tx, r Request) error {
	if !r.awaitsSetup() {
		return nil
	}
	c, err := firm.FindClient(ctx, tx, r.ClientID)
	if err != nil {
		return err
	}
	settings, err := firm.FindSettings(ctx, tx)
	if err != nil {
		return err
	}
	e := EndSetups{OrganizationID: c.OrganizationID, FirmID: settings.ID, ConnectionIDs: r.begun()}
	firm.AfterCommit(tx, func(ctx context.Context) error { return s.EndSetups(ctx, e) })
	if s.QueueEnd == nil {
		return nil
	}
	return s.QueueEnd(ctx, tx, e)
}

// EndSetups runs the job. A connection that was set up meanwhile stays, because the client has made it.
func (s *Service) EndSetups(ctx context.Context, e EndSetups) error {
	ctx = actor.With(ctx, actor.Actor{OrganizationID: e.OrganizationID, FirmID: e.FirmID})
	for _, id := range e.ConnectionIDs {
		c, err := s.Connections.Get(ctx, id)
		for err == nil && c.Status == connection.PendingSetup {
			if _, err = s.Connections.Disconnect(ctx, id, c.ETag()); fault.KindOf(err) == fault.Conflict { // it has changed
				c, err = s.Connections.Get(ctx, id)
				continue
			}
			break
		}
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	return nil
}

func (s *Service) deleteLinks(ctx context.Context, tx *db.Tx, r Request) error {
	return identity.DeleteInvitationLinks(ctx, tx, r.ID)
}
