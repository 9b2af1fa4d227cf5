// Package asset keeps the lots: what was acquired at one time and cost, what was taken from it since, and where it is
// held. Which lots leave is decided by rules/lot; this package gives it the part of a pool it needs, and writes down
// what it says, so that the lots are always what they would be had everything happened in order. When something
// happens late, what came after it is taken back and happens again.
package asset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// Origin is where a lot comes from.
type Origin string

// The origins.
const (
	Manual      Origin = "manual"      // somebody entered it: an opening balance
	Acquired    Origin = "transaction" // a transaction brought it
	Transferred Origin = "move"        // it is a slice of another lot, with its cost and date
)

// Lot is what was acquired at one time and cost, and what is left of it. The contract calls it an asset.
type Lot struct {
	ID                string
	Pool              string
	Place             Place
	Seq               int64
	LegalEntityID     string
	SourceID          string // empty where it is parked
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
	ParentID          string
	TransactionID     string
	JournalEntryID    string
	OpenedIn          string // the accounting period, where no entry says it
	BasisPending      bool   // until the other half of a transfer is found
	Provisional       bool   // until its transaction is classified
	CreatedAt         time.Time
	UpdatedAt         *time.Time

	emptiedAt *time.Time // by accounting date, where nothing is left
	life      int64      // from when it came until then
	cameAt    *time.Time // by accounting date too; nil where it is not known
	usedBy    *time.Time // none of its uses is of a later date; nil where that is not known
}

// Use is what one request took from one lot.
type Use struct {
	ID              string
	Pool            string
	Place           Place // of the request
	Position        int64
	LotID           string // empty for what was not there
	Kind            string // as rules/lot names it
	Correction      bool   // what changed about a use whose period was closed: amounts are differences
	JournalEntryID  string
	TransactionID   string
	TransactionType string
	LegalEntityID   string
	SourceID        string // where it was held
	LedgerAccountID string // that it left
	AssetType       string
	Chain           string
	TokenID         string
	AccountingDate  time.Time
	PeriodID        string
	Quantity        money.Decimal
	Basis           money.Decimal
	Proceeds        money.Decimal // before the fee
	Fee             money.Decimal
	Gain            money.Decimal
	Currency        string
	AcquiredAt      time.Time
	DisposedAt      time.Time
	Days            int64
	Term            string
	Method          string
	Lots            int64 // -1 where the lot was emptied

	pending, provisional bool // those of the lot, while they are at hand
}

// Realizes tells that a gain or a loss was realized: a move or a conversion realizes none.
func (u Use) Realizes() bool { return u.Kind == "dispose" || u.Kind == "fee" }

// Place is where something stands among everything that happens to a pool, as text that sorts as rules/lot orders it:
// the time, what comes before what goes, the place on the chain, the number of the transaction, and the request of
// its entry.
type Place string

// placeOf writes a place down.
func placeOf(at time.Time, kind lot.Kind, block, number int64, position int) Place {
	rank := 3
	switch kind {
	case lot.Acquire:
		rank = 0
	case lot.Arrive:
		rank = 1
	case lot.Move, lot.Convert:
		rank = 2
	}
	return Place(fmt.Sprintf("%016d %d %012d %012d %03d", at.UnixMicro(), rank, block, number, position))
}

// parts reads a place.
func (p Place) parts() (at time.Time, rank int, block, number int64, ok bool) {
	var micros int64
	var position int
	n, err := fmt.Sscanf(string(p), "%d %d %d %d %d", &micros, &rank, &block, &number, &position)
	return time.UnixMicro(micros).UTC(), rank, block, number, err == nil && n == 5
}

// Settle finds the pool of a lot that is entered by hand, and its place: that of its date.
func (l *Lot) Settle(b *snapshot.Books) {
	l.Pool = poolOf(b, l.place(), l.asset(), "").Key
	l.Place = placeOf(l.AcquiredAt, lot.Acquire, 0, 0, 0) + Place(" "+l.ID)
}

func (l *Lot) place() posting.Place {
	return posting.Place{Source: l.SourceID, Account: l.LedgerAccountID, Entity: l.LegalEntityID}
}

func (l *Lot) asset() posting.Asset {
	return posting.Asset{Symbol: l.AssetType, Chain: l.Chain, Token: l.TokenID, Lots: true}
}

// pool is the lots among which a disposal chooses, and the sums of what is left of them.
type pool struct {
	Key             string
	LegalEntityID   string
	SourceID        string // empty where the pool is the legal entity's, or parked
	LedgerAccountID string // of what is parked under it, or kept apart on it
	AssetType       string
	Chain           string
	TokenID         string
	Currency        string
	Quantity, Basis money.Decimal
	Seq             int64
	LastPlace       Place
}

// parked tells that it is no holding, but waits under an account for the other half of a transfer.
func (p *pool) parked() bool { return p.SourceID == "" && p.LedgerAccountID != "" }

// wide tells that it spans the sources of its legal entity.
func (p *pool) wide() bool { return p.SourceID == "" && p.LedgerAccountID == "" }

// poolOf finds the pool of an asset at a place. apart is an account that was named instead of the source's own, whose
// lots are kept by themselves.
func poolOf(b *snapshot.Books, at posting.Place, a posting.Asset, apart string) pool {
	e := b.Entities[at.Entity]
	p := pool{LegalEntityID: at.Entity, AssetType: a.Symbol, TokenID: a.Token, Currency: e.BaseCurrency}
	parts := []string{at.Entity}
	switch {
	case at.Source == "":
		p.LedgerAccountID = at.Account
		parts = append(parts, "@"+at.Account, a.Symbol)
	case e.CostBasisScope == entity.ScopeLegalEntity:
		parts = append(parts, "*", a.Symbol)
	default:
		p.SourceID, p.Chain = at.Source, a.Chain
		parts = append(parts, at.Source, a.Symbol, a.Chain)
		if apart != "" && at.Account == apart {
			p.LedgerAccountID = apart
			parts = append(parts, "@"+apart)
		}
	}
	if a.Token != "" {
		parts = append(parts, "#"+a.Token)
	}
	p.Key = strings.Join(parts, "/")
	return p
}

// config is what the legal entity decided about the lots of a pool. A draft looks at what would be, so that there
// nothing is refused for want of lots.
func (p *pool) config(b *snapshot.Books, lenient bool) lot.Config {
	e := b.Entities[p.LegalEntityID]
	places, _ := money.MinorUnits(p.Currency)
	c := lot.Config{
		Identified: p.TokenID != "" || p.parked(), Places: places, Zone: b.Zone,
		ZeroBasis: lenient || p.parked() || e.ShortDisposal == entity.ShortAtZeroBasis,
	}
	for _, election := range b.Elections[p.LegalEntityID] {
		from := lot.Election{Method: lot.Method(election.Method)}
		if at, err := calendar.StartOfDay(election.From, b.Zone); election.From != "" && err == nil {
			from.From = at
		}
		// One made later holds from its first day on, whatever was elected for that before.
		c.Elections = slices.DeleteFunc(c.Elections, func(e lot.Election) bool { return !e.From.Before(from.From) })
		c.Elections = append(c.Elections, from)
	}
	return c
}

// scope says in words whose lots they are.
func (r *Replay) scope(ctx context.Context, p *pool) string {
	name := r.books.Entities[p.LegalEntityID].Name
	switch {
	case p.parked():
		return "what is parked on " + r.books.Accounts[p.LedgerAccountID].String() + " of " + name
	case p.wide():
		return name + " in all its sources together"
	}
	if found, err := source.FindSomeUnchecked(ctx, r.tx, []string{p.SourceID}); err == nil {
		return "the source " + found[p.SourceID].Name + " of " + name
	}
	return "the source " + p.SourceID + " of " + name
}
