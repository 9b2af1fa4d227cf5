package firmrequest

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/tenancy/team"
	"github.com/bursarhq/bursar/internal/treasury/connection"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

const (
	// Lifetime is how long a request can be answered.
	Lifetime = 14 * 24 * time.Hour

	// integrationsMax bounds how many accounts one request asks for, and pendingMax how many requests a client has at a time.
	integrationsMax = 20
	pendingMax      = 20

	nameMax    = 200
	messageMax = 2000
)

// Service implements the use cases of requests. Its fields are set before it is used.
type Service struct {
	db     *db.DB
	people *identity.Service
	Uses

	// Deliver sends a message at once, and reports whether the mail server has accepted it. It keeps what it cannot send. Nil sends nothing.
	Deliver func(ctx context.Context, m mail.Message) (sent bool)

	// QueueEnd stores a job in a database transaction.
	QueueEnd func(ctx context.Context, tx *db.Tx, e EndSetups) error
}

// Uses are the services by which a client does what it is asked for.
type Uses struct {
	Firms       *firm.Service
	Team        *team.Service
	Connections *connection.Service
	Imports     *imports.Service
	Sources     *source.Service
}

// NewService returns a Service on a database.
func NewService(d *db.DB, people *identity.Service, u Uses) *Service {
	return &Service{db: d, people: people, Uses: u}
}

// Filter selects requests; empty fields match all.
type Filter struct {
	ClientID string
	Status   Status

	id string
}

// List returns requests of the actor's firm, the newest first: other people than owners, admins and auditors see those to
// clients that they work for.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Request], error) {
	key := func(r Request) string { return r.ID }
	return page.ListByKey("firm requests", f, p, "~", key, func(below string, limit int) ([]Request, error) {
		return s.read(ctx, f, below, limit)
	})
}

// Get returns a request of the actor's firm. The error is NotFound if the actor may not know of it.
func (s *Service) Get(ctx context.Context, requestID string) (r Request, err error) {
	found, err := s.read(ctx, Filter{id: requestID}, "~", 1)
	if err == nil && len(found) == 0 {
		err = fault.Missing(noun)
	}
	if err != nil {
		return r, err
	}
	return found[0], nil
}

func (s *Service) read(ctx context.Context, f Filter, below string, limit int) (out []Request, err error) {
	err = s.db.ReadAcross(ctx, "a firm sees what it has asked its clients for", func(ctx context.Context, tx *db.Tx) error {
		out, err = selectSeen(ctx, tx, actor.From(ctx), f, below, limit)
		for n := range out {
			out[n] = out[n].at(tx.Now())
		}
		return err
	})
	return out, err
}

// Cancel ends a request that is pending: its link stops working, and setups that were begun by it end. It returns a Conflict fault for any
// other.
func (s *Service) Cancel(ctx context.Context, requestID string) (r Request, err error) {
	err = s.write(ctx, actor.From(ctx).OrganizationID, requestID, func(ctx context.Context, tx *db.Tx, before Request) error {
		if err := before.requirePending("be cancelled"); err != nil {
			return err
		}
		r, err = s.end(ctx, tx, before, before, Cancelled, ByFirm)
		return err
	})
	return r, err
}

// requirePending returns a Conflict fault that says what cannot be done with a request that has ended.
func (r Request) requirePending(what string) error {
	if r.Status == Pending {
		return nil
	}
	return fault.Conflictf("the request %s is %s, and cannot %s: ask the client again with a new one", r.ID, r.Status, what)
}

// write runs fn on a request of an organization, as it is now, and locks it.
func (s *Service) write(ctx context.Context, organizationID, requestID string, fn func(context.Context, *db.Tx, Request) error) error {
	return s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		r, err := selectRequest(ctx, tx, requestID)
		if err != nil {
			return err
		}
		return fn(ctx, tx, r.at(tx.Now()))
	})
}

// ClientEnded cancels the requests to a client that has ended. It is a building block.
func (s *Service) ClientEnded(ctx context.Context, tx *db.Tx, c firm.Client) error {
	pending, err := selectPendingOf(ctx, tx, c.ID)
	for _, r := range pending {
		if err != nil {
			return err
		}
		if r = r.at(tx.Now()); r.Status == Expired {
			_, err = s.end(ctx, tx, r, r, Expired, "")
		} else {
			_, err = s.end(ctx, tx, r, r, Cancelled, ByFirm)
		}
	}
	return err
}

// ClientActive completes the requests that have asked a client for access only, which it has given. It is a building block.
func (s *Service) ClientActive(ctx context.Context, tx *db.Tx, c firm.Client) error {
	pending, err := selectPendingOf(ctx, tx, c.ID)
	for _, r := range pending {
		if err == nil && len(r.Integrations) == 0 {
			_, err = s.end(ctx, tx, r, r, Completed, ByClient)
		}
	}
	return err
}

// end stores that a request has ended, and what else has changed of it. Its link stops working, and setups that were begun and not finished
// end. It is a building block.
func (s *Service) end(ctx context.Context, tx *db.Tx, before, after Request, status Status, by By) (Request, error) {
	now := tx.Now()
	before.Status, before.EndedAt = Pending, nil // as it is stored
	after.Status, after.EndedBy, after.EndedAt = status, by, &now
	if status == Expired {
		after.EndedAt = &after.ExpiresAt
	}
	if err := store(ctx, tx, "firm_request."+string(status), before, after); err != nil {
		return after, err
	}
	if err := identity.DeleteInvitationLinks(ctx, tx, after.ID); err != nil {
		return after, err
	}
	return after, s.endSetups(ctx, tx, after)
}

// store stores a change of a request.
func store(ctx context.Context, tx *db.Tx, action string, before, after Request) error {
	now := tx.Now()
	after.UpdatedAt = &now
	if err := updateRequest(ctx, tx, after); err != nil {
		return err
	}
	audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: "firm_request", ResourceID: after.ID, Before: before.facts(),
		After: after.facts(), Object: after})
	return nil
}
