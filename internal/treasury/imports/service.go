package imports

import (
	"context"
	"strconv"

	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Service implements the use cases of imports.
type Service struct {
	db    *db.DB
	batch int // how many transactions one database transaction adds

	// AfterImport hooks run after the last row of an import and before it is completed, outside of a database
	// transaction. They must be idempotent, because they may run again.
	AfterImport []func(ctx context.Context, i Import) error
}

// NewService returns a Service.
func NewService(d *db.DB) *Service { return &Service{db: d, batch: batchRecords} }

// Filter narrows a list; empty fields match everything.
type Filter struct {
	SourceID string
	Status   Status
}

// List returns imports, the newest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Import], error) {
	who := actor.From(ctx)
	key := func(i Import) string { return i.ID }
	return page.ListByKey("imports", f, p, "", key, func(below string, limit int) (rows []Import, err error) {
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			wanted := f
			if f.SourceID != "" {
				found, err := source.Find(ctx, tx, f.SourceID)
				if err != nil {
					return err
				}
				wanted.SourceID = found.ID
			}
			var sources []string
			if len(who.LegalEntityIDs) > 0 {
				if sources, err = source.IDsOfEntities(ctx, tx, who.LegalEntityIDs); err != nil {
					return err
				}
			}
			rows, err = selectPage(ctx, tx, wanted, sources, below, limit)
			return err
		})
		return rows, err
	})
}

// Get returns an import and its first faults.
func (s *Service) Get(ctx context.Context, importID string) (i Import, faults []intake.Fault, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if i, err = find(ctx, tx, importID); err != nil {
			return err
		}
		rows, err := selectFaults(ctx, tx, importID, 0, FaultsShown)
		for _, r := range rows {
			faults = append(faults, r.Fault)
		}
		return err
	})
	return i, faults, err
}

// Fault is a fault of a row of the file, and its position among all.
type Fault struct {
	Position int64
	intake.Fault
}

// Faults returns the stored faults of the rows, in the order of the file.
func (s *Service) Faults(ctx context.Context, importID string, p page.Request) (page.Page[Fault], error) {
	key := func(f Fault) []string { return []string{strconv.FormatInt(f.Position, 10)} }
	return page.List("import errors", map[string]string{"import_id": importID}, p, key, func(after []string, limit int) (rows []Fault,
		err error) {
		above := int64(0)
		if after != nil {
			if above, err = strconv.ParseInt(after[0], 10, 64); err != nil {
				return nil, err
			}
		}
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := find(ctx, tx, importID); err != nil {
				return err
			}
			rows, err = selectFaults(ctx, tx, importID, above, limit)
			return err
		})
		return rows, err
	})
}

// find returns an import, unless it is still uploading or belongs to a legal entity that the actor may not see.
func find(ctx context.Context, tx *db.Tx, importID string) (Import, error) {
	i, err := findUnchecked(ctx, tx, importID)
	if err != nil {
		return i, err
	}
	sources, err := source.FindSomeUnchecked(ctx, tx, []string{i.SourceID})
	if err == nil && (i.Status == Uploading || !actor.From(ctx).Sees(sources[i.SourceID].LegalEntityID)) {
		err = errNotFound()
	}
	return i, err
}
