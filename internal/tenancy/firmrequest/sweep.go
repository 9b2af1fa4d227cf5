package firmrequest

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
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

// expire ends the requests that have expired. One that asked for access or an owner only, and got it, is completed.
func (s *Service) expire(ctx context.Context) error {
	return s.eachPlaced(ctx, func(ctx context.Context, tx *db.Tx, above string) ([]placed, error) {
		return selectExpired(ctx, tx, tx.Now(), above, sweepMax)
	}, func(p placed) error {
		ctx := actor.With(ctx, actor.Actor{OrganizationID: p.OrganizationID})
		f, err := s.findPlaced(ctx, p)
		if err != nil {
			return err
		}
		status, by := Expired, By("")
		if f.granted() || f.allConnected() { // only nobody has said that this is all
			status, by = Completed, ByClient
		}
		return s.write(ctx, p.OrganizationID, p.RequestID, func(ctx context.Context, tx *db.Tx, r Request) error {
			if r.Status != Expired || r.EndedAt != nil {
				return nil
			}
			_, err := s.end(ctx, tx, r, r, status, by)
			return err
		})
	})
}

// finishSetups notes the setups that are finished.
func (s *Service) finishSetups(ctx context.Context) error {
	return s.eachPlaced(ctx, func(ctx context.Context, tx *db.Tx, above string) ([]placed, error) {
		return selectAwaiting(ctx, tx, above, sweepMax)
	}, func(p placed) error { return ignoreMissing(s.finishSetupsOf(ctx, p)) })
}

// eachPlaced runs a function on each request that another one finds above an id. One that fails does not keep the others waiting.
func (s *Service) eachPlaced(ctx context.Context, find func(ctx context.Context, tx *db.Tx, above string) ([]placed, error),
	do func(placed) error) error {
	var errs []error
	for above := ""; ; {
		var found []placed
		if err := s.db.ReadAcross(ctx, "requests of all firms expire", func(ctx context.Context, tx *db.Tx) (err error) {
			found, err = find(ctx, tx, above)
			return err
		}); err != nil {
			return errors.Join(append(errs, err)...)
		}
		for _, p := range found {
			above = p.RequestID
			if err := do(p); err != nil {
				errs = append(errs, fmt.Errorf("the request %s: %w", p.RequestID, err))
			}
		}
		if len(found) < sweepMax || ctx.Err() != nil {
			return errors.Join(errs...)
		}
	}
}

func (s *Service) finishSetupsOf(ctx context.Context, p placed) error {
	f, err := s.findPlaced(ctx, p)
	if err != nil || f.OrganizationID == "" {
		return err
	}
	_, err = s.refresh(ctx, Visitor{}, f)
	return err
}

// findPlaced returns a request with what is known of the books of the client, which is nothing if the firm has no access to them.
func (s *Service) findPlaced(ctx context.Context, p placed) (f Found, err error) {
	var c firm.Client
	err = s.db.Read(ctx, p.OrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		if f.Request, err = selectRequest(ctx, tx, p.RequestID); err != nil {
			return err
		}
		if c, err = firm.FindClient(ctx, tx, f.ClientID); err != nil {
			return err
		}
		f.Firm, err = firm.FindSettings(ctx, tx)
		return err
	})
	if f.Asks = f.asks(c); err == nil && c.Status == firm.Active {
		err = ignoreMissing(s.findBooks(ctx, c, &f))
	}
	return f, err
}

// EndSetups is the job that ends the setups that were begun by a request and are not finished.
type EndSetups struct {
	OrganizationID string   `json:"organization_id"`   // of the client
	FirmID         string   `json:"firm_id,omitempty"` // whose person has cancelled the request; empty if nobody of a firm has
	UserID         string   `json:"user_id,omitempty"`
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
	e := EndSetups{OrganizationID: c.OrganizationID, ConnectionIDs: r.begun()}
	if who := actor.From(ctx); who.UserID != "" { // somebody of the firm: who has the link changes requests as nobody
		settings, err := firm.FindSettings(ctx, tx)
		if err != nil {
			return err
		}
		e.FirmID, e.UserID = settings.ID, who.UserID
	}
	firm.AfterCommit(tx, func(ctx context.Context) error { return s.EndSetups(ctx, e) })
	if s.QueueEnd == nil {
		return nil
	}
	return s.QueueEnd(ctx, tx, e)
}

// EndSetups runs the job. A connection that was set up meanwhile stays, because the client has made it.
func (s *Service) EndSetups(ctx context.Context, e EndSetups) error {
	ctx = actor.With(ctx, actor.Actor{OrganizationID: e.OrganizationID, FirmID: e.FirmID, UserID: e.UserID})
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
