package connection

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// CheckUpdate checks changes of a connection. If asked to, it sends new credentials to the provider, which must know them and must have the
// same account; then it must not run inside a database transaction, because the provider may be slow.
func (s *Service) CheckUpdate(ctx context.Context, connectionID string, p UpdateParams, etag string, ask bool) (out Inspected, err error) {
	c, err := s.Get(ctx, connectionID)
	if err != nil {
		return out, err
	}
	if err := s.requireUpdatable(ctx, c, p, etag); err != nil {
		return out, err
	}
	if !p.identifies() || !ask {
		return out, nil
	}
	merged, err := s.merge(actor.From(ctx).OrganizationID, c, p)
	if err != nil {
		return out, err
	}
	if out, err = s.inspect(ctx, s.providers[c.Provider], merged); err == nil {
		err = c.requireAccount(out.Account)
	}
	return out, err
}

// requireUpdatable returns an error if a connection cannot be changed as requested.
func (s *Service) requireUpdatable(ctx context.Context, c Connection, p UpdateParams, etag string) error {
	provider, known := s.providers[c.Provider]
	for _, err := range []error{p.validate(provider), c.requireChangeable(ctx), c.requireVersion(etag), c.requireConnected()} {
		if err != nil {
			return err
		}
	}
	if len(p.Fields) == 0 {
		return nil
	}
	if !known {
		return fault.Conflictf("%s is not available on this node", c.Provider)
	}
	if c.AuthMethod == byOAuth {
		return fault.Conflictf("the connection %s was set up on a page of %s: reauthorize it", c.ID, c.title)
	}
	return nil
}

// validate returns an error with every fault of changes by themselves.
func (p UpdateParams) validate(provider Provider) error {
	var faults fault.List
	if p.Name != nil {
		validateName(&faults, *p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Fields)) {
		f, known := provider.field(name)
		switch value := p.Fields[name]; {
		case !known:
			faults.Addf(name, "must be omitted: %s has no such field", provider.Title)
		case f.Fixed:
			faults.Addf(name, "cannot change, because it says which account it is: create another connection")
		case !value.IsZero() || !f.Optional:
			f.validate(&faults, value)
		}
	}
	if p.Classify != nil {
		validateClassify(&faults, provider, *p.Classify)
	}
	validateMinutes(&faults, p.SyncMinutes)
	return faults.Err()
}

// identifies reports whether changes are to what tells the account, so that the provider has to be asked.
func (p UpdateParams) identifies() bool {
	for name := range p.Fields {
		if name != webhookSecret {
			return true
		}
	}
	return false
}

// merge returns the credentials of a connection with changes.
func (s *Service) merge(organizationID string, c Connection, p UpdateParams) (Credentials, error) {
	stored, err := s.open(organizationID, c)
	if err != nil { // what is not sent is lost
		stored = Credentials{}
		for _, f := range s.providers[c.Provider].Fields {
			if _, sent := p.Fields[f.Name]; !sent && !f.Open && (f.Name == webhookSecret || !f.Optional) {
				return nil, fault.ConflictAt([]fault.Field{{Name: f.Name, Message: "is required"}},
					"the stored credentials of %s cannot be decrypted: send all of them, of which a webhook_secret may be null", c.ID)
			}
		}
	}
	merged := stored.clone()
	for name, text := range p.Fields {
		if merged[name] = text; text.IsZero() {
			delete(merged, name)
		}
	}
	return merged, nil
}

// Update changes a connection, with what CheckUpdate has returned. After new credentials, its data is read again. An etag must be that of
// the connection, or empty.
func (s *Service) Update(ctx context.Context, connectionID string, p UpdateParams, in Inspected, etag string) (c Connection, err error) {
	organizationID := actor.From(ctx).OrganizationID
	err = s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		before, err := s.findToChange(ctx, tx, connectionID, etag)
		if err != nil {
			return err
		}
		if err := s.requireUpdatable(ctx, before, p, etag); err != nil {
			return err
		}
		c = before
		changed, err := s.apply(ctx, tx, &c, p)
		if err != nil {
			return err
		}
		if len(p.Fields) == 0 {
			if changed {
				c, err = save(ctx, tx, eventUpdated, before, c)
			}
			return err
		}
		merged, err := s.merge(organizationID, before, p)
		if err != nil {
			return err
		}
		if p.identifies() {
			if in.credentials == nil {
				in.credentials = merged
			}
			if err := s.fill(ctx, tx, &c, in); err != nil {
				return err
			}
			if s.providers[c.Provider].Read != nil {
				if err := restartSync(ctx, tx, c.ID, CauseSetup); err != nil {
					return err
				}
			}
		} else {
			in.credentials = merged
		}
		c.TakesWebhooks = !merged[webhookSecret].IsZero()
		if err := s.storeCredentials(ctx, tx, c, in.credentials); err != nil {
			return err
		}
		c, err = save(ctx, tx, eventUpdated, before, c)
		return err
	})
	return c, err
}

// apply makes changes that are not about credentials, and reports whether there are any.
func (s *Service) apply(ctx context.Context, tx *db.Tx, c *Connection, p UpdateParams) (changed bool, err error) {
	before := *c
	if p.Name != nil {
		var faults fault.List
		c.Name = validateName(&faults, *p.Name)
	}
	if p.Classify != nil {
		c.Classify = *p.Classify
	}
	if p.SyncMinutes != nil && *p.SyncMinutes != c.SyncMinutes {
		c.SyncMinutes = *p.SyncMinutes
		due := dueAfter(tx.Now(), *c)
		if c.Status != Active && c.Status != Failed {
			due = nil
		}
		if err := setDue(ctx, tx, c.ID, due); err != nil {
			return false, err
		}
		c.Progress.DueAt = due
	}
	return c.Name != before.Name || c.Classify != before.Classify || c.SyncMinutes != before.SyncMinutes, nil
}
