package template

import (
	"context"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
)

// Service implements the use cases of templates.
type Service struct{ db *db.DB }

// NewService returns a Service on a database.
func NewService(d *db.DB) *Service { return &Service{d} }

// CreateParams describe a template.
type CreateParams struct {
	Name        string
	Description string
	Kind        Kind
	Content     Content
}

// Create adds a template to the actor's firm.
func (s *Service) Create(ctx context.Context, p CreateParams) (t Template, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if _, err := firm.RequireFirm(ctx, tx); err != nil {
			return err
		}
		t = Template{ID: tx.NewID(id.FirmTemplate), Name: strings.TrimSpace(p.Name), Description: strings.TrimSpace(p.Description),
			Kind: p.Kind, Content: p.Content.trimmed(), ItemCount: p.Content.size(), Version: 1, CreatedBy: actor.From(ctx).UserID,
			CreatedAt: tx.Now()}
		var faults fault.List
		if err := t.validate(&faults); err != nil {
			return err
		}
		if err := faults.Err(); err != nil {
			return err
		}
		switch n, err := count(ctx, tx); {
		case err != nil:
			return err
		case n >= templatesMax:
			return fault.Conflictf("the firm has %d templates, which is the maximum: delete some first", n)
		}
		if err := insert(ctx, tx, t); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "firm_template.created", ResourceType: "firm_template", ResourceID: t.ID,
			After: t.facts(), Object: t})
		return nil
	})
	return t, err
}

// trimmed returns the content without spaces around names, as names are stored and compared.
func (c Content) trimmed() Content {
	tags := make([]Tag, len(c.Tags))
	for i, t := range c.Tags {
		tags[i] = Tag{t.Kind, strings.TrimSpace(t.Name)}
	}
	c.Tags = tags
	return c
}

// Get returns a template of the actor's firm.
func (s *Service) Get(ctx context.Context, templateID string) (Template, error) {
	return s.get(ctx, actor.From(ctx).OrganizationID, templateID)
}

func (s *Service) get(ctx context.Context, firmOrganizationID, templateID string) (t Template, err error) {
	err = s.db.ReadOne(ctx, firmOrganizationID, func(ctx context.Context, tx *db.Tx) error {
		t, err = find(ctx, tx, templateID)
		return err
	})
	return t, err
}

// List returns templates of the actor's firm without their content, in the order of their creation.
func (s *Service) List(ctx context.Context, p page.Request) (page.Page[Template], error) {
	return s.list(ctx, actor.From(ctx).OrganizationID, p)
}

func (s *Service) list(ctx context.Context, firmOrganizationID string, p page.Request) (page.Page[Template], error) {
	key := func(t Template) string { return t.ID }
	return page.ListByKey("firm templates", nil, p, "", key, func(above string, limit int) (out []Template, err error) {
		err = s.db.ReadOne(ctx, firmOrganizationID, func(ctx context.Context, tx *db.Tx) error {
			out, err = selectPage(ctx, tx, above, limit)
			return err
		})
		return out, err
	})
}

// UpdateParams are the requested changes; nil leaves a field as it is.
type UpdateParams struct {
	Name            *string
	Description     *string
	Accounts        *[]Account
	Tags            *[]Tag
	Rules           *[]Rule
	ExpectedVersion *string // nil: whatever the version is
}

func (p UpdateParams) apply(t Template) Template {
	if p.Name != nil {
		t.Name = strings.TrimSpace(*p.Name)
	}
	if p.Description != nil {
		t.Description = strings.TrimSpace(*p.Description)
	}
	if p.Accounts != nil {
		t.Content.Accounts = *p.Accounts
	}
	if p.Tags != nil {
		t.Content.Tags = *p.Tags
	}
	if p.Rules != nil {
		t.Content.Rules = *p.Rules
	}
	t.Content = t.Content.trimmed()
	t.ItemCount = t.Content.size()
	return t
}

// Update changes a template of the actor's firm, for clients that take it over from then on. It writes nothing if nothing changes.
func (s *Service) Update(ctx context.Context, templateID string, p UpdateParams) (after Template, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := find(ctx, tx, templateID)
		if err != nil {
			return err
		}
		after = p.apply(before)
		var faults fault.List
		if err := after.validate(&faults); err != nil {
			return err
		}
		if err := faults.Err(); err != nil {
			return err
		}
		if err := before.requireVersion(p.ExpectedVersion); err != nil {
			return err
		}
		if after.Name == before.Name && after.Description == before.Description && after.Content.text() == before.Content.text() {
			after = before
			return nil
		}
		now := tx.Now()
		after.Version, after.UpdatedAt = before.Version+1, &now
		if err := update(ctx, tx, after); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "firm_template.updated", ResourceType: "firm_template", ResourceID: after.ID,
			Before: before.facts(), After: after.facts(), Object: after})
		return nil
	})
	return after, err
}

// Delete deletes a template of the actor's firm. What clients have taken over stays theirs.
func (s *Service) Delete(ctx context.Context, templateID string) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		t, err := find(ctx, tx, templateID)
		if err != nil {
			return err
		}
		if err := remove(ctx, tx, t.ID); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "firm_template.deleted", ResourceType: "firm_template", ResourceID: t.ID,
			Before: t.facts()})
		return nil
	})
}
