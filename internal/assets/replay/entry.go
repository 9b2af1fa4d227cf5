package replay

import (
	"cmp"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Effect is the effect of a journal entry on lots, and what it is computed from.
type Effect struct {
	EntryID           string // may be empty for a new entry
	TransactionID     string
	Type              string
	Label             string // the name of the transaction in messages
	Block, Number     int64
	Input             posting.Input
	Plan              *posting.Plan
	LotsTransactionID string // the transaction that brings in the lots, if it is another one
	SeparateAccountID string // the account that replaces the one of the source
	Picks             []lot.Pick
}

// ConsumedPools returns the keys of the pools that the effect consumes lots of.
func (e *Effect) ConsumedPools(b *snapshot.Books) (out []string) {
	for _, t := range e.Plan.LotRequests {
		out = append(out, lots.PoolOf(b, t.From, t.Asset, e.SeparateAccountID).Key)
	}
	return out
}

// At returns when the transaction happened: the outflow, if there are two.
func (e *Effect) At() time.Time {
	if e.Input.Out != nil {
		return e.Input.Out.At
	}
	return e.Input.In.At
}

// arrivesAt returns when a moved asset arrives: at the later of the two legs.
func (e *Effect) arrivesAt() time.Time {
	var at time.Time
	for _, l := range []*posting.Leg{e.Input.Out, e.Input.In} {
		if l != nil && l.At.After(at) {
			at = l.At
		}
	}
	return at
}

// arrival returns the pool that the lots of the entry enter, and the order key at which they do. There is one at most.
func (e *Effect) arrival(b *snapshot.Books) (lots.Pool, lot.OrderKey, bool) {
	for _, t := range e.Plan.LotRequests {
		if t.To.Account == "" {
			continue
		}
		if e.staysInPool(b, t) {
			return lots.Pool{}, "", false
		}
		return e.destination(b, t), e.orderKey(e.arrivesAt(), lot.Arrive), true
	}
	in := e.Input.In
	if in == nil || !in.Asset.Lots {
		return lots.Pool{}, "", false
	}
	place := in.Place
	if in.Offset != "" {
		place.Account = in.Offset
	}
	return lots.PoolOf(b, place, in.Asset, e.SeparateAccountID), e.orderKey(in.At, lot.Acquire), true
}

// orderKey returns the key at which the lots of the entry enter.
func (e *Effect) orderKey(at time.Time, kind lot.Kind) lot.OrderKey {
	return (&lot.Place{At: at, Kind: kind, Block: e.Block, Sequence: e.Number}).OrderKey()
}

// destination returns the pool that a consumed asset enters, as the asset that it becomes there.
func (e *Effect) destination(b *snapshot.Books, t posting.LotRequest) lots.Pool {
	if e.Input.In != nil {
		return lots.PoolOf(b, t.To, e.Input.In.Asset, e.SeparateAccountID)
	}
	return lots.PoolOf(b, t.To, t.Asset, e.SeparateAccountID)
}

// staysInPool reports whether a consumed asset is only moved within its pool.
func (e *Effect) staysInPool(b *snapshot.Books, t posting.LotRequest) bool {
	return t.Kind == posting.Moved && e.destination(b, t).Key == lots.PoolOf(b, t.From, t.Asset, e.SeparateAccountID).Key
}

// entry is the state of a journal entry in a run.
type entry struct {
	Effect
	key           string
	loaded        bool // the effect is known
	isNew         bool
	removed       bool
	changed       bool // it is stored and consumes other lots than it did
	built         bool
	consumptions  map[int]*consumption // by position
	before        []lots.Lot           // the lots it created, as stored
	beforeEntryID string               // the entry that created them, if it is another one
	result        posting.Entry
	lots          []*lots.Lot // the lots it creates
}

// createLots creates the lots of an entry. A slice of the same lot as before keeps its ID.
func (r *run) createLots(e *entry) {
	for _, c := range e.consumptions {
		if c.Kind == lots.Relocated { // the holding stays in its pool, and so does a deficit
			return
		}
	}
	ids := map[string][]string{} // by parent
	for _, l := range e.before {
		ids[l.ParentID] = append(ids[l.ParentID], l.ID)
	}
	for _, m := range e.result.Lots {
		l := e.newLot(r.books, m)
		l.CreatedAt = r.tx.Now()
		if before := ids[m.Parent]; len(before) > 0 {
			l.ID, ids[m.Parent] = before[0], before[1:]
		} else {
			l.ID = r.tx.NewID(id.Asset)
		}
		e.lots = append(e.lots, l)
	}
}

// newLot returns a lot that the entry creates, without its ID and its place in the pool.
func (e *Effect) newLot(b *snapshot.Books, m posting.Lot) *lots.Lot {
	l := &lots.Lot{
		Pool: lots.PoolOf(b, m.Place, m.Asset, e.SeparateAccountID).Key, LegalEntityID: m.Entity, SourceID: m.Source,
		LedgerAccountID: m.Account, AssetType: m.Asset.Symbol, Chain: m.Asset.Chain, TokenID: m.Asset.Token, AcquiredAt: m.AcquiredAt,
		Quantity: m.Quantity, CostBasis: m.Basis, Currency: m.Currency, Origin: lots.Acquired, ParentID: m.Parent,
		TransactionID: cmp.Or(e.LotsTransactionID, e.TransactionID), JournalEntryID: e.EntryID, BasisPending: m.BasisPending,
		Provisional: m.Provisional,
	}
	if m.Parent != "" {
		l.Origin = lots.Transferred
	}
	return l
}
