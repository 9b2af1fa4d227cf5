package oauth

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/token"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Client is an app that may ask people for access.
type Client struct {
	ID             string
	OrganizationID string // whose owner registered it; empty if the operator of the service did, or the app itself
	Name           string
	RedirectURIs   []string
	HomepageURL    string
	RegisteredBy   Registrar
	CreatedBy      string
	CreatedAt      time.Time
	RevokedAt      *time.Time
}

// Registrar is who has registered a client.
type Registrar string

// The registrars.
const (
	ByOperator     Registrar = "operator"
	ByOrganization Registrar = "organization"
	ByItself       Registrar = "itself" // dynamic registration, RFC 7591
)

// The limits of a client.
const (
	nameMax         = 100
	redirectURIsMax = 10
	uriMax          = 2048
)

func (c Client) facts() map[string]any {
	return map[string]any{"id": c.ID, "name": c.Name, "redirect_uris": c.RedirectURIs, "homepage_url": db.OrNull(c.HomepageURL),
		"registered_by": c.RegisteredBy, "revoked_at": c.RevokedAt}
}

// RegisterParams describe a new client.
type RegisterParams struct {
	Name         string
	RedirectURIs []string
	HomepageURL  string
}

// Validate returns a fault that names everything that is wrong.
func (p RegisterParams) Validate() error {
	var faults fault.List
	if problem := nameProblem(p.Name); problem != "" {
		faults.Addf("name", "%s", problem)
	}
	if n := len(p.RedirectURIs); n == 0 || n > redirectURIsMax {
		faults.Addf("redirect_uris", "must have 1 to %d addresses, but has %d", redirectURIsMax, n)
	}
	for i, text := range p.RedirectURIs {
		field := fmt.Sprintf("redirect_uris[%d]", i)
		if problem := redirectProblem(text); problem != "" {
			faults.Addf(field, "%s", problem)
		}
		if slices.Index(p.RedirectURIs, text) != i {
			faults.Addf(field, "is there twice")
		}
	}
	if p.HomepageURL != "" {
		if u, err := url.Parse(p.HomepageURL); err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
			len(p.HomepageURL) > uriMax {
			faults.Addf("homepage_url", "must be an https address of at most %d characters, without a user name", uriMax)
		}
	}
	return faults.Err()
}

// Service implements the use cases of apps.
type Service struct {
	db    *db.DB
	known token.Cache[cachedToken]

	// EndKeys revokes the API keys that an app has created, in the transaction that ends its authorization, and returns the ids of all keys
	// that it ever had. Without it, none are revoked.
	EndKeys func(ctx context.Context, tx *db.Tx, authorizationID string) ([]string, error)
	// EndCreated end what an app has created besides keys, such as invitations, in the same transaction.
	EndCreated []func(ctx context.Context, tx *db.Tx, by audit.Maker) error
	// ForgetKeys makes this node read API keys again before it accepts them. Without it, keys of an app that was revoked may work for as
	// long as nodes remember keys.
	ForgetKeys func()
	// RequireHeld returns an error if what the actor has shown has ended since the request was authenticated. Nil means that it has not.
	RequireHeld func(ctx context.Context, tx *db.Tx) error
	// Queue queues a job in a database transaction. Without it, the authorizations of an app that was revoked end with the next sweep.
	Queue func(ctx context.Context, tx *db.Tx, j EndAuthorizations) error
	// Ended is told of each authorization that ends, in the same database transaction. It may be nil.
	Ended func(ctx context.Context, tx *db.Tx, a Authorization) error
}

// NewService returns a Service on a database.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// shared is why clients are read and written without an organization.
const shared = "people of any organization may use an app"

// clientsMax is how many apps an organization can have registered at a time.
const clientsMax = 100

// RegisterForOrganization registers an app of the actor's organization.
func (s *Service) RegisterForOrganization(ctx context.Context, p RegisterParams) (c Client, err error) {
	if err := p.Validate(); err != nil {
		return c, err
	}
	who := actor.From(ctx)
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // so that no other app is registered meanwhile
			return err
		}
		if s.RequireHeld != nil {
			if err := s.RequireHeld(ctx, tx); err != nil {
				return err
			}
		}
		n, err := countClients(ctx, tx)
		if err != nil {
			return err
		}
		if n >= clientsMax {
			return fault.Conflictf("the organization has registered %d apps, which is the most that it can: revoke one that is not used", n)
		}
		c = Client{ID: tx.NewID(id.OAuthClient), OrganizationID: who.OrganizationID, Name: p.Name, RedirectURIs: p.RedirectURIs,
			HomepageURL: p.HomepageURL, RegisteredBy: ByOrganization, CreatedBy: who.UserID, CreatedAt: tx.Now()}
		if err := insertClient(ctx, tx, c); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "oauth_client.created", ResourceType: "oauth_client", ResourceID: c.ID, After: c.facts(),
			Object: c})
		return nil
	})
	return c, err
}

// ownRegistrationsMax is how many apps that have registered themselves the service keeps. Two that arrive at the same time may exceed it.
const ownRegistrationsMax = 10_000

// errFull is temporary: apps that nobody connects are deleted.
var errFull = fault.Busyf(time.Hour, "too many apps have registered themselves: those that nobody connects are deleted after a week; "+
	"try again later, or ask the operator of the service to register the app")

// Register registers an app of no organization. It is for the operator of the service and for apps that register themselves, of which there
// is a maximum.
func (s *Service) Register(ctx context.Context, p RegisterParams, by Registrar) (c Client, err error) {
	if err := p.Validate(); err != nil {
		return c, err
	}
	err = s.db.WriteAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		if by == ByItself {
			n, err := countOwnRegistrations(ctx, tx, ownRegistrationsMax)
			if err != nil {
				return err
			}
			if n >= ownRegistrationsMax {
				return errFull
			}
		}
		c = Client{ID: tx.NewID(id.OAuthClient), Name: p.Name, RedirectURIs: p.RedirectURIs, HomepageURL: p.HomepageURL, RegisteredBy: by,
			CreatedAt: tx.Now()}
		return insertClient(ctx, tx, c)
	})
	return c, err
}

// Clients lists the apps that the actor's organization has registered, the newest first.
func (s *Service) Clients(ctx context.Context, p page.Request) (page.Page[Client], error) {
	key := func(c Client) string { return c.ID }
	return page.ListByKey("oauth-clients", nil, p, "~", key, func(below string, limit int) (rows []Client, err error) {
		err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectClients(ctx, tx, below, limit)
			return err
		})
		return rows, err
	})
}

// AllClients lists the apps of everybody, the newest first. It is for the operator of the service.
func (s *Service) AllClients(ctx context.Context, p page.Request) (page.Page[Client], error) {
	key := func(c Client) string { return c.ID }
	return page.ListByKey("all-oauth-clients", nil, p, "~", key, func(below string, limit int) (rows []Client, err error) {
		err = s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectAllClients(ctx, tx, below, limit)
			return err
		})
		return rows, err
	})
}

// Client returns an app that the actor's organization has registered, also if it was revoked.
func (s *Service) Client(ctx context.Context, clientID string) (c Client, err error) {
	org := actor.From(ctx).OrganizationID
	err = s.db.ReadOne(ctx, org, func(ctx context.Context, tx *db.Tx) error {
		c, err = selectClient(ctx, tx, clientID)
		return err
	})
	if err == nil && c.OrganizationID != org {
		c, err = Client{}, fault.Missing("OAuth client")
	}
	return c, err
}

// FindClient returns a client that was not revoked.
func (s *Service) FindClient(ctx context.Context, clientID string) (c Client, err error) {
	if !id.Valid(id.OAuthClient, clientID) {
		return c, fault.Missing("OAuth client")
	}
	err = s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		c, err = selectClient(ctx, tx, clientID)
		return err
	})
	if err == nil && c.RevokedAt != nil {
		err = fault.Missing("OAuth client")
	}
	return c, err
}

// RevokeClient revokes an app that the actor's organization has registered: its tokens stop working, and all that people have allowed it
// ends. Revoking it again changes nothing and is no error.
func (s *Service) RevokeClient(ctx context.Context, clientID string) error {
	org := actor.From(ctx).OrganizationID
	return s.db.Write(ctx, org, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // first, as whoever ends what an app has registered does
			return err
		}
		before, err := lockClient(ctx, tx, clientID)
		if err != nil {
			return err
		}
		if before.OrganizationID != org {
			return fault.Missing("OAuth client")
		}
		return s.revokeClient(ctx, tx, before)
	})
}

// RevokeAnyClient revokes an app, whoever has registered it. It is for the operator of the service, so it does not authorize the actor.
func (s *Service) RevokeAnyClient(ctx context.Context, clientID string) (c Client, err error) {
	err = s.db.ReadAcross(ctx, shared, func(ctx context.Context, tx *db.Tx) error {
		c, err = selectClient(ctx, tx, clientID)
		return err
	})
	if err != nil {
		return c, err
	}
	revoke := func(ctx context.Context, tx *db.Tx) error {
		if tx.Organization() != "" {
			if _, err := orgstate.Lock(ctx, tx); err != nil {
				return err
			}
		}
		before, err := lockClient(ctx, tx, clientID)
		if err != nil {
			return err
		}
		return s.revokeClient(ctx, tx, before)
	}
	if c.OrganizationID != "" {
		return c, s.db.Write(ctx, c.OrganizationID, revoke) // the organization's audit log says so
	}
	return c, s.db.WriteAcross(ctx, shared, revoke)
}

// revokeClient revokes an app, unless it is revoked already. What people have allowed it ends in a job, because they may be people of many
// organizations. Nothing works with its tokens and keys meanwhile.
func (s *Service) revokeClient(ctx context.Context, tx *db.Tx, before Client) error {
	if before.RevokedAt != nil {
		return nil
	}
	after, now := before, tx.Now()
	after.RevokedAt = &now
	tx.AfterCommit(func() {
		s.known.ForgetWhere(func(cachedToken) bool { return true })
		if s.ForgetKeys != nil {
			s.ForgetKeys()
		}
	})
	if err := updateClientRevoked(ctx, tx, after); err != nil {
		return err
	}
	if tx.Organization() != "" {
		audit.Record(ctx, tx, audit.Change{Action: "oauth_client.revoked", ResourceType: "oauth_client", ResourceID: after.ID,
			Before: before.facts(), After: after.facts(), Object: after})
	}
	if s.Queue == nil {
		return nil
	}
	return s.Queue(ctx, tx, EndAuthorizations{ClientID: after.ID})
}
