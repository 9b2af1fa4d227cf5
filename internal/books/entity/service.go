package entity

import (
	"context"
	"reflect"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Service holds the use cases.
type Service struct {
	db            *db.DB
	lastDisposal  LastDisposal
	closedThrough ClosedThrough
}

// NewService returns a Service.
func NewService(d *db.DB) *Service {
	return &Service{d, func(context.Context, *db.Tx, string) (*time.Time, error) { return nil, nil },
		func(context.Context, *db.Tx, string) (string, error) { return "", nil }}
}

// LastDisposal returns the time of the last disposal of a legal entity, or nil if there is none.
type LastDisposal func(ctx context.Context, tx *db.Tx, legalEntityID string) (*time.Time, error)

// WithDisposals sets the function that finds disposals, which a package above this one provides. It returns the service.
func (s *Service) WithDisposals(last LastDisposal) *Service {
	s.lastDisposal = last
	return s
}

// ClosedThrough returns the key of the last period that is closed for a legal entity, or nothing if none is.
type ClosedThrough func(ctx context.Context, tx *db.Tx, legalEntityID string) (string, error)

// WithClosings sets the function that finds closed periods, which a package above this one provides. It returns the service.
func (s *Service) WithClosings(through ClosedThrough) *Service {
	s.closedThrough = through
	return s
}

// Detail is a legal entity with its elections.
type Detail struct {
	LegalEntity
	History      []Election // the oldest first
	Measurements []Measured // the oldest first
}

func loadDetail(ctx context.Context, tx *db.Tx, e LegalEntity) (Detail, error) {
	history, err := Elections(ctx, tx, e.ID)
	if err != nil {
		return Detail{}, err
	}
	measurements, err := selectMeasurements(ctx, tx, e.ID)
	return Detail{e, history, measurements}, err
}

// Get returns a legal entity.
func (s *Service) Get(ctx context.Context, legalEntityID string) (d Detail, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		e, err := Get(ctx, tx, legalEntityID)
		if err != nil {
			return err
		}
		d, err = loadDetail(ctx, tx, e)
		return err
	})
	return d, err
}

// List returns a page of the legal entities that the actor sees, in the order of their creation.
func (s *Service) List(ctx context.Context, p page.Request) (page.Page[LegalEntity], error) {
	who := actor.From(ctx)
	key := func(e LegalEntity) string { return e.ID }
	return page.ListByKey("legal-entities", nil, p, "", key, func(above string, limit int) (rows []LegalEntity, err error) {
		err = s.db.ReadOne(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			rows, err = selectPage(ctx, tx, who.LegalEntityIDs, above, limit)
			return err
		})
		return rows, err
	})
}

// Create creates a legal entity.
func (s *Service) Create(ctx context.Context, p CreateParams) (d Detail, err error) {
	who := actor.From(ctx)
	if len(who.LegalEntityIDs) > 0 {
		return d, fault.Forbiddenf("an API key that is limited to some legal entities cannot create another")
	}
	e, invalid := p.entity()
	err = s.db.Write(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Touch(ctx, tx); err != nil {
			return err
		}
		if err := validateWithParent(ctx, tx, e, invalid); err != nil {
			return err
		}
		made, err := create(ctx, tx, e)
		if err != nil {
			return err
		}
		d, err = loadDetail(ctx, tx, made)
		return err
	})
	return d, err
}

// Update changes a legal entity. It writes nothing if nothing changes.
func (s *Service) Update(ctx context.Context, legalEntityID string, p UpdateParams) (d Detail, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Touch(ctx, tx); err != nil {
			return err
		}
		before, err := Get(ctx, tx, legalEntityID)
		if err != nil {
			return err
		}
		after, invalid := p.apply(before)
		if before.ParentID != after.ParentID {
			invalid = validateWithParent(ctx, tx, after, invalid)
		}
		if invalid != nil {
			return invalid
		}
		if err := requireGroupAccess(ctx, before, after); err != nil {
			return err
		}
		if !reflect.DeepEqual(before.facts(), after.facts()) {
			if after, err = s.change(ctx, tx, before, after); err != nil {
				return err
			}
		}
		d, err = loadDetail(ctx, tx, after)
		return err
	})
	return d, err
}

// change validates and writes a changed legal entity, and its new elections if there are any.
func (s *Service) change(ctx context.Context, tx *db.Tx, before, after LegalEntity) (LegalEntity, error) {
	if err := s.validateFixedFields(ctx, tx, before, after); err != nil {
		return after, err
	}
	now := tx.Now()
	after.UpdatedAt = &now
	if err := update(ctx, tx, after); err != nil {
		return after, err
	}
	if before.changesElection(after) {
		history, err := Elections(ctx, tx, after.ID)
		if err != nil {
			return after, err
		}
		if err := insertElection(ctx, tx, after.ID, int64(len(history))+1, after.election(now)); err != nil {
			return after, err
		}
	}
	if before.changesMeasurement(after) {
		history, err := selectMeasurements(ctx, tx, after.ID)
		if err != nil {
			return after, err
		}
		if err := insertMeasurement(ctx, tx, after.ID, int64(len(history))+1, after.measured(now)); err != nil {
			return after, err
		}
	}
	audit.Record(ctx, tx, audit.Change{Action: "legal_entity.updated", ResourceType: "legal_entity", ResourceID: after.ID,
		Before: before.facts(), After: after.facts()})
	return after, nil
}

// requireGroupAccess refuses a change of the structure of the group to a key that is limited to some of its legal entities.
func requireGroupAccess(ctx context.Context, before, after LegalEntity) error {
	if before.ParentID == after.ParentID && reflect.DeepEqual(decimalFact(before.OwnershipPercent), decimalFact(after.OwnershipPercent)) ||
		!actor.From(ctx).Limited() {
		return nil
	}
	return fault.Forbiddenf("the parent of a legal entity concerns the whole group: use a key that is not limited to legal entities")
}

// validateWithParent returns an error with every fault of a legal entity: those found before, and those of its parent.
func validateWithParent(ctx context.Context, tx *db.Tx, e LegalEntity, invalid error) error {
	var faults fault.List
	for _, err := range []error{invalid, validateParent(ctx, tx, e)} {
		if err := faults.Merge(err); err != nil {
			return err
		}
	}
	return faults.Err()
}

// validateParent returns an error if the parent of a legal entity does not exist, or is the legal entity itself or below it.
func validateParent(ctx context.Context, tx *db.Tx, e LegalEntity) error {
	if e.ParentID == "" {
		return nil
	}
	var faults fault.List
	if _, err := Get(ctx, tx, e.ParentID); err != nil {
		if err := faults.MergeMissing(err, "parent_legal_entity_id"); err != nil {
			return err
		}
		return faults.Err()
	}
	all, err := All(ctx, tx)
	if err != nil {
		return err
	}
	parents := make(map[string]string, len(all))
	for _, other := range all {
		parents[other.ID] = other.ParentID
	}
	// The steps are limited, so that the loop ends even if stored data has a cycle.
	for above, steps := e.ParentID, 0; above != "" && steps <= len(all); above, steps = parents[above], steps+1 {
		if above == e.ID {
			return fault.Invalidf("parent_legal_entity_id", "must not be the legal entity itself or one below it")
		}
	}
	return nil
}
