package spam

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Service implements the use cases of spam listings.
type Service struct{ db *db.DB }

// NewService returns a Service on a database.
func NewService(d *db.DB) *Service { return &Service{d} }

// Filter restricts a list; empty fields do not.
type Filter struct {
	Verdict Verdict
	Kind    Kind
}

// List returns listings in the order of their creation.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Listing], error) {
	key := func(l Listing) string { return l.ID }
	return page.ListByKey("spam-listings", f, p, "", key, func(above string, limit int) (rows []Listing, err error) {
		err = s.db.ReadOne(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectPage(ctx, tx, f, above, limit)
			return err
		})
		return rows, err
	})
}

// CreateParams describe a new listing.
type CreateParams struct {
	Verdict            Verdict
	Kind               Kind
	Chain, Value, Note string
}

// Create creates a listing. Earlier arrivals keep their verdict.
func (s *Service) Create(ctx context.Context, p CreateParams) (l Listing, err error) {
	wanted, err := Listing{Verdict: p.Verdict, Kind: p.Kind, Chain: p.Chain, Value: p.Value, Note: p.Note}.normalized()
	if err != nil {
		return l, err
	}
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil { // concurrent requests for the same value must see each other
			return err
		}
		others, err := selectKeyed(ctx, tx, []string{wanted.key()})
		if err != nil {
			return err
		}
		for _, other := range others {
			if wanted.conflictsWith(other) {
				return fault.ConflictAt([]fault.Field{{Name: "value", Message: "is listed already"}},
					"there is a listing of that %s already: %s (%s)", other.Kind, other.ID, other.Verdict)
			}
		}
		l = wanted
		l.ID, l.CreatedBy, l.CreatedAt = tx.NewID(id.SpamListing), actor.From(ctx).UserID, tx.Now()
		if err := insert(ctx, tx, l); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "spam_listing.created", ResourceType: "spam_listing", ResourceID: l.ID, After: l.facts(),
			Object: l})
		return nil
	})
	return l, err
}

// Delete deletes a listing. Earlier arrivals keep their verdict.
func (s *Service) Delete(ctx context.Context, listingID string) error {
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		l, err := find(ctx, tx, listingID)
		if err != nil {
			return err
		}
		if err := remove(ctx, tx, listingID); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "spam_listing.deleted", ResourceType: "spam_listing", ResourceID: l.ID, Before: l.facts()})
		return nil
	})
}
