package lots

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Noun is what a lot is called on the wire.
const Noun = "asset"

// Service holds the use cases of reading assets and of picking lots for disposals.
type Service struct {
	db *db.DB
}

// NewService returns a service on a database.
func NewService(d *db.DB) *Service { return &Service{d} }

// Held is a lot as the API shows it: with the account of its source and, under a weighted average, with its share of the
// basis of its pool.
type Held struct {
	Lot
	Account string // of its source; empty where it is parked
}

// Filter narrows a list by every field that is not empty.
type Filter struct {
	LegalEntityIDs  []string
	AssetTypes      []string
	SourceIDs       []string // each the ID of a source or of its account
	LedgerAccountID string
	Chain           string
	TransactionID   string
	Manual          *bool
	Open            *bool // whether something is left of it

	limited []string // legal entities to which the actor is limited
	sources []string // IDs of the sources
	entryID string   // entry of the transaction
}

// List returns a page of assets, the newest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Held], error) {
	who := actor.From(ctx)
	f.Chain, f.limited = strings.ToLower(f.Chain), who.LegalEntityIDs
	return page.List("assets", f, p, func(h Held) []string {
		return []string{h.ID}
	}, func(after []string, limit int) (rows []Held, err error) {
		below := ""
		if after != nil {
			below = after[0]
		}
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if err := f.resolve(ctx, tx); err != nil {
				return err
			}
			if f.TransactionID != "" && f.entryID == "" {
				return nil // a transaction without an entry has no lots
			}
			lots, err := selectAssets(ctx, tx, f, below, limit)
			if err != nil {
				return err
			}
			rows, err = present(ctx, tx, lots...)
			return err
		})
		return rows, err
	})
}

// resolve looks up the records that the filter names. It returns an error if one does not exist, because an empty page would
// read as if nothing were held.
func (f *Filter) resolve(ctx context.Context, tx *db.Tx) error {
	for _, legalEntityID := range f.LegalEntityIDs {
		if _, err := entity.Get(ctx, tx, legalEntityID); err != nil {
			return err
		}
	}
	if f.LedgerAccountID != "" {
		if _, err := account.Get(ctx, tx, f.LedgerAccountID); err != nil {
			return err
		}
	}
	f.sources = nil
	for _, sourceID := range f.SourceIDs {
		found, err := source.Find(ctx, tx, sourceID)
		if err != nil {
			return err
		}
		f.sources = append(f.sources, found.ID)
	}
	if f.TransactionID != "" {
		t, err := transaction.Find(ctx, tx, f.TransactionID)
		if err != nil {
			return err
		}
		f.entryID = t.JournalEntryID
	}
	return nil
}

// Get returns one asset.
func (s *Service) Get(ctx context.Context, assetID string) (h Held, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		h, err = Show(ctx, tx, assetID)
		return err
	})
	return h, err
}

// Show returns a lot as the API shows it. It is a building block.
func Show(ctx context.Context, tx *db.Tx, assetID string) (Held, error) {
	l, err := Find(ctx, tx, assetID)
	if err != nil {
		return Held{}, err
	}
	all, err := present(ctx, tx, l)
	if err != nil {
		return Held{}, err
	}
	return all[0], nil
}

// Find returns a lot as it is stored, or an error of kind NotFound if it does not exist or the actor may not see it. It
// is a building block.
func Find(ctx context.Context, tx *db.Tx, assetID string) (Lot, error) {
	l, err := selectAsset(ctx, tx, assetID)
	if err == nil && !actor.From(ctx).Sees(l.LegalEntityID) {
		return Lot{}, fault.Missing(Noun)
	}
	return l, err
}

// present converts lots to the form that the API shows.
func present(ctx context.Context, tx *db.Tx, lots ...Lot) ([]Held, error) {
	entities, err := snapshot.Entities(ctx, tx)
	if err != nil {
		return nil, err
	}
	averaging := map[string]bool{}
	for _, e := range entities {
		averaging[e.ID] = e.CostBasisMethod == entity.MethodWeightedAverage
	}
	var sources, pools []string
	for _, l := range lots {
		if l.SourceID != "" {
			sources = append(sources, l.SourceID)
		}
		if averaging[l.LegalEntityID] && l.averaged() {
			pools = append(pools, l.Pool)
		}
	}
	known, err := source.FindSomeUnchecked(ctx, tx, sources)
	if err != nil {
		return nil, err
	}
	shares, err := averageShares(ctx, tx, pools)
	if err != nil {
		return nil, err
	}
	out := make([]Held, len(lots))
	for i, l := range lots {
		if averaging[l.LegalEntityID] && l.averaged() {
			l.RemainingBasis = shares[l.ID]
		}
		out[i] = Held{l, ""}
		if l.SourceID != "" {
			out[i].Account = known[l.SourceID].Account()
		}
	}
	return out, BlankHiddenParents(ctx, tx, out, func(h *Held) *string { return &h.ParentID })
}

// BlankHiddenParents removes the ids of lots that the actor may not see: a lot that came from another legal entity has one as its parent.
// The function returns where a row has the id. It is a building block.
func BlankHiddenParents[T any](ctx context.Context, tx *db.Tx, rows []T, parent func(*T) *string) error {
	who := actor.From(ctx)
	var ids []string
	for i := range rows {
		if id := *parent(&rows[i]); id != "" {
			ids = append(ids, id)
		}
	}
	if !who.Limited() || len(ids) == 0 {
		return nil
	}
	found, err := ByID(ctx, tx, ids)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, l := range found {
		seen[l.ID] = who.Sees(l.LegalEntityID)
	}
	for i := range rows {
		if id := parent(&rows[i]); !seen[*id] {
			*id = ""
		}
	}
	return nil
}

// Disposition is a use of a lot as the API shows it.
type Disposition struct {
	Use
	Account string // of the source that held it
}

// Dispositions returns a page of the uses of a lot, the latest first: disposals, and moves and conversions to other
// lots.
func (s *Service) Dispositions(ctx context.Context, assetID string, p page.Request) (page.Page[Disposition], error) {
	key := func(u Disposition) []string { return []string{clock.Format(u.DisposedAt), u.ID} }
	return page.List("asset-dispositions "+assetID, nil, p, key, func(after []string, limit int) (rows []Disposition, err error) {
		var before useCursor
		if after != nil {
			if before.at, err = time.Parse(time.RFC3339, after[0]); err != nil {
				return nil, page.ErrCursor()
			}
			before.id = after[1]
		}
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := Find(ctx, tx, assetID); err != nil {
				return err
			}
			uses, err := selectUsesOfLot(ctx, tx, assetID, before, limit)
			if err != nil {
				return err
			}
			rows, err = presentUses(ctx, tx, uses)
			return err
		})
		return rows, err
	})
}

// useCursor is the position of a use among those of its lot.
type useCursor struct {
	at time.Time
	id string
}

func presentUses(ctx context.Context, tx *db.Tx, uses []Use) ([]Disposition, error) {
	var sources []string
	for _, u := range uses {
		if u.SourceID != "" {
			sources = append(sources, u.SourceID)
		}
	}
	known, err := source.FindSomeUnchecked(ctx, tx, sources)
	out := make([]Disposition, len(uses))
	for i, u := range uses {
		out[i] = Disposition{u, ""}
		if u.SourceID != "" {
			out[i].Account = known[u.SourceID].Account()
		}
	}
	return out, err
}
