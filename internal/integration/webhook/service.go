package webhook

import (
	"cmp"
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

// Config says how endpoints are reached.
type Config struct {
	AllowPrivate bool     // allow private networks, and http
	Proxy        *url.URL // for all requests; nil means none

	Timeout time.Duration // of a request; 0 means 15 seconds
	Lease   time.Duration // how long an endpoint stays claimed by a worker that does not store results; 0 means 25 seconds

	Pauses      []time.Duration // between the attempts of a delivery, the last one repeats; nil means from 5 seconds to 24 hours
	ProbePauses []time.Duration // where there is only one attempt at a time; nil means from 5 seconds to 15 minutes

	Resolver *net.Resolver  // nil: that of the system
	RootCAs  *x509.CertPool // nil: those of the system
}

// Service holds the use cases.
type Service struct {
	db      *db.DB
	key     *seal.Key
	config  Config
	client  *http.Client
	counted *prometheus.CounterVec // requests
	types   func() []string        // nil if any type may be listed
}

// WithTypes says which types of events there are; a type of an endpoint must stand for one of them. It is called before the service is
// used.
func (s *Service) WithTypes(types func() []string) *Service {
	s.types = types
	return s
}

// NewService returns a service that encrypts secrets with a key.
func NewService(d *db.DB, key *seal.Key, c Config) *Service {
	c.Timeout, c.Lease = cmp.Or(c.Timeout, timeout), cmp.Or(c.Lease, lease)
	if c.Pauses == nil {
		c.Pauses = pauses
	}
	if c.ProbePauses == nil {
		c.ProbePauses = probePauses
	}
	return &Service{db: d, key: key, config: c, client: newClient(c), counted: newCounter()}
}

// List returns endpoints in the order of their creation.
func (s *Service) List(ctx context.Context, p page.Request) (page.Page[Endpoint], error) {
	key := func(e Endpoint) string { return e.ID }
	return page.ListByKey("webhook_endpoints", nil, p, "", key, func(above string, limit int) (rows []Endpoint, err error) {
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectEndpoints(ctx, tx, above, limit)
			return err
		})
		return rows, err
	})
}

// Get returns an endpoint.
func (s *Service) Get(ctx context.Context, endpointID string) (e Endpoint, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		e, err = Find(ctx, tx, endpointID)
		return err
	})
	return e, err
}

// Find returns an endpoint. It is a building block.
func Find(ctx context.Context, tx *db.Tx, endpointID string) (Endpoint, error) {
	return selectEndpoint(ctx, tx, endpointID, "")
}

// Create stores an endpoint, to which events are sent that happen from now on. It returns the secret that signs them.
func (s *Service) Create(ctx context.Context, p CreateParams) (e WithSecret, err error) {
	organizationID := actor.From(ctx).OrganizationID
	err = s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		state, err := orgstate.Lock(ctx, tx)
		if err != nil {
			return err
		}
		e = WithSecret{Endpoint: Endpoint{ID: tx.NewID(id.WebhookEndpoint), Status: Enabled, CreatedAt: tx.Now(), revision: 1}}
		var faults fault.List
		s.apply(&faults, &e.Endpoint, UpdateParams{URL: &p.URL, Description: &p.Description, Types: &p.Types, Ordered: &p.Ordered})
		if err := faults.Err(); err != nil {
			return err
		}
		switch n, err := countEndpoints(ctx, tx); {
		case err != nil:
			return err
		case n >= EndpointsMax:
			return fault.Conflictf("the organization has %d webhook endpoints, which is the maximum: delete one first", n)
		}
		if e.Secret, e.secret, err = s.newSecret(organizationID, e.ID); err != nil {
			return err
		}
		if err := insertEndpoint(ctx, tx, e.Endpoint, state.EventSequence); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: eventCreated, ResourceType: resourceType, ResourceID: e.ID, After: e.facts(),
			Object: e.Endpoint})
		return nil
	})
	return e, err
}

// change runs fn on an endpoint, and stores and records what it changes. An etag must be that of the endpoint, or empty.
func (s *Service) change(ctx context.Context, endpointID, etag, action string,
	fn func(ctx context.Context, tx *db.Tx, e *Endpoint) error) (e Endpoint, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := selectEndpoint(ctx, tx, endpointID, "{for_update}")
		if err != nil {
			return err
		}
		if err := before.requireVersion(etag); err != nil {
			return err
		}
		e = before
		if err := fn(ctx, tx, &e); err != nil || e.same(before) {
			return err
		}
		e, err = save(ctx, tx, action, before, e)
		return err
	})
	return e, err
}

// save stores a changed endpoint and records the change.
func save(ctx context.Context, tx *db.Tx, action string, before, after Endpoint) (Endpoint, error) {
	now := tx.Now()
	after.UpdatedAt, after.revision = &now, before.revision+1
	if err := updateEndpoint(ctx, tx, after); err != nil {
		return after, err
	}
	audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: resourceType, ResourceID: after.ID, Before: before.facts(),
		After: after.facts(), Object: after})
	return after, nil
}

// Update changes an endpoint. A change of its types concerns events that are not sent yet.
func (s *Service) Update(ctx context.Context, endpointID string, p UpdateParams, etag string) (Endpoint, error) {
	return s.change(ctx, endpointID, etag, eventUpdated, func(ctx context.Context, tx *db.Tx, e *Endpoint) error {
		address := e.URL
		var faults fault.List
		s.apply(&faults, e, p)
		if err := faults.Err(); err != nil || e.URL == address || e.Status != Enabled {
			return err
		}
		c, err := lockCursor(ctx, tx, e.ID)
		if err != nil || c.FailingSince == nil {
			return err
		}
		if err := retryNow(ctx, tx, e.ID); err != nil { // the new address may work
			return err
		}
		return updateCursor(ctx, tx, c.dueNow())
	})
}

// OverlapDefault and OverlapMax are for how long the former secret of an endpoint signs as well.
const (
	OverlapDefault = 24 * time.Hour
	OverlapMax     = 168 * time.Hour
)

// RotateSecret replaces the secret of an endpoint and returns the new one. What is sent is signed with the former one as well for some
// time. Meanwhile the secret cannot be replaced again with an overlap: a receiver may still have the former one.
func (s *Service) RotateSecret(ctx context.Context, endpointID string, overlap time.Duration, etag string) (out WithSecret, err error) {
	if overlap < 0 || overlap > OverlapMax {
		return out, fault.Invalidf("overlap_hours", "must be between 0 and %d", int(OverlapMax.Hours()))
	}
	organizationID := actor.From(ctx).OrganizationID
	out.Endpoint, err = s.change(ctx, endpointID, etag, eventRotated, func(_ context.Context, tx *db.Tx, e *Endpoint) error {
		valid, err := s.secrets(organizationID, *e, tx.Now())
		if len(valid) > 1 && overlap > 0 {
			return fault.Conflictf("the former secret of the webhook endpoint %s is valid until %s: send overlap_hours 0 to replace both at once",
				e.ID, e.PreviousSecretExpiresAt.Format(time.RFC3339))
		}
		e.previousSecret, e.PreviousSecretExpiresAt = "", nil
		if overlap > 0 && err == nil { // one that cannot be decrypted signs nothing
			e.previousSecret, e.PreviousSecretExpiresAt = e.secret, new(tx.Now().Add(overlap))
		}
		out.Secret, e.secret, err = s.newSecret(organizationID, e.ID)
		return err
	})
	return out, err
}

// Disable stops sending events to an endpoint, and gives up those that it has not accepted.
func (s *Service) Disable(ctx context.Context, endpointID, etag string) (Endpoint, error) {
	return s.change(ctx, endpointID, etag, EventDisabled, func(ctx context.Context, tx *db.Tx, e *Endpoint) error {
		if e.Status == Disabled {
			return nil
		}
		e.Status, e.StatusReason = Disabled, ""
		if _, err := lockCursor(ctx, tx, e.ID); err != nil {
			return err
		}
		return giveUp(ctx, tx, e.ID)
	})
}

// Enable sends events to an endpoint again: to one that was paused from where it stopped, and to one that was disabled those that happen
// from now on. If deliveries to one that is enabled fail, what waits is sent at once.
func (s *Service) Enable(ctx context.Context, endpointID, etag string) (Endpoint, error) {
	return s.change(ctx, endpointID, etag, eventEnabled, func(ctx context.Context, tx *db.Tx, e *Endpoint) error {
		if err := e.requireSecret(); err != nil {
			return err
		}
		c, err := lockCursor(ctx, tx, e.ID)
		if err != nil {
			return err
		}
		if e.Status == Enabled {
			return resume(ctx, tx, *e, c)
		}
		c.Failures, c.FailingSince, c.NextAt, c.WakeAt = 0, nil, nil, nil
		if e.Status == Paused {
			err = retryAgain(ctx, tx, e.ID, tx.Now(), tx.Now().Add(retryAfterPause))
		} else {
			state, stateErr := orgstate.Read(ctx, tx)
			if stateErr != nil {
				return stateErr
			}
			c.Sequence = state.EventSequence
		}
		if err != nil {
			return err
		}
		e.Status, e.StatusReason, e.FailingSince = Enabled, "", nil
		return updateCursor(ctx, tx, c)
	})
}

// Delete deletes an endpoint. Its log is deleted some time later.
func (s *Service) Delete(ctx context.Context, endpointID, etag string) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := selectEndpoint(ctx, tx, endpointID, "{for_update}")
		if err != nil {
			return err
		}
		if err := before.requireVersion(etag); err != nil {
			return err
		}
		if err := deleteEndpoint(ctx, tx, endpointID); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: eventDeleted, ResourceType: resourceType, ResourceID: endpointID,
			Before: before.facts()})
		return nil
	})
}

// Test sends an event to an endpoint at once, whatever its state, and returns the attempt. The event is not part of the feed; its data are
// returned by describe as JSON. If the endpoint accepts it, and failed before, what waits is sent at once. It must not run inside a
// database transaction, because the endpoint may be slow.
func (s *Service) Test(ctx context.Context, endpointID string, describe func(Endpoint) []byte) (Attempt, error) {
	organizationID := actor.From(ctx).OrganizationID
	e, err := s.Get(ctx, endpointID)
	if err != nil {
		return Attempt{}, err
	}
	now := s.db.Clock().Now()
	secrets, err := s.secrets(organizationID, e, now)
	if err != nil {
		return Attempt{}, fault.UnavailableBecause(err, "the secret of the webhook endpoint cannot be decrypted: rotate it")
	}
	a := s.send(ctx, e.URL, secrets, organizationID, outbox.Event{ID: s.db.IDs().New(id.Event), Type: EventTest, CreatedAt: now,
		ObjectID: e.ID, Data: string(describe(e))})
	if !a.Succeeded() || e.Status != Enabled || e.FailingSince == nil {
		return a, nil
	}
	return a, ignoreMissing(s.resume(ctx, endpointID))
}
