package lots

import (
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Origin is where a lot comes from.
type Origin string

// The origins.
const (
	Manual      Origin = "manual"      // a user entered it as an opening balance
	Acquired    Origin = "transaction" // a transaction created it
	Transferred Origin = "move"        // it is a slice of another lot and keeps its cost and date
)

// Lot is a quantity acquired at one time and cost, and what remains of it. On the wire it is an asset.
type Lot struct {
	ID                string
	Pool              string       // key of the pool
	OrderKey          lot.OrderKey // where it entered the pool
	Seq               int64        // its number among the lots of the pool, in the order of their keys
	LegalEntityID     string
	SourceID          string // empty for a parked lot
	LedgerAccountID   string
	AssetType         string
	Chain             string
	TokenID           string
	AcquiredAt        time.Time
	Quantity          money.Decimal
	RemainingQuantity money.Decimal
	CostBasis         money.Decimal // of Quantity
	RemainingBasis    money.Decimal // of RemainingQuantity
	Currency          string
	Origin            Origin
	ParentID          string // the lot it is a slice of
	TransactionID     string
	JournalEntryID    string
	OpenedIn          string // accounting period of a lot without an entry
	BasisPending      bool   // the other half of a transfer is still missing, or the cost of what entered at 0.00
	Provisional       bool   // the transaction is not classified yet
	CreatedAt         time.Time
	UpdatedAt         *time.Time

	lifetime
}

// AssignPool sets the pool and the order key of an opening balance, which enters its pool before everything else, whenever it
// was acquired.
func (l *Lot) AssignPool(b *snapshot.Books) {
	l.Pool = l.PoolIn(b).Key
	l.OrderKey = (&lot.Place{Kind: lot.Acquire, ID: l.ID}).OrderKey()
}

// heldSince returns when the lot entered its pool; the zero time for an opening balance, which is older than everything. It returns an
// error for a malformed order key.
func (l *Lot) heldSince() (time.Time, error) {
	place, err := l.OrderKey.Place()
	return place.At, err
}

// AsOpening returns an opening balance with the pool, the order key and the marks that follow from its other columns. Earlier
// versions ordered opening balances by their date; those before whose date something was consumed keep such a key until they change.
func (l *Lot) AsOpening(b *snapshot.Books) Lot {
	want := *l
	want.AssignPool(b)
	if byDate := (&lot.Place{At: l.AcquiredAt, Kind: lot.Acquire, ID: l.ID}).OrderKey(); l.OrderKey == byDate {
		want.OrderKey = byDate
	}
	want.BasisPending = l.BasisPending && l.CostBasis.IsZero() // earlier versions did not mark what cost nothing
	want.Provisional, want.ParentID, want.TransactionID = false, "", ""
	return want
}

// PoolIn returns the pool of a lot that is booked to the account of its source.
func (l *Lot) PoolIn(b *snapshot.Books) Pool {
	at := posting.Place{Source: l.SourceID, Account: l.LedgerAccountID, Entity: l.LegalEntityID}
	return PoolOf(b, at, posting.Asset{Symbol: l.AssetType, Chain: l.Chain, Token: l.TokenID, Lots: true}, "")
}

// Marks returns the marks of the lot in the terms of rules/lot.
func (l *Lot) Marks() lot.Marks {
	return lot.Marks{BasisPending: l.BasisPending, Provisional: l.Provisional}
}

// Consumed returns how much of the lot is consumed.
func (l *Lot) Consumed() money.Decimal { return l.Quantity.Sub(l.RemainingQuantity) }

// averaged reports whether a weighted average includes the lot: neither an NFT nor a parked lot is part of one.
func (l *Lot) averaged() bool { return l.TokenID == "" && l.SourceID != "" }

// column is a column of a lot that is not computed from others.
type column struct {
	name string
	same func(a, b *Lot) bool

	// byPool means that what happens in the pool determines the column, not the entry of the lot. fixed means that it never changes
	// once the lot is stored.
	byPool, fixed bool
}

var columns = []column{
	{name: "pool", same: func(a, b *Lot) bool { return a.Pool == b.Pool }},
	{name: "order_key", same: func(a, b *Lot) bool { return a.OrderKey == b.OrderKey }},
	{name: "seq", same: func(a, b *Lot) bool { return a.Seq == b.Seq }, byPool: true},
	{name: "legal_entity_id", same: func(a, b *Lot) bool { return a.LegalEntityID == b.LegalEntityID }},
	{name: "source_id", same: func(a, b *Lot) bool { return a.SourceID == b.SourceID }},
	{name: "ledger_account_id", same: func(a, b *Lot) bool { return a.LedgerAccountID == b.LedgerAccountID }},
	{name: "asset_type", same: func(a, b *Lot) bool { return a.AssetType == b.AssetType }, fixed: true},
	{name: "chain", same: func(a, b *Lot) bool { return a.Chain == b.Chain }, fixed: true},
	{name: "token_id", same: func(a, b *Lot) bool { return a.TokenID == b.TokenID }, fixed: true},
	{name: "acquired_at", same: func(a, b *Lot) bool { return a.AcquiredAt.Equal(b.AcquiredAt) }},
	{name: "quantity", same: func(a, b *Lot) bool { return a.Quantity.Equal(b.Quantity) }},
	{name: "remaining_quantity", same: func(a, b *Lot) bool { return a.RemainingQuantity.Equal(b.RemainingQuantity) }, byPool: true},
	{name: "cost_basis", same: func(a, b *Lot) bool { return a.CostBasis.Equal(b.CostBasis) }},
	{name: "remaining_basis", same: func(a, b *Lot) bool { return a.RemainingBasis.Equal(b.RemainingBasis) }, byPool: true},
	{name: "currency", same: func(a, b *Lot) bool { return a.Currency == b.Currency }, fixed: true},
	{name: "origin", same: func(a, b *Lot) bool { return a.Origin == b.Origin }},
	{name: "parent_asset_id", same: func(a, b *Lot) bool { return a.ParentID == b.ParentID }},
	{name: "transaction_id", same: func(a, b *Lot) bool { return a.TransactionID == b.TransactionID }, fixed: true},
	{name: "journal_entry_id", same: func(a, b *Lot) bool { return a.JournalEntryID == b.JournalEntryID }},
	{name: "opened_in", same: func(a, b *Lot) bool { return a.OpenedIn == b.OpenedIn }},
	{name: "basis_pending", same: func(a, b *Lot) bool { return a.BasisPending == b.BasisPending }},
	{name: "provisional", same: func(a, b *Lot) bool { return a.Provisional == b.Provisional }},
}

// Differing returns the names of the columns in which a lot differs from what it should be: those that its entry determines, in
// their order.
func (l *Lot) Differing(want *Lot) (out []string) {
	for _, c := range columns {
		if !c.byPool && !c.same(l, want) {
			out = append(out, c.name)
		}
	}
	return out
}

// equal reports whether two states of a lot have the same columns, except those that never change or are computed from others.
func (l *Lot) equal(o *Lot) bool {
	return !slices.ContainsFunc(columns, func(c column) bool { return !c.fixed && !c.same(l, o) })
}
