package connection

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
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
	db        *db.DB
	key       *seal.Key
	providers map[string]Provider
	pages     Pages
	renewing  locks
	removed   RecordRemover

	// AfterSync functions are called when a synchronization has ended that added transactions, outside of a database transaction. They may be
	// called again after a crash.
	AfterSync []func(ctx context.Context, c Connection, r Run) error
}

// Pages says which addresses the browsers of people are sent to.
type Pages struct {
	Callback string   // where pages of providers send the browser back to
	Return   []string // the beginnings of addresses that the browser may go to when a setup is finished
}

// RecordRemover takes transactions back that a provider says did not happen. It returns how many were removed, and the ids of those that
// are booked and so stay. It is passed in because the package of transfers, which are ended with them, does more than this one needs.
type RecordRemover func(ctx context.Context, tx *db.Tx, sourceIDs, externalIDs []string) (removed int, booked []string, err error)

// NewService returns a service that encrypts credentials with a key.
func NewService(d *db.DB, key *seal.Key, pages Pages, remove RecordRemover) *Service {
	return &Service{db: d, key: key, providers: map[string]Provider{}, pages: pages, removed: remove}
}

// WithProvider makes a provider available. It is called before the service is used.
func (s *Service) WithProvider(p Provider) *Service {
	s.providers[p.Name] = p
	return s
}

// Available returns the providers, by name.
func (s *Service) Available() []Provider {
	out := make([]Provider, 0, len(s.providers))
	for _, name := range slices.Sorted(maps.Keys(s.providers)) {
		out = append(out, s.providers[name])
	}
	return out
}

// available returns the names of the providers that accounts can be connected at.
func (s *Service) available() (out []string) {
	for _, p := range s.Available() {
		if p.Unavailable == "" {
			out = append(out, p.Name)
		}
	}
	return out
}

// Filter narrows a list; empty fields match everything.
type Filter struct {
	Provider string
	Status   Status
}

// List returns connections in the order of their creation.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Connection], error) {
	who := actor.From(ctx)
	key := func(c Connection) string { return c.ID }
	return page.ListByKey("connections", f, p, "", key, func(above string, limit int) (rows []Connection, err error) {
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectPage(ctx, tx, f, who.LegalEntityIDs, above, limit)
			return err
		})
		for n := range rows {
			rows[n] = rows[n].readAs(s.providers[rows[n].Provider])
		}
		return rows, err
	})
}

// Get returns a connection.
func (s *Service) Get(ctx context.Context, connectionID string) (c Connection, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		c, err = s.find(ctx, tx, connectionID, "")
		if err == nil {
			err = s.withAttempt(ctx, tx, &c)
		}
		return err
	})
	return c, err
}

// find returns a connection that the actor may see.
func (s *Service) find(ctx context.Context, tx *db.Tx, connectionID, lock string) (Connection, error) {
	c, err := selectOne(ctx, tx, connectionID, lock)
	if err == nil && !c.visibleTo(actor.From(ctx)) {
		return Connection{}, fault.Missing(noun)
	}
	return c.readAs(s.providers[c.Provider]), err
}

// findToChange returns a connection that the actor may change, locked.
func (s *Service) findToChange(ctx context.Context, tx *db.Tx, connectionID, etag string) (Connection, error) {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return Connection{}, err
	}
	c, err := s.find(ctx, tx, connectionID, "{for_update}")
	if err == nil {
		err = c.requireChangeable(ctx)
	}
	if err == nil {
		err = c.requireVersion(etag)
	}
	return c, err
}

// requireChangeable returns an error of kind Forbidden if the connection is for all of the organization and the actor is not.
func (c Connection) requireChangeable(ctx context.Context) error {
	if c.LegalEntityID == "" && actor.From(ctx).Limited() {
		return fault.Forbiddenf("the connection %s is for all legal entities: use a key that is not limited to some", c.ID)
	}
	return nil
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

// CheckDisconnect returns an error if a connection cannot be disconnected by the actor.
func (s *Service) CheckDisconnect(ctx context.Context, connectionID, etag string) error {
	c, err := s.Get(ctx, connectionID)
	if err == nil {
		err = c.requireChangeable(ctx)
	}
	if err == nil {
		err = c.requireVersion(etag)
	}
	return err
}

// Disconnect ends a connection and erases its credentials. What was read stays. An etag must be that of the connection, or empty. It then
// asks the provider to end the access; a failure is stored with the connection. It must not run inside a database transaction, because the
// provider may be slow.
func (s *Service) Disconnect(ctx context.Context, connectionID, etag string) (c Connection, err error) {
	var credentials, unused Credentials
	organizationID := actor.From(ctx).OrganizationID
	err = s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		credentials, unused = nil, nil
		before, err := s.findToChange(ctx, tx, connectionID, etag)
		if err != nil {
			return err
		}
		if c = before; before.Status == Disconnected {
			return nil
		}
		if s.providers[c.Provider].Revoke != nil && c.credentials != "" {
			credentials, _ = s.open(organizationID, c) // what cannot be decrypted cannot be revoked either
		}
		if credentials != nil { // until the provider confirms it, in case that this node dies before
			c.RevocationError = notConfirmed
		}
		c.Status, c.ErrorMessage, c.credentials, c.TakesWebhooks, c.Warnings = Disconnected, "", "", false, nil
		c.Progress.Running, c.Progress.DueAt = false, nil
		if unused, err = s.exchanged(ctx, tx, c.ID); err != nil {
			return err
		}
		if err := s.endAttempts(ctx, tx, c.ID, "the connection was disconnected"); err != nil {
			return err
		}
		if err := stopSync(ctx, tx, c.ID, "the connection was disconnected"); err != nil {
			return err
		}
		if err := deleteCredentials(ctx, tx, c.ID); err != nil {
			return err
		}
		c, err = save(ctx, tx, eventOf(Disconnected), before, c)
		return err
	})
	if err == nil {
		s.revokeUnused(ctx, organizationID, c.Provider, unused)
	}
	if err != nil || credentials == nil {
		return c, err
	}
	message := ""
	if failed := s.revoke(ctx, c.Provider, credentials); failed != nil {
		message = cut(failed.Error(), revocationMax)
	}
	return s.storeRevocation(context.WithoutCancel(ctx), c, message)
}

const (
	// revocationMax bounds the text of a failed revocation that is stored, in characters.
	revocationMax = 500
	// revocationTimeout is how long a provider may take to end an access.
	revocationTimeout = 30 * time.Second
	// notConfirmed is stored until a provider has answered whether it has ended an access.
	notConfirmed = "not confirmed yet"
)

// revoke asks a provider to end the access of credentials, even if the caller goes away meanwhile: they are stored nowhere.
func (s *Service) revoke(ctx context.Context, provider string, c Credentials) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revocationTimeout)
	defer cancel()
	return s.providers[provider].Revoke(ctx, c, &memoryKeeper{now: c})
}

// revokeUnused asks a provider to end the access of credentials that no connection gets, as far as possible. It does nothing if the
// organization has other connections to the provider, because some providers would end their access too.
func (s *Service) revokeUnused(ctx context.Context, organizationID, provider string, unused Credentials) {
	if s.providers[provider].Revoke == nil || len(unused) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	var all []Connection
	err := s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		all, err = selectOfProvider(ctx, tx, provider)
		return err
	})
	shares := func(c Connection) bool { return c.credentials != "" }
	if err == nil && !slices.ContainsFunc(all, shares) {
		_ = s.revoke(ctx, provider, unused) // nobody waits for it
	}
}

// storeRevocation stores whether the provider has ended the access, or why not.
func (s *Service) storeRevocation(ctx context.Context, c Connection, message string) (out Connection, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := s.find(ctx, tx, c.ID, "{for_update}")
		if err != nil {
			return err
		}
		out = before
		out.RevocationError = message
		out, err = save(ctx, tx, eventUpdated, before, out)
		return err
	})
	return out, err
}

// RequestSync has the data of a connection read again in the background. It changes nothing if that is under way.
func (s *Service) RequestSync(ctx context.Context, connectionID string) (c Connection, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if c, err = s.findToChange(ctx, tx, connectionID, ""); err != nil {
			return err
		}
		if err := c.requireReadable(); err != nil {
			return err
		}
		if s.providers[c.Provider].Read == nil {
			return fault.Conflictf("no transactions are read from %s", c.title)
		}
		audit.Record(ctx, tx, audit.Change{Action: EventRequested, ResourceType: noun, ResourceID: c.ID, Before: c.facts(), After: c.facts()})
		c.Progress.Running = true
		return requestSync(ctx, tx, c.ID, CauseRequest)
	})
	return c, err
}

// RequestSyncOfSource has the connection of a source read again.
func (s *Service) RequestSyncOfSource(ctx context.Context, sourceID string) (c Connection, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		c, err = s.ofSource(ctx, tx, sourceID)
		return err
	})
	if err != nil {
		return c, err
	}
	return s.RequestSync(ctx, c.ID)
}

// ofSource returns the connection that reads a source.
func (s *Service) ofSource(ctx context.Context, tx *db.Tx, sourceID string) (Connection, error) {
	found, err := source.Find(ctx, tx, sourceID)
	if err != nil {
		return Connection{}, err
	}
	all, err := selectOfSource(ctx, tx, found.ID, found.ItemID)
	for _, c := range all {
		if c.Status != Disconnected && slices.Contains(c.Sources, found.ID) {
			return c, err
		}
	}
	if err == nil {
		err = fault.Conflictf("the source %s has no connection: create one with its source_id, or import a file", found.Name)
	}
	return Connection{}, err
}
