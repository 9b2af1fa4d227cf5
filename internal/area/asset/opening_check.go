package asset

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/area/account"
	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/books"
	"github.com/bursarhq/bursar/internal/area/source"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// How many characters a text may have.
const (
	AssetTypeMax = 64
	ChainMax     = source.ChainMax
)

// CreateParams describe an asset that is entered by hand; what is empty is not given.
type CreateParams struct {
	AssetType       string
	Quantity        money.Decimal
	CostBasis       money.Decimal
	LegalEntityID   string
	LedgerAccountID string
	SourceID        string // its own or that of its account
	DateReceived    string // YYYY-MM-DD, where the organization is
	Currency        string // empty is the legal entity's
	Chain           string // empty is that of the source
}

// objections collects what stands against a lot: what is wrong in itself, what is not there, what does not go together, and what the state of
// something forbids. The gravest sort answers.
type objections struct {
	faults, apart fault.List
	missing       []string
	noun          string
	conflicts     []fault.Field
}

func (o *objections) miss(noun, field string) {
	if o.noun == "" {
		o.noun = noun
	}
	o.missing = append(o.missing, field)
}

func (o *objections) conflict(field, format string, args ...any) {
	o.conflicts = append(o.conflicts, fault.Field{Name: field, Message: fmt.Sprintf(format, args...)})
}

func (o *objections) err() error {
	switch {
	case o.faults.Err() != nil:
		return o.faults.Err()
	case len(o.missing) > 0:
		return fault.MissingAt(o.noun, o.missing...)
	case o.apart.Err() != nil:
		return o.apart.Err()
	case len(o.conflicts) > 0:
		return fault.ConflictAt(o.conflicts, "%s", o.conflicts[0].Message)
	}
	return nil
}

// settle makes the lot that is described, or says everything that stands against it. The head is taken.
func (p CreateParams) settle(ctx context.Context, tx *db.Tx, b *books.Books) (Lot, error) {
	l := Lot{
		LegalEntityID: p.LegalEntityID, LedgerAccountID: p.LedgerAccountID, AssetType: strings.TrimSpace(p.AssetType), Chain: strings.ToLower(strings.TrimSpace(p.Chain)),
		Quantity: p.Quantity, RemainingQuantity: p.Quantity, CostBasis: p.CostBasis, RemainingBasis: p.CostBasis, Currency: strings.TrimSpace(p.Currency), Origin: Manual,
	}
	o := &objections{}
	p.received(o, &l, b.Zone, tx.Now())
	checkSymbol(o, l.AssetType)
	if utf8.RuneCountInString(l.Chain) > ChainMax || strings.ContainsFunc(l.Chain, unicode.IsSpace) {
		o.faults.Addf("chain", "must have at most %d characters and no spaces", ChainMax)
	}
	holder, err := source.Find(ctx, tx, p.SourceID)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		o.miss("source", "source_id")
	case err != nil:
		return l, err
	case l.Chain == "":
		l.Chain = holder.Chain
	}
	l.SourceID = holder.ID
	return l, l.check(ctx, tx, o, b, holder)
}

// received reads the date.
func (p CreateParams) received(o *objections, l *Lot, zone *time.Location, now time.Time) {
	if p.DateReceived == "" {
		return
	}
	at, err := calendar.StartOfDay(p.DateReceived, zone)
	switch {
	case err != nil:
		o.faults.Addf("date_received", "must be a date such as 2026-01-31")
	case at.After(now):
		o.faults.Addf("date_received", "must not be in the future")
	case at.Year() < yearMin:
		o.faults.Addf("date_received", "must not be before %d", yearMin)
	}
	l.AcquiredAt = at
}

// yearMin is when nothing of what is kept by lots existed: a date before it is a slip.
const yearMin = 1970

func checkSymbol(o *objections, symbol string) {
	switch n := utf8.RuneCountInString(symbol); {
	case n < 1 || n > AssetTypeMax || strings.ContainsFunc(symbol, unicode.IsSpace):
		o.faults.Addf("asset_type", "must have 1 to %d characters and no spaces", AssetTypeMax)
	case money.IsFiat(symbol):
		o.faults.Addf("asset_type", "%s is money, which has no lots: post its opening balance with POST /v1/journal-entries", symbol)
	}
}

// check finds what stands against a lot that has its source, if there is one.
func (l *Lot) check(ctx context.Context, tx *db.Tx, o *objections, b *books.Books, holder source.Source) error {
	e, there := b.Entities[l.LegalEntityID]
	if there = there && actor.From(ctx).Sees(e.ID); !there {
		o.miss("legal entity", "legal_entity_id")
	} else if l.Currency == "" {
		l.Currency = e.BaseCurrency
	}
	l.checkAmounts(o)
	switch {
	case !there:
	case l.Currency != e.BaseCurrency && l.ID == "":
		o.apart.Addf("currency", "must be %s, in which %s keeps its books: give the cost in that", e.BaseCurrency, e.Name)
	case l.Currency != e.BaseCurrency:
		o.apart.Addf("legal_entity_id", "%s keeps its books in %s, and the cost of the asset is in %s", e.Name, e.BaseCurrency, l.Currency)
	}
	if there && holder.ID != "" && holder.LegalEntityID != e.ID {
		o.apart.Addf("legal_entity_id", "the source %s that holds the asset belongs to another legal entity than %s", holder.Name, e.Name)
	}
	if err := l.checkAccount(ctx, tx, o, b, holder); err != nil {
		return err
	}
	return o.err()
}

func (l *Lot) checkAmounts(o *objections) {
	if l.Quantity.Sign() <= 0 {
		o.faults.Addf("quantity", "must be positive")
	}
	switch places, _ := money.MinorUnits(l.Currency); {
	case l.CostBasis.Sign() < 0:
		o.faults.Addf("cost_basis", "must not be negative")
	case money.IsFiat(l.Currency) && !l.CostBasis.Round(places).Equal(l.CostBasis):
		o.faults.Addf("cost_basis", "must have at most %d digits after the point, as amounts in %s do", places, l.Currency)
	}
}

// checkAccount looks at where the cost stands: an account that takes lines, is of assets, of this asset if it says so, and not that of another source.
func (l *Lot) checkAccount(ctx context.Context, tx *db.Tx, o *objections, b *books.Books, holder source.Source) error {
	const field = "ledger_account_id"
	a, there := b.Accounts[l.LedgerAccountID]
	if !there {
		o.miss("ledger account", field)
		return nil
	}
	switch {
	case a.Type != account.Asset:
		o.apart.Addf(field, "must be an account of type Asset: %s is of type %s", a, a.Type)
	case !a.Postable:
		o.apart.Addf(field, "the ledger account %s is not postable: choose one below it", a)
	case a.Clearing:
		o.apart.Addf(field, "the ledger account %s is a clearing account, on which nothing is held", a)
	case a.AssetType != "" && a.AssetType != l.AssetType:
		o.apart.Addf(field, "the ledger account %s is for %s, and the asset is %s", a, a.AssetType, l.AssetType)
	case a.Archived():
		o.conflict(field, "the ledger account %s is archived: unarchive it or choose another", a)
	}
	if holder.ID == "" || holder.LedgerAccountID == a.ID {
		return nil
	}
	all, err := source.All(ctx, tx)
	for _, other := range all {
		if other.LedgerAccountID == a.ID {
			o.apart.Addf(field, "the ledger account %s is that of another source: choose that of %s, or one of no source", a, holder.Name)
			break
		}
	}
	return err
}
