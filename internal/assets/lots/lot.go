package lots

import (
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
	BasisPending      bool   // the other half of a transfer is still missing
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

// heldSince returns when the lot entered its pool; the zero time for an opening balance, which is older than everything.
func (l *Lot) heldSince() time.Time {
	place, err := l.OrderKey.Place()
	if err != nil {
		return l.AcquiredAt
	}
	return place.At
}

// AsOpening returns an opening balance with the pool, the order key and the marks that follow from its other columns. Earlier
// versions ordered opening balances by their date; those before whose date something was consumed keep such a key until they change.
func (l *Lot) AsOpening(b *snapshot.Books) Lot {
	want := *l
	want.AssignPool(b)
	if byDate := (&lot.Place{At: l.AcquiredAt, Kind: lot.Acquire, ID: l.ID}).OrderKey(); l.OrderKey == byDate {
		want.OrderKey = byDate
	}
	want.BasisPending, want.Provisional, want.ParentID, want.TransactionID = false, false, "", ""
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

// Differing returns the names of the columns in which a lot differs from what it should be: those that its entry determines, in
// their order.
func (l *Lot) Differing(want *Lot) (out []string) {
	for _, column := range []struct {
		name string
		same bool
	}{
		{"pool", l.Pool == want.Pool},
		{"order_key", l.OrderKey == want.OrderKey},
		{"legal_entity_id", l.LegalEntityID == want.LegalEntityID},
		{"source_id", l.SourceID == want.SourceID},
		{"ledger_account_id", l.LedgerAccountID == want.LedgerAccountID},
		{"asset_type", l.AssetType == want.AssetType},
		{"chain", l.Chain == want.Chain},
		{"token_id", l.TokenID == want.TokenID},
		{"acquired_at", l.AcquiredAt.Equal(want.AcquiredAt)},
		{"quantity", l.Quantity.Equal(want.Quantity)},
		{"cost_basis", l.CostBasis.Equal(want.CostBasis)},
		{"currency", l.Currency == want.Currency},
		{"origin", l.Origin == want.Origin},
		{"parent_asset_id", l.ParentID == want.ParentID},
		{"transaction_id", l.TransactionID == want.TransactionID},
		{"journal_entry_id", l.JournalEntryID == want.JournalEntryID},
		{"opened_in", l.OpenedIn == want.OpenedIn},
		{"basis_pending", l.BasisPending == want.BasisPending},
		{"provisional", l.Provisional == want.Provisional},
	} {
		if !column.same {
			out = append(out, column.name)
		}
	}
	return out
}

// equal reports whether two states of a lot have the same columns, except those that are computed from others.
func (l *Lot) equal(o *Lot) bool {
	return l.Pool == o.Pool && l.OrderKey == o.OrderKey && l.Seq == o.Seq && l.LegalEntityID == o.LegalEntityID &&
		l.SourceID == o.SourceID && l.LedgerAccountID == o.LedgerAccountID && l.AcquiredAt.Equal(o.AcquiredAt) &&
		l.Quantity.Equal(o.Quantity) && l.RemainingQuantity.Equal(o.RemainingQuantity) &&
		l.CostBasis.Equal(o.CostBasis) && l.RemainingBasis.Equal(o.RemainingBasis) &&
		l.JournalEntryID == o.JournalEntryID && l.OpenedIn == o.OpenedIn && l.ParentID == o.ParentID &&
		l.BasisPending == o.BasisPending && l.Provisional == o.Provisional
}
