package opening

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// The maximum lengths of texts in characters.
const (
	assetTypeMax = 64
	chainMax     = source.ChainMax
)

// CreateParams describe an asset to enter; empty fields get defaults.
type CreateParams struct {
	AssetType       string
	Quantity        money.Decimal
	CostBasis       money.Decimal
	LegalEntityID   string
	LedgerAccountID string
	SourceID        string // ID of the source or of its account
	DateReceived    string // YYYY-MM-DD in the time zone of the organization
	Currency        string // default: that of the legal entity
	Chain           string // default: that of the source
}

// resolve returns the lot that the parameters describe, or an error with all of its faults.
func (p CreateParams) resolve(ctx context.Context, tx *db.Tx, b *snapshot.Books) (lots.Lot, error) {
	l := lots.Lot{
		LegalEntityID: p.LegalEntityID, LedgerAccountID: p.LedgerAccountID, AssetType: strings.TrimSpace(p.AssetType),
		Chain: strings.ToLower(strings.TrimSpace(p.Chain)), Quantity: p.Quantity, RemainingQuantity: p.Quantity,
		CostBasis: p.CostBasis, RemainingBasis: p.CostBasis, Currency: strings.TrimSpace(p.Currency), Origin: lots.Manual,
	}
	o := &fault.List{}
	p.parseDate(o, &l, b.Zone, tx.Now())
	validateSymbol(o, l.AssetType)
	if utf8.RuneCountInString(l.Chain) > chainMax || strings.ContainsFunc(l.Chain, unicode.IsSpace) {
		o.Addf("chain", "must have at most %d characters and no spaces", chainMax)
	}
	heldAt, err := source.Find(ctx, tx, p.SourceID)
	if err := o.MergeMissing(err, "source_id"); err != nil {
		return l, err
	}
	if err == nil && !money.IsFiat(l.AssetType) && !heldAt.Type.Holds(l.AssetType) {
		o.Addf("source_id", "%s", heldAt.RequireHolds(l.AssetType))
	}
	if l.Chain == "" {
		l.Chain = heldAt.Chain
	}
	l.SourceID = heldAt.ID
	return l, validateLot(ctx, tx, o, b, &l, heldAt)
}

// parseDate reads the date on which the asset was received.
func (p CreateParams) parseDate(o *fault.List, l *lots.Lot, zone *time.Location, now time.Time) {
	if p.DateReceived == "" {
		return
	}
	at, err := calendar.StartOfDay(p.DateReceived, zone)
	switch {
	case err != nil:
		o.Addf("date_received", "must be a date such as 2026-01-31")
	case at.After(now):
		o.Addf("date_received", "must not be in the future")
	case at.Year() < yearMin:
		o.Addf("date_received", "must not be before %d", yearMin)
	}
	l.AcquiredAt = at
}

// yearMin is earlier than any asset with lots existed; a date before it is a mistake.
const yearMin = 1970

func validateSymbol(o *fault.List, symbol string) {
	switch n := utf8.RuneCountInString(symbol); {
	case n < 1 || n > assetTypeMax || strings.ContainsFunc(symbol, unicode.IsSpace):
		o.Addf("asset_type", "must have 1 to %d characters and no spaces", assetTypeMax)
	case money.IsFiat(symbol):
		o.Addf("asset_type", "%s is money, which has no lots: post its opening balance with POST /v1/journal-entries", symbol)
	}
}

// validateLot adds the faults of a lot, given its source if it has one, and returns all faults as an error.
func validateLot(ctx context.Context, tx *db.Tx, o *fault.List, b *snapshot.Books, l *lots.Lot, heldAt source.Source) error {
	e, there := b.Entities[l.LegalEntityID]
	if there = there && actor.From(ctx).Sees(e.ID); !there {
		o.AddMissing("legal entity", "legal_entity_id")
	} else if l.Currency == "" {
		l.Currency = e.BaseCurrency
	}
	validateAmounts(o, l)
	switch {
	case !there && l.Currency != "" && !money.IsFiat(l.Currency):
		o.Addf("currency", "must be an ISO 4217 currency such as USD")
	case !there:
	case l.Currency != e.BaseCurrency && l.ID == "":
		o.Addf("currency", "must be %s, in which %s keeps its books: give the cost in that", e.BaseCurrency, e.Name)
	case l.Currency != e.BaseCurrency:
		o.Addf("legal_entity_id", "%s keeps its books in %s, and the cost of the asset is in %s", e.Name, e.BaseCurrency, l.Currency)
	}
	if there && heldAt.ID != "" && heldAt.LegalEntityID != e.ID {
		o.Addf("legal_entity_id", "the source %s that holds the asset belongs to another legal entity than %s", heldAt.Name, e.Name)
	}
	if err := validateAccount(ctx, tx, o, b, l, heldAt); err != nil {
		return err
	}
	return o.Err()
}

func validateAmounts(o *fault.List, l *lots.Lot) {
	if l.Quantity.Sign() <= 0 {
		o.Addf("quantity", "must be positive")
	}
	switch places, _ := money.MinorUnits(l.Currency); {
	case l.CostBasis.Sign() < 0:
		o.Addf("cost_basis", "must not be negative")
	case money.IsFiat(l.Currency) && !l.CostBasis.Round(places).Equal(l.CostBasis):
		o.Addf("cost_basis", "must have at most %d digits after the point, as amounts in %s do", places, l.Currency)
	}
}

// validateAccount adds the faults of the account of the lot: it must be postable, of type Asset, for this asset if it is
// restricted to one, without units of the asset that were booked at their value, and not that of another source.
func validateAccount(ctx context.Context, tx *db.Tx, o *fault.List, b *snapshot.Books, l *lots.Lot, heldAt source.Source) error {
	const field = "ledger_account_id"
	a, there := b.Accounts[l.LedgerAccountID]
	foreign, err := source.ForeignAccounts(ctx, tx, []string{l.LedgerAccountID})
	if err != nil {
		return err
	}
	if !there || foreign[a.ID] {
		o.AddMissing("ledger account", field)
		return nil
	}
	switch {
	case a.Type != account.Asset:
		o.Addf(field, "must be an account of type Asset: %s is of type %s", a, a.Type)
	case !a.Postable:
		o.Addf(field, "the ledger account %s is not postable: choose one below it", a)
	case a.Clearing:
		o.Addf(field, "the ledger account %s is a clearing account, on which nothing is held", a)
	case a.AssetType != "" && a.AssetType != l.AssetType:
		o.Addf(field, "the ledger account %s is for %s, and the asset is %s", a, a.AssetType, l.AssetType)
	case a.Archived():
		o.AddConflictf(field, "the ledger account %s is archived: unarchive it or choose another", a)
	}
	held, err := lots.HowHeld(ctx, tx, l.LegalEntityID, a.ID, l.AssetType)
	if err != nil {
		return err
	}
	if held.Valued {
		o.AddConflictf(field, "the ledger account %s holds %s that was booked at its value, without lots: choose another account", a, l.AssetType)
	}
	if heldAt.ID == "" || heldAt.LedgerAccountID == a.ID {
		return nil
	}
	all, err := source.AllUnchecked(ctx, tx)
	for _, other := range all {
		if other.LedgerAccountID == a.ID {
			o.Addf(field, "the ledger account %s is that of another source: choose that of %s, or one of no source", a, heldAt.Name)
			break
		}
	}
	return err
}
