package price

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/reference"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Service holds the use cases of prices.
type Service struct{ db *db.DB }

// NewService returns a service on a database.
func NewService(d *db.DB) *Service { return &Service{d} }

// noun is what error messages call a price.
const noun = "price"

// Filter narrows a list by every field that is not empty. From and To are instants, or dates in the time zone of the
// organization, both included.
type Filter struct {
	AssetTypes []string
	Currency   string
	From, To   string
	Origin     Origin

	first, last time.Time
}

// parse sets the instants that bound the filter, and returns an error with all of its faults.
func (f *Filter) parse(zone *time.Location) error {
	r := parser{zone: zone}
	if f.From != "" {
		if start, err := calendar.StartOfDay(f.From, zone); err == nil {
			f.first = start
		} else {
			f.first = r.instant("start_date", f.From)
		}
	}
	if f.To != "" {
		if f.last = r.instant("end_date", f.To); f.first.After(f.last) && r.faults.Err() == nil {
			r.faults.Addf("start_date", "must not be after end_date")
		}
	}
	if f.Currency != "" {
		validateCurrency(&r.faults, "currency", f.Currency)
	}
	if f.Origin != "" && !slices.Contains(origins, f.Origin) {
		r.faults.Addf("origin", "must be one of manual, import, transaction, provider")
	}
	return r.faults.Err()
}

// List returns a page of prices, the latest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Price], error) {
	key := func(p Price) []string { return []string{clock.Format(p.At), p.ID} }
	return page.List("prices", f, p, key, func(after []string, limit int) (rows []Price, err error) {
		var below time.Time
		if after != nil {
			if below, err = time.Parse(time.RFC3339, after[0]); err != nil {
				return nil, page.ErrCursor()
			}
		}
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			zone, err := snapshot.Zone(ctx, tx)
			if err != nil {
				return err
			}
			if err := f.parse(zone); err != nil {
				return err
			}
			rows, err = selectPage(ctx, tx, f, after, below, limit)
			return err
		})
		return rows, err
	})
}

// Get returns one price.
func (s *Service) Get(ctx context.Context, priceID string) (p Price, err error) {
	err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		p, err = find(ctx, tx, priceID)
		return err
	})
	return p, err
}

// UpdateParams are changes to a price; nil leaves a field as it is.
type UpdateParams struct{ Price, Note *string }

// Update changes the value or the note of a price. If nothing changes, nothing is written.
func (s *Service) Update(ctx context.Context, priceID string, u UpdateParams) (after Price, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := find(ctx, tx, priceID)
		if err != nil {
			return err
		}
		after = before
		var r parser
		if u.Price != nil {
			after.Value = r.decimal("price", *u.Price)
		}
		if u.Note != nil {
			after.Note = strings.TrimSpace(*u.Note)
		}
		if after.validate(&r.faults, ""); r.faults.Err() != nil {
			return r.faults.Err()
		}
		if after.Value.Equal(before.Value) && after.Note == before.Note {
			after = before
			return nil
		}
		after, err = saveChange(ctx, tx, before, after)
		return err
	})
	return after, err
}

// Delete deletes a price that nothing refers to.
func (s *Service) Delete(ctx context.Context, priceID string) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		p, err := find(ctx, tx, priceID)
		if err != nil {
			return err
		}
		uses, err := reference.To(ctx, tx, table, priceID)
		if err != nil {
			return err
		}
		if len(uses) > 0 {
			return fault.Conflictf("the price of %s at %s cannot be deleted, because it is used by %s", p.AssetType, clock.Format(p.At), uses)
		}
		if err := deleteRow(ctx, tx, priceID); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "price.deleted", ResourceType: noun, ResourceID: priceID, Before: p.facts()})
		return nil
	})
}

// saveChange stores a changed price and records the change.
func saveChange(ctx context.Context, tx *db.Tx, before, after Price) (Price, error) {
	now := tx.Now()
	after.UpdatedAt = &now
	if err := update(ctx, tx, after); err != nil {
		return after, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "price.updated", ResourceType: noun, ResourceID: after.ID, Before: before.facts(),
		After: after.facts(), Object: after})
	return after, nil
}

// facts returns what audit records and events contain of a price.
func (p Price) facts() map[string]any {
	return map[string]any{
		"id": p.ID, "asset_type": p.AssetType, "currency": p.Currency, "timestamp": clock.Format(p.At),
		"price": p.Value, "origin": p.Origin, "note": db.OrNull(p.Note),
	}
}

// Verify returns a text for every invalid price, and for every reference to a price that does not exist. It is a building
// block.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	err = forEach(ctx, tx, func(p Price) error {
		var faults fault.List
		p.validate(&faults, "")
		if !slices.Contains(origins, p.Origin) {
			faults.Addf("origin", "must be one of manual, import, transaction, provider")
		}
		if faults.Err() != nil {
			out = append(out, fmt.Sprintf("price %s: %v", p.ID, faults.Err()))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	strays, err := reference.FindDangling(ctx, tx, table)
	for _, s := range strays {
		out = append(out, fmt.Sprintf("%s: the price %s does not exist", s.Table, s.ID))
	}
	return out, err
}
