package revaluation

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Service holds the use cases of revaluations.
type Service struct {
	db      *db.DB
	journal *journal.Service
}

// NewService returns a service on a database that posts through the journal.
func NewService(d *db.DB, entries *journal.Service) *Service {
	entries.Protect(journal.ByRevaluation, explainEntry)
	return &Service{d, entries}
}

// Filter narrows a list of runs by every field that is not empty.
type Filter struct {
	PeriodID      string
	LegalEntityID string
	Status        Status
}

// List returns a page of runs without items and rows, the newest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Run], error) {
	who := actor.From(ctx)
	entities := who.LegalEntityIDs
	if f.LegalEntityID != "" {
		entities = []string{f.LegalEntityID}
	}
	return page.List("revaluations", f, p, func(r Run) []string {
		return []string{r.ID}
	}, func(after []string, limit int) (runs []Run, err error) {
		below := "~" // sorts after every id
		if after != nil {
			below = after[0]
		}
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			b, err := snapshot.Read(ctx, tx)
			if err != nil {
				return err
			}
			if err := f.resolve(ctx, b); err != nil {
				return err
			}
			rows, err := selectRuns(ctx, tx, f.PeriodID, entities, f.Status, below, limit)
			if err != nil {
				return err
			}
			runs, err = runsOf(ctx, tx, b, rows)
			return err
		})
		return runs, err
	})
}

// resolve returns an error if the period or the legal entity does not exist, or if the actor may not see it.
func (f Filter) resolve(ctx context.Context, b *snapshot.Books) error {
	if _, there := b.PeriodByID(f.PeriodID); f.PeriodID != "" && !there {
		return fault.MissingAt("accounting period", "accounting_period_id")
	}
	if _, there := b.Entities[f.LegalEntityID]; f.LegalEntityID != "" && (!there || !actor.From(ctx).Sees(f.LegalEntityID)) {
		return fault.MissingAt("legal entity", "legal_entity_id")
	}
	return nil
}

// runsOf returns runs with the parts that the actor may see.
func runsOf(ctx context.Context, tx *db.Tx, b *snapshot.Books, rows []runRow) ([]Run, error) {
	ids, at := make([]string, len(rows)), map[string]int{}
	out := make([]Run, len(rows))
	for i, r := range rows {
		period, _ := b.PeriodByID(r.PeriodID)
		out[i] = Run{ID: r.ID, PeriodID: r.PeriodID, PeriodKey: period.Key, AsOf: r.AsOf, CreatedBy: db.OrEmpty(r.CreatedBy),
			CreatedAt: r.CreatedAt, ReversedAt: r.ReversedAt}
		ids[i], at[r.ID] = r.ID, i
	}
	parts, err := selectParts(ctx, tx, ids)
	for _, p := range parts {
		if actor.From(ctx).Sees(p.LegalEntityID) {
			run := &out[at[p.RunID]]
			run.Parts = append(run.Parts, Part{p.LegalEntityID, Kind(p.Kind), Status(p.Status)})
		}
	}
	return out, err
}

// Get returns one run with its items and the first of its rows.
func (s *Service) Get(ctx context.Context, runID string) (r Run, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		b, err := snapshot.Read(ctx, tx)
		if err != nil {
			return err
		}
		if r, err = find(ctx, tx, b, runID); err != nil {
			return err
		}
		return r.loadRows(ctx, tx)
	})
	return r, err
}

// find returns a run without rows, with the parts and items that the actor may see. It returns an error of kind NotFound if there
// are none.
func find(ctx context.Context, tx *db.Tx, b *snapshot.Books, runID string) (Run, error) {
	row, err := selectRun(ctx, tx, runID)
	if err != nil {
		return Run{}, err
	}
	runs, err := runsOf(ctx, tx, b, []runRow{row})
	if err != nil {
		return Run{}, err
	}
	r, who := runs[0], actor.From(ctx)
	if len(r.Parts) == 0 {
		return Run{}, fault.Missing(noun)
	}
	if r.Items, err = selectItems(ctx, tx, runID); err != nil {
		return Run{}, err
	}
	r.Items = slices.DeleteFunc(r.Items, func(i Item) bool { return !who.Sees(i.LegalEntityID) })
	return r, nil
}

// loadRows reads the first rows of a run, and their number.
func (r *Run) loadRows(ctx context.Context, tx *db.Tx) (err error) {
	seen := actor.From(ctx).LegalEntityIDs
	if r.RowCount, err = countRows(ctx, tx, r.ID, seen); err != nil {
		return err
	}
	rows, err := selectRows(ctx, tx, r.ID, seen, RowFilter{}, nil, rowsMax)
	r.Rows = rowsOf(rows, r.Items)
	return err
}

// RowFilter narrows the rows of a run by every field that is not empty.
type RowFilter struct {
	Kind Kind
	Unit string
}

// Rows returns a page of the rows of a run.
func (s *Service) Rows(ctx context.Context, runID string, f RowFilter, p page.Request) (page.Page[Row], error) {
	who := actor.From(ctx)
	key := func(r Row) []string { return []string{r.LegalEntityID, string(r.Kind), r.Unit, r.SubjectID} }
	filters := struct {
		Run string
		RowFilter
	}{runID, f}
	return page.List("revaluation-rows", filters, p, key, func(after []string, limit int) (out []Row, err error) {
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			b, err := snapshot.Read(ctx, tx)
			if err != nil {
				return err
			}
			r, err := find(ctx, tx, b, runID)
			if err != nil {
				return err
			}
			rows, err := selectRows(ctx, tx, runID, who.LegalEntityIDs, f, after, limit)
			out = rowsOf(rows, r.Items)
			return err
		})
		return out, err
	})
}

// rowsOf converts rows. A row without a price of its own gets the price of its item.
func rowsOf(rows []rowRow, items []Item) []Row {
	type key struct{ entity, kind, unit string }
	of := make(map[key]Item, len(items))
	for _, i := range items {
		of[key{i.LegalEntityID, string(i.Kind), i.Unit}] = i
	}
	out := make([]Row, len(rows))
	for n, r := range rows {
		i := of[key{r.LegalEntityID, r.Kind, r.Unit}]
		out[n] = Row{LegalEntityID: r.LegalEntityID, Kind: Kind(r.Kind), Unit: r.Unit, SubjectID: r.SubjectID, Currency: i.Currency,
			Quantity: r.Quantity, Cost: r.Cost, Before: r.Before, Price: r.quote(), Value: r.Value, After: r.After}
		if out[n].Price == nil {
			out[n].Price = i.Price
		}
	}
	return out
}
