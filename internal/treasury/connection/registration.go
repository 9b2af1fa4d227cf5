package connection

import (
	"context"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// setupFields returns the fields that are entered once for the organization.
func (p Provider) setupFields() (out []Field) {
	for _, f := range p.Fields {
		if f.Setup {
			out = append(out, f)
		}
	}
	return out
}

// requireSetup collects a conflict if a provider has to be set up for the organization first, and was not.
func requireSetup(ctx context.Context, tx *db.Tx, faults *fault.List, p Provider) error {
	if len(p.setupFields()) == 0 {
		return nil
	}
	sealed, err := selectSetup(ctx, tx, p.Name)
	if err == nil && sealed == "" {
		faults.AddConflictf("provider", "%s must be set up for the organization first, with PUT /v1/connections/providers/%s. %s",
			p.Title, p.Name, p.Advice)
	}
	return err
}

// withSetup adds what the organization has registered at a provider to what was entered.
func (s *Service) withSetup(ctx context.Context, p Provider, entered Credentials) (Credentials, error) {
	out := entered.clone()
	if len(p.setupFields()) == 0 {
		return out, nil
	}
	organizationID := actor.From(ctx).OrganizationID
	var sealed string
	err := s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		sealed, err = selectSetup(ctx, tx, p.Name)
		return err
	})
	if err != nil || sealed == "" {
		return out, err
	}
	registered, err := s.unseal(organizationID, p.Name, sealed)
	if err != nil {
		return nil, fault.Conflictf("%v", ErrSealed)
	}
	maps.Copy(out, registered)
	return out, nil
}

// SetUp stores what the organization has registered at a provider. Connections that exist go on with what they have until they are
// authorized again.
func (s *Service) SetUp(ctx context.Context, name string, fields Credentials) (p Provider, err error) {
	var faults fault.List
	p, known := s.providers[name]
	if !known || len(p.setupFields()) == 0 {
		return p, fault.Missing("provider that is set up for an organization")
	}
	for _, given := range slices.Sorted(maps.Keys(fields)) {
		if f, ok := p.field(given); !ok || !f.Setup {
			faults.Addf(given, "must be omitted: it is no part of the setup of %s", p.Title)
		}
	}
	for _, f := range p.setupFields() {
		if value := fields[f.Name]; !value.IsZero() || !f.Optional {
			f.validate(&faults, value)
		}
	}
	if err := faults.Err(); err != nil {
		return p, err
	}
	organizationID := actor.From(ctx).OrganizationID
	return p, s.db.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		sealed, err := s.seal(organizationID, name, fields)
		if err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "provider.set_up", ResourceType: "provider_setup", ResourceID: name,
			After: map[string]any{"provider": name}, NoEvent: true})
		return upsertSetup(ctx, tx, name, sealed)
	})
}

// SetUpProviders returns the names of the providers that are set up for the organization.
func (s *Service) SetUpProviders(ctx context.Context) (out []string, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		out, err = selectSetups(ctx, tx)
		return err
	})
	return out, err
}
