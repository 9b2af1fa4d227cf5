package connection

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/base/seal"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Service holds the use cases.
type Service struct {
	db         *db.DB
	key        *seal.Key
	connectors map[string]Connector
	readers    map[string]Reader
}

// NewService returns a service that encrypts credentials with a key.
func NewService(d *db.DB, key *seal.Key) *Service {
	return &Service{db: d, key: key, connectors: map[string]Connector{}, readers: map[string]Reader{}}
}

// WithProvider makes a provider available. It is called before the service is used.
func (s *Service) WithProvider(name string, c Connector, r Reader) *Service {
	s.connectors[name], s.readers[name] = c, r
	return s
}

// available returns the names of the providers with a connector.
func (s *Service) available() []string { return slices.Sorted(maps.Keys(s.connectors)) }

// List returns connections in the order of their creation.
func (s *Service) List(ctx context.Context, p page.Request) (page.Page[Connection], error) {
	who := actor.From(ctx)
	key := func(c Connection) string { return c.ID }
	return page.ListByKey("connections", nil, p, "", key, func(above string, limit int) (rows []Connection, err error) {
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectPage(ctx, tx, who.LegalEntityIDs, above, limit)
			return err
		})
		return rows, err
	})
}

// Get returns a connection.
func (s *Service) Get(ctx context.Context, connectionID string) (c Connection, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		c, err = find(ctx, tx, connectionID, "")
		return err
	})
	return c, err
}

// find returns a connection that the actor may see.
func find(ctx context.Context, tx *db.Tx, connectionID, lock string) (Connection, error) {
	c, err := selectOne(ctx, tx, connectionID, lock)
	if err == nil && !actor.From(ctx).Sees(c.LegalEntityID) {
		return Connection{}, fault.Missing(noun)
	}
	return c, err
}

// Check returns an error with every fault of a new connection that can be found without its provider.
func (s *Service) Check(ctx context.Context, p CreateParams) error {
	return s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error { return s.check(ctx, tx, &p) })
}

// Inspect checks a new connection and asks its provider for the account. It must not run inside a database transaction, because the
// provider may be slow.
func (s *Service) Inspect(ctx context.Context, p CreateParams) (Account, error) {
	if err := s.Check(ctx, p); err != nil {
		return Account{}, err
	}
	return s.connectors[p.Provider].Check(ctx, p.Credentials)
}

// Create stores a connection to an account that Inspect has returned. Its data is then read in the background.
func (s *Service) Create(ctx context.Context, p CreateParams, account Account) (c Connection, err error) {
	organizationID := actor.From(ctx).OrganizationID
	err = s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if err := s.check(ctx, tx, &p); err != nil {
			return err
		}
		c = Connection{ID: tx.NewID(id.Connection), Provider: p.Provider, AuthMethod: byAPIKey, Name: p.Name, Status: Active,
			ExternalAccountID: account.ID, Mode: account.Mode, LegalEntityID: p.LegalEntityIDs[0], SourceID: p.SourceID,
			TakesWebhooks: !p.Credentials.WebhookSecret.IsZero(), CreatedAt: tx.Now(), revision: 1}
		if err := requireKnown(ctx, tx, c.Provider); err != nil {
			return err
		}
		if err := requireFree(ctx, tx, &c); err != nil {
			return err
		}
		if c.SourceID == "" {
			made, err := source.AddProcessor(ctx, tx, source.ProcessorParams{Provider: p.Provider, ExternalID: account.ID, Name: p.Name,
				LegalEntityID: c.LegalEntityID, Currency: account.Currency})
			if err != nil {
				return err
			}
			c.SourceID = made.ID
		}
		var err error
		if c.credentials, err = s.seal(organizationID, c.ID, p.Credentials); err != nil {
			return err
		}
		if err := insert(ctx, tx, c); err != nil {
			return err
		}
		c.Progress.Running = true
		audit.Record(ctx, tx, audit.Change{Action: EventCreated, ResourceType: noun, ResourceID: c.ID, After: c.facts()})
		return nil
	})
	return c, err
}

// CheckUpdate checks changes of a connection. If asked to, it sends a new API key to the provider, which must know it and must have the
// same account; then it must not run inside a database transaction, because the provider may be slow.
func (s *Service) CheckUpdate(ctx context.Context, connectionID string, p UpdateParams, etag string, ask bool) (Account, error) {
	c, err := s.Get(ctx, connectionID)
	if err != nil {
		return Account{}, err
	}
	for _, err := range []error{p.validate(), c.requireVersion(etag), c.requireConnected()} {
		if err != nil {
			return Account{}, err
		}
	}
	if p.APIKey == nil || !ask {
		return Account{}, nil
	}
	if s.connectors[c.Provider] == nil {
		return Account{}, fault.Conflictf("%s is not available on this node", c.Provider)
	}
	account, err := s.connectors[c.Provider].Check(ctx, Credentials{APIKey: *p.APIKey})
	if err == nil {
		err = c.requireAccount(account)
	}
	return account, err
}

// validate returns an error with every fault of changes by themselves.
func (p UpdateParams) validate() error {
	var faults fault.List
	if p.Name != nil {
		validateName(&faults, *p.Name)
	}
	if p.APIKey != nil {
		validateCredential(&faults, "api_key", *p.APIKey)
	}
	if p.WebhookSecret != nil && !p.WebhookSecret.IsZero() {
		validateCredential(&faults, "webhook_secret", *p.WebhookSecret)
	}
	return faults.Err()
}

// Update changes a connection, with the account that CheckUpdate has returned. After a new API key, its data is read again. An etag must be
// that of the connection, or empty.
func (s *Service) Update(ctx context.Context, connectionID string, p UpdateParams, account Account, etag string) (c Connection, err error) {
	organizationID := actor.From(ctx).OrganizationID
	err = s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := find(ctx, tx, connectionID, "{for_update}")
		if err != nil {
			return err
		}
		for _, err := range []error{p.validate(), before.requireVersion(etag), before.requireConnected()} {
			if err != nil {
				return err
			}
		}
		c = before
		if p.Name != nil {
			var faults fault.List
			c.Name = validateName(&faults, *p.Name)
		}
		if p.APIKey != nil || p.WebhookSecret != nil {
			if err := s.replaceCredentials(ctx, tx, &c, p); err != nil {
				return err
			}
		}
		if p.APIKey != nil {
			if err := useAccount(ctx, tx, &c, account); err != nil {
				return err
			}
		}
		if c == before {
			return nil
		}
		c, err = save(ctx, tx, eventUpdated, before, c)
		return err
	})
	return c, err
}

// useAccount has a connection read again with a new API key, which is of an account.
func useAccount(ctx context.Context, tx *db.Tx, c *Connection, account Account) error {
	if err := c.requireAccount(account); err != nil {
		return err
	}
	c.Status, c.ErrorMessage, c.ExternalAccountID, c.Mode = Active, "", account.ID, account.Mode
	if err := requireFree(ctx, tx, c); err != nil {
		return err
	}
	c.Progress.Running = true
	return restartSync(ctx, tx, c.ID)
}

// replaceCredentials encrypts changed credentials.
func (s *Service) replaceCredentials(ctx context.Context, tx *db.Tx, c *Connection, p UpdateParams) error {
	credentials, err := s.open(tx.Organization(), *c)
	if err != nil && (p.APIKey == nil || p.WebhookSecret == nil) { // what is not sent is lost
		return fault.ConflictAt([]fault.Field{{Name: "api_key", Message: "is required with webhook_secret"}},
			"the stored credentials of %s cannot be decrypted: send both api_key and webhook_secret, which may be null", c.ID)
	}
	if p.APIKey != nil {
		credentials.APIKey = *p.APIKey
	}
	if p.WebhookSecret != nil {
		credentials.WebhookSecret = *p.WebhookSecret
	}
	c.TakesWebhooks = !credentials.WebhookSecret.IsZero()
	c.credentials, err = s.seal(tx.Organization(), c.ID, credentials)
	return err
}

// save stores a changed connection and records the change.
func save(ctx context.Context, tx *db.Tx, action string, before, after Connection) (Connection, error) {
	now := tx.Now()
	after.UpdatedAt, after.revision = &now, before.revision+1
	if err := update(ctx, tx, after); err != nil {
		return after, err
	}
	audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: noun, ResourceID: after.ID, Before: before.facts(),
		After: after.facts()})
	return after, nil
}

// Disconnect ends a connection and erases its credentials. What was read stays. An etag must be that of the connection, or empty.
func (s *Service) Disconnect(ctx context.Context, connectionID, etag string) (c Connection, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := find(ctx, tx, connectionID, "{for_update}")
		if err != nil {
			return err
		}
		if err := before.requireVersion(etag); err != nil {
			return err
		}
		if c = before; before.Status == Disconnected {
			return nil
		}
		c.Status, c.ErrorMessage, c.credentials, c.TakesWebhooks = Disconnected, "", "", false
		c.Progress.Running = false
		if err := stopSync(ctx, tx, c.ID); err != nil {
			return err
		}
		c, err = save(ctx, tx, eventOf(Disconnected), before, c)
		return err
	})
	return c, err
}

// RequestSync has the data of a connection read again in the background. It changes nothing if that is under way.
func (s *Service) RequestSync(ctx context.Context, connectionID string) (c Connection, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if c, err = find(ctx, tx, connectionID, "{for_update}"); err != nil {
			return err
		}
		if err := c.requireConnected(); err != nil {
			return err
		}
		if c.Status == Unauthorized {
			return fault.Conflictf("%s refuses the credentials of the connection %s: send a new api_key first", c.Provider, c.ID)
		}
		audit.Record(ctx, tx, audit.Change{Action: EventRequested, ResourceType: noun, ResourceID: c.ID, Before: c.facts(), After: c.facts()})
		c.Progress.Running = true
		return requestSync(ctx, tx, c.ID)
	})
	return c, err
}

// Sweep is the job that has the data of all connections read again, and deletes events that were handled long ago.
type Sweep struct{}

// Kind returns the name of the job.
func (Sweep) Kind() string { return "connection_sweep" }

const (
	// readEvery is how often the data of a connection is read.
	readEvery = 15 * time.Minute
	// eventsKept is how long events are remembered that were handled. Providers repeat them for some days.
	eventsKept = 30 * 24 * time.Hour
)

// Sweep requests the synchronizations that are due.
func (s *Service) Sweep(ctx context.Context) error {
	return s.db.WriteAcross(ctx, "connections of all organizations are read from time to time", func(ctx context.Context, tx *db.Tx) error {
		if err := requestDue(ctx, tx, tx.Now().Add(-readEvery)); err != nil {
			return err
		}
		return deleteHandled(ctx, tx, tx.Now().Add(-eventsKept))
	})
}
