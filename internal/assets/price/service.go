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

// Service holds the use cases.
type Service struct{ db *db.DB }

// NewService makes one.
func NewService(d *db.DB) *Service { return &Service{d} }

// noun is what a price is called where it is missing.
const noun = "price"

// Filter narrows a list; what is empty does not. From and To are instants, or dates where the organization is, both included.
type Filter struct {
	AssetTypes []string
	Currency   string
	From, To   string
	Origin     Origin

	first, last time.Time
}

// parse finds every fault of a filter, and the instants that bound it.
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
	if f.Origin != "" && !slices.Contains(Origins, f.Origin) {
		r.faults.Addf("origin", "must be one of manual, import, transaction, provider")
	}
	return r.faults.Err()
}

// List gives prices, the latest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Price], error) {
	key := func(p Price) []string { return []string{clock.Format(p.At), p.ID} }
	return page.List("prices", f, p, key, func(after []string, limit int) (rows []Price, err error) {
		var below time.Time
		if after != nil {
			if below, err = time.Parse(time.RFC3339, after[0]); err != nil {
				return nil, fault.Invalidf("cursor", "is not a cursor of this service")
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

// Get gives one price.
func (s *Service) Get(ctx context.Context, priceID string) (p Price, err error) {
	err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		p, err = find(ctx, tx, priceID)
		return err
	})
	return p, err
}

// UpdateParams are the changes asked for; nil leaves a field as it is.
type UpdateParams struct{ Price, Note *string }

// Update changes what a price says, not what it is of. What changes nothing writes nothing.
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

// Delete removes a price that nothing rests on.
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

// saveChange writes a price that is there already anew.
func saveChange(ctx context.Context, tx *db.Tx, before, after Price) (Price, error) {
	now := tx.Now()
	after.UpdatedAt = &now
	if err := update(ctx, tx, after); err != nil {
		return after, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "price.updated", ResourceType: noun, ResourceID: after.ID, Before: before.facts(),
		After: after.facts()})
	return after, nil
}

// facts is what the audit and events say of a price.
func (p Price) facts() map[string]any {
	return map[string]any{
		"id": p.ID, "asset_type": p.AssetType, "currency": p.Currency, "timestamp": clock.Format(
			p.At), "price": p.Value, "origin": p.Origin, "note": db.OrNull(p.Note),
	}
}

// Verify finds what must not be in an organization's prices, and what rests on a price that is not there.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	err = forEach(ctx, tx, func(p Price) error {
		var faults fault.List
		p.validate(&faults, "")
		if !slices.Contains(Origins, p.Origin) {
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
	strays, err := reference.Strays(ctx, tx, table)
	for _, s := range strays {
		out = append(out, fmt.Sprintf("%s: the price %s does not exist", s.Table, s.ID))
	}
	return out, err
}
