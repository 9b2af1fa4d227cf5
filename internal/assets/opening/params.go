package opening

import (
	"context"
	"fmt"
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

// faultList collects the faults of an opening balance. err returns the first of the four kinds that is not empty.
type faultList struct {
	faults       fault.List // values that are invalid by themselves
	missing      []string   // fields that refer to a record that does not exist
	noun         string     // the kind of record that the first of them refers to
	combinations fault.List // values that contradict each other
	conflicts    []fault.Field
}

func (o *faultList) addMissing(noun, field string) {
	if o.noun == "" {
		o.noun = noun
	}
	o.missing = append(o.missing, field)
}

func (o *faultList) addConflict(field, format string, args ...any) {
	o.conflicts = append(o.conflicts, fault.Field{Name: field, Message: fmt.Sprintf(format, args...)})
}

func (o *faultList) err() error {
	switch {
	case o.faults.Err() != nil:
		return o.faults.Err()
	case len(o.missing) > 0:
		return fault.MissingAt(o.noun, o.missing...)
	case o.combinations.Err() != nil:
		return o.combinations.Err()
	case len(o.conflicts) > 0:
		return fault.ConflictAt(o.conflicts, "%s", o.conflicts[0].Message)
	}
	return nil
}

// resolve returns the lot that the parameters describe, or an error with all of its faults.
func (p CreateParams) resolve(ctx context.Context, tx *db.Tx, b *snapshot.Books) (lots.Lot, error) {
	l := lots.Lot{
		LegalEntityID: p.LegalEntityID, LedgerAccountID: p.LedgerAccountID, AssetType: strings.TrimSpace(p.AssetType),
		Chain: strings.ToLower(strings.TrimSpace(p.Chain)), Quantity: p.Quantity, RemainingQuantity: p.Quantity,
		CostBasis: p.CostBasis, RemainingBasis: p.CostBasis, Currency: strings.TrimSpace(p.Currency), Origin: lots.Manual,
	}
	o := &faultList{}
	p.parseDate(o, &l, b.Zone, tx.Now())
	validateSymbol(o, l.AssetType)
	if utf8.RuneCountInString(l.Chain) > chainMax || strings.ContainsFunc(l.Chain, unicode.IsSpace) {
		o.faults.Addf("chain", "must have at most %d characters and no spaces", chainMax)
	}
	heldAt, err := source.Find(ctx, tx, p.SourceID)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		o.addMissing("source", "source_id")
	case err != nil:
		return l, err
	case !money.IsFiat(l.AssetType) && !heldAt.Type.Holds(l.AssetType):
		o.faults.Addf("source_id", "%s", heldAt.RequireHolds(l.AssetType))
	case l.Chain == "":
		l.Chain = heldAt.Chain
	}
	l.SourceID = heldAt.ID
	return l, validateLot(ctx, tx, o, b, &l, heldAt)
}

// parseDate reads the date on which the asset was received.
func (p CreateParams) parseDate(o *faultList, l *lots.Lot, zone *time.Location, now time.Time) {
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

// yearMin is earlier than any asset with lots existed; a date before it is a mistake.
const yearMin = 1970

func validateSymbol(o *faultList, symbol string) {
	switch n := utf8.RuneCountInString(symbol); {
	case n < 1 || n > assetTypeMax || strings.ContainsFunc(symbol, unicode.IsSpace):
		o.faults.Addf("asset_type", "must have 1 to %d characters and no spaces", assetTypeMax)
	case money.IsFiat(symbol):
		o.faults.Addf("asset_type", "%s is money, which has no lots: post its opening balance with POST /v1/journal-entries", symbol)
	}
}

// validateLot adds the faults of a lot, given its source if it has one, and returns all faults as an error.
func validateLot(ctx context.Context, tx *db.Tx, o *faultList, b *snapshot.Books, l *lots.Lot, heldAt source.Source) error {
	e, there := b.Entities[l.LegalEntityID]
	if there = there && actor.From(ctx).Sees(e.ID); !there {
		o.addMissing("legal entity", "legal_entity_id")
	} else if l.Currency == "" {
		l.Currency = e.BaseCurrency
	}
	validateAmounts(o, l)
	switch {
	case !there:
	case l.Currency != e.BaseCurrency && l.ID == "":
		o.combinations.Addf("currency", "must be %s, in which %s keeps its books: give the cost in that", e.BaseCurrency, e.Name)
	case l.Currency != e.BaseCurrency:
		o.combinations.Addf("legal_entity_id", "%s keeps its books in %s, and the cost of the asset is in %s", e.Name, e.BaseCurrency, l.Currency)
	}
	if there && heldAt.ID != "" && heldAt.LegalEntityID != e.ID {
		o.combinations.Addf("legal_entity_id", "the source %s that holds the asset belongs to another legal entity than %s", heldAt.Name, e.Name)
	}
	if err := validateAccount(ctx, tx, o, b, l, heldAt); err != nil {
		return err
	}
	return o.err()
}

func validateAmounts(o *faultList, l *lots.Lot) {
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

// validateAccount adds the faults of the account of the lot: it must be postable, of type Asset, for this asset if it is
// restricted to one, and not that of another source.
func validateAccount(ctx context.Context, tx *db.Tx, o *faultList, b *snapshot.Books, l *lots.Lot, heldAt source.Source) error {
	const field = "ledger_account_id"
	a, there := b.Accounts[l.LedgerAccountID]
	if !there {
		o.addMissing("ledger account", field)
		return nil
	}
	switch {
	case a.Type != account.Asset:
		o.combinations.Addf(field, "must be an account of type Asset: %s is of type %s", a, a.Type)
	case !a.Postable:
		o.combinations.Addf(field, "the ledger account %s is not postable: choose one below it", a)
	case a.Clearing:
		o.combinations.Addf(field, "the ledger account %s is a clearing account, on which nothing is held", a)
	case a.AssetType != "" && a.AssetType != l.AssetType:
		o.combinations.Addf(field, "the ledger account %s is for %s, and the asset is %s", a, a.AssetType, l.AssetType)
	case a.Archived():
		o.addConflict(field, "the ledger account %s is archived: unarchive it or choose another", a)
	}
	if heldAt.ID == "" || heldAt.LedgerAccountID == a.ID {
		return nil
	}
	all, err := source.AllUnchecked(ctx, tx)
	for _, other := range all {
		if other.LedgerAccountID == a.ID {
			o.combinations.Addf(field, "the ledger account %s is that of another source: choose that of %s, or one of no source", a, heldAt.Name)
			break
		}
	}
	return err
}
