// Package organization holds the profile of an organization and creates new organizations.
package organization

import (
	"context"
	"math"
	"time"
	_ "time/tzdata" // zones must be the same on every machine, also one without a zone database

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

// Organization is the profile.
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

// How times are shown to people.
const (
	TimeFormat12 = "hr12"
	TimeFormat24 = "hr24"
)

// facts is what the audit and events say of an organization.
func (o Organization) facts() map[string]any {
	return map[string]any{
		"id": o.ID, "name": o.Name, "web_address": db.OrNull(o.WebAddress), "timezone": o.Timezone, "time_format": o.TimeFormat,
		"onboarding_status": db.OrNull(o.OnboardingStatus), "logo_url": db.OrNull(o.LogoURL),
	}
}

// Service holds the use cases.
type Service struct {
	db           *db.DB
	periodsMoved []PeriodsMoved
}

// PeriodsMoved is called in the transaction that changes the time zone, with the stretches of time whose accounting
// period became another one. Packages that keep figures by period move theirs.
type PeriodsMoved func(ctx context.Context, tx *db.Tx, moved []period.Reassignment) error

// NewService returns a service that calls the functions when a change of the time zone moves period boundaries.
func NewService(d *db.DB, moved ...PeriodsMoved) *Service { return &Service{d, moved} }

// Get gives the organization of the actor.
func (s *Service) Get(ctx context.Context) (o Organization, err error) {
	err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		o, err = find(ctx, tx)
		return err
	})
	return o, err
}

// FoundParams describe a new organization and its first owner.
type FoundParams struct {
	Name     string
	Email    string
	Currency string
	Timezone string
	FirmID   string // the firm it is a client of; empty for none
}

// Founded is a new organization with all it needs to be used.
type Founded struct {
	Organization Organization
	LegalEntity  entity.LegalEntity
	Owner        access.Member
	Key          access.Key
	KeyText      secret.Text
}

// Found makes an organization, its chart of accounts, one legal entity of the same name, the month it begins in, its
// owner and a key of the owner with every scope.
func (s *Service) Found(ctx context.Context, p FoundParams) (f Founded, err error) {
	if err := p.Validate(); err != nil {
		return f, err
	}
	if p.FirmID != "" { // a firm whose client then does not come to be is harmless
		if err := s.becomeFirm(ctx, p.FirmID); err != nil {
			return f, err
		}
	}
	f.Organization = Organization{ID: s.db.IDs().New(id.Organization), Name: p.Name, Timezone: p.Timezone, TimeFormat: TimeFormat24}
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
		facts := f.Organization.facts()
		if p.FirmID != "" {
			facts["firm_organization_id"] = p.FirmID
			if err := orgstate.JoinFirm(ctx, tx, p.FirmID); err != nil {
				return err
			}
		}
		audit.Record(ctx, tx, audit.Change{Action: "organization.created", ResourceType: "organization", ResourceID: f.Organization.ID,
			After: facts})
		if err := account.Seed(ctx, tx); err != nil {
			return err
		}
		if f.LegalEntity, err = entity.Create(ctx, tx, p.Name, p.Currency); err != nil {
			return err
		}
		if _, err := period.Ensure(ctx, tx); err != nil {
			return err
		}
		if f.Owner, err = access.Join(ctx, tx, p.Email, actor.Owner); err != nil {
			return err
		}
		f.Key, f.KeyText, err = access.IssueKey(ctx, tx, access.CreateKeyParams{Name: "First key", UserID: f.Owner.UserID, Scopes: actor.Scopes})
		return err
	})
	return f, err
}

// Any tells whether there is an organization at all.
func (s *Service) Any(ctx context.Context) (found bool, err error) {
	err = s.db.ReadAcross(ctx, "a new service says how to begin", func(ctx context.Context, tx *db.Tx) error {
		ids, err := orgstate.OrganizationIDs(ctx, tx, 1)
		found = len(ids) > 0
		return err
	})
	return found, err
}

// All lists the ids of the organizations there are, for upkeep and checks.
func (s *Service) All(ctx context.Context) (ids []string, err error) {
	err = s.db.ReadAcross(ctx, "checks go through every organization", func(ctx context.Context, tx *db.Tx) error {
		ids, err = orgstate.OrganizationIDs(ctx, tx, math.MaxInt32)
		return err
	})
	return ids, err
}
