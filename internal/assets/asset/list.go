package asset

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const noun = "asset"

// Service holds the use cases of whoever looks at assets, enters them by hand and chooses among them.
type Service struct {
	db      *db.DB
	ledger  *Ledger
	entries *journal.Service
	books   *snapshot.Cache
}

// NewService makes one.
func NewService(d *db.DB, ledger *Ledger, entries *journal.Service) *Service {
	return &Service{d, ledger, entries, &snapshot.Cache{}}
}

// Held is a lot as it is shown: by the id its source goes by, and with what is left of its cost also where the pool keeps that.
type Held struct {
	Lot
	Account string // of its source; empty where it is parked
}

// Filter narrows a list; what is empty does not.
type Filter struct {
	LegalEntityIDs  []string
	AssetTypes      []string
	SourceIDs       []string // each the source's own or that of its account
	LedgerAccountID string
	Chain           string
	TransactionID   string
	Manual          *bool
	Open            *bool // something is left of it

	limited []string // the legal entities the actor's key is for
	sources []string // by their own ids
	entryID string   // that of the transaction
}

// List gives assets, the newest first.
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
				return nil // what is not booked has brought nothing
			}
			lots, err := selectAssets(ctx, tx, f, below, limit)
			if err != nil {
				return err
			}
			rows, err = show(ctx, tx, lots...)
			return err
		})
		return rows, err
	})
}

// resolve refuses to filter by what is not there: an empty answer would read as if nothing were held.
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

// Get gives one asset.
func (s *Service) Get(ctx context.Context, assetID string) (h Held, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		h, err = get(ctx, tx, assetID)
		return err
	})
	return h, err
}

func get(ctx context.Context, tx *db.Tx, assetID string) (Held, error) {
	l, err := Find(ctx, tx, assetID)
	if err != nil {
		return Held{}, err
	}
	all, err := show(ctx, tx, l)
	if err != nil {
		return Held{}, err
	}
	return all[0], nil
}

// Find gives a lot as it is kept, unless it is of a legal entity the actor's key is not for. It is a building block.
func Find(ctx context.Context, tx *db.Tx, assetID string) (Lot, error) {
	l, err := selectAsset(ctx, tx, assetID)
	if err == nil && !actor.From(ctx).Sees(l.LegalEntityID) {
		return Lot{}, fault.Missing(noun)
	}
	return l, err
}

// show looks up what is shown of lots beside what they say themselves.
func show(ctx context.Context, tx *db.Tx, lots ...Lot) ([]Held, error) {
	entities, err := entity.All(ctx, tx)
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
	sums, err := selectPoolSums(ctx, tx, pools)
	if err != nil {
		return nil, err
	}
	out := make([]Held, len(lots))
	for i, l := range lots {
		if sum, there := sums[l.Pool]; there && averaging[l.LegalEntityID] && l.averaged() {
			l.RemainingBasis = sum.share(l)
		}
		out[i] = Held{l, ""}
		if l.SourceID != "" {
			out[i].Account = known[l.SourceID].Account()
		}
	}
	return out, nil
}

// averaged tells that the lot is one of those whose cost a weighted average takes together: neither an NFT nor parked.
func (l Lot) averaged() bool { return l.TokenID == "" && l.SourceID != "" }

// poolSum is what a pool holds and what that cost.
type poolSum struct {
	Pool     string        `db:"pool"`
	Quantity money.Decimal `db:"quantity"`
	Basis    money.Decimal `db:"basis"`
}

// share is the part of a pool's cost that goes with what is left of a lot.
func (s poolSum) share(l Lot) money.Decimal {
	if s.Quantity.IsZero() {
		return money.Decimal{}
	}
	places, _ := money.MinorUnits(l.Currency)
	return s.Basis.Mul(l.RemainingQuantity).Quo(s.Quantity, places)
}

// Taken is a use of a lot as it is shown.
type Taken struct {
	Use
	Account string // of the source it was taken from
}

// Dispositions gives what was taken from a lot, the latest first: what was disposed of, and what went elsewhere with its cost.
func (s *Service) Dispositions(ctx context.Context, assetID string, p page.Request) (page.Page[Taken], error) {
	key := func(u Taken) []string { return []string{clock.Format(u.DisposedAt), u.ID} }
	return page.List("asset-dispositions "+assetID, nil, p, key, func(after []string, limit int) (rows []Taken, err error) {
		var before usePlace
		if after != nil {
			if before.at, err = time.Parse(time.RFC3339, after[0]); err != nil {
				return nil, fault.Invalidf("cursor", "is not a cursor of this service")
			}
			before.id = after[1]
		}
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if _, err := Find(ctx, tx, assetID); err != nil {
				return err
			}
			uses, err := selectTakenFrom(ctx, tx, assetID, before, limit)
			if err != nil {
				return err
			}
			rows, err = showUses(ctx, tx, uses)
			return err
		})
		return rows, err
	})
}

// usePlace is where a use stands among those of its lot.
type usePlace struct {
	at time.Time
	id string
}

func showUses(ctx context.Context, tx *db.Tx, uses []Use) ([]Taken, error) {
	var sources []string
	for _, u := range uses {
		if u.SourceID != "" {
			sources = append(sources, u.SourceID)
		}
	}
	known, err := source.FindSomeUnchecked(ctx, tx, sources)
	out := make([]Taken, len(uses))
	for i, u := range uses {
		out[i] = Taken{u, ""}
		if u.SourceID != "" {
			out[i].Account = known[u.SourceID].Account()
		}
	}
	return out, err
}
