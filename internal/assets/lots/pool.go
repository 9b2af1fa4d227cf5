package lots

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Pool is the lots that one disposal may choose from, with the sums of what is left of them.
type Pool struct {
	Key             string
	LegalEntityID   string
	SourceID        string // empty for a pool of a legal entity, or of parked lots
	LedgerAccountID string // under which lots are parked, or kept separately
	AssetType       string
	Chain           string
	TokenID         string
	Currency        string
	Quantity, Basis money.Decimal
	Seq             int64
	LastKey         lot.OrderKey // of the last event
}

// Parked reports whether its lots are parked on an account until the other half of a transfer arrives.
func (p *Pool) Parked() bool { return p.SourceID == "" && p.LedgerAccountID != "" }

// Wide reports whether it spans all sources of its legal entity.
func (p *Pool) Wide() bool { return p.SourceID == "" && p.LedgerAccountID == "" }

// allSources stands for the sources of a legal entity in the key of a pool that spans them.
const allSources = "*"

// Recomputed returns the pool that follows from the columns of a stored one, without its sums.
func (p *Pool) Recomputed(b *snapshot.Books) Pool {
	separate := ""
	if p.SourceID != "" {
		separate = p.LedgerAccountID
	}
	at := posting.Place{Source: p.SourceID, Account: p.LedgerAccountID, Entity: p.LegalEntityID}
	if p.Wide() {
		at.Source = allSources
	}
	return PoolOf(b, at, posting.Asset{Symbol: p.AssetType, Chain: p.Chain, Token: p.TokenID, Lots: true}, separate)
}

// PoolOf returns the pool of an asset at a place, without its sums. separate is an account that replaces the one of the source;
// its lots form a pool of their own.
func PoolOf(b *snapshot.Books, at posting.Place, a posting.Asset, separate string) Pool {
	e := b.Entities[at.Entity]
	p := Pool{LegalEntityID: at.Entity, AssetType: a.Symbol, TokenID: a.Token, Currency: e.BaseCurrency}
	parts := []string{at.Entity}
	switch {
	case at.Source == "":
		p.LedgerAccountID = at.Account
		parts = append(parts, "@"+at.Account, a.Symbol)
	case e.CostBasisScope == entity.ScopeLegalEntity:
		parts = append(parts, allSources, a.Symbol)
	default:
		p.SourceID, p.Chain = at.Source, a.Chain
		parts = append(parts, at.Source, a.Symbol, a.Chain)
		if separate != "" && at.Account == separate {
			p.LedgerAccountID = separate
			parts = append(parts, "@"+separate)
		}
	}
	if a.Token != "" {
		parts = append(parts, "#"+a.Token)
	}
	p.Key = strings.Join(parts, "/")
	return p
}

// Shares divides the basis of pools under a weighted average among all of their lots, and returns the shares by lot. A pool has a basis
// as a whole, and its lots have quantities, in proportion to which they share it, the oldest first: what rounding leaves passes on to the
// next lot, so that the shares add up to the basis. Lots of other pools are left out.
func Shares(all []Lot, pools []Pool) map[string]money.Decimal {
	byPool := map[string][]Lot{}
	for _, l := range all {
		if l.RemainingQuantity.Sign() > 0 {
			byPool[l.Pool] = append(byPool[l.Pool], l)
		}
	}
	out := map[string]money.Decimal{}
	for _, p := range pools {
		held := byPool[p.Key]
		if len(held) == 0 {
			continue
		}
		slices.SortFunc(held, func(a, b Lot) int { return cmp.Or(a.AcquiredAt.Compare(b.AcquiredAt), cmp.Compare(a.Seq, b.Seq)) })
		weights := make([]money.Decimal, len(held))
		for i, l := range held {
			weights[i] = l.RemainingQuantity
		}
		places, _ := money.MinorUnits(p.Currency)
		for i, share := range money.Split(p.Basis.Round(places), weights, places) {
			out[held[i].ID] = share
		}
	}
	return out
}
