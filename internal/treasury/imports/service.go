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

// Service holds the use cases.
type Service struct {
	db    *db.DB
	batch int // how many transactions one database transaction adds

	// AfterImport runs when the last row of an import is in and before it is completed, outside of a transaction. It may
	// run again, and must bear that.
	AfterImport []func(ctx context.Context, i Import) error
}

// NewService makes one.
func NewService(d *db.DB) *Service { return &Service{db: d, batch: batchRecords} }

// Filter narrows a list; what is empty does not.
type Filter struct {
	SourceID string
	Status   Status
}

// List gives imports, the newest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Import], error) {
	who := actor.From(ctx)
	return page.List("imports", f, p, func(i Import) []string {
		return []string{i.ID}
	}, func(after []string, limit int) (rows []Import, err error) {
		below := ""
		if after != nil {
			below = after[0]
		}
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			wanted := f
			if f.SourceID != "" {
				found, err := source.Find(ctx, tx, f.SourceID)
				if err != nil {
					return err
				}
				wanted.SourceID = found.ID
			}
			rows, err = selectPage(ctx, tx, wanted, who.LegalEntityIDs, below, limit)
			return err
		})
		return rows, err
	})
}

// Get gives an import and the first of its faults.
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

// Fault is one thing that is wrong with a row of the file, and its place among all.
type Fault struct {
	Position int64
	intake.Fault
}

// Faults lists what was wrong with rows, in the order of the file, as far as it was kept.
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

// find finds an import that is listed, unless it is of a legal entity that the actor's key is not for.
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
