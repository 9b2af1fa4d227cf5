package asset

import (
	"context"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/area/books"
	"github.com/bursarhq/bursar/internal/area/entity"
	"github.com/bursarhq/bursar/internal/area/source"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

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

// poolOf finds the pool of an asset at a place. apart is an account that was named instead of the source's own, whose lots are kept by themselves.
func poolOf(b *books.Books, at posting.Place, a posting.Asset, apart string) pool {
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

// config is what the legal entity decided about the lots of a pool. A draft looks at what would be, so that there nothing is refused for want of lots.
func (p *pool) config(b *books.Books, lenient bool) lot.Config {
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
	if found, err := source.Some(ctx, r.tx, []string{p.SourceID}); err == nil {
		return "the source " + found[p.SourceID].Name + " of " + name
	}
	return "the source " + p.SourceID + " of " + name
}
