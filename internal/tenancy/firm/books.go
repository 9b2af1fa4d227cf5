package firm

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// MakeBooks is the job that creates the books of a new client.
type MakeBooks struct {
	FirmOrganizationID string `json:"firm_organization_id"`
	FirmID             string `json:"firm_id"`
	ClientID           string `json:"client_id"`
	OrganizationID     string `json:"organization_id"` // of the client
	Name               string `json:"name"`
	BaseCurrency       string `json:"base_currency"`
	Timezone           string `json:"timezone"`
	UserID             string `json:"user_id"` // who has added the client
	APIKeyID           string `json:"api_key_id"`
	RequestID          string `json:"request_id"`

	MemberSince time.Time `json:"member_since"` // of the user in the firm
}

// Kind returns the name of the job.
func (MakeBooks) Kind() string { return "firm_make_books" }

// MakeBooks runs the job. Running it again changes nothing.
func (s *Service) MakeBooks(ctx context.Context, b MakeBooks) error {
	if exists, err := s.exists(ctx, b.OrganizationID); err != nil || exists {
		return err
	}
	var c Client
	if err := s.db.Read(ctx, b.FirmOrganizationID, func(ctx context.Context, tx *db.Tx) (err error) {
		c, err = FindClient(ctx, tx, b.ClientID)
		return err
	}); err != nil || c.Status != Active {
		return ignoreMissing(err)
	}
	firm := Settings{ID: b.FirmID, OrganizationID: b.FirmOrganizationID}
	as := actor.With(ctx, actor.Actor{OrganizationID: b.OrganizationID, UserID: b.UserID, APIKeyID: b.APIKeyID, RequestID: b.RequestID,
		FirmID: b.FirmID, FirmOrganizationID: b.FirmOrganizationID, FirmRole: actor.Partner, Role: actor.Partner.Role()})
	_, err := s.organizations.Create(as, organization.CreateParams{ID: b.OrganizationID, Name: b.Name, Currency: b.BaseCurrency,
		Timezone: b.Timezone, WithoutOwner: true, Also: func(ctx context.Context, tx *db.Tx, _ access.Member) error {
			_, err := s.grant(ctx, tx, firm, b.ClientID, []Person{{UserID: b.UserID, Role: actor.Partner, MemberSince: b.MemberSince}}, "")
			return err
		}})
	if err == nil {
		return nil
	}
	if exists, again := s.exists(ctx, b.OrganizationID); again == nil && exists { // somebody else has created them at the same time
		return nil
	}
	return err
}

// exists reports whether there is an organization.
func (s *Service) exists(ctx context.Context, organizationID string) (exists bool, err error) {
	err = s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		_, err := orgstate.FindOrganization(ctx, tx)
		exists = err == nil
		return ignoreMissing(err)
	})
	return exists, err
}

// CreateForOwner creates an organization with an owner as a client of a firm, for the operator of the service. An organization that is no
// firm becomes one with its own name. Nobody of the firm works for the client until they are given a role.
func (s *Service) CreateForOwner(ctx context.Context, firmOrganizationID string, p organization.CreateParams) (made organization.Created,
	err error) {
	if err := p.Validate(); err != nil {
		return made, err
	}
	if !id.Valid(id.Organization, firmOrganizationID) {
		return made, fault.Missing("firm")
	}
	var firm Settings
	var c Client
	p.ID = s.db.IDs().New(id.Organization)
	err = s.db.Write(ctx, firmOrganizationID, func(ctx context.Context, tx *db.Tx) error {
		o, err := orgstate.FindOrganization(ctx, tx)
		if err != nil {
			return err
		}
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if firm, err = FindSettings(ctx, tx); fault.KindOf(err) == fault.NotFound {
			firm, err = create(ctx, tx, o.Name, organization.Link(db.OrEmpty(o.WebAddress)))
		}
		if err != nil {
			return err
		}
		c, err = insertNew(ctx, tx, CreateClientParams{Name: p.Name, Email: p.Email, Existing: true})
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		return made, fault.Missing("firm")
	}
	if err != nil {
		return made, err
	}
	also := p.Also
	p.Also = func(ctx context.Context, tx *db.Tx, owner access.Member) error {
		if _, err := s.grant(ctx, tx, firm, c.ID, nil, owner.UserID); err != nil || also == nil {
			return err
		}
		return also(ctx, tx, owner)
	}
	return s.organizations.Create(ctx, p)
}
