package tag

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/reference"
)

// Service holds the use cases.
type Service struct{ db *db.DB }

// NewService returns a Service.
func NewService(d *db.DB) *Service { return &Service{d} }

// Filter narrows a list; empty fields do not. Search is looked for anywhere in a name, regardless of case.
type Filter struct {
	Kind   Kind
	Search string
}

// List returns a page of tags in the order of their creation.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Tag], error) {
	key := func(t Tag) string { return t.ID }
	return page.ListByKey("tags", f, p, "", key, func(above string, limit int) (rows []Tag, err error) {
		err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectPage(ctx, tx, f, above, limit)
			return err
		})
		return rows, err
	})
}

// Get returns a tag.
func (s *Service) Get(ctx context.Context, tagID string) (t Tag, err error) {
	err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		t, err = Get(ctx, tx, tagID)
		return err
	})
	return t, err
}

// Create creates a tag.
func (s *Service) Create(ctx context.Context, kind Kind, name string) (t Tag, err error) {
	wanted, err := Tag{Name: name, Kind: kind}.normalize()
	if err != nil {
		return t, err
	}
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Touch(ctx, tx); err != nil {
			return err
		}
		if err := wanted.requireFreeName(ctx, tx); err != nil {
			return err
		}
		t, err = create(ctx, tx, wanted.Kind, wanted.Name)
		return err
	})
	return t, err
}

// UpdateParams are the requested changes; nil leaves a field unchanged.
type UpdateParams struct {
	Name *string
	Kind *Kind
}

// Update changes a tag. It writes nothing if nothing changes.
func (s *Service) Update(ctx context.Context, tagID string, p UpdateParams) (after Tag, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Touch(ctx, tx); err != nil {
			return err
		}
		before, err := Get(ctx, tx, tagID)
		if err != nil {
			return err
		}
		after = before
		if p.Name != nil {
			after.Name = *p.Name
		}
		if p.Kind != nil {
			after.Kind = *p.Kind
		}
		if after, err = after.normalize(); err != nil || after == before {
			return err
		}
		if err := after.requireFreeName(ctx, tx); err != nil {
			return err
		}
		now := tx.Now()
		after.UpdatedAt = &now
		if err := update(ctx, tx, after); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "tag.updated", ResourceType: "tag", ResourceID: tagID, Before: before.facts(),
			After: after.facts(), Object: after})
		return nil
	})
	return after, err
}

// Delete deletes a tag that is not in use.
func (s *Service) Delete(ctx context.Context, tagID string) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Touch(ctx, tx); err != nil {
			return err
		}
		t, err := Get(ctx, tx, tagID)
		if err != nil {
			return err
		}
		uses, err := reference.To(ctx, tx, table, tagID)
		if err != nil {
			return err
		}
		if len(uses) > 0 {
			return fault.Conflictf("the tag %s cannot be deleted, because it is used by %s", t.Name, uses)
		}
		// The remaining dependents are balances of zero, of entries that were reversed or unposted.
		if err := reference.DeleteDependents(ctx, tx, table, tagID); err != nil {
			return err
		}
		if err := remove(ctx, tx, tagID); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "tag.deleted", ResourceType: "tag", ResourceID: tagID, Before: t.facts()})
		return nil
	})
}

// normalize returns the tag as it is stored, or every fault in it.
func (t Tag) normalize() (Tag, error) {
	var faults fault.List
	name, err := normalizeName(t.Name)
	if err := faults.Merge(err); err != nil {
		return t, err
	}
	if !slices.Contains(Kinds, t.Kind) {
		faults.Addf("kind", "must be one of %s", kindsText)
	}
	t.Name = name
	return t, faults.Err()
}

// requireFreeName returns a conflict if another tag of the kind has the name.
func (t Tag) requireFreeName(ctx context.Context, tx *db.Tx) error {
	others, err := selectNamed(ctx, tx, t.Kind, t.Name)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.ID != t.ID {
			return fault.Conflictf("there is already a tag of kind %s with the name %s: %s", t.Kind, t.Name, other.ID)
		}
	}
	return nil
}

// Verify recomputes the invariants of tags and returns a sentence for each broken one.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	all, err := All(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if kept, err := t.normalize(); err != nil || kept.Name != t.Name {
			out = append(out, fmt.Sprintf("tag %s: its name or kind is not valid", t.ID))
		}
	}
	strays, err := reference.FindDangling(ctx, tx, table)
	for _, s := range strays {
		out = append(out, fmt.Sprintf("%s: the tag %s does not exist", s.Table, s.ID))
	}
	return out, err
}
