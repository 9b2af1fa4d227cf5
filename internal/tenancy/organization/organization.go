// Package organization stores the profile of an organization, which is the tenant of the service, and creates
// organizations with everything they need to be used.
package organization

import (
	"context"
	"math"
	"time"
	_ "time/tzdata" // time zones must be the same on every machine, also without a zone database

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// Organization is the profile of an organization.
type Organization struct {
	ID               string
	Name             string
	WebAddress       string
	Timezone         string
	TimeFormat       string
	OnboardingStatus string
	LogoURL          string
	CreatedAt        time.Time
	UpdatedAt        *time.Time
}

// The formats in which times are shown.
const (
	TimeFormat12 = "hr12"
	TimeFormat24 = "hr24"
)

// facts returns the fields for the audit log and events.
func (o Organization) facts() map[string]any {
	return map[string]any{
		"id": o.ID, "name": o.Name, "web_address": db.OrNull(o.WebAddress), "timezone": o.Timezone, "time_format": o.TimeFormat,
		"onboarding_status": db.OrNull(o.OnboardingStatus), "logo_url": db.OrNull(o.LogoURL),
	}
}

// Service implements the use cases of organizations.
type Service struct {
	db           *db.DB
	periodsMoved []PeriodsMoved
}

// PeriodsMoved is called in the database transaction that changes the time zone, with the spans of time that now belong
// to another accounting period. Packages that keep figures by period update theirs.
type PeriodsMoved func(ctx context.Context, tx *db.Tx, moved []period.Reassignment) error

// NewService returns a service that calls the functions when a change of the time zone moves period boundaries.
func NewService(d *db.DB, moved ...PeriodsMoved) *Service { return &Service{d, moved} }

// Get returns the organization of the actor.
func (s *Service) Get(ctx context.Context) (o Organization, err error) {
	err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		o, err = find(ctx, tx)
		return err
	})
	return o, err
}

// CreateParams describe a new organization and its first owner.
type CreateParams struct {
	ID       string // if it was chosen before; empty means a new one
	Name     string
	Email    string
	Currency string
	Timezone string

	// WithoutOwner creates neither an owner nor a key, for the client of a firm.
	WithoutOwner bool

	// Also runs in the same database transaction, with the owner: if it fails, nothing is created. Nil means nothing.
	Also func(ctx context.Context, tx *db.Tx, owner access.Member) error
}

// Created is a new organization with its first records.
type Created struct {
	Organization Organization
	LegalEntity  entity.LegalEntity
	Owner        access.Member
	Key          access.Key
	KeyText      secret.Text
}

// Create creates an organization with a chart of accounts, a legal entity of the same name, the current accounting
// period, an owner, and an API key of the owner with every scope.
func (s *Service) Create(ctx context.Context, p CreateParams) (f Created, err error) {
	if err := p.Validate(); err != nil {
		return f, err
	}
	if p.ID == "" {
		p.ID = s.db.IDs().New(id.Organization)
	}
	f.Organization = Organization{ID: p.ID, Name: p.Name, Timezone: p.Timezone, TimeFormat: TimeFormat24}
	err = s.db.Write(ctx, f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		f.Organization.CreatedAt = tx.Now()
		if err := orgstate.InsertOrganization(ctx, tx, toRow(f.Organization)); err != nil {
			return err
		}
		if err := orgstate.Begin(ctx, tx); err != nil {
			return err
		}
		if err := outbox.Begin(ctx, tx); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "organization.created", ResourceType: "organization", ResourceID: f.Organization.ID,
			After: f.Organization.facts()})
		if err := account.Seed(ctx, tx); err != nil {
			return err
		}
		if f.LegalEntity, err = entity.Create(ctx, tx, p.Name, p.Currency); err != nil {
			return err
		}
		if _, err := period.Ensure(ctx, tx); err != nil {
			return err
		}
		if !p.WithoutOwner {
			if f.Owner, err = access.AddMember(ctx, tx, p.Email, actor.Owner); err != nil {
				return err
			}
		}
		if p.Also != nil {
			if err := p.Also(ctx, tx, f.Owner); err != nil {
				return err
			}
		}
		if p.WithoutOwner {
			return nil
		}
		f.Key, f.KeyText, err = access.IssueKey(ctx, tx, access.CreateKeyParams{Name: "First key", UserID: f.Owner.UserID, Scopes: actor.Scopes})
		return err
	})
	return f, err
}

// Exists reports whether there is any organization.
func (s *Service) Exists(ctx context.Context) (found bool, err error) {
	err = s.db.ReadAcross(ctx, "a new installation has no organization yet", func(ctx context.Context, tx *db.Tx) error {
		ids, err := orgstate.OrganizationIDs(ctx, tx, 1)
		found = len(ids) > 0
		return err
	})
	return found, err
}

// IDs lists the ids of all organizations, for maintenance and verification.
func (s *Service) IDs(ctx context.Context) (ids []string, err error) {
	err = s.db.ReadAcross(ctx, "maintenance covers every organization", func(ctx context.Context, tx *db.Tx) error {
		ids, err = orgstate.OrganizationIDs(ctx, tx, math.MaxInt32)
		return err
	})
	return ids, err
}
