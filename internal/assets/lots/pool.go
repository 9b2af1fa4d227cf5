package lots

import (
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
