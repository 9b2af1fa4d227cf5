package connection

import (
	"cmp"
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Inspected is what a provider has answered about a new connection or a changed one.
type Inspected struct {
	Account     Account
	credentials Credentials
	begun       *begun // a setup on a page of the provider
}

// Check returns an error with every fault of a new connection that can be found without its provider.
func (s *Service) Check(ctx context.Context, p CreateParams) error {
	_, err := s.resolve(ctx, p)
	return err
}

func (s *Service) resolve(ctx context.Context, p CreateParams) (r resolved, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		r, err = s.check(ctx, tx, p)
		return err
	})
	return r, err
}

// Inspect checks a new connection and asks its provider for the account, or for the page of a setup. It must not run inside a database
// transaction, because the provider may be slow.
func (s *Service) Inspect(ctx context.Context, p CreateParams) (out Inspected, err error) {
	r, err := s.resolve(ctx, p)
	if err != nil {
		return out, err
	}
	fields, err := s.withSetup(ctx, r.provider, r.Fields)
	if err != nil {
		return out, err
	}
	if r.hosted {
		if r.repeats != nil {
			return s.inspectAgain(ctx, *r.repeats, fields)
		}
		return s.beginOrFinish(ctx, r.provider, fields, false)
	}
	if r.provider.Enter != nil {
		if fields, err = r.provider.Enter(ctx, fields); err != nil {
			return out, err
		}
	}
	out, err = s.inspect(ctx, r.provider, fields)
	if err != nil && r.provider.Enter != nil { // what was entered cannot be used again
		s.revokeUnused(ctx, actor.From(ctx).OrganizationID, r.Provider, out.credentials)
	}
	return out, err
}

// inspect asks a provider for the account of credentials.
func (s *Service) inspect(ctx context.Context, p Provider, c Credentials) (out Inspected, err error) {
	k := &memoryKeeper{now: c}
	out.Account, err = p.Check(ctx, c, k)
	out.credentials = k.now
	return out, err
}

// Create stores a connection to an account that Inspect has returned, whose data is then read in the background, or one whose setup was
// begun. A connection to a general ledger that exists already is authorized again instead, and returned.
func (s *Service) Create(ctx context.Context, p CreateParams, in Inspected) (c Connection, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		r, err := s.check(ctx, tx, p)
		if err != nil {
			return err
		}
		if r.legalEntityID == "" && actor.From(ctx).Limited() {
			return fault.Forbiddenf("a connection for all legal entities needs a key that is not limited to some: name one in legal_entity_ids")
		}
		switch {
		case r.repeats != nil && in.begun != nil:
			c, err = s.storeBegun(ctx, tx, *r.repeats, in.begun, p.ReturnTo)
		case r.repeats != nil:
			c, err = s.useCredentials(ctx, tx, *r.repeats, in)
		default:
			c, err = s.add(ctx, tx, r, in)
		}
		return err
	})
	return c, err
}

// add stores a new connection.
func (s *Service) add(ctx context.Context, tx *db.Tx, r resolved, in Inspected) (Connection, error) {
	c := Connection{ID: tx.NewID(id.Connection), Provider: r.Provider, AuthMethod: r.provider.authMethod(r.Fields), Name: r.Name,
		Status: PendingSetup, LegalEntityID: r.legalEntityID, SourceID: r.SourceID, Classify: r.Classify, SyncMinutes: syncMinutesDefault,
		CreatedAt: tx.Now(), revision: 1}
	c = c.readAs(r.provider)
	c.newSource = r.NewSource
	if !r.provider.fillsSources() {
		c.SyncMinutes = 0 // its accounts are read again whenever entries are sent
	}
	if r.SyncMinutes != nil {
		c.SyncMinutes = *r.SyncMinutes
	}
	c.Settings, _ = r.provider.split(r.Fields)
	if in.begun == nil {
		if err := requireKnown(ctx, tx, r.provider); err != nil {
			return c, err
		}
		if err := s.fill(ctx, tx, &c, in); err != nil {
			return c, err
		}
	}
	if err := insert(ctx, tx, c, in.begun == nil && r.provider.Read != nil); err != nil {
		return c, err
	}
	if in.begun != nil {
		if err := s.insertAttempt(ctx, tx, &c, in.begun, r.ReturnTo); err != nil {
			return c, err
		}
	} else if err := s.storeCredentials(ctx, tx, c, in.credentials); err != nil {
		return c, err
	}
	audit.Record(ctx, tx, audit.Change{Action: EventCreated, ResourceType: noun, ResourceID: c.ID, After: c.facts()})
	return c, nil
}

// fill gives a connection the account that its provider has told, with its sources, and makes it active.
func (s *Service) fill(ctx context.Context, tx *db.Tx, c *Connection, in Inspected) error {
	p := s.providers[c.Provider]
	if err := c.requireAccount(in.Account); err != nil {
		return err
	}
	c.Status, c.ErrorMessage, c.Warnings = Active, "", in.Account.Warnings
	c.ExternalAccountID, c.Mode = cmp.Or(in.Account.ID, c.ExternalAccountID), in.Account.Mode
	c.TakesWebhooks = !in.credentials[webhookSecret].IsZero()
	settings, _ := p.split(in.credentials)
	for name, text := range settings {
		c.Settings[name] = text
	}
	same := func(other Connection) bool {
		opened, err := s.open(tx.Organization(), other)
		return err == nil && other.AuthMethod == byAPIKey && !in.credentials[apiKey].IsZero() && opened[apiKey].Equal(in.credentials[apiKey])
	}
	if err := requireFree(ctx, tx, c, same); err != nil {
		return err
	}
	if p.Read == nil {
		return nil
	}
	c.Progress.Running = true
	if !p.fillsSources() {
		return nil
	}
	if err := requireTold(ctx, tx, c, in.Account); err != nil {
		return err
	}
	return ensureSources(ctx, tx, p, c, in.Account)
}

// ensureSources gives a connection the sources of its account, unless it has them.
func ensureSources(ctx context.Context, tx *db.Tx, p Provider, c *Connection, a Account) error {
	if a.Divided {
		_, err := ensureParts(ctx, tx, c, a.Parts)
		return err
	}
	if c.SourceID != "" {
		c.Sources = []string{c.SourceID}
		return nil
	}
	made, err := source.AddConnected(ctx, tx, source.ConnectedParams{Type: sourceTypes[p.Kind], Provider: c.Provider, ExternalID: a.ID,
		Name: c.Name, LegalEntityID: c.LegalEntityID, Currency: a.Currency, Chain: c.chain(p), Address: c.Settings[address]})
	c.SourceID, c.Sources = made.ID, []string{made.ID}
	return err
}

// chain returns the blockchain that a connection reads, empty if it reads none.
func (c Connection) chain(p Provider) string {
	if p.Kind != Chain {
		return ""
	}
	return cmp.Or(c.Settings[chain], p.Name)
}

// ensureParts gives a connection a source for each part of its account that has none, and returns the ids of the sources by those of the
// parts. A source that was deleted stays deleted.
func ensureParts(ctx context.Context, tx *db.Tx, c *Connection, parts []Part) (map[string]string, error) {
	out := map[string]string{}
	c.Sources = nil
	item := source.ItemParams{Provider: c.Provider, ExternalID: c.ExternalAccountID}
	for _, part := range parts {
		params := source.AccountParams{ExternalID: part.ID, Type: source.Bank, Name: part.Name, LegalEntityID: c.LegalEntityID,
			Currency: part.Currency}
		if part.Card {
			params.Type = source.Card
		}
		made, err := source.AddAccount(ctx, tx, item, params)
		if err != nil {
			return nil, err
		}
		out[part.ID], c.ItemID = made.ID, made.ItemID
		if made.DeletedAt == nil {
			c.Sources = append(c.Sources, made.ID)
		}
	}
	return out, nil
}

// storeCredentials encrypts credentials and stores them.
func (s *Service) storeCredentials(ctx context.Context, tx *db.Tx, c Connection, all Credentials) error {
	_, hidden := s.providers[c.Provider].split(all)
	if len(hidden) == 0 {
		return nil
	}
	sealed, err := s.seal(tx.Organization(), c.ID, hidden)
	if err != nil {
		return err
	}
	return upsertCredentials(ctx, tx, c.ID, sealed)
}

// useCredentials gives a connection new credentials, whose account Inspect has returned, and has it read again.
func (s *Service) useCredentials(ctx context.Context, tx *db.Tx, before Connection, in Inspected) (Connection, error) {
	c := before
	c.Settings = map[string]string{}
	for name, text := range before.Settings {
		c.Settings[name] = text
	}
	if err := s.fill(ctx, tx, &c, in); err != nil {
		return c, err
	}
	if err := s.storeCredentials(ctx, tx, c, in.credentials); err != nil {
		return c, err
	}
	if s.providers[c.Provider].Read != nil {
		if err := restartSync(ctx, tx, c.ID, CauseSetup); err != nil {
			return c, err
		}
	}
	return save(ctx, tx, eventOf(Active), before, c)
}
