package template

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

// Offer is a template of the firm that works for the actor's organization.
type Offer struct {
	Template
	firmOrganizationID string
	firmName           string
}

// Offers lists the templates of the firm that works for the actor's organization, without their content, in the order of their creation.
// There are none without a firm.
func (s *Service) Offers(ctx context.Context, p page.Request) (page.Page[Template], error) {
	a, err := s.access(ctx)
	if fault.KindOf(err) == fault.NotFound {
		return page.Page[Template]{Items: []Template{}}, nil
	}
	if err != nil {
		return page.Page[Template]{}, err
	}
	return s.list(ctx, a.FirmOrganizationID, p)
}

// FindOffer returns a template of the firm that works for the actor's organization. The error is the same NotFound whether there is no such
// template or it is not of that firm. It reads two organizations, and must not run inside a database transaction.
func (s *Service) FindOffer(ctx context.Context, templateID string) (o Offer, err error) {
	a, err := s.access(ctx)
	if fault.KindOf(err) == fault.NotFound {
		return o, fault.Missing(noun)
	}
	if err != nil {
		return o, err
	}
	o.firmOrganizationID = a.FirmOrganizationID
	err = s.db.ReadOne(ctx, a.FirmOrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if o.Template, err = find(ctx, tx, templateID); err != nil {
			return err
		}
		f, err := firm.FindSettings(ctx, tx)
		o.firmName = f.FirmName
		return err
	})
	return o, err
}

// access returns the access of the firm that works for the actor's organization.
func (s *Service) access(ctx context.Context) (a firm.Access, err error) {
	err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		a, err = firm.FindActive(ctx, tx)
		return err
	})
	return a, err
}
