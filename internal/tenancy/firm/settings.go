package firm

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// Settings are what makes an organization a firm, and what its clients see of it.
type Settings struct {
	ID             string
	OrganizationID string
	FirmName       string
	WebAddress     string
	LogoURL        string // of the organization
	CreatedAt      time.Time
	UpdatedAt      *time.Time
}

func (s Settings) facts() map[string]any {
	return map[string]any{"id": s.ID, "firm_name": s.FirmName, "web_address": db.OrNull(s.WebAddress)}
}

// errNoFirm says how an organization becomes a firm.
var errNoFirm = fault.Conflictf("the organization is not an accounting firm: PATCH /v1/firm/settings with a firm_name makes it one")

// GetSettings returns the firm settings of the actor's organization. The error is NotFound if it is not a firm.
func (s *Service) GetSettings(ctx context.Context) (out Settings, err error) {
	err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		out, err = FindSettings(ctx, tx)
		return err
	})
	return out, err
}

// FindSettings returns the firm settings of the organization. The error is NotFound if it is not a firm. It is a building block.
func FindSettings(ctx context.Context, tx *db.Tx) (Settings, error) {
	out, err := selectSettings(ctx, tx)
	if err != nil {
		return out, err
	}
	o, err := orgstate.FindOrganization(ctx, tx)
	out.LogoURL = organization.Link(db.OrEmpty(o.LogoURL))
	return out, err
}

// RequireFirm returns the firm settings of the organization, or a Conflict fault that says how it becomes a firm. It is a building block.
func RequireFirm(ctx context.Context, tx *db.Tx) (Settings, error) {
	out, err := FindSettings(ctx, tx)
	if fault.KindOf(err) == fault.NotFound {
		err = errNoFirm
	}
	return out, err
}

// UpdateSettingsParams are the requested changes; nil leaves a field as it is, and an empty address clears it.
type UpdateSettingsParams struct {
	FirmName   *string
	WebAddress *string
}

// UpdateSettings changes the firm settings, and makes the organization a firm if it is none. It writes nothing if nothing changes.
func (s *Service) UpdateSettings(ctx context.Context, p UpdateSettingsParams) (after Settings, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := FindSettings(ctx, tx)
		isNew := fault.KindOf(err) == fault.NotFound
		if err != nil && !isNew {
			return err
		}
		if err := p.validate(isNew); err != nil {
			return err
		}
		if isNew {
			after, err = create(ctx, tx, strings.TrimSpace(*p.FirmName), db.OrEmpty(p.WebAddress))
			return err
		}
		if after = p.apply(before); after == before {
			return nil
		}
		now := tx.Now()
		after.UpdatedAt = &now
		if err := updateSettings(ctx, tx, after); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "firm.updated", ResourceType: "firm", ResourceID: after.ID, Before: before.facts(),
			After: after.facts(), Object: after})
		return nil
	})
	return after, err
}

func (p UpdateSettingsParams) validate(isNew bool) error {
	var faults fault.List
	switch {
	case p.FirmName != nil:
		organization.ValidateName(&faults, "firm_name", *p.FirmName)
	case isNew:
		faults.Addf("firm_name", "is required: the organization is not an accounting firm yet")
	}
	if p.WebAddress != nil {
		organization.ValidateAddress(&faults, "web_address", *p.WebAddress)
	}
	return faults.Err()
}

func (p UpdateSettingsParams) apply(s Settings) Settings {
	if p.FirmName != nil {
		s.FirmName = strings.TrimSpace(*p.FirmName)
	}
	if p.WebAddress != nil {
		s.WebAddress = *p.WebAddress
	}
	return s
}

// create makes the organization a firm.
func create(ctx context.Context, tx *db.Tx, name, address string) (Settings, error) {
	one := Settings{ID: tx.NewID(id.Firm), OrganizationID: tx.Organization(), FirmName: name, WebAddress: address, CreatedAt: tx.Now()}
	if err := insertSettings(ctx, tx, one); err != nil {
		return one, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "firm.created", ResourceType: "firm", ResourceID: one.ID, After: one.facts(), Object: one})
	was, err := orgstate.FindFirm(ctx, tx)
	if err != nil {
		return one, err
	}
	if was.Since == nil { // earlier versions marked firms without settings
		if err := orgstate.BecomeFirm(ctx, tx); err != nil {
			return one, err
		}
		audit.Record(ctx, tx, audit.Change{Action: "organization.updated", ResourceType: "organization", ResourceID: one.OrganizationID,
			Before: map[string]any{"id": one.OrganizationID, "is_firm": false}, After: map[string]any{"id": one.OrganizationID, "is_firm": true}})
	}
	o, err := orgstate.FindOrganization(ctx, tx)
	one.LogoURL = organization.Link(db.OrEmpty(o.LogoURL))
	return one, err
}
